#include "isochron/dist/piece_border.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace isochron {

template <int Corners>
std::vector<VertexId> border_vertices(const SimplexMesh<Corners>& mesh) {
  std::vector<std::array<VertexId, Corners - 1>> facets;
  facets.reserve(mesh.element_count() * Corners);
  for (const auto& element : mesh.elements)
    for (int left_out = 0; left_out < Corners; ++left_out) {
      std::array<VertexId, Corners - 1> facet;
      for (int k = 0, at = 0; k < Corners; ++k)
        if (k != left_out) facet[at++] = element[k];
      std::sort(facet.begin(), facet.end());
      facets.push_back(facet);
    }
  std::sort(facets.begin(), facets.end());
  std::vector<VertexId> result;
  for (std::size_t i = 0, next; i < facets.size(); i = next) {
    for (next = i + 1; next < facets.size() && facets[next] == facets[i];) ++next;
    if (next == i + 1) result.insert(result.end(), facets[i].begin(), facets[i].end());
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::size_t> match_borders(std::span<const BorderVertex> vertices) {
  std::vector<std::size_t> order(vertices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) { return std::tie(vertices[i].at.x, vertices[i].at.y, vertices[i].at.z); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return std::tie(vertices[a].piece, vertices[a].vertex) < std::tie(vertices[b].piece, vertices[b].vertex);
  });
  std::vector<std::size_t> same(vertices.size());
  std::vector<std::size_t> firsts;  // at the current place
  std::size_t nth = 0;              // of the current piece there
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool new_place = i == 0 || place(order[i]) != place(order[i - 1]);
    if (new_place) firsts.clear();
    nth = new_place || vertices[order[i]].piece != vertices[order[i - 1]].piece ? 0 : nth + 1;
    if (nth == firsts.size()) firsts.push_back(order[i]);
    same[order[i]] = firsts[nth];
  }
  return same;
}

template std::vector<VertexId> border_vertices(const SimplexMesh<3>&);
template std::vector<VertexId> border_vertices(const SimplexMesh<4>&);

}  // namespace isochron
