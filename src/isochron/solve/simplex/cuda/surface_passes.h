// What is recovered after a solve on triangles. For .cu files only.
#pragma once

#include <span>
#include <vector>

#include "isochron/solve/simplex/cuda/surface_build.h"

namespace isochron::cuda {

/// See `MeshSolver` for each; `time` is by place.
template <class T>
Residual surface_residual(const SurfacePatches<T>& patches, const T* time, std::span<const Seed> seeds, double limit);
template <class T>
void surface_labels(const SurfacePatches<T>& patches, const T* time, std::span<const Seed> seeds,
                    DeviceArray<std::int32_t>& result);
template <class T>
void surface_times(const SurfacePatches<T>& patches, const T* time, double unit, double base,
                   DeviceArray<double>& result);
template <class T>
void load_surface_times(const SurfacePatches<T>& patches, std::span<const double> times, double unit, double base,
                        T* result);
std::vector<ElementId> surface_elements_near(const SurfaceTopology& topology, std::span<const VertexId> vertices,
                                             int rings);

}  // namespace isochron::cuda
