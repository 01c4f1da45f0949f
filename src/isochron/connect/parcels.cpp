#include "isochron/connect/parcels.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/solve/solver.h"

namespace isochron {
namespace {

/// Indices into `points`: each the farthest from all before it, the first from the middle.
std::vector<std::size_t> farthest_points(const std::vector<Vec3d>& points, std::size_t count) {
  Vec3d middle;
  for (const Vec3d& p : points) middle += p;
  middle = middle / static_cast<double>(points.size());
  std::vector<double> distance2(points.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> chosen;
  const auto farthest_from = [&](const Vec3d& last) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3d d = points[i] - last;
      distance2[i] = std::min(distance2[i], dot(d, d));
      if (distance2[i] > distance2[best]) best = i;
    }
    return best;
  };
  chosen.push_back(farthest_from(middle));
  std::fill(distance2.begin(), distance2.end(), std::numeric_limits<double>::infinity());
  while (chosen.size() < count) chosen.push_back(farthest_from(points[chosen.back()]));
  return chosen;
}

}  // namespace

std::vector<std::int32_t> make_parcels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::size_t count,
                                       const SolveOptions& options) {
  if (count == 0) throw UsageError("0 parcels cannot be made; give at least 1");
  std::vector<VertexId> voxels;
  std::vector<Vec3d> points;
  for (std::size_t v = 0; v < mask.size(); ++v) {
    if (mask[v] == 0) continue;
    voxels.push_back(VertexId(v));
    points.push_back(grid.position(VertexId(v)));
  }
  if (voxels.size() < count)
    throw InputError(
        fmt::format("the mask cannot be cut into {} parcels (voxels: {}); ask for fewer", count, voxels.size()));
  Sources seeds;
  for (const std::size_t i : farthest_points(points, count)) seeds.vertices.push_back({voxels[i], 0});
  const Metric even = Metric::isotropic(1);
  SolveOptions solve_options;
  solve_options = options;
  solve_options.sources = Keep::yes;
  const Arrival arrival = Solver(GridDomain{grid, even, mask}, solve_options).solve(seeds);
  std::vector<std::int32_t> labels(mask.size(), 0);
  for (std::size_t v = 0; v < labels.size(); ++v) labels[v] = arrival.source[v] + 1;  // −1 where unreached
  return labels;
}

}  // namespace isochron
