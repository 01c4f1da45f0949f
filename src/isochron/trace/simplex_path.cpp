#include "isochron/trace/simplex_path.h"

#include <cmath>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/locator.h"
#include "isochron/trace/bridge.h"
#include "isochron/trace/descent.h"
#include "isochron/trace/path_ends.h"
#include "isochron/trace/shorten.h"

namespace isochron {
namespace {

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
        mesh_(domain.mesh),
        metric_(domain.metric),
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
    check_metric(metric_, mesh_.element_count(), "the metric");
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
