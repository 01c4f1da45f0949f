// Moving the vertices of a mesh without turning an element inside out.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// Six times the signed volume of a tetrahedron; twice the signed area of a triangle seen from +z.
inline double signed_measure(const std::array<Vec3d, 4>& p) {
  return dot(p[1] - p[0], cross(p[2] - p[0], p[3] - p[0]));
}
inline double signed_measure(const std::array<Vec3d, 3>& p) { return cross(p[1] - p[0], p[2] - p[0]).z; }
template <int Corners>
double signed_measure(const SimplexMesh<Corners>& mesh, const typename SimplexMesh<Corners>::Element& element) {
  std::array<Vec3d, Corners> points;
  for (int k = 0; k < Corners; ++k) points[k] = mesh.point(element[k]);
  return signed_measure(points);
}

/// Moves every point by its displacement (one per point). Where an element (positively oriented before; triangles lie
/// in a plane of constant z) would keep less than `keep` of its volume or area, the longest displacement of its
/// corners is halved until it keeps that. Returns how many elements needed it.
template <int Corners>
std::size_t displace(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, double keep = 0.1);

/// The same for a piece of a larger mesh, with its elements in the same order. Elements outside the piece may shorten
/// the moves of the vertices that are `unsure` (one flag per point). Those whose final place may depend on that are
/// unsure afterwards; all others are where displacing the whole mesh puts them.
template <int Corners>
void displace_piece(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, std::vector<bool>& unsure,
                    double keep = 0.1);

/// A vector with each component uniform in [−reach, reach] of that component.
inline Vec3d random_displacement(Random& random, Vec3d reach) {
  const double x = random.uniform(-reach.x, reach.x);
  const double y = random.uniform(-reach.y, reach.y);
  const double z = random.uniform(-reach.z, reach.z);
  return {x, y, z};
}

}  // namespace isochron
