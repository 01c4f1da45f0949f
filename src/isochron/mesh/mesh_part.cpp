#include "isochron/mesh/mesh_part.h"

#include <algorithm>
#include <utility>

namespace isochron {

template <int Corners>
bool MeshPart<Corners>::counts(ElementId e) const {
  const auto& corners = mesh.element(e);
  const auto lowest = std::min_element(corners.begin(), corners.end(), [this](VertexId a, VertexId b) {
    return global_vertex[a.index()] < global_vertex[b.index()];
  });
  return owns(*lowest);
}

template <int Corners>
VertexId MeshPart<Corners>::local_vertex(std::uint64_t global) const {
  const auto middle = global_vertex.begin() + static_cast<std::ptrdiff_t>(owned);
  for (const auto& [begin, end] : {std::pair{global_vertex.begin(), middle}, std::pair{middle, global_vertex.end()}}) {
    const auto at = std::lower_bound(begin, end, global);
    if (at != end && *at == global) return VertexId(static_cast<std::size_t>(at - global_vertex.begin()));
  }
  return {};
}

template <int Corners>
MeshPart<Corners> cut_part(const SimplexMesh<Corners>& mesh, std::span<const std::uint32_t> part_of,
                           std::uint32_t part) {
  constexpr std::uint32_t absent = 0xffffffffU, wanted = 0xfffffffeU;
  MeshPart<Corners> result;
  result.whole_vertices = mesh.vertex_count();
  result.whole_elements = mesh.element_count();
  std::vector<std::uint32_t> local(mesh.vertex_count(), absent);
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const auto& corners = mesh.elements[e];
    if (std::none_of(corners.begin(), corners.end(), [&](VertexId v) { return part_of[v.index()] == part; })) continue;
    result.global_element.push_back(e);
    for (const VertexId v : corners) local[v.index()] = wanted;
  }
  const auto take = [&](std::size_t v) {
    local[v] = static_cast<std::uint32_t>(result.global_vertex.size());
    result.global_vertex.push_back(v);
    result.mesh.points.push_back(mesh.points[v]);
  };
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    if (part_of[v] == part) take(v);
  result.owned = result.global_vertex.size();
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    if (local[v] == wanted) {
      take(v);
      result.ghost_owner.push_back(part_of[v]);
    }
  result.mesh.elements.reserve(result.global_element.size());
  for (const std::uint64_t e : result.global_element) {
    typename SimplexMesh<Corners>::Element element;
    for (int k = 0; k < Corners; ++k) element[k] = VertexId(local[mesh.elements[e][k].index()]);
    result.mesh.elements.push_back(element);
  }
  return result;
}

template struct MeshPart<3>;
template struct MeshPart<4>;
template MeshPart<3> cut_part(const SimplexMesh<3>&, std::span<const std::uint32_t>, std::uint32_t);
template MeshPart<4> cut_part(const SimplexMesh<4>&, std::span<const std::uint32_t>, std::uint32_t);

}  // namespace isochron
