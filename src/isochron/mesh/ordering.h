// Cache-friendly numbering of vertices along a Hilbert curve.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/mesh/hilbert_curve.h"

namespace isochron {

/// A renumbering: `new_to_old[i]` is the user's id of the vertex that stands at place i, `old_to_new` its inverse.
struct Permutation {
  std::vector<std::uint32_t> new_to_old;
  std::vector<std::uint32_t> old_to_new;
  [[nodiscard]] bool identity() const { return new_to_old.empty(); }
};

enum class CurveDetail {
  points,  ///< every point has its place on the curve
  blocks   ///< cells of some sixteen points, a cache line of times, follow the curve; inside, the old order stays
};

/// The frame for `count` points in a box, at least one.
CurveFrame curve_frame(const Vec3d& low, const Vec3d& high, std::size_t count, CurveDetail detail);

/// Vertices sorted along a Hilbert curve through their bounding box.
Permutation hilbert_order(std::span<const Vec3d> points, CurveDetail detail = CurveDetail::points, int threads = 1);

/// Mean over a sample of elements of how far apart (in ids) their vertices lie. Small means cache-friendly as it is.
template <int Corners>
double mean_id_span(const SimplexMesh<Corners>& mesh);

/// True when the user's own numbering is about as local as a lattice's (of moderate size, for surfaces), so that
/// sorting would not pay.
template <int Corners>
bool locally_ordered(const SimplexMesh<Corners>& mesh);

}  // namespace isochron
