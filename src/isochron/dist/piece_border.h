// Where pieces of one mesh meet, found by the places of their vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/types.h"

namespace isochron {

/// The vertices of facets (edges of triangles, faces of tetrahedra) that belong to one element only, ascending. A piece
/// of a mesh can meet others only there.
template <int Corners>
std::vector<VertexId> border_vertices(const SimplexMesh<Corners>& mesh);

/// Whether two copies of a vertex are at the same place, up to what files round away.
inline bool same_place(const Vec3d& a, const Vec3d& b) { return !(norm(a - b) > 1e-6 * norm(a)); }

/// A vertex on the border of a piece.
struct BorderVertex {
  Vec3d at;
  std::uint32_t piece = 0;
  std::uint64_t vertex = 0;  ///< its number in the piece
};

/// For each vertex, the place in the list of the one it is the same as: itself, or one in an earlier piece at exactly
/// the same place. Where a piece has several vertices at one place (the two sides of a slit) they stay apart, and the
/// first of another piece is the same as the first, the second as the second.
std::vector<std::size_t> match_borders(std::span<const BorderVertex> vertices);

}  // namespace isochron
