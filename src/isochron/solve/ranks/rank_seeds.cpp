#include "isochron/solve/ranks/rank_seeds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "isochron/capabilities.h"
#include "isochron/comm/collectives.h"
#include "isochron/mesh/locator.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/ranks/solve_messages.h"
#include "isochron/solve/simplex/near_sources.h"
#include "isochron/solve/simplex/seeds.h"

namespace isochron::ranks {
namespace {

/// A point source as found on some rank's part: the nearest place of all.
template <int Corners>
struct Found {
  double distance = std::numeric_limits<double>::infinity();
  Vec3d point;
  std::uint64_t element = 0;  ///< of the whole mesh
  std::array<std::uint64_t, Corners> corners{};
  std::array<double, Corners> weights{};
};

/// Edge lengths of a sample, for the scale of "near the mesh".
struct EdgeSample {
  double sum = 0, count = 0;
};

/// Some elements of the whole mesh with all that a ball needs.
template <int Corners>
struct Surroundings {
  SimplexMesh<Corners> mesh;
  Metric metric;
  std::vector<std::uint64_t> global_vertex;
  std::unordered_map<std::uint64_t, VertexId> vertex;    ///< and back
  std::unordered_map<std::uint64_t, ElementId> element;  ///< by global id
};

template <int Corners>
class Collector {
 public:
  Collector(Communicator& communicator, const MeshPart<Corners>& part, const Adjacency& adjacency, const Metric& metric)
      : communicator_(communicator), part_(part), adjacency_(adjacency), metric_(metric) {}

  /// Elements with a corner at most `rings` edges away from the centres; on rank 0, nothing elsewhere.
  Surroundings<Corners> collect(const std::vector<std::uint64_t>& centres, int rings) {
    std::unordered_set<std::uint64_t> seen(centres.begin(), centres.end());
    std::vector<std::uint64_t> wave(seen.begin(), seen.end());
    std::unordered_set<std::uint32_t> elements;  // of this part
    for (int ring = 0; ring <= rings; ++ring) {
      std::vector<std::uint64_t> beside;
      for (const std::uint64_t global : wave)
        if (const auto own = owned_place(part_, global))
          for (const std::uint32_t incidence : adjacency_.at(VertexId(*own))) {
            const ElementId e = Adjacency::element_of(incidence);
            if (!elements.insert(e.value).second) continue;
            for (const VertexId corner : part_.mesh.element(e)) beside.push_back(part_.global_vertex[corner.index()]);
          }
      wave.clear();
      for (const std::uint64_t global : everyones(beside))
        if (seen.insert(global).second) wave.push_back(global);
    }
    return on_root(elements);
  }

 private:
  std::vector<std::uint64_t> everyones(const std::vector<std::uint64_t>& values) {
    Bytes bytes;
    put_vector(bytes, values);
    std::vector<std::uint64_t> together;
    for (const Bytes& part : gather(communicator_, std::move(bytes)))
      for (const std::uint64_t value : Unpack(part).take_vector<std::uint64_t>()) together.push_back(value);
    return broadcast_values(communicator_, together);
  }

  /// One element on its way.
  struct Sent {
    std::uint64_t element;
    std::array<std::uint64_t, Corners> corners;
    std::array<Vec3d, Corners> points;
  };

  Surroundings<Corners> on_root(const std::unordered_set<std::uint32_t>& elements) {
    std::vector<Sent> sent;
    std::vector<ElementId> ids;
    for (const std::uint32_t e : elements) {
      ids.emplace_back(e);
      Sent& one = sent.emplace_back();
      one.element = part_.global_element[e];
      for (int c = 0; c < Corners; ++c) {
        const VertexId v = part_.mesh.elements[e][c];
        one.corners[c] = part_.global_vertex[v.index()];
        one.points[c] = part_.mesh.point(v);
      }
    }
    Bytes bytes;
    put_vector(bytes, sent);
    put_metric(bytes, metric_.of(ids));
    std::vector<Sent> all;
    std::vector<Metric> metrics;
    for (const Bytes& part : gather(communicator_, std::move(bytes))) {
      Unpack unpack(part);
      const auto some = unpack.template take_vector<Sent>();
      Metric metric = take_metric(unpack);
      if (some.empty()) continue;
      all.insert(all.end(), some.begin(), some.end());
      metrics.push_back(std::move(metric));
    }
    return assembled(all, joined(metrics));
  }

  /// Each element once, by ascending id: several ranks may have sent it.
  static Surroundings<Corners> assembled(const std::vector<Sent>& sent, const Metric& metric) {
    std::vector<ElementId> order;
    for (std::size_t i = 0; i < sent.size(); ++i) order.emplace_back(i);
    std::sort(order.begin(), order.end(),
              [&](ElementId a, ElementId b) { return sent[a.index()].element < sent[b.index()].element; });
    const auto same = [&](ElementId a, ElementId b) { return sent[a.index()].element == sent[b.index()].element; };
    order.erase(std::unique(order.begin(), order.end(), same), order.end());
    Surroundings<Corners> result;
    for (const ElementId i : order) {
      const Sent& one = sent[i.index()];
      typename SimplexMesh<Corners>::Element element;
      for (int c = 0; c < Corners; ++c) {
        const auto [place, fresh] = result.vertex.try_emplace(one.corners[c], VertexId(result.global_vertex.size()));
        if (fresh) {
          result.global_vertex.push_back(one.corners[c]);
          result.mesh.points.push_back(one.points[c]);
        }
        element[c] = place->second;
      }
      result.element.emplace(one.element, ElementId(result.mesh.element_count()));
      result.mesh.elements.push_back(element);
    }
    result.metric = metric.of(order);
    return result;
  }

  Communicator& communicator_;
  const MeshPart<Corners>& part_;
  const Adjacency& adjacency_;
  const Metric& metric_;
};

template <int Corners>
Found<Corners> nearest_here(const MeshPart<Corners>& part, const PointLocator<Corners>& locator, Vec3d position) {
  const Location<Corners> location = locator.nearest(position);
  Found<Corners> found{location.distance, location.point, part.global_element[location.element.index()], {}, {}};
  for (int c = 0; c < Corners; ++c) {
    found.corners[c] = part.global_vertex[part.mesh.element(location.element)[c].index()];
    found.weights[c] = location.weights[c];
  }
  return found;
}

/// The nearest place of each point, the same on all ranks. Throws InputError on all of them when one is too far away.
template <int Corners>
std::vector<Found<Corners>> find_points(Communicator& communicator, const MeshPart<Corners>& part,
                                        const std::vector<PointSource>& points) {
  std::vector<Found<Corners>> result;
  if (points.empty()) return result;
  EdgeSample sample;
  for (std::size_t e = 0; e < part.mesh.element_count(); e += 1 + part.mesh.element_count() / 1024) {
    sample.sum += norm(part.mesh.point(part.mesh.elements[e][1]) - part.mesh.point(part.mesh.elements[e][0]));
    sample.count += 1;
  }
  EdgeSample all;
  for (const EdgeSample& other : all_values(communicator, sample)) all.sum += other.sum, all.count += other.count;
  const double reach = all.count > 0 ? 0.5 * all.sum / all.count : 0;
  std::optional<PointLocator<Corners>> locator;
  if (part.mesh.element_count() > 0) locator.emplace(part.mesh);
  for (const PointSource& source : points) {
    const Vec3d p = source.position;
    if (!std::isfinite(p.x + p.y + p.z + source.time))
      throw InputError(fmt::format("source point {},{},{} or its onset is not finite; give numbers", p.x, p.y, p.z));
    Found<Corners> best;
    for (const Found<Corners>& other :
         all_values(communicator, locator ? nearest_here(part, *locator, p) : Found<Corners>{}))
      if (other.distance < best.distance) best = other;
    if (!(best.distance <= reach))
      throw InputError(fmt::format(
          "source point {},{},{} is {:.4g} away from the mesh (nearest point {:.6g},{:.6g},{:.6g}); give a point in or "
          "on the mesh, in the mesh's unit",
          p.x, p.y, p.z, best.distance, best.point.x, best.point.y, best.point.z));
    result.push_back(best);
  }
  return result;
}

/// Throws InputError on all ranks for a vertex that is none, or one of no element.
template <int Corners>
void check_vertices(Communicator& communicator, const MeshPart<Corners>& part, const Adjacency& adjacency,
                    const std::vector<VertexSource>& vertices) {
  for (const auto& [id, time] : vertices) {
    const std::uint64_t vertex = id.value;
    if (vertex >= part.whole_vertices)
      throw InputError(
          fmt::format("source vertex {} is out of range (the mesh has vertices 0 to {}); give an id of the mesh",
                      vertex, part.whole_vertices - 1));
    if (!std::isfinite(time))
      throw InputError(fmt::format("source vertex {} has onset time {}; give a finite number", vertex, time));
  }
  // By source: whether this rank has the vertex, and an element at it.
  std::vector<std::uint64_t> used;
  for (const auto& source : vertices) {
    const auto own = owned_place(part, source.vertex.value);
    used.push_back(own && adjacency.valence(VertexId(*own)) > 0 ? 1 : 0);
  }
  sum_over_ranks(communicator, used);
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] == 0)
      throw InputError(
          fmt::format("source vertex {} is not a vertex of any element; choose one that is", vertices[i].vertex.value));
}

/// The sources as they lie in their surroundings.
template <int Corners>
PlacedSources placed_in(const Surroundings<Corners>& near, const Adjacency& adjacency, const Sources& sources,
                        const std::vector<Found<Corners>>& found) {
  PlacedSources placed;
  std::int32_t index = 0;
  const auto at_vertex = [&](std::uint64_t global, double time) {
    const VertexId v = near.vertex.at(global);
    placed.points.push_back({near.mesh.point(v), v, true, elements_at(adjacency, v), time, index++});
  };
  for (const auto& [vertex, time] : sources.vertices) at_vertex(vertex.value, time);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double time = sources.points[i].time;
    const auto corner = std::find_if(found[i].weights.begin(), found[i].weights.end(), on_corner);
    if (corner != found[i].weights.end())
      at_vertex(found[i].corners[static_cast<std::size_t>(corner - found[i].weights.begin())], time);
    else
      placed.points.push_back({found[i].point, VertexId(), false, {near.element.at(found[i].element)}, time, index++});
  }
  drop_repeated(placed.points);
  return placed;
}

}  // namespace

template <int Corners>
std::vector<Seed> part_seeds(Communicator& communicator, const MeshPart<Corners>& part, const Adjacency& adjacency,
                             const Metric& metric, const Sources& sources, const SolveOptions& options) {
  if (!sources.level_set.empty())
    throw UsageError(
        "a level set is not taken on a mesh in parts; give vertices or points, or one rank the whole mesh");
  const std::size_t count = count_distinct(sources);
  if (count == 0) refuse_no_source();
  Collector<Corners> collector(communicator, part, adjacency, metric);
  check_vertices(communicator, part, adjacency, sources.vertices);
  const std::vector<Found<Corners>> found = find_points(communicator, part, sources.points);
  std::vector<std::uint64_t> centres;
  for (const auto& source : sources.vertices) centres.push_back(source.vertex.value);
  for (const Found<Corners>& one : found) centres.insert(centres.end(), one.corners.begin(), one.corners.end());
  const BallLimits limits = ball_limits(options.ball_rings, count, part.whole_vertices, Corners - 1);
  // The ball is round in the metric, not in edges: where elements are stretched it goes further than its rings.
  for (int rings = options.source_init == SourceInit::ball ? limits.edges_across(Corners - 1) + 3 : 1;;
       rings = 2 * rings + 1) {
    const Surroundings<Corners> near = collector.collect(centres, rings);
    std::vector<Seed> seeds;
    if (communicator.rank() == 0) {
      std::vector<VertexId> inside;
      inside.reserve(centres.size());
      for (const std::uint64_t global : centres) inside.push_back(near.vertex.at(global));
      const Adjacency inner = inner_adjacency(near.mesh, inside, rings);
      try {
        const PlacedSources placed = placed_in(near, inner, sources, found);
        for (const Seed& seed :
             make_seeds(near.mesh, near.metric, inner, Sources{}, placed, options.source_init, limits))
          seeds.push_back({GlobalVertexId(near.global_vertex[seed.vertex.index()]), seed.time, seed.source, seed.kind});
      } catch (const PartTooSmall&) {
        seeds.clear();  // ends: what holds all that is connected with the sources has no edge
      }
    }
    seeds = broadcast_values(communicator, seeds);
    if (!seeds.empty()) return seeds;
  }
}

template std::vector<Seed> part_seeds(Communicator&, const MeshPart<3>&, const Adjacency&, const Metric&,
                                      const Sources&, const SolveOptions&);
template std::vector<Seed> part_seeds(Communicator&, const MeshPart<4>&, const Adjacency&, const Metric&,
                                      const Sources&, const SolveOptions&);

template <int Corners>
std::vector<Seed> whole_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                              const SolveOptions& options) {
  const Adjacency adjacency = build_adjacency(mesh, wanted_threads(options));
  const PlacedSources placed = place_sources(mesh, adjacency, sources);
  const BallLimits limits = ball_limits(options.ball_rings, placed.points.size(), mesh.vertex_count(), Corners - 1);
  return make_seeds(mesh, metric, adjacency, sources, placed, options.source_init, limits);
}

template std::vector<Seed> whole_seeds(const SimplexMesh<3>&, const Metric&, const Sources&, const SolveOptions&);
template std::vector<Seed> whole_seeds(const SimplexMesh<4>&, const Metric&, const Sources&, const SolveOptions&);

}  // namespace isochron::ranks
