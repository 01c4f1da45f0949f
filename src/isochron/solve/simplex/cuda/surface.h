// The device's solver of triangle meshes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "isochron/options.h"
#include "isochron/solve/simplex/cuda/mesh_solver.h"

namespace isochron::cuda {

/// Numbers of the schedule for surfaces, found by measuring on compute capability 9.0 (bench/NOTES.md).
struct SurfaceTuning {
  std::uint32_t patch_vertices = 512;  ///< a power of two; at most what the largest block holds
  std::uint32_t hops = 1;              ///< of a block in a patch before others learn of it
  std::uint32_t warp_hops = 2;         ///< of a warp by itself in one of these
  int blocks_per_multiprocessor = 1;
  double band_width = 8;        ///< patches whose news differ by less than this many edges are taken in any order
  std::uint32_t max_turns = 0;  ///< of a block; 0: as many as theory says (`max_rounds`)
};

/// Device memory that a surface takes while it is prepared and solved, about: with one and a half places for records a
/// corner, of which more are needed where many corners are obtuse.
constexpr std::size_t surface_bytes(std::size_t vertices, std::size_t elements, std::size_t scalar_bytes,
                                    std::size_t metric_bytes_per_element) {
  const std::size_t an_element = 12 + 12 + 3 * scalar_bytes + 1;         // corners, incidences, lengths, obtuse corners
  const std::size_t records = 3 * (4 + 5 * scalar_bytes) * 3 / 2;        // of an element
  const std::size_t a_vertex = 36 + 12 + 8 + 8 + 40 + 3 * scalar_bytes;  // numbering, places, ghosts, times, labels
  return vertices * a_vertex + elements * (an_element + records + metric_bytes_per_element);
}

/// Copies the mesh to the device, unless it is there, and prepares it (it must outlive the solver): patches that blocks
/// solve in shared memory. Throws InputError as `check_mesh` and `check_metric` do, RuntimeError when there is no
/// device or the mesh does not fit its memory. One layer is solved at a time. Without `tuning` it takes what suits the
/// device.
template <class T>
std::unique_ptr<MeshSolver<T>> make_surface_solver(const MeshInput<3>& mesh, const MetricInput& metric,
                                                   ObtuseSplit split, const std::optional<SurfaceTuning>& tuning = {});

}  // namespace isochron::cuda
