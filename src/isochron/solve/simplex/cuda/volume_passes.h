// What is recovered after a solve on tetrahedra. For .cu files only.
#pragma once

#include <span>
#include <vector>

#include "isochron/solve/simplex/cuda/volume_build.h"

namespace isochron::cuda {

/// See `MeshSolver` for each; `time` is a layer's, in the device's numbering.
template <class T>
Residual volume_residual(const DeviceVolume<T>& volume, const T* time, std::span<const Seed> seeds, double limit);
template <class T>
void volume_labels(const DeviceVolume<T>& volume, const T* time, std::span<const Seed> seeds,
                   DeviceArray<std::int32_t>& result);
template <class T>
void volume_times(const DeviceVolume<T>& volume, const T* time, double base, DeviceArray<double>& result);
template <class T>
void load_volume_times(const DeviceVolume<T>& volume, std::span<const double> times, double base, T* result);
template <class T>
std::vector<ElementId> volume_elements_near(const DeviceVolume<T>& volume, std::span<const VertexId> vertices,
                                            int rings);

}  // namespace isochron::cuda
