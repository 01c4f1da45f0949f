// Meshes, metrics and results that lie in device memory. This header needs no CUDA.
#pragma once

#include <cstdint>
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

/// A metric, wherever it is.
using AnyMetric = std::variant<Metric, DeviceSpeed, DeviceTensor, DeviceFiber>;

/// As `Arrival`, with the times (and the sources, when the options ask for them) in device memory, complete when it is
/// returned.
struct DeviceArrival {
  cuda::DeviceArray<double> times;         ///< user's numbering; +inf where nothing arrived
  cuda::DeviceArray<std::int32_t> source;  ///< −1 where nothing arrived
  Arrival summary;                         ///< all else; its own times and sources are empty
  int device = -1;                         ///< whose memory it is
};

}  // namespace isochron
