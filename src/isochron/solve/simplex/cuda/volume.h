// The device's solver of tetrahedral meshes.
#pragma once

#include <memory>
#include <optional>

#include "isochron/solve/simplex/cuda/mesh_solver.h"
#include "isochron/solve/simplex/cuda/tuning.h"

namespace isochron::cuda {

/// Device memory that a mesh takes at most while it is prepared and solved, about.
constexpr std::size_t volume_bytes(std::size_t vertices, std::size_t elements, std::size_t scalar_bytes,
                                   std::size_t metric_bytes_per_element) {
  const std::size_t an_element = 16 + 16 + 4 * (4 + 6 * scalar_bytes);     // corners, incidences, stars
  const std::size_t a_vertex = 60 + 60 + 24 + 12 + 16 + 3 * scalar_bytes;  // numbering, neighbours, plan, lists, times
  return vertices * a_vertex + elements * (an_element + metric_bytes_per_element);
}

/// Copies the mesh to the device, unless it is there, and prepares it. What it is made from must outlive it. Throws
/// InputError as `check_mesh` and `check_metric` do, RuntimeError when there is no device or the mesh does not fit its
/// memory. As many layers as the memory takes, at most 64, are solved at once. Without
/// `tuning` it takes what suits the device.
template <class T>
std::unique_ptr<MeshSolver<T>> make_volume_solver(const MeshInput<4>& mesh, const MetricInput& metric,
                                                  const std::optional<PushTuning>& tuning = {});

}  // namespace isochron::cuda
