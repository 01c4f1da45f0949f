// Meshes, metrics and results that lie in device memory. This header needs no CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "isochron/core/cuda/device_array.h"
#include "isochron/core/cuda/device_table.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/arrival.h"

namespace isochron {

/// A mesh's arrays: coordinates (two columns: z is 0, or three) and one row of vertex ids an element.
struct DeviceMesh {
  cuda::DeviceTable points, elements;
};

/// What a metric has of each element (voxel) in device memory; see the metrics of `Metric`.
struct DeviceSpeed {
  cuda::DeviceTable speed;
};
/// Six columns in the order of SymTensor3, or nine: the rows of the matrix, of which the upper triangle is read.
struct DeviceTensor {
  cuda::DeviceTable tensor;
};
/// Three columns each; a sheet table without rows: there are none.
struct DeviceFiber {
  cuda::DeviceTable fiber, sheet;
  Velocities velocities;
};

/// A metric, wherever its arrays are. One on the host is referred to; a temporary one is kept.
struct AnyMetric : std::variant<std::shared_ptr<const Metric>, DeviceSpeed, DeviceTensor, DeviceFiber> {
  using variant::variant;
  AnyMetric(const Metric& metric)  // NOLINT(google-explicit-constructor): it is either
      : variant(std::shared_ptr<const Metric>(std::shared_ptr<const Metric>(), &metric)) {}
  AnyMetric(Metric&& metric)  // NOLINT(google-explicit-constructor)
      : variant(std::make_shared<const Metric>(std::move(metric))) {}

  /// Null when the arrays are in device memory.
  [[nodiscard]] std::shared_ptr<const Metric> host() const {
    const auto* metric = std::get_if<std::shared_ptr<const Metric>>(this);
    return metric != nullptr ? *metric : nullptr;
  }
};

/// Times, and the sources when the options ask for them, in device memory; complete when they are returned.
struct DeviceResult {
  cuda::DeviceArray<double> times;         ///< user's numbering; +inf where nothing arrived
  cuda::DeviceArray<std::int32_t> source;  ///< −1 where nothing arrived
  int device = -1;                         ///< whose memory it is
};

/// The device that holds a table; `expected` for one without rows. Throws InputError when it is not the expected one
/// (unless that is −1).
int device_holding(const cuda::DeviceTable& table, int expected);
/// The same for all arrays of a mesh or a metric; `expected` for one on the host.
int device_holding(const DeviceMesh& mesh, int expected);
int device_holding(const AnyMetric& metric, int expected);

}  // namespace isochron
