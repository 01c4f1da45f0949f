// Whether straight lines stay inside a mesh.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/mesh/adjacency.h"

namespace isochron {

/// Calls `visit(ElementId)` for each element that has all of `vertices` (at least one), in element order.
template <int Corners, class Visit>
void for_elements_sharing(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency,
                          std::span<const VertexId> vertices, Visit&& visit) {
  const VertexId rarest = *std::min_element(vertices.begin(), vertices.end(), [&](VertexId a, VertexId b) {
    return adjacency.valence(a) < adjacency.valence(b);
  });
  for (const std::uint32_t incidence : adjacency.at(rarest)) {
    const auto& corners = mesh.element(Adjacency::element_of(incidence));
    const auto has = [&](VertexId v) { return std::find(corners.begin(), corners.end(), v) != corners.end(); };
    if (std::all_of(vertices.begin(), vertices.end(), has)) visit(Adjacency::element_of(incidence));
  }
}

/// Calls `visit(ElementId, corner)` for each element that shares the face of e opposite `corner`, in element order.
template <int Corners, class Visit>
void for_face_neighbours(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, ElementId e, Visit&& visit) {
  // Incidences are in element order, so one merge of the corners' lists meets each neighbour in all but one of them.
  // The longest list is not needed for that: there may be very many elements at a vertex.
  std::array<std::span<const std::uint32_t>, Corners> list;
  int longest = 0;
  for (int c = 0; c < Corners; ++c) {
    list[c] = adjacency.at(mesh.element(e)[c]);
    if (list[c].size() > list[longest].size()) longest = c;
  }
  list[longest] = {};
  const VertexId left_out = mesh.element(e)[longest];
  constexpr std::uint32_t none = Adjacency::element_of(~0U).value;
  for (;;) {
    std::array<std::uint32_t, Corners> front;
    std::uint32_t least = none;
    for (int c = 0; c < Corners; ++c) {
      front[c] = list[c].empty() ? none : Adjacency::element_of(list[c].front()).value;
      least = std::min(least, front[c]);
    }
    if (least == none) return;
    int shared = 0, missing = 0;
    const auto& corners = mesh.element(ElementId(least));
    for (int c = 0; c < Corners; ++c) {
      const bool listed = front[c] == least;
      if (listed) list[c] = list[c].subspan(1);
      const bool has = listed || (c == longest && std::find(corners.begin(), corners.end(), left_out) != corners.end());
      shared += has ? 1 : 0;
      missing += has ? 0 : c;
    }
    if (shared == Corners - 1) visit(ElementId(least), missing);
  }
}

/// The elements that meet at a vertex.
inline std::vector<ElementId> elements_at(const Adjacency& adjacency, VertexId v) {
  std::vector<ElementId> result;
  for (const std::uint32_t incidence : adjacency.at(v)) result.push_back(Adjacency::element_of(incidence));
  return result;
}

/// True when the straight segment from `from`, a point of each of the elements `start`, to the vertex `to` stays inside
/// the elements of the mesh that are `passable`. It may run along faces and edges and through vertices, but it passes
/// only between elements that share the corners where it crosses, so not through a slit whose sides have vertices of
/// their own. On a triangle mesh the triangles on the way must lie in one plane with the segment (to 1e-6 of its
/// length); nothing is unfolded. Tolerance in the plane of crossing: 1e-9 of the segment's length.
template <int Corners>
bool segment_inside(
    const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, Vec3d from, std::span<const ElementId> start,
    VertexId to, const std::function<bool(ElementId)>& passable = [](ElementId) { return true; });

}  // namespace isochron
