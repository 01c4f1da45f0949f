#include "isochron/connect.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"

namespace isochron {
namespace {

void check(const StreamlineOptions& options) {
  const auto require = [](bool good, std::string_view what, double value, std::string_view limits) {
    if (!good) throw UsageError(fmt::format("the streamlines' {} {} cannot be used; give one {}", what, value, limits));
  };
  require(options.step > 0 && options.step <= 2, "step", options.step, "above 0 and at most 2 voxels");
  require(options.min_anisotropy >= 0 && options.min_anisotropy < 1, "least anisotropy", options.min_anisotropy,
          "from 0 to below 1");
  require(options.largest_angle > 0 && options.largest_angle <= 90, "largest angle", options.largest_angle,
          "above 0 and at most 90 degrees");
  require(options.seeds_per_axis >= 1 && options.seeds_per_axis <= 10, "number of seeds along an axis",
          options.seeds_per_axis, "from 1 to 10");
}

class Tracker {
 public:
  Tracker(const TensorField& field, const StreamlineOptions& options)
      : field_(field),
        min_anisotropy_(options.min_anisotropy),
        min_cosine_(std::cos(options.largest_angle * std::numbers::pi / 180)) {
    const ImageGrid& grid = field.grid;
    double smallest = grid.spacing(0);
    for (int d = 1; d < (grid.flat() ? 2 : 3); ++d) smallest = std::min(smallest, grid.spacing(d));
    step_ = options.step * smallest;
    Vec3d diagonal;
    for (int d = 0; d < 3; ++d)
      diagonal += static_cast<double>(grid.shape[static_cast<std::size_t>(d)]) * grid.axes[static_cast<std::size_t>(d)];
    const double longest = options.longest > 0 ? options.longest : 2 * norm(diagonal);
    max_steps_ = static_cast<std::size_t>(std::min(std::ceil(longest / step_), 1e9));
  }

  /// The whole line through a seed; fewer than two points when tracking cannot start.
  [[nodiscard]] std::vector<Vec3d> through(const Vec3d& seed) const {
    const auto start = direction(seed, {});
    if (!start) return {};
    std::vector<Vec3d> points = follow(seed, -*start);
    std::reverse(points.begin(), points.end());
    points.push_back(seed);
    const std::vector<Vec3d> forward = follow(seed, *start);
    points.insert(points.end(), forward.begin(), forward.end());
    return points;
  }

 private:
  /// The principal direction, with the sign that goes on from `before`; nothing outside the mask and where anisotropy
  /// is too small to have one.
  [[nodiscard]] std::optional<Vec3d> direction(const Vec3d& at, const Vec3d& before) const {
    const auto tensor = tensor_at(field_, at);
    if (!tensor || !(fractional_anisotropy(*tensor) >= min_anisotropy_)) return std::nullopt;
    const Vec3d along = principal_direction(*tensor);
    return dot(along, before) < 0 ? -along : along;
  }

  [[nodiscard]] std::vector<Vec3d> follow(Vec3d at, Vec3d heading) const {
    std::vector<Vec3d> points;
    while (points.size() < max_steps_) {
      const auto k1 = direction(at, heading);
      const auto k2 = k1 ? direction(at + 0.5 * step_ * *k1, *k1) : std::nullopt;
      const auto k3 = k2 ? direction(at + 0.5 * step_ * *k2, *k2) : std::nullopt;
      const auto k4 = k3 ? direction(at + step_ * *k3, *k3) : std::nullopt;
      if (!k4) break;
      const Vec3d sum = *k1 + 2.0 * *k2 + 2.0 * *k3 + *k4;
      const double size = norm(sum);
      if (!(size > 0) || dot(sum, heading) < min_cosine_ * size) break;
      heading = sum / size;
      at += step_ * heading;
      const auto voxel = field_.grid.voxel_at(at);
      if (!voxel || field_.mask[voxel->index()] == 0) break;
      points.push_back(at);
    }
    return points;
  }

  const TensorField& field_;
  double min_anisotropy_;
  double min_cosine_;
  double step_ = 0;
  std::size_t max_steps_ = 0;
};

std::vector<Vec3d> seeds_in(const Region& region, const ImageGrid& grid, int per_axis) {
  std::vector<Vec3d> seeds;
  const auto offset = [&](int i) { return (i + 0.5) / per_axis - 0.5; };
  for (const VertexId v : region.voxels) {
    const auto [i, j, k] = grid.index(v);
    for (int c = 0; c < (grid.flat() ? 1 : per_axis); ++c)
      for (int b = 0; b < per_axis; ++b)
        for (int a = 0; a < per_axis; ++a)
          seeds.push_back(grid.position(Vec3d{i + offset(a), j + offset(b), grid.flat() ? 0.0 : k + offset(c)}));
  }
  return seeds;
}

double length_of(const std::vector<Vec3d>& points) {
  double length = 0;
  for (std::size_t i = 1; i < points.size(); ++i) length += norm(points[i] - points[i - 1]);
  return length;
}

}  // namespace

Streamlines track_streamlines(const TensorField& field, const Region& from, const Region& target,
                              const StreamlineOptions& options) {
  check(options);
  std::vector<bool> is_target(field.grid.voxel_count(), false);
  for (const VertexId v : target.voxels) is_target[v.index()] = true;
  const auto in_target = [&](const Vec3d& p) {
    const auto voxel = field.grid.voxel_at(p);
    return voxel && is_target[voxel->index()];
  };
  const Tracker tracker(field, options);
  const std::vector<Vec3d> seeds = seeds_in(from, field.grid, options.seeds_per_axis);
  std::vector<Streamline> all(seeds.size());
  parallel_region(options.threads, [&](int thread, int team) {
    for (std::size_t i = static_cast<std::size_t>(thread); i < seeds.size(); i += static_cast<std::size_t>(team)) {
      all[i].points = tracker.through(seeds[i]);
      all[i].reaches = std::any_of(all[i].points.begin(), all[i].points.end(), in_target);
    }
  });
  Streamlines result;
  result.seeds = seeds.size();
  for (Streamline& line : all)
    if (line.points.size() >= 2 && length_of(line.points) >= options.shortest) result.lines.push_back(std::move(line));
  std::stable_partition(result.lines.begin(), result.lines.end(), [](const Streamline& line) { return line.reaches; });
  result.reaching = static_cast<std::size_t>(
      std::count_if(result.lines.begin(), result.lines.end(), [](const Streamline& line) { return line.reaches; }));
  return result;
}

}  // namespace isochron
