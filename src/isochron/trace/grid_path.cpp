#include "isochron/trace/grid_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/trace/grid_shorten.h"
#include "isochron/trace/grid_walk.h"

namespace isochron {
namespace {

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
    if (const auto to = step_down(field, p, now)) {
      trail.add(*to, field.time(*to));
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
    throw InputError(fmt::format("{} is outside the mask; give a point inside", what));
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
