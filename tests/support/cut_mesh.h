// Meshes with slits and missing parts, for tests of what can be seen from where.
#pragma once

#include <map>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/mesh/closest_point.h"

namespace isochron {

template <int Corners>
Vec3d centroid(const SimplexMesh<Corners>& mesh, ElementId e) {
  Vec3d sum;
  for (const Vec3d& x : corner_points(mesh, e)) sum += x;
  return sum / static_cast<double>(Corners);
}

/// Gives the elements for which `above(centroid)` holds their own copies of the vertices for which `on_slit(point)`
/// holds.
template <int Corners, class OnSlit, class Above>
SimplexMesh<Corners> slit(SimplexMesh<Corners> mesh, OnSlit&& on_slit, Above&& above) {
  std::map<VertexId, VertexId> copies;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    if (!above(centroid(mesh, ElementId(e)))) continue;
    for (VertexId& v : mesh.elements[e]) {
      if (!on_slit(mesh.point(v))) continue;
      const auto [place, fresh] = copies.try_emplace(v, mesh.vertex_count());
      if (fresh) mesh.points.push_back(Vec3d(mesh.point(v)));
      v = place->second;
    }
  }
  return mesh;
}

/// Drops the elements for which `hole(centroid)` holds; vertices stay.
template <int Corners, class Hole>
SimplexMesh<Corners> without(const SimplexMesh<Corners>& mesh, Hole&& hole) {
  SimplexMesh<Corners> result{mesh.points, {}};
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    if (!hole(centroid(mesh, ElementId(e)))) result.elements.push_back(mesh.elements[e]);
  return result;
}

/// The vertex nearest to p (the first of several).
template <int Corners>
VertexId vertex_at(const SimplexMesh<Corners>& mesh, Vec3d p) {
  std::size_t best = 0;
  for (std::size_t v = 1; v < mesh.vertex_count(); ++v)
    if (norm(mesh.points[v] - p) < norm(mesh.points[best] - p)) best = v;
  return VertexId(best);
}

/// Turns a flat mesh into a general position in space.
template <int Corners>
void tilt(SimplexMesh<Corners>& mesh) {
  for (Vec3d& p : mesh.points)
    p = Vec3d{0.6 * p.x - 0.8 * p.y, 0.48 * p.x + 0.36 * p.y - 0.8 * p.z, 0.64 * p.x + 0.48 * p.y + 0.6 * p.z} +
        Vec3d{3, -2, 5};
}

}  // namespace isochron
