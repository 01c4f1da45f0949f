#include "isochron/mesh/metis/metis_parts.h"

#include <algorithm>
#include <limits>
#include <string>

#include "isochron/core/error.h"
#include "isochron/mesh/adjacency.h"

namespace isochron {
namespace {

/// METIS balances on the whole but may leave a part empty: it gets a vertex of the largest one.
void fill_empty_parts(std::vector<std::uint32_t>& part_of, std::uint32_t parts) {
  std::vector<std::vector<std::uint32_t>> members(parts);
  for (std::size_t v = 0; v < part_of.size(); ++v) members[part_of[v]].push_back(static_cast<std::uint32_t>(v));
  for (std::uint32_t part = 0; part < parts; ++part) {
    if (!members[part].empty()) continue;
    auto& largest = *std::max_element(members.begin(), members.end(),
                                      [](const auto& a, const auto& b) { return a.size() < b.size(); });
    members[part].push_back(largest.back());
    part_of[largest.back()] = part;
    largest.pop_back();
  }
}

}  // namespace

template <int Corners>
MetisGraph metis_graph(const SimplexMesh<Corners>& mesh) {
  const Adjacency adjacency = build_adjacency(mesh);
  MetisGraph graph;
  graph.offsets.reserve(mesh.vertex_count() + 1);
  graph.offsets.push_back(0);
  // Who has seen a vertex last; nobody has the number of vertices.
  std::vector<std::size_t> seen_by(mesh.vertex_count(), mesh.vertex_count());
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    seen_by[v] = v;
    for (const std::uint32_t incidence : adjacency.at(VertexId(v)))
      for (const VertexId neighbor : mesh.element(Adjacency::element_of(incidence))) {
        if (seen_by[neighbor.index()] == v) continue;
        seen_by[neighbor.index()] = v;
        graph.neighbors.push_back(static_cast<idx_t>(neighbor.index()));
      }
    if (graph.neighbors.size() > static_cast<std::size_t>(std::numeric_limits<idx_t>::max())) return {{}, {}, false};
    graph.offsets.push_back(static_cast<idx_t>(graph.neighbors.size()));
  }
  return graph;
}

template MetisGraph metis_graph(const SimplexMesh<3>&);
template MetisGraph metis_graph(const SimplexMesh<4>&);

std::vector<std::uint32_t> metis_parts(const MetisGraph& graph, std::uint32_t parts) {
  auto count = static_cast<idx_t>(graph.offsets.size() - 1);
  auto wanted = static_cast<idx_t>(parts);
  idx_t constraints = 1, cut = 0;
  std::vector<idx_t> found(graph.offsets.size() - 1);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;  // the same parts every time
  // METIS takes what it only reads by plain pointers.
  const int code = METIS_PartGraphKway(&count, &constraints, const_cast<idx_t*>(graph.offsets.data()),
                                       const_cast<idx_t*>(graph.neighbors.data()), nullptr, nullptr, nullptr, &wanted,
                                       nullptr, nullptr, options, &cut, found.data());
  if (code != METIS_OK)
    throw RuntimeError(std::string("METIS could not cut the mesh (") +
                       (code == METIS_ERROR_MEMORY ? "out of memory" : "code " + std::to_string(code)) + "); use " +
                       Setting{Option::partitioner, "curve"});
  std::vector<std::uint32_t> part_of(found.begin(), found.end());
  fill_empty_parts(part_of, parts);
  return part_of;
}

}  // namespace isochron
