// Passes over a tetrahedral mesh on the device, before and after a solve. For .cu files only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/solve/simplex/cuda/volume_build.h"

namespace isochron::cuda {

/// See `VolumeSolver` for each; `time` is a layer's, in the device's numbering.
template <class T>
Residual find_residual(const DeviceVolume<T>& volume, const T* time, const VolumeSeeds& seeds, double limit);
template <class T>
void find_labels(const DeviceVolume<T>& volume, const T* time, const VolumeSeeds& seeds,
                 std::span<std::int32_t> result);
template <class T>
std::vector<ElementId> find_elements_near(const DeviceVolume<T>& volume, std::span<const VertexId> vertices, int rings);

}  // namespace isochron::cuda
