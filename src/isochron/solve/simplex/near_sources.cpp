#include "isochron/solve/simplex/near_sources.h"

#include <algorithm>
#include <unordered_map>

#include "isochron/solve/simplex/source_ball.h"
#include "isochron/solve/source_set.h"

namespace isochron {
namespace {

/// Elements of a mesh as a mesh of their own. Its adjacency lists the vertices that have all their elements here; the
/// others, at its edge, have none listed.
template <int Corners>
struct Part {
  SimplexMesh<Corners> mesh;
  Metric metric;
  Adjacency adjacency;
  std::vector<VertexId> user;                           ///< by vertex of the part
  std::unordered_map<std::uint32_t, VertexId> in_part;  ///< and back
};

/// Drops what the adjacency lists for vertices more than `rings` edges from the given ones.
template <int Corners>
void keep_inner(Part<Corners>& part, std::span<const VertexId> centres, int rings) {
  std::vector<int> hops(part.mesh.vertex_count(), rings + 1);
  std::vector<VertexId> wave(centres.begin(), centres.end()), next;
  for (const VertexId v : wave) hops[v.index()] = 0;
  for (int hop = 1; hop <= rings; ++hop, wave.swap(next), next.clear())
    for (const VertexId v : wave)
      for (const std::uint32_t incidence : part.adjacency.at(v))
        for (const VertexId w : part.mesh.element(Adjacency::element_of(incidence)))
          if (hops[w.index()] > hop) {
            hops[w.index()] = hop;
            next.push_back(w);
          }
  Adjacency inner;
  inner.offsets.assign(1, 0);
  for (std::size_t v = 0; v < part.mesh.vertex_count(); ++v) {
    if (hops[v] <= rings)
      for (const std::uint32_t incidence : part.adjacency.at(VertexId(v))) inner.incidences.push_back(incidence);
    inner.offsets.push_back(static_cast<std::uint32_t>(inner.incidences.size()));
  }
  part.adjacency = std::move(inner);
}

template <int Corners>
Part<Corners> cut_out(const SimplexMesh<Corners>& mesh, const Metric& metric, std::span<const ElementId> elements,
                      std::span<const VertexId> sources, int rings) {
  Part<Corners> part;
  for (const ElementId e : elements) {
    typename SimplexMesh<Corners>::Element element;
    for (std::size_t c = 0; c < element.size(); ++c) {
      const VertexId v = mesh.element(e)[c];
      const auto [place, fresh] = part.in_part.try_emplace(v.value, VertexId(part.user.size()));
      if (fresh) {
        part.user.push_back(v);
        part.mesh.points.push_back(mesh.point(v));
      }
      element[c] = place->second;
    }
    part.mesh.elements.push_back(element);
  }
  part.metric = metric.of(elements);
  part.adjacency = build_adjacency(part.mesh);
  std::vector<VertexId> centres;
  for (const VertexId v : sources) {
    const auto found = part.in_part.find(v.value);
    if (found == part.in_part.end()) refuse_isolated(v);
    centres.push_back(found->second);
  }
  keep_inner(part, centres, rings);
  return part;
}

template <int Corners>
std::vector<Seed> seeds_of(const Part<Corners>& part, const Sources& sources, SourceInit init, int ball_rings) {
  Sources local;
  for (const VertexSource& source : sources.vertices)
    local.vertices.push_back({part.in_part.at(source.vertex.value), source.time});
  const PlacedSources placed = place_sources(part.mesh, part.adjacency, local);
  std::vector<Seed> seeds = make_seeds(part.mesh, part.metric, part.adjacency, local, placed, init, ball_rings);
  for (Seed& seed : seeds) seed.vertex = part.user[seed.vertex.index()];
  return seeds;
}

}  // namespace

template <int Corners>
std::vector<std::vector<Seed>> seeds_near(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                          std::span<const Sources> source_sets, SourceInit init, int ball_rings,
                                          const ElementsNear& elements_near) {
  std::vector<VertexId> vertices;
  int widest = 0;
  for (std::size_t i = 0; i < source_sets.size(); ++i) {
    const std::vector<VertexSource>& sources = source_sets[i].vertices;
    widest = std::max(widest, limited_rings(ball_rings, sources.size(), mesh.vertex_count(), Corners - 1));
    for (const VertexSource& source : sources) {
      for_source_set(i, source_sets.size(), [&] { check_vertex_source(source, mesh.vertex_count()); });
      vertices.push_back(source.vertex);
    }
  }
  // The ball is round in the metric, not in edges: where elements are stretched it goes further than its rings.
  const int first = init == SourceInit::ball ? widest + 3 : 0;
  for (int rings = first;; rings = 2 * rings + 1) {
    const std::vector<ElementId> elements = elements_near(vertices, rings);
    const Part<Corners> part = cut_out(mesh, metric, elements, vertices, rings);
    try {
      std::vector<std::vector<Seed>> result;
      for (std::size_t i = 0; i < source_sets.size(); ++i) {
        const Sources& sources = source_sets[i];
        const int most = limited_rings(ball_rings, sources.vertices.size(), mesh.vertex_count(), Corners - 1);
        result.push_back(for_source_set(i, source_sets.size(), [&] { return seeds_of(part, sources, init, most); }));
      }
      return result;
    } catch (const PartTooSmall&) {
      continue;  // ends: a part that holds all that is connected with the sources has no edge
    }
  }
}

template std::vector<std::vector<Seed>> seeds_near(const TriangleMesh&, const Metric&, std::span<const Sources>,
                                                   SourceInit, int, const ElementsNear&);
template std::vector<std::vector<Seed>> seeds_near(const TetMesh&, const Metric&, std::span<const Sources>, SourceInit,
                                                   int, const ElementsNear&);

}  // namespace isochron
