#include "isochron/solve/simplex/near_sources.h"

#include <algorithm>

#include "isochron/core/number_map.h"
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
  std::vector<VertexId> user;  ///< by vertex of the part
  NumberMap in_part;           ///< and back
};

template <int Corners>
Part<Corners> cut_out(const MeshParts<Corners>& mesh, std::span<const ElementId> elements,
                      std::span<const VertexId> sources, int rings) {
  Part<Corners> part;
  part.mesh.elements = mesh.elements(elements);
  for (auto& element : part.mesh.elements)
    for (VertexId& v : element) {
      const auto [number, fresh] = part.in_part.number_of(v.value);
      if (fresh) part.user.push_back(v);
      v = VertexId(number);
    }
  part.mesh.points = mesh.points(part.user);
  part.metric = mesh.metric(elements);
  std::vector<VertexId> centres;
  for (const VertexId v : sources) {
    const auto found = part.in_part.find(v.value);
    if (!found) refuse_isolated(v);
    centres.emplace_back(*found);
  }
  part.adjacency = inner_adjacency(part.mesh, centres, rings);
  return part;
}

template <int Corners>
std::vector<Seed> seeds_of(const Part<Corners>& part, const Sources& sources, SourceInit init,
                           const BallLimits& limits) {
  Sources local;
  for (const VertexSource& source : sources.vertices)
    local.vertices.push_back({VertexId(part.in_part.find(source.vertex.value).value()), source.time});
  const PlacedSources placed = place_sources(part.mesh, part.adjacency, local);
  std::vector<Seed> seeds = make_seeds(part.mesh, part.metric, part.adjacency, local, placed, init, limits);
  for (Seed& seed : seeds) seed.vertex = part.user[seed.vertex.index()];
  return seeds;
}

}  // namespace

template <int Corners>
Adjacency inner_adjacency(const SimplexMesh<Corners>& part, std::span<const VertexId> centres, int rings) {
  const Adjacency all = build_adjacency(part);
  std::vector<int> hops(part.vertex_count(), rings + 1);
  std::vector<VertexId> wave(centres.begin(), centres.end()), next;
  for (const VertexId v : wave) hops[v.index()] = 0;
  for (int hop = 1; hop <= rings; ++hop, wave.swap(next), next.clear())
    for (const VertexId v : wave)
      for (const std::uint32_t incidence : all.at(v))
        for (const VertexId w : part.element(Adjacency::element_of(incidence)))
          if (hops[w.index()] > hop) {
            hops[w.index()] = hop;
            next.push_back(w);
          }
  Adjacency inner;
  inner.offsets.assign(1, 0);
  for (std::size_t v = 0; v < part.vertex_count(); ++v) {
    if (hops[v] <= rings)
      for (const std::uint32_t incidence : all.at(VertexId(v))) inner.incidences.push_back(incidence);
    inner.offsets.push_back(static_cast<std::uint32_t>(inner.incidences.size()));
  }
  return inner;
}

template <int Corners>
std::vector<std::vector<Seed>> seeds_near(const MeshParts<Corners>& mesh, std::span<const Sources> source_sets,
                                          SourceInit init, int ball_rings) {
  std::vector<VertexId> vertices;
  std::vector<BallLimits> limits;
  int widest = 0;
  for (std::size_t i = 0; i < source_sets.size(); ++i) {
    const std::vector<VertexSource>& sources = source_sets[i].vertices;
    limits.push_back(ball_limits(ball_rings, count_distinct(source_sets[i]), mesh.vertex_count, Corners - 1));
    widest = std::max(widest, limits.back().edges_across(Corners - 1));
    for (const VertexSource& source : sources) {
      for_source_set(i, source_sets.size(), [&] { check_vertex_source(source, mesh.vertex_count); });
      vertices.push_back(source.vertex.in_whole());
    }
  }
  // The ball is round in the metric, not in edges: it goes further than its rings across the diagonals of a lattice,
  // and more so where elements are stretched.
  const int first = init == SourceInit::ball ? widest + widest / 2 + 1 : 0;
  for (int rings = first;; rings += rings / 2 + 1) {
    const std::vector<ElementId> elements = mesh.elements_near(vertices, rings);
    const Part<Corners> part = cut_out(mesh, elements, vertices, rings);
    try {
      std::vector<std::vector<Seed>> result;
      for (std::size_t i = 0; i < source_sets.size(); ++i) {
        result.push_back(
            for_source_set(i, source_sets.size(), [&] { return seeds_of(part, source_sets[i], init, limits[i]); }));
      }
      return result;
    } catch (const PartTooSmall&) {
      continue;  // ends: a part that holds all that is connected with the sources has no edge
    }
  }
}

template Adjacency inner_adjacency(const TriangleMesh&, std::span<const VertexId>, int);
template Adjacency inner_adjacency(const TetMesh&, std::span<const VertexId>, int);
template std::vector<std::vector<Seed>> seeds_near(const MeshParts<3>&, std::span<const Sources>, SourceInit, int);
template std::vector<std::vector<Seed>> seeds_near(const MeshParts<4>&, std::span<const Sources>, SourceInit, int);

}  // namespace isochron
