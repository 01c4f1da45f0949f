// A triangle mesh cut into patches that a thread block each holds in shared memory, as the device's schedule for
// surfaces reads them. Built by the host; needs no CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/core/host_device.h"
#include "isochron/local/prepared_edge.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::cuda {

/// How a block is laid over a patch: `lanes` threads share a vertex and hold `held` records each.
struct PatchShape {
  std::uint32_t vertices = 256;
  std::uint32_t lanes = 2;
  std::uint32_t held = 3;

  [[nodiscard]] ISOCHRON_HD std::uint32_t threads() const { return vertices * lanes; }
  /// One ghost a thread, so that a block fetches them in one step.
  [[nodiscard]] ISOCHRON_HD std::uint32_t ghosts() const { return threads(); }
  /// Local numbers: the patch's own vertices, its ghosts, and one that is never reached.
  [[nodiscard]] ISOCHRON_HD std::uint32_t nowhere() const { return vertices + ghosts(); }
  [[nodiscard]] ISOCHRON_HD std::uint32_t slots() const { return lanes * held; }
};

/// A record that found no place in its patch: of a vertex with more of them than its threads hold, or in a patch with
/// more ghosts than fit. It names its ends by place.
template <class T>
struct ExtraRecord {
  std::uint32_t a, b;
  PreparedEdge<T> edge;
};

/// The patches of a mesh. A vertex's *place* is patch * shape.vertices + its number in the patch; places that no vertex
/// has are never reached. A *record* is one triangle, real or virtual, that can lower its target: all records of a
/// vertex together are its update. A *ghost* is a vertex of another patch that a record names.
template <class T>
struct SurfacePatches {
  static constexpr std::uint32_t none = ~0U;
  static constexpr std::uint32_t values = 5;  ///< of a PreparedEdge
  /// Neighbours that a bit of `reach` stands for by themselves; the last bit stands for all further ones.
  static constexpr std::uint32_t near_count = 31;

  PatchShape shape;
  std::uint32_t count = 0;
  BigVector<std::uint32_t> vertex_at;        ///< by place: internal vertex, or none
  BigVector<std::uint32_t> place_of;         ///< by internal vertex
  BigVector<T> edge;                         ///< by place: mean edge travel time
  BigVector<T> lengths;                      ///< [patch][held][value][thread]
  BigVector<std::uint32_t> ends;             ///< [patch][held][thread]: local numbers a | b << 16
  BigVector<std::uint32_t> ghosts;           ///< [patch][thread]: place, or none
  std::vector<std::uint32_t> extra_offsets;  ///< by place, and one more; empty when there are none
  std::vector<ExtraRecord<T>> extras;
  /// By place: which neighbours of its patch have the vertex as an end of a record.
  BigVector<std::uint32_t> reach;
  std::vector<std::uint32_t> near;  ///< [patch][near_count + 1]: patch, or none
  std::vector<std::uint32_t> far_offsets, far;

  [[nodiscard]] std::size_t places() const { return std::size_t{count} * shape.vertices; }
  [[nodiscard]] std::uint32_t patch_of(std::uint32_t place) const { return place / shape.vertices; }
  /// Calls `visit(patch)` for every patch, but the vertex's own, that may depend on the vertex at that place.
  template <class Visit>
  void each_dependent(std::uint32_t place, Visit&& visit) const {
    const std::uint32_t patch = patch_of(place), bits = reach[place];
    for (std::uint32_t k = 0; k < near_count; ++k)
      if (((bits >> k) & 1U) != 0) visit(near[patch * (near_count + 1) + k]);
    if ((bits >> near_count) == 0) return;
    for (std::uint32_t i = far_offsets[patch]; i < far_offsets[patch + 1]; ++i) visit(far[i]);
  }
};

/// How many vertices have more records than `slots`.
template <class T>
std::size_t vertices_beyond(const SimplexProblem<T, 3>& problem, std::uint32_t slots);

/// Cuts along a Hilbert curve into patches of equal size. Any number of records a vertex and any number of ghosts will
/// do, only slower. At most 2¹⁵ threads a patch.
template <class T>
SurfacePatches<T> cut_into_patches(const SimplexProblem<T, 3>& problem, const SimplexMesh<3>& mesh,
                                   const PatchShape& shape, int threads);

}  // namespace isochron::cuda
