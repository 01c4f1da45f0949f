// Moving the vertices of a mesh without turning an element inside out.
#pragma once

#include <span>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// Six times the signed volume of a tetrahedron; twice the signed area of a triangle seen from +z.
inline double signed_measure(const TetMesh& mesh, const TetMesh::Element& element) {
  const Vec3d& a = mesh.point(element[0]);
  return dot(mesh.point(element[1]) - a, cross(mesh.point(element[2]) - a, mesh.point(element[3]) - a));
}
inline double signed_measure(const TriangleMesh& mesh, const TriangleMesh::Element& element) {
  const Vec3d& a = mesh.point(element[0]);
  return cross(mesh.point(element[1]) - a, mesh.point(element[2]) - a).z;
}

/// Moves every point by its displacement (one per point). Where an element (positively oriented before; triangles lie
/// in a plane of constant z) would keep less than `keep` of its volume or area, the longest displacement of its
/// corners is halved until it keeps that. Returns how many elements needed it.
template <int Corners>
std::size_t displace(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, double keep = 0.1);

/// A vector with each component uniform in [−reach, reach] of that component.
inline Vec3d random_displacement(Random& random, Vec3d reach) {
  const double x = random.uniform(-reach.x, reach.x);
  const double y = random.uniform(-reach.y, reach.y);
  const double z = random.uniform(-reach.z, reach.z);
  return {x, y, z};
}

}  // namespace isochron
