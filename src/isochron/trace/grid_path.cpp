#include "isochron/trace/grid_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/trace/grid_walk.h"

namespace isochron {
namespace {

void check_field(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                 std::span<const double> times) {
  check_grid(grid, "the image");
  const std::size_t voxels = grid.voxel_count();
  check_metric_form(metric, voxels, "the metric");
  if (times.size() != voxels)
    throw InputError(fmt::format("there are {} times for {} voxels; give one a voxel", times.size(), voxels));
  if (!mask.empty() && mask.size() != voxels)
    throw InputError(fmt::format("the mask has {} values for {} voxels; give one a voxel", mask.size(), voxels));
  for (std::size_t v = 0; v < voxels; ++v)
    if (std::isnan(times[v]) || times[v] == -std::numeric_limits<double>::infinity())
      throw InputError(fmt::format("the time of voxel {} is {} (no arrival time); solve again", v, times[v]));
}

/// The points of a path, as indices, and when the front passes them.
struct Trail {
  std::vector<Vec3d> points;
  std::vector<double> times;
  void add(const Vec3d& point, double time) {
    points.push_back(point);
    times.push_back(time);
  }
};

Trail walk(const GridField& field, const GridEnds& ends, const Vec3d& start, Path& path) {
  // Times decrease by a part of a voxel's travel time in nearly every step.
  const std::size_t most_steps = 10'000 + 4 * field.grid().voxel_count();
  Trail trail;
  trail.add(start, field.time(start));
  const auto end_at = [&](const GridEnds::End& end) {
    if (end.onset < trail.times.back()) trail.add(end.index, end.onset);
    path.source = end.source;
  };
  for (std::size_t steps = 0; steps < most_steps; ++steps) {
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
  path.why = fmt::format("no source was met in {} steps (the times are no solution)", most_steps);
  return trail;
}

/// Makes a path quicker: takes straight ways where they are, and moves single points and runs of them sideways.
///
/// Where the metric is strongly anisotropic and turns from voxel to voxel, a traced path costs several times what the
/// front took, since it is never quite along the fibre of each voxel. To be quicker than such a path says little then:
/// a straight way through slow voxels is, too. So what changes more than one point must also fit the front's times.
class Relaxation {
 public:
  Relaxation(const GridField& field, std::vector<Vec3d>& points) : field_(field), points_(points) {}

  void run() {
    constexpr int most_sweeps = 10, least_sweeps = 5;
    constexpr double least_gain = 1e-4;
    double before = cost(1, points_.size() - 1);
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      cut_short();
      std::size_t width = 1;
      while (4 * width < points_.size()) width *= 2;
      for (; width >= 1; width /= 2)
        for (std::size_t centre = 1; centre + 1 < points_.size(); centre += (width + 1) / 2)
          for (int axis = 0; axis < (field_.grid().flat() ? 2 : 3); ++axis) move(centre, width, axis);
      const double now = cost(1, points_.size() - 1);
      if (sweep >= least_sweeps && !(now < (1 - least_gain) * before)) break;
      before = now;
      probe_ = std::max(0.01, 0.5 * probe_);
    }
  }

 private:
  /// Of the pieces that end at the points from `first` to `last`.
  [[nodiscard]] double cost(std::size_t first, std::size_t last) const {
    double sum = 0;
    for (std::size_t i = first; i <= last; ++i) sum += field_.cost(points_[i - 1], points_[i]);
    return sum;
  }

  /// What a way between two points may cost: `times` as long as the front took.
  [[nodiscard]] double most_cost(const Vec3d& a, const Vec3d& b, double times) const {
    return times * (field_.time(a) - field_.time(b));
  }

  /// Lays runs of points on the straight way between their ends where that is quicker.
  void cut_short() {
    for (std::size_t span = points_.size() - 1; span >= 2; span /= 2)
      for (std::size_t first = 0; first + span < points_.size(); first += span / 2) {
        const Vec3d a = points_[first], b = points_[first + span];
        const double straight = field_.cost(a, b);
        if (!(straight < cost(first + 1, first + span)) || straight > most_cost(a, b, most_straight)) continue;
        for (std::size_t i = 1; i < span; ++i)
          points_[first + i] = a + static_cast<double>(i) / static_cast<double>(span) * (b - a);
      }
  }

  /// Of length 1 in voxels, as near to the axis as can be without changing how far along the path a point is: at right
  /// angles to the path in the metric, where strong anisotropy leaves nothing else to gain. Zero along the path.
  [[nodiscard]] Vec3d sideways(std::size_t centre, Vec3d way, int axis) const {
    const auto v = field_.voxel(points_[centre]);
    if (!v) return {};
    const SymTensor3d m = field_.tensor(*v);
    Vec3d side;
    side[axis] = 1;
    side = side - (product(m, way, side) / squared_length(m, way)) * way;
    const double length = norm(side);
    return length > 1e-3 && std::isfinite(length) ? side / length : Vec3d{};
  }

  void move(std::size_t centre, std::size_t width, int axis) {
    const std::size_t first = centre > width ? centre - width + 1 : 1;
    const std::size_t last = std::min(centre + width - 1, points_.size() - 2);
    const Vec3d side = sideways(centre, points_[last + 1] - points_[first - 1], axis);
    if (dot(side, side) == 0) return;
    kept_.assign(points_.begin() + static_cast<std::ptrdiff_t>(first),
                 points_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    const auto place = [&](double s) {
      for (std::size_t i = first; i <= last; ++i) {
        const double away = std::abs(static_cast<double>(i) - static_cast<double>(centre));
        points_[i] = kept_[i - first] + s * (1 - away / static_cast<double>(width)) * side;
      }
      return cost(first, last + 1);
    };
    const double most = width > 1 ? most_cost(points_[first - 1], points_[last + 1], most_moved)
                                  : std::numeric_limits<double>::infinity();
    double best = 0, least = cost(first, last + 1);
    const double here = least, back = place(-probe_), ahead = place(probe_);
    const auto take = [&](double s, double value) {
      if (!(value < least) || value > most) return;
      least = value;
      best = s;
    };
    take(-probe_, back);
    take(probe_, ahead);
    const double bend = back - 2 * here + ahead;
    if (bend > 0 && std::isfinite(bend)) {
      const double s = std::clamp(0.5 * probe_ * (back - ahead) / bend, -4 * probe_, 4 * probe_);
      take(s, place(s));
    }
    place(best);
  }

  /// Over the front's time. A straight way may cost no more, up to the error of the times; moved points come nearer to
  /// it step by step.
  static constexpr double most_straight = 1.05, most_moved = 2;

  const GridField& field_;
  std::vector<Vec3d>& points_;
  std::vector<Vec3d> kept_;
  double probe_ = 0.25;  // step in voxels from which the best one is guessed; it must not overlook a narrow valley
};

/// Puts points on pieces longer than a voxel and a half, to bend them.
std::vector<Vec3d> divided(const std::vector<Vec3d>& points) {
  constexpr double apart = 1.5;
  std::vector<Vec3d> result{points.front()};
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Vec3d way = points[i] - points[i - 1];
    const double parts = std::ceil(norm(way) / apart);
    for (double part = 1; part < parts; ++part) result.push_back(points[i - 1] + part / parts * way);
    result.push_back(points[i]);
  }
  return result;
}

/// Leaves out points that are closer than a voxel to the one before, where the straight way past them is allowed.
std::vector<Vec3d> thinned(const GridField& field, const std::vector<Vec3d>& points) {
  constexpr double apart = 1;
  std::vector<Vec3d> kept{points.front()};
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const bool near = norm(points[i + 1] - kept.back()) < apart;
    if (!near || !std::isfinite(field.cost(kept.back(), points[i + 1]))) kept.push_back(points[i]);
  }
  if (points.size() > 1) kept.push_back(points.back());
  return kept;
}

double travel_time(const GridField& field, const std::vector<Vec3d>& points) {
  double sum = 0;
  for (std::size_t i = 1; i < points.size(); ++i) sum += field.cost(points[i - 1], points[i]);
  return sum;
}

/// Leaves the trail as it is where no quicker one is found.
void shorten_trail(const GridField& field, Trail& trail) {
  std::vector<Vec3d> points = divided(thinned(field, trail.points));
  if (points.size() > 2) Relaxation(field, points).run();
  const double total = travel_time(field, points);
  if (!(total < travel_time(field, trail.points))) return;
  const double from = trail.times.front(), to = trail.times.back();
  Trail shorter;
  shorter.add(points.front(), from);
  double passed = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double step = field.cost(points[i - 1], points[i]);
    if (!(step > 0)) continue;  // two points in one place
    passed += step;
    shorter.add(points[i], from + passed / total * (to - from));
  }
  shorter.times.back() = to;
  trail = std::move(shorter);
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

Path GridPathTracer::from(Vec3d start, PathOptions options) const {
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
  Trail trail = walk(field, *ends_, index, path);
  if (path.end == PathEnd::source && options.shorten == Shorten::yes && trail.points.size() > 2)
    shorten_trail(field, trail);
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
  const ImageGrid& grid = field_->grid();
  const auto index = [&](std::size_t i) { return GridField::clamped(grid, grid.index_of(path.points[i])); };
  double front = 0, metric = 0;
  for (std::size_t i = 1; i < path.points.size(); ++i) {
    const Vec3d p = index(i - 1);
    if (norm(p - index(path.points.size() - 1)) < beside_source) continue;
    const auto voxel = field_->voxel(p);
    const double slope = voxel ? field_->slope(*voxel) : 0;
    if (!(slope > 0)) continue;
    const double took = path.times[i - 1] - path.times[i];
    front += took;
    metric += took / slope;
  }
  return front == 0 || std::abs(metric / front - 1) <= share;
}

Path trace_path(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                std::span<const double> times, const Sources& sources, Vec3d start, PathOptions options) {
  return GridPathTracer(grid, metric, mask, times, sources).from(start, options);
}

}  // namespace isochron
