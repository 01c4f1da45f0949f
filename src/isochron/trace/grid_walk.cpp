#include "isochron/trace/grid_walk.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/local/selling.h"

namespace isochron {
namespace {

/// A straight way to a source may be later than the interpolated time it explains by this share of its cost, and of the
/// time, which may have been stored in single precision.
constexpr double cost_slack = 0.05;
constexpr double time_slack = 1e-6;

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

std::optional<Vec3d> characteristic_step(const GridField& field, const Vec3d& p, double now) {
  const Vec3d first = field.direction(p);
  if (dot(first, first) == 0) return std::nullopt;
  for (const double h : {0.5, 0.2}) {
    const Vec3d second = field.direction(p + 0.5 * h * first);
    if (dot(second, second) == 0) continue;
    const Vec3d to = p + h * second;
    const double fall = now - field.time(to);
    if (fall > 0 && fall >= min_slope * field.cost(p, to)) return to;
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
    add(inside ? GridField::index_of(grid, source.vertex) : Vec3d{},
        inside ? std::optional(source.vertex) : std::nullopt, source.time,
        fmt::format("source voxel {}", source.vertex.value));
  }
  for (const PointSource& source : sources.points)
    add(GridField::clamped(grid, grid.index_of(source.position)), grid.voxel_at(source.position), source.time,
        fmt::format("source point {},{},{}", source.position.x, source.position.y, source.position.z));
}

std::optional<GridEnds::End> GridEnds::find(const Vec3d& p, double now, bool any) const {
  std::optional<End> best;
  for_box(field_, p, any ? 2 : 1, [&](const std::array<std::int64_t, 3>& index) {
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
  const bool explains = best->onset + best->cost <= now + cost_slack * best->cost + time_slack * std::abs(now);
  return explains ? best : std::nullopt;
}

std::int32_t GridEnds::source_at(const Vec3d& p) const {
  const auto v = field_.voxel(p);
  const auto found = v ? at_voxel_.find(v->value) : at_voxel_.end();
  return found == at_voxel_.end() ? -1 : ends_[found->second.front()].source;
}

std::optional<Vec3d> step_down(const GridField& field, const Vec3d& p, double now) {
  if (const auto to = characteristic_step(field, p, now)) return to;
  std::optional<Vec3d> best;
  double steepest = 0;
  for_box(field, p, 2, [&](const std::array<std::int64_t, 3>& index) {
    const auto v = field.voxel(index);
    if (!v || !(field.time(*v) < now)) return;
    const Vec3d to = GridField::index_of(field.grid(), *v);
    const double slope = (now - field.time(*v)) / field.cost(p, to);
    if (slope > steepest) {
      steepest = slope;
      best = to;
    }
  });
  return best;
}

namespace {

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

}  // namespace

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

}  // namespace isochron
