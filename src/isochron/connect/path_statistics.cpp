#include "isochron/connect.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "isochron/diffusion.h"

namespace isochron {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Per length, with the metric of the voxel in its middle.
double piece_cost(const ImageGrid& grid, const Metric& metric, const Vec3d& from, const Vec3d& to) {
  const auto voxel = grid.voxel_at(0.5 * (from + to));
  const Vec3d along = to - from;
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
  result.min_anisotropy = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < path.size(); ++i) {
    PathSample sample{path[i], 0, unknown, unknown, unknown};
    if (i > 0) sample.distance = result.profile.back().distance + norm(path[i] - path[i - 1]);
    if (const auto tensor = tensor_at(field, path[i])) {
      sample.anisotropy = fractional_anisotropy(*tensor);
      sample.diffusivity = mean_diffusivity(*tensor);
      result.min_anisotropy = std::min(result.min_anisotropy, sample.anisotropy);
    }
    // Each piece by itself: at a bend between two kinds of tissue a tangent of both would suit neither.
    PieceMean beside;
    for (std::size_t j = std::max<std::size_t>(i, 1); j <= std::min(i + 1, path.size() - 1); ++j)
      beside.add(piece_cost(field.grid, metric, path[j - 1], path[j]), norm(path[j] - path[j - 1]));
    sample.local_cost = beside.mean();
    result.profile.push_back(sample);
  }
  if (std::isinf(result.min_anisotropy)) result.min_anisotropy = unknown;
  PieceMean anisotropy, diffusivity, cost;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const PathSample &a = result.profile[i - 1], &b = result.profile[i];
    const double length = b.distance - a.distance;
    anisotropy.add(0.5 * (a.anisotropy + b.anisotropy), length);
    diffusivity.add(0.5 * (a.diffusivity + b.diffusivity), length);
    cost.add(piece_cost(field.grid, metric, path[i - 1], path[i]), length);
  }
  result.length = result.profile.back().distance;
  result.mean_anisotropy = anisotropy.mean();
  result.mean_diffusivity = diffusivity.mean();
  result.cost = cost.sum();
  result.cost_density = result.length > 0 ? result.cost / result.length : 0;
  return result;
}

void add_line(Dataset& dataset, std::span<const Vec3d> points) {
  std::vector<VertexId> line;
  for (const Vec3d& p : points) {
    line.push_back(VertexId(dataset.points.size()));
    dataset.points.push_back(p);
  }
  dataset.lines.push_back(std::move(line));
}

Dataset path_dataset(const Path& path, const PathStatistics& statistics) {
  Dataset dataset;
  add_line(dataset, path.points);
  const auto column = [&](const char* name, auto value_of) {
    std::vector<double> values;
    for (const PathSample& sample : statistics.profile) values.push_back(value_of(sample));
    dataset.point_data.set({name, 1, std::move(values)});
  };
  column("distance", [](const PathSample& s) { return s.distance; });
  column("fa", [](const PathSample& s) { return s.anisotropy; });
  column("md", [](const PathSample& s) { return s.diffusivity; });
  column("local_cost", [](const PathSample& s) { return s.local_cost; });
  dataset.point_data.set({"cost", 1, path.times});
  return dataset;
}

std::string profile_csv(const Path& path, const PathStatistics& statistics) {
  const auto known = [](double value) { return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value); };
  std::string text = "x,y,z,distance,cost,fa,md,local_cost\n";
  for (std::size_t i = 0; i < statistics.profile.size(); ++i) {
    const PathSample& s = statistics.profile[i];
    fmt::format_to(std::back_inserter(text), "{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{}\n", s.position.x,
                   s.position.y, s.position.z, s.distance, path.times[i], known(s.anisotropy), known(s.diffusivity),
                   known(s.local_cost));
  }
  return text;
}

}  // namespace isochron
