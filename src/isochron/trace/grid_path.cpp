#include "isochron/path.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/local/selling.h"
#include "isochron/mesh/box_tree.h"
#include "isochron/sources.h"
#include "isochron/trace/grid_field.h"
#include "isochron/trace/grid_shorten.h"

namespace isochron {

/// The sources of an image, in index coordinates.
class GridEnds {
 public:
  /// Throws InputError for a source that is outside the image, and for a level set.
  GridEnds(const GridField& field, const Sources& sources);

  struct End {
    Vec3d index;
    double onset = 0;
    std::int32_t source = -1;
    double cost = 0;  ///< of the straight way to it
  };

  /// The source beside a position that explains its time `now`; with `any`, for want of another way, the nearest that
  /// is earlier.
  [[nodiscard]] std::optional<End> find(const Vec3d& p, double now, bool any) const;
  /// The source at the voxel around a position; −1 where there is none.
  [[nodiscard]] std::int32_t source_at(const Vec3d& p) const;

 private:
  const GridField& field_;
  std::vector<End> ends_;
  Box box_;  ///< of all ends
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> at_voxel_;
};

namespace {

/// A straight way to a source may be later than the interpolated time it explains by this share of its cost, and of the
/// time, which may have been stored in single precision.
constexpr double step_cost_slack = 0.05;
constexpr double step_time_slack = 1e-6;

/// Descent of the time over travel time below which a step is not taken for a characteristic; 1 is that of the front.
constexpr double min_slope = 0.5;

/// Calls `visit(index)` for all whole indices at most `reach` away from the one around p, along each axis.
template <class Visit>
void for_box(const GridField& field, const Vec3d& p, std::int64_t reach, Visit&& visit) {
  std::array<std::int64_t, 3> low{}, high{};
  for (int k = 0; k < 3; ++k) {
    const auto centre = static_cast<std::int64_t>(std::floor(p[k] + 0.5));
    low[k] = std::max<std::int64_t>(0, centre - reach);
    high[k] = std::min<std::int64_t>(field.grid().shape[k] - 1, centre + reach);
  }
  for (std::int64_t z = low[2]; z <= high[2]; ++z)
    for (std::int64_t y = low[1]; y <= high[1]; ++y)
      for (std::int64_t x = low[0]; x <= high[0]; ++x) visit(std::array{x, y, z});
}

/// A place further down, and its time.
struct Step {
  Vec3d to;
  double time = 0;
};

std::optional<Step> characteristic_step(const GridField& field, CellVelocities& velocities, const Vec3d& p,
                                        double now) {
  const Vec3d first = velocities.direction(p);
  if (dot(first, first) == 0) return std::nullopt;
  for (const double h : {0.5, 0.2}) {
    const Vec3d second = velocities.direction(p + 0.5 * h * first);
    if (dot(second, second) == 0) continue;
    const Step step{p + h * second, field.time(p + h * second)};
    const double fall = now - step.time;
    if (fall > 0 && fall >= min_slope * field.cost(p, step.to)) return step;
  }
  return std::nullopt;
}

}  // namespace

GridEnds::GridEnds(const GridField& field, const Sources& sources) : field_(field) {
  const ImageGrid& grid = field.grid();
  if (!sources.level_set.empty())
    throw InputError("a level set cannot be a source on an image; give its voxels or points");
  const auto add = [&](const Vec3d& index, std::optional<VertexId> voxel, double onset, const std::string& what) {
    const auto number = static_cast<std::uint32_t>(ends_.size());
    if (!voxel) throw InputError(fmt::format("{} is outside the image; give a place inside", what));
    at_voxel_[voxel->value].push_back(number);
    ends_.push_back({index, onset, static_cast<std::int32_t>(number)});
  };
  for (const VertexSource& source : sources.vertices) {
    const bool inside = source.vertex.index() < grid.voxel_count();
    add(inside ? GridField::index_of(grid, source.vertex.in_whole()) : Vec3d{},
        inside ? std::optional(source.vertex.in_whole()) : std::nullopt, source.time,
        fmt::format("source voxel {}", source.vertex.value));
  }
  for (const PointSource& source : sources.points)
    add(GridField::clamped(grid, grid.index_of(source.position)), grid.voxel_at(source.position), source.time,
        fmt::format("source point {},{},{}", source.position.x, source.position.y, source.position.z));
  box_ = {ends_.front().index, ends_.front().index};
  for (const End& end : ends_)
    for (int k = 0; k < 3; ++k) {
      box_.low[k] = std::min(box_.low[k], end.index[k]);
      box_.high[k] = std::max(box_.high[k], end.index[k]);
    }
}

std::optional<GridEnds::End> GridEnds::find(const Vec3d& p, double now, bool any) const {
  const int reach = any ? 2 : 1;
  const double most = reach + 1;  // from a place in one voxel to one in another
  const Vec3d around{most, most, most};
  if (!touch({p - around, p + around}, box_)) return std::nullopt;
  std::optional<End> best;
  for_box(field_, p, reach, [&](const std::array<std::int64_t, 3>& index) {
    const auto v = field_.voxel(index);
    const auto found = v ? at_voxel_.find(v->value) : at_voxel_.end();
    if (found == at_voxel_.end()) return;
    for (const std::uint32_t i : found->second) {
      End end = ends_[i];
      end.cost = field_.cost(p, end.index);
      // Between the voxels of a source region nothing is earlier than they are.
      const bool before = end.onset < now || end.cost == 0 || (any && end.onset == now);
      if (!std::isfinite(end.cost) || !before) continue;
      if (!best || end.onset + end.cost < best->onset + best->cost) best = end;
    }
  });
  if (!best || any) return best;
  const bool explains =
      best->onset + best->cost <= now + step_cost_slack * best->cost + step_time_slack * std::abs(now);
  return explains ? best : std::nullopt;
}

std::int32_t GridEnds::source_at(const Vec3d& p) const {
  const auto v = field_.voxel(p);
  const auto found = v ? at_voxel_.find(v->value) : at_voxel_.end();
  return found == at_voxel_.end() ? -1 : ends_[found->second.front()].source;
}

namespace {

/// A step of the characteristic (second-order Runge–Kutta, up to half a voxel) that goes down at least half as fast as
/// the front came, or else the steepest way to the centre of a voxel nearby. None where no such voxel is earlier.
std::optional<Step> step_down(const GridField& field, CellVelocities& velocities, const Vec3d& p, double now) {
  if (const auto step = characteristic_step(field, velocities, p, now)) return step;
  std::optional<Step> best;
  double steepest = 0;
  for_box(field, p, 2, [&](const std::array<std::int64_t, 3>& index) {
    const auto v = field.voxel(index);
    if (!v || !(field.time(*v) < now)) return;
    const Step step{GridField::index_of(field.grid(), *v), field.time(*v)};
    const double slope = (now - step.time) / field.cost(p, step.to);
    if (slope > steepest) {
      steepest = slope;
      best = step;
    }
  });
  return best;
}

/// The voxel that the time at p was mostly computed from, by the solver's own differences. Where the metric is
/// strongly anisotropic it can be many voxels away, with nothing earlier in between.
std::optional<Vec3d> upwind_voxel(const GridField& field, const Vec3d& p, double now) {
  const auto here = field.voxel(p);
  if (!here) return std::nullopt;
  const SymTensor3d m = field.tensor(*here);
  const Vec3d centre = GridField::index_of(field.grid(), *here);
  std::optional<Vec3d> best;
  double largest = 0;
  const auto offer = [&](const Vec3i& offset, double weight) {
    for (const double sign : {-1.0, 1.0}) {
      const Vec3d to = centre + sign * Vec3d{static_cast<double>(offset.x), static_cast<double>(offset.y),
                                             static_cast<double>(offset.z)};
      const auto v = field.voxel(to);
      if (!v || !(field.time(*v) < now) || !(weight * (now - field.time(*v)) > largest)) continue;
      if (!std::isfinite(field.cost(p, to))) continue;
      largest = weight * (now - field.time(*v));
      best = to;
    }
  };
  if (field.grid().flat()) {
    const double det = m.xx * m.yy - m.xy * m.xy;
    const auto terms = selling_terms_flat(m.yy / det, -m.xy / det, m.xx / det);
    for (int i = 0; i < 3; ++i) offer(terms.offset[i], terms.weight[i]);
  } else {
    const auto terms = selling_terms(inverse(m));
    for (int i = 0; i < 6; ++i) offer(terms.offset[i], terms.weight[i]);
  }
  return best;
}

/// The centres of voxels on the way from a position to one that is strictly earlier than `now`, where none nearby is in
/// a straight line: the one that the solver looked at, else the nearest by travel time; empty when a few thousand
/// voxels hold none.
std::vector<Vec3d> way_out(const GridField& field, const Vec3d& p, double now) {
  if (const auto upwind = upwind_voxel(field, p, now)) return {*upwind};
  constexpr std::size_t max_voxels = 4096;
  struct Reached {
    double cost = std::numeric_limits<double>::infinity();
    VertexId before;
  };
  std::unordered_map<std::uint32_t, Reached> known;
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto reach_from = [&](const Vec3d& from, double cost, VertexId before) {
    for_box(field, from, 1, [&](const std::array<std::int64_t, 3>& index) {
      const auto v = field.voxel(index);
      if (!v) return;
      const double there = cost + field.cost(from, GridField::index_of(field.grid(), *v));
      Reached& reached = known[v->value];
      if (!(there < reached.cost)) return;
      reached = {there, before};
      queue.emplace(there, v->value);
    });
  };
  reach_from(p, 0, VertexId());
  for (std::size_t settled = 0; !queue.empty() && settled < max_voxels; ++settled) {
    const auto [cost, at] = queue.top();
    queue.pop();
    if (cost > known[at].cost) continue;
    const VertexId v(at);
    if (field.time(v) < now) {
      std::vector<Vec3d> way;
      for (VertexId w = v; w.valid(); w = known[w.value].before) way.push_back(GridField::index_of(field.grid(), w));
      std::reverse(way.begin(), way.end());
      return way;
    }
    reach_from(GridField::index_of(field.grid(), v), cost, v);
  }
  return {};
}

void check_field(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                 std::span<const double> times) {
  check_grid(grid, "the image");
  const std::size_t voxels = grid.voxel_count();
  check_metric_form(metric, voxels, Subject::metric);
  if (times.size() != voxels)
    throw InputError(fmt::format("there are {} times for {} voxels; give one a voxel", times.size(), voxels));
  if (!mask.empty() && mask.size() != voxels)
    throw InputError(fmt::format("the mask has {} values for {} voxels; give one a voxel", mask.size(), voxels));
  for (std::size_t v = 0; v < voxels; ++v)
    if (std::isnan(times[v]) || times[v] == -std::numeric_limits<double>::infinity())
      throw InputError(fmt::format("the time of voxel {} is {} (no arrival time); solve again", v, times[v]));
}

GridTrail walk(const GridField& field, const GridEnds& ends, const Vec3d& start, Path& path) {
  // Times decrease by a part of a voxel's travel time in nearly every step.
  const std::size_t max_steps = 10'000 + 4 * field.grid().voxel_count();
  CellVelocities velocities(field);
  GridTrail trail;
  trail.add(start, field.time(start));
  const auto end_at = [&](const GridEnds::End& end) {
    if (end.onset < trail.times.back()) trail.add(end.index, end.onset);
    path.source = end.source;
  };
  for (std::size_t steps = 0; steps < max_steps; ++steps) {
    const Vec3d p = trail.points.back();
    const double now = trail.times.back();
    if (const auto end = ends.find(p, now, false)) {
      end_at(*end);
      return trail;
    }
    if (const auto step = step_down(field, velocities, p, now)) {
      trail.add(step->to, step->time);
      continue;
    }
    if (const auto end = ends.find(p, now, true)) {
      end_at(*end);
      return trail;
    }
    const std::vector<Vec3d> way = way_out(field, p, now);
    if (way.empty()) {
      const Vec3d x = field.grid().position(p);
      path.end = PathEnd::minimum;
      path.why = fmt::format(
          "the times have a minimum of {:.6g} at {:.6g},{:.6g},{:.6g} that is no source (they are no solution for "
          "these "
          "sources)",
          now, x.x, x.y, x.z);
      return trail;
    }
    const double there = field.time(way.back());
    for (std::size_t i = 0; i < way.size(); ++i) {
      const double share = static_cast<double>(i + 1) / static_cast<double>(way.size());
      trail.add(way[i], i + 1 == way.size() ? there : now + share * (there - now));
    }
    ++path.bridges;
  }
  path.end = PathEnd::unended;
  path.why = fmt::format("no source was met in {} steps (the times are no solution)", max_steps);
  return trail;
}

EndRegion as_set(std::span<const VertexId> voxels) {
  EndRegion region;
  for (const VertexId v : voxels) region.insert(v.value);
  return region;
}

}  // namespace

GridPathTracer::GridPathTracer(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                               std::span<const double> times, const Sources& sources)
    : mask_(mask) {
  check_field(grid, metric, mask, times);
  if (sources.empty()) throw InputError("no source given; say where the front starts");
  field_ = std::make_unique<GridField>(grid, metric, mask, times);
  ends_ = std::make_unique<GridEnds>(*field_, sources);
}

GridPathTracer::~GridPathTracer() = default;

Path GridPathTracer::from(Vec3d start, PathOptions options, const EndRegions& regions) const {
  const GridField& field = *field_;
  const ImageGrid& grid = field.grid();
  const std::string what = fmt::format("point {:g},{:g},{:g}", start.x, start.y, start.z);
  const auto voxel = std::isfinite(start.x + start.y + start.z) ? grid.voxel_at(start) : std::nullopt;
  if (!voxel) throw InputError(fmt::format("{} is outside the image; give a point inside, in its unit", what));
  if (!mask_.empty() && mask_[voxel->index()] == 0)
    throw InputError(fmt::format(
        "{} is where no front can enter (outside the mask, or the voxel does not conduct); give another point", what));
  const Vec3d index = GridField::clamped(grid, grid.index_of(start));
  if (!field.voxel(index))
    throw NoAnswerError(
        fmt::format("there is no path from {} (nothing arrives there: no source is in its part of the mask); choose a "
                    "place that is reached",
                    what));
  Path path;
  GridTrail trail = walk(field, *ends_, index, path);
  if (path.end == PathEnd::source && options.shorten == Shorten::yes && trail.points.size() > 1) {
    shorten_trail(field, as_set(regions.start), as_set(regions.finish), trail);
    if (!regions.finish.empty()) path.source = ends_->source_at(trail.points.back());
  }
  for (std::size_t i = 0; i < trail.points.size(); ++i) {
    path.points.push_back(grid.position(trail.points[i]));
    if (i > 0) path.length += norm(path.points[i] - path.points[i - 1]);
  }
  path.travel_time = travel_time(field, trail.points);
  path.times = std::move(trail.times);
  return path;
}

bool GridPathTracer::explains(const Path& path, double share) const {
  constexpr double beside_source = 3;  // voxels, where times are no solution of the scheme but exact
  constexpr double close = 0.02, most = 0.8;
  const ImageGrid& grid = field_->grid();
  const auto index = [&](std::size_t i) { return GridField::clamped(grid, grid.index_of(path.points[i])); };
  double front = 0, metric = 0, exact = 0;
  for (std::size_t i = 1; i < path.points.size(); ++i) {
    const Vec3d p = index(i - 1);
    if (norm(p - index(path.points.size() - 1)) < beside_source) continue;
    const auto voxel = field_->voxel(p);
    const double slope = voxel ? field_->slope(*voxel, 1) : 0;
    if (!(slope > 0)) continue;
    const double took = path.times[i - 1] - path.times[i];
    front += took;
    metric += took / slope;
    if (std::min(std::abs(slope - 1), std::abs(field_->slope(*voxel, 2) - 1)) < close) exact += took;
  }
  // Times of second order have differences of one order or the other. Which, the first-order times would tell, so not
  // every voxel fits; with another metric hardly any does.
  return std::abs(metric - front) <= share * front || exact > most * front;
}

Path trace_path(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                std::span<const double> times, const Sources& sources, Vec3d start, PathOptions options) {
  return GridPathTracer(grid, metric, mask, times, sources).from(start, options);
}

}  // namespace isochron
