#include "isochron/path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/locator.h"
#include "isochron/metric/conducting.h"
#include "isochron/solve/simplex/metric_frame.h"
#include "isochron/solve/simplex/seeds.h"
#include "isochron/trace/descent.h"
#include "isochron/trace/shorten.h"

namespace isochron {
namespace {

/// The cheapest way along edges from the point to a vertex that is strictly earlier: the vertices on it in order, with
/// their travel times from the point.
struct Bridge {
  std::vector<VertexId> vertices;
  std::vector<double> costs;
};

constexpr std::size_t max_vertices = 512;  // looked at: several rings around a vertex of a volume mesh

/// Dijkstra's search over the edges, a bounded number of vertices far.
template <int Corners>
class EdgeSearch {
 public:
  explicit EdgeSearch(const TimedMesh<Corners>& on) : on_(on) {}

  std::optional<Bridge> run(const MeshPoint<Corners>& from) {
    const double now = time_at(on_.times, from);
    const Vec3d x = position(on_.mesh, from);
    for_elements_sharing(on_.mesh, on_.adjacency, from.carrier(), [&](ElementId e) {
      for (const VertexId v : from.carrier()) reach(v, length_in(e, on_.mesh.point(v) - x), VertexId());
    });
    for (std::size_t settled = 0; !queue_.empty() && settled < max_vertices;) {
      const auto [cost, v] = queue_.top();
      queue_.pop();
      if (cost > known_.at(v).cost) continue;
      ++settled;
      if (on_.times[v] < now) return way_to(VertexId(v));
      reach_neighbours(VertexId(v), cost);
    }
    return std::nullopt;
  }

 private:
  struct Reached {
    double cost = std::numeric_limits<double>::infinity();
    VertexId before;
  };

  [[nodiscard]] double length_in(ElementId e, Vec3d d) const {
    return std::sqrt(squared_length(on_.metric.tensor(e), d));
  }

  void reach(VertexId v, double cost, VertexId before) {
    Reached& known = known_[v.value];
    if (!(cost < known.cost)) return;
    known = {cost, before};
    queue_.emplace(cost, v.value);
  }

  void reach_neighbours(VertexId v, double cost) {
    for (const std::uint32_t incidence : on_.adjacency.at(v)) {
      const ElementId e = Adjacency::element_of(incidence);
      for (const VertexId w : on_.mesh.element(e))
        if (w != v) reach(w, cost + length_in(e, on_.mesh.point(w) - on_.mesh.point(v)), v);
    }
  }

  [[nodiscard]] Bridge way_to(VertexId v) const {
    Bridge bridge;
    for (; v.valid(); v = known_.at(v.value).before) {
      if (known_.at(v.value).cost == 0) break;  // where the path is already
      bridge.vertices.push_back(v);
      bridge.costs.push_back(known_.at(v.value).cost);
    }
    std::reverse(bridge.vertices.begin(), bridge.vertices.end());
    std::reverse(bridge.costs.begin(), bridge.costs.end());
    return bridge;
  }

  const TimedMesh<Corners>& on_;
  std::unordered_map<std::uint32_t, Reached> known_;
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

/// The way out of a minimum of the interpolated times that is no source, along the edges of the mesh. A vertex can be
/// earlier than all of its neighbours without being a source: its time came straight over an obtuse
/// element from further away (virtual elements, or exact times around a source). The search ends after a few hundred
/// vertices; empty when none of them is earlier.
template <int Corners>
std::optional<Bridge> find_bridge(const TimedMesh<Corners>& on, const MeshPoint<Corners>& from) {
  return EdgeSearch<Corners>(on).run(from);
}

/// The last piece of a path: from a point beside a source straight to it.
template <int Corners>
struct Finish {
  MeshPoint<Corners> to;
  double onset = 0;
  double cost = 0;  ///< travel time from where the path was
  std::int32_t source = -1;
};

/// How well a straight last piece must explain the time of the point it starts at.
enum class FinishRule {
  first_arrival,  ///< nothing else may reach the point earlier
  nearest         ///< for want of another way: any source in an element at the point
};

/// Knows the elements at sources.
template <int Corners>
class PathEnds {
 public:
  /// Keeps references. Throws InputError like `place_sources`.
  PathEnds(const TimedMesh<Corners>& on, const Sources& sources);

  /// The way to a source in one of the elements that hold the point; the earliest if there are several.
  [[nodiscard]] std::optional<Finish<Corners>> find(const MeshPoint<Corners>& from, FinishRule rule) const;

 private:
  void offer_points(ElementId e, Vec3d from, std::optional<Finish<Corners>>& best) const;
  void offer_level_set(ElementId e, Vec3d from, std::optional<Finish<Corners>>& best) const;

  const TimedMesh<Corners>& on_;
  PlacedSources placed_;
  std::vector<double> level_set_;
  std::int32_t last_source_;                                                  ///< the level set, where there is one
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> sources_of_;  // element -> places in placed_.points
};

/// How far a straight piece may be later than the interpolated time that it explains: of its own cost, and of the time,
/// which may have been stored in single precision.
constexpr double cost_slack = 1e-3;
constexpr double time_slack = 1e-6;

template <int Corners>
void take_earlier(const Finish<Corners>& finish, std::optional<Finish<Corners>>& best) {
  if (!best || finish.onset + finish.cost < best->onset + best->cost) best = finish;
}

/// The points where a linear function is zero on a simplex: its corners and the crossings of its edges, so that the
/// zero set is their convex hull.
template <int Corners>
std::vector<Vec3d> zero_points(const std::array<Vec3d, Corners>& x, const std::array<double, Corners>& value) {
  std::vector<Vec3d> zeros;
  for (int a = 0; a < Corners; ++a) {
    if (value[a] == 0) zeros.push_back(x[a]);
    for (int b = a + 1; b < Corners; ++b)
      if (value[a] * value[b] < 0) zeros.push_back(x[a] + (value[a] / (value[a] - value[b])) * (x[b] - x[a]));
  }
  return zeros;
}

/// Where a place in the element is; flat elements are answered by their faces.
template <int Corners>
MeshPoint<Corners> place_in(const SimplexMesh<Corners>& mesh, ElementId e, Vec3d x) {
  return mesh_point<Corners>(mesh, e, closest_point(corner_points(mesh, e), x).weights);
}

/// A point of the zero set, as its travel time from where the frame's origin is.
struct ZeroPoint {
  Vec3d x;
  double cost = std::numeric_limits<double>::infinity();
};

template <std::size_t N>
void take_nearest(const MetricFrame& frame, const std::array<Vec3d, N>& hull, ZeroPoint& nearest) {
  const auto found = closest_point(frame.map(hull), Vec3d{});
  const double cost = std::sqrt(found.squared_distance);
  if (cost < nearest.cost) nearest = {weighted_point(hull, found.weights), cost};
}

template <int Corners>
PathEnds<Corners>::PathEnds(const TimedMesh<Corners>& on, const Sources& sources)
    : on_(on),
      placed_(place_sources(on.mesh, on.adjacency, sources)),
      level_set_(sources.level_set),
      last_source_(static_cast<std::int32_t>(sources.count()) - 1) {
  if (!level_set_.empty() && level_set_.size() != on.mesh.vertex_count())
    throw InputError(fmt::format("the level set has {} values (the mesh has {} vertices); give one per vertex",
                                 level_set_.size(), on.mesh.vertex_count()));
  for (std::size_t i = 0; i < placed_.points.size(); ++i)
    for (const ElementId e : placed_.points[i].elements) sources_of_[e.value].push_back(static_cast<std::uint32_t>(i));
}

template <int Corners>
std::optional<Finish<Corners>> PathEnds<Corners>::find(const MeshPoint<Corners>& from, FinishRule rule) const {
  const Vec3d x = position(on_.mesh, from);
  std::optional<Finish<Corners>> best;
  for_elements_sharing(on_.mesh, on_.adjacency, from.carrier(), [&](ElementId e) {
    offer_points(e, x, best);
    if (!level_set_.empty()) offer_level_set(e, x, best);
  });
  if (!best) return best;
  const double now = time_at(on_.times, from);
  const bool explains = best->onset + best->cost <= now + cost_slack * best->cost + time_slack * std::abs(now);
  const bool earlier = best->onset < now || best->cost == 0;
  return earlier && (explains || rule == FinishRule::nearest) ? best : std::nullopt;
}

template <int Corners>
void PathEnds<Corners>::offer_points(ElementId e, Vec3d from, std::optional<Finish<Corners>>& best) const {
  const auto found = sources_of_.find(e.value);
  if (found == sources_of_.end()) return;
  const SymTensor3d m = on_.metric.tensor(e);
  for (const std::uint32_t i : found->second) {
    const PlacedSource& source = placed_.points[i];
    const double cost = std::sqrt(squared_length(m, source.position - from));
    const auto to = source.vertex.valid() ? mesh_point<Corners>(source.vertex) : place_in(on_.mesh, e, source.position);
    take_earlier<Corners>({to, source.time, cost, source.source}, best);
  }
}

template <int Corners>
void PathEnds<Corners>::offer_level_set(ElementId e, Vec3d from, std::optional<Finish<Corners>>& best) const {
  std::array<double, Corners> value;
  for (int c = 0; c < Corners; ++c) value[c] = level_set_[on_.mesh.element(e)[c].index()];
  const auto zeros = zero_points<Corners>(corner_points(on_.mesh, e), value);
  if (zeros.empty()) return;
  const MetricFrame frame(on_.metric.tensor(e), from);
  ZeroPoint nearest;
  if (zeros.size() == 1) take_nearest(frame, std::array{zeros[0]}, nearest);
  if (zeros.size() == 2) take_nearest(frame, std::array{zeros[0], zeros[1]}, nearest);
  // All triangles of three or four points: together they cover the hull, in whatever order the points come.
  for (std::size_t i = 2; i < zeros.size(); ++i)
    for (std::size_t j = 1; j < i; ++j)
      for (std::size_t k = 0; k < j; ++k) take_nearest(frame, std::array{zeros[i], zeros[j], zeros[k]}, nearest);
  take_earlier<Corners>({place_in(on_.mesh, e, nearest.x), 0, nearest.cost, last_source_}, best);
}

template <int Corners>
void check_field(const SimplexMesh<Corners>& mesh, std::span<const double> times) {
  if (times.size() != mesh.vertex_count())
    throw InputError(
        fmt::format("there are {} times for {} vertices; give one a vertex", times.size(), mesh.vertex_count()));
  for (std::size_t v = 0; v < times.size(); ++v)
    if (std::isnan(times[v]) || times[v] == -std::numeric_limits<double>::infinity())
      throw InputError(fmt::format("the time of vertex {} is {} (no arrival time); solve again", v, times[v]));
}

[[noreturn]] void refuse_unreached(const std::string& what) {
  throw NoAnswerError(
      fmt::format("there is no path from {} (nothing arrives there: no source is in its part of the mesh); choose a "
                  "place that is reached",
                  what));
}

}  // namespace

template <int Corners>
class PathTracer<Corners>::Engine {
 public:
  Engine(MeshDomain<Corners> domain, std::span<const double> times, const Sources& sources, PathOptions options)
      : options_(options),
        conducting_(domain.mesh, domain.metric),
        mesh_(conducting_.mesh()),
        metric_(conducting_.metric()),
        adjacency_(build_adjacency(mesh_)),
        on_{mesh_, metric_, adjacency_, checked(times)},
        ends_(on_, sources) {}

  [[nodiscard]] Path from(VertexId start) const {
    if (start.index() >= mesh_.vertex_count())
      throw InputError(fmt::format("vertex {} is out of range (the mesh has vertices 0 to {}); give an id of the mesh",
                                   start.value, mesh_.vertex_count() - 1));
    if (!std::isfinite(on_.times[start.index()]) || adjacency_.valence(start) == 0)
      refuse_unreached(fmt::format("vertex {}", start.value));
    return trace(mesh_point<Corners>(start));
  }

  [[nodiscard]] Path from(Vec3d start, double tolerance) const {
    const std::string what = fmt::format("point {},{},{}", start.x, start.y, start.z);
    const auto found = locator().locate(start, tolerance);
    if (!found) {
      if (!std::isfinite(start.x + start.y + start.z))
        throw InputError(fmt::format("{} is not finite; give three numbers", what));
      throw InputError(
          fmt::format("{} is {:.4g} away from the mesh (at most {:.4g} is allowed); give a point in or on "
                      "the mesh, in the mesh's unit",
                      what, locator().nearest(start).distance, tolerance));
    }
    const auto point = mesh_point<Corners>(mesh_, found->element, found->weights);
    if (!std::isfinite(time_at(on_.times, point))) refuse_unreached(what);
    return trace(point);
  }

 private:
  [[nodiscard]] std::span<const double> checked(std::span<const double> times) const {
    check_metric(metric_, mesh_.element_count(), Subject::metric);
    check_field(mesh_, times);
    return times;
  }

  /// Only starts that are points need it.
  [[nodiscard]] const PointLocator<Corners>& locator() const {
    std::call_once(located_, [this] { locator_.emplace(mesh_); });
    return *locator_;
  }

  /// The points of a path and when the front passes them.
  struct Trail {
    std::vector<MeshPoint<Corners>> points;
    std::vector<double> times;
    void add(const MeshPoint<Corners>& point, double time) {
      points.push_back(point);
      times.push_back(time);
    }
  };

  [[nodiscard]] Path trace(const MeshPoint<Corners>& start) const;
  /// Walks down the times; sets how it ended in `path`.
  [[nodiscard]] Trail walk(const MeshPoint<Corners>& start, Path& path) const;
  void end_at(const Finish<Corners>& finish, Trail& trail, Path& path) const;
  /// Goes on from a minimum; false when there is no way.
  bool escape(Trail& trail) const;
  void shorten_trail(Trail& trail) const;

  PathOptions options_;
  ConductingMesh<Corners> conducting_;
  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  Adjacency adjacency_;
  TimedMesh<Corners> on_;
  PathEnds<Corners> ends_;
  mutable std::once_flag located_;
  mutable std::optional<PointLocator<Corners>> locator_;
};

template <int Corners>
Path PathTracer<Corners>::Engine::trace(const MeshPoint<Corners>& start) const {
  Path path;
  Trail trail = walk(start, path);
  if (path.end == PathEnd::source && options_.shorten == Shorten::yes && trail.points.size() > 2) shorten_trail(trail);
  for (std::size_t i = 0; i < trail.points.size(); ++i) {
    path.points.push_back(position(mesh_, trail.points[i]));
    if (i == 0) continue;
    path.length += norm(path.points[i] - path.points[i - 1]);
    if (const auto piece = piece_between(on_, trail.points[i - 1], trail.points[i])) path.travel_time += piece->cost;
  }
  path.times = std::move(trail.times);
  return path;
}

template <int Corners>
auto PathTracer<Corners>::Engine::walk(const MeshPoint<Corners>& start, Path& path) const -> Trail {
  // Times decrease, so a path passes each element a few times at most, and mostly very few elements at all.
  const std::size_t max_steps = 10'000 + 4 * mesh_.element_count();
  std::vector<Descent<Corners>> scratch;
  Trail trail;
  trail.add(start, time_at(on_.times, start));
  for (std::size_t steps = 0; steps < max_steps; ++steps) {
    const MeshPoint<Corners> at = trail.points.back();
    if (const auto finish = ends_.find(at, FinishRule::first_arrival)) {
      end_at(*finish, trail, path);
      return trail;
    }
    if (const auto next = descend(on_, at, scratch)) {
      trail.add(*next, time_at(on_.times, *next));
    } else if (const auto nearest = ends_.find(at, FinishRule::nearest)) {
      end_at(*nearest, trail, path);
      return trail;
    } else if (escape(trail)) {
      ++path.bridges;
    } else {
      const Vec3d x = position(mesh_, at);
      path.end = PathEnd::minimum;
      path.why = fmt::format(
          "the times have a minimum of {:.6g} at {:.6g},{:.6g},{:.6g} that is no source (they are no solution for "
          "these "
          "sources)",
          trail.times.back(), x.x, x.y, x.z);
      return trail;
    }
  }
  path.end = PathEnd::unended;
  path.why = fmt::format("no source was met in {} steps (the times are no solution)", max_steps);
  return trail;
}

template <int Corners>
void PathTracer<Corners>::Engine::end_at(const Finish<Corners>& finish, Trail& trail, Path& path) const {
  if (finish.onset < trail.times.back()) trail.add(finish.to, finish.onset);
  path.source = finish.source;
}

template <int Corners>
bool PathTracer<Corners>::Engine::escape(Trail& trail) const {
  const auto bridge = find_bridge(on_, trail.points.back());
  if (!bridge) return false;
  // On the bridge itself the interpolated times are too late: what counts is when the front passed, evenly.
  const double from = trail.times.back();
  const double to = on_.times[bridge->vertices.back().index()];
  for (std::size_t i = 0; i < bridge->vertices.size(); ++i) {
    const bool last = i + 1 == bridge->vertices.size();
    const double share = bridge->costs[i] / bridge->costs.back();
    trail.add(mesh_point<Corners>(bridge->vertices[i]), last ? to : from + share * (to - from));
  }
  return true;
}

template <int Corners>
void PathTracer<Corners>::Engine::shorten_trail(Trail& trail) const {
  shorten(on_, trail.points);
  // The interpolated times were made for the way they led to. On this one the front runs evenly between its ends.
  const double from = trail.times.front(), to = trail.times.back();
  std::vector<double> passed{0};
  for (std::size_t i = 1; i < trail.points.size(); ++i)
    passed.push_back(passed.back() + piece_between(on_, trail.points[i - 1], trail.points[i])->cost);
  trail.times.clear();
  for (const double cost : passed) trail.times.push_back(from + cost / passed.back() * (to - from));
  trail.times.back() = to;
}

template <int Corners>
PathTracer<Corners>::PathTracer(MeshDomain<Corners> domain, std::span<const double> times, const Sources& sources,
                                PathOptions options)
    : engine_(std::make_unique<Engine>(domain, times, sources, options)) {}
template <int Corners>
PathTracer<Corners>::~PathTracer() = default;
template <int Corners>
PathTracer<Corners>::PathTracer(PathTracer&&) noexcept = default;
template <int Corners>
PathTracer<Corners>& PathTracer<Corners>::operator=(PathTracer&&) noexcept = default;

template <int Corners>
Path PathTracer<Corners>::from(VertexId start) const {
  return engine_->from(start);
}
template <int Corners>
Path PathTracer<Corners>::from(Vec3d start, double tolerance) const {
  return engine_->from(start, tolerance);
}

template class PathTracer<3>;
template class PathTracer<4>;

}  // namespace isochron
