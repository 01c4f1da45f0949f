#include "isochron/trace/path_ends.h"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/solve/simplex/metric_frame.h"

namespace isochron {
namespace {

/// How far a straight piece may be later than the interpolated time that it explains: of its own cost, and of the time,
/// which may have been stored in single precision.
constexpr double end_cost_slack = 1e-3;
constexpr double end_time_slack = 1e-6;

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

}  // namespace

template <int Corners>
PathEnds<Corners>::PathEnds(const TimedMesh<Corners>& on, const Sources& sources)
    : on_(on), placed_(place_sources(on.mesh, on.adjacency, sources)), level_set_(sources.level_set) {
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
  const bool explains = best->onset + best->cost <= now + end_cost_slack * best->cost + end_time_slack * std::abs(now);
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
  const auto index = static_cast<std::int32_t>(placed_.points.size());
  take_earlier<Corners>({place_in(on_.mesh, e, nearest.x), 0, nearest.cost, index}, best);
}

template class PathEnds<3>;
template class PathEnds<4>;

}  // namespace isochron
