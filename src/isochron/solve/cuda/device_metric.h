// A metric in device memory. This header needs no CUDA.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isochron/device.h"
#include "isochron/domain.h"
#include "isochron/metric.h"
#include "isochron/types.h"

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

  [[nodiscard]] ISOCHRON_HD bool usable(std::size_t e) const {
    if (kind == 1) return speed[e] > 0 && finite(speed[e]);
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

 private:
  template <class Real>
  [[nodiscard]] ISOCHRON_HD static bool finite(Real x) {
    return std::fabs(x) < std::numeric_limits<Real>::infinity();
  }
  [[nodiscard]] ISOCHRON_HD static bool finite(const Vec3f& v) { return finite(v.x) && finite(v.y) && finite(v.z); }
};

/// The metric's arrays on the device, in a copy of their own.
class DeviceMetric {
 public:
  /// Throws InputError as `check_metric_form` does. The single elements are not looked at, see `usable_everywhere`.
  DeviceMetric(const Metric& metric, std::size_t elements);
  DeviceMetric(const AnyMetric& metric, std::size_t elements);

  [[nodiscard]] const MetricView& view() const { return view_; }
  [[nodiscard]] std::size_t element_count() const { return elements_; }
  [[nodiscard]] std::size_t bytes() const {
    return speed_.bytes() + tensor_.bytes() + fiber_.bytes() + sheet_.bytes() + region_.bytes();
  }
  /// Copied to the host: all of it, or what it is on some elements.
  [[nodiscard]] Metric fetch() const;
  [[nodiscard]] Metric fetch(std::span<const std::uint32_t> elements) const;

 private:
  void send(const Metric& metric);
  void copy(const DeviceSpeed& metric);
  void copy(const DeviceTensor& metric);
  void copy(const DeviceFiber& metric);
  void check_rows(const DeviceTable& table) const;
  void set_velocities(const std::vector<Velocities>& velocities);

  std::size_t elements_;
  DeviceArray<double> speed_;
  DeviceArray<SymTensor3f> tensor_;
  DeviceArray<Vec3f> fiber_, sheet_;
  DeviceArray<std::uint16_t> region_;
  DeviceArray<Velocities> velocities_;
  std::vector<Velocities> rows_;  ///< the velocities on the host
  MetricView view_{};
};

/// Whether it is positive definite and finite on each of the elements.
bool usable_everywhere(const DeviceMetric& metric);

}  // namespace isochron::cuda
