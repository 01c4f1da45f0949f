#include "isochron/partition.h"

#include <algorithm>
#include <limits>
#include <string>

#if defined(ISOCHRON_WITH_METIS)
#include <metis.h>
#endif

#include "isochron/error.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/ordering.h"

namespace isochron {
namespace {

template <int Corners>
std::vector<std::uint32_t> curve_parts(const SimplexMesh<Corners>& mesh, std::uint32_t parts, int threads) {
  const Permutation order = hilbert_order(mesh.points, CurveDetail::points, threads);
  const std::uint64_t count = mesh.vertex_count();
  std::vector<std::uint32_t> part_of(count);
  for (std::uint64_t i = 0; i < count; ++i)
    part_of[order.new_to_old[i]] = static_cast<std::uint32_t>(i * parts / count);
  return part_of;
}

#if defined(ISOCHRON_WITH_METIS)
/// Vertices joined by the elements' edges, as METIS wants it.
struct MetisGraph {
  std::vector<idx_t> offsets, neighbors;
  bool fits = true;  ///< false when there are more edges than METIS can count; nothing else is set then
};

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

/// The part of every vertex; none is empty. Precondition: at least as many vertices as parts.
std::vector<std::uint32_t> metis_partition(const MetisGraph& graph, std::uint32_t parts) {
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

/// With smaller parts METIS leaves some empty, and below a few vertices it prints complaints.
constexpr std::size_t min_metis_part = 16;
/// METIS takes 1.7 s for 1000 parts of a million vertices, 15 s for 16,000: more than the shorter borders save.
constexpr std::uint32_t max_usual_metis_parts = 2048;

template <int Corners>
bool wants_metis(const SimplexMesh<Corners>& mesh, std::uint32_t parts, Partitioner partitioner) {
  if (partitioner == Partitioner::curve || parts < 2 || mesh.element_count() == 0) return false;
  const bool usual = parts <= max_usual_metis_parts || partitioner == Partitioner::metis;
  return usual && mesh.vertex_count() / parts >= min_metis_part;
}
#endif

}  // namespace

bool has_metis() {
#if defined(ISOCHRON_WITH_METIS)
  return true;
#else
  return false;
#endif
}

template <int Corners>
std::vector<std::uint32_t> partition_vertices(const SimplexMesh<Corners>& mesh, std::uint32_t parts,
                                              Partitioner partitioner, int threads) {
  if (partitioner == Partitioner::metis && !has_metis())
    throw UsageError("this build has no METIS; leave " + Setting{Option::partitioner} +
                     " out, or build where libmetis-dev is installed");
#if defined(ISOCHRON_WITH_METIS)
  if (wants_metis(mesh, parts, partitioner)) {
    const MetisGraph graph = metis_graph(mesh);
    if (graph.fits) return metis_partition(graph, parts);
    if (partitioner == Partitioner::metis)
      throw UsageError("the mesh is too large for this build's METIS, which counts in 32 bits; use " +
                       Setting{Option::partitioner, "curve"});
  }
#endif
  return curve_parts(mesh, parts, threads);
}

template std::vector<std::uint32_t> partition_vertices(const SimplexMesh<3>&, std::uint32_t, Partitioner, int);
template std::vector<std::uint32_t> partition_vertices(const SimplexMesh<4>&, std::uint32_t, Partitioner, int);

}  // namespace isochron
