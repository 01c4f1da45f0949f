#include "isochron/connect/path_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/metric/diffusion.h"

namespace isochron {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double local_cost(const ImageGrid& grid, const Metric& metric, const Vec3d& at, const Vec3d& along) {
  const auto voxel = grid.voxel_at(at);
  const double size = norm(along);
  if (!voxel || !(size > 0)) return unknown;
  return std::sqrt(squared_length(metric.tensor(ElementId(voxel->index())), along / size));
}

/// A mean over pieces of the path, where values that are not known do not count.
class PieceMean {
 public:
  void add(double value, double length) {
    if (std::isnan(value)) return;
    sum_ += length * value;
    length_ += length;
  }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] double mean() const { return length_ > 0 ? sum_ / length_ : unknown; }

 private:
  double sum_ = 0, length_ = 0;
};

}  // namespace

PathStatistics path_statistics(std::span<const Vec3d> path, const TensorField& field, const Metric& metric) {
  PathStatistics result;
  result.least_anisotropy = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < path.size(); ++i) {
    PathSample sample{path[i], 0, unknown, unknown, unknown};
    if (i > 0) sample.distance = result.profile.back().distance + norm(path[i] - path[i - 1]);
    if (const auto tensor = tensor_at(field, path[i])) {
      sample.anisotropy = fractional_anisotropy(*tensor);
      sample.diffusivity = mean_diffusivity(*tensor);
      result.least_anisotropy = std::min(result.least_anisotropy, sample.anisotropy);
    }
    const Vec3d before = path[i > 0 ? i - 1 : i], after = path[std::min(i + 1, path.size() - 1)];
    sample.local_cost = local_cost(field.grid, metric, path[i], after - before);
    result.profile.push_back(sample);
  }
  if (std::isinf(result.least_anisotropy)) result.least_anisotropy = unknown;
  PieceMean anisotropy, diffusivity, cost;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const PathSample &a = result.profile[i - 1], &b = result.profile[i];
    const double length = b.distance - a.distance;
    anisotropy.add(0.5 * (a.anisotropy + b.anisotropy), length);
    diffusivity.add(0.5 * (a.diffusivity + b.diffusivity), length);
    cost.add(local_cost(field.grid, metric, 0.5 * (path[i - 1] + path[i]), path[i] - path[i - 1]), length);
  }
  result.length = result.profile.back().distance;
  result.mean_anisotropy = anisotropy.mean();
  result.mean_diffusivity = diffusivity.mean();
  result.cost = cost.sum();
  result.cost_density = result.length > 0 ? result.cost / result.length : 0;
  return result;
}

}  // namespace isochron
