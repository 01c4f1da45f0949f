// A metric in device memory. For .cu files only.
#pragma once

#include <variant>
#include <vector>

#include "isochron/core/cuda/device_array.h"
#include "isochron/metric/metric.h"

namespace isochron::cuda {

/// The metric as the device reads it.
struct MetricView {
  int kind;  ///< index in Metric::Kind
  SymTensor3d uniform;
  const double* speed;
  const SymTensor3f* tensor;
  const Vec3f* fiber;
  const Vec3f* sheet;
  const std::uint16_t* region;
  const Velocities* velocities;

  [[nodiscard]] __device__ bool usable(std::size_t e) const {
    const auto finite = [](const Vec3f& v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); };
    if (kind == 1) return speed[e] > 0 && isfinite(speed[e]);
    if (kind == 3 && (!finite(fiber[e]) || (sheet != nullptr && !finite(sheet[e])))) return false;
    return positive_definite(at(e));
  }
  [[nodiscard]] ISOCHRON_HD SymTensor3d at(std::size_t e) const {
    switch (kind) {
      case 0: return uniform;
      case 1: return speed_tensor(speed[e]);
      case 2: return widened(tensor[e]);
      default:
        return fiber_tensor(velocities[region == nullptr ? 0 : region[e]], fiber[e],
                            sheet == nullptr ? nullptr : sheet + e);
    }
  }
};

/// The metric's arrays on the device.
class DeviceMetric {
 public:
  /// Throws InputError as `check_metric` does.
  DeviceMetric(const Metric& metric, std::size_t elements);
  [[nodiscard]] const MetricView& view() const { return view_; }

 private:
  template <class Value>
  static const Value* sent(DeviceArray<Value>& place, const std::vector<Value>& values) {
    place = DeviceArray<Value>(std::span<const Value>(values));
    return place.data();
  }

  DeviceArray<double> speed_;
  DeviceArray<SymTensor3f> tensor_;
  DeviceArray<Vec3f> fiber_, sheet_;
  DeviceArray<std::uint16_t> region_;
  DeviceArray<Velocities> velocities_;
  MetricView view_{};
};

}  // namespace isochron::cuda
