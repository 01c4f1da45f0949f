#include "isochron/path.h"

#include "isochron/mesh/locator.h"
#include "isochron/trace/grid_field.h"

namespace isochron {
namespace {

// Corners without weight do not count: they may be unreached.
template <int Corners>
double interpolate(const SimplexMesh<Corners>& mesh, const Location<Corners>& at, std::span<const double> times) {
  double time = 0;
  for (int c = 0; c < Corners; ++c)
    if (at.weights[c] > 0) time += at.weights[c] * times[mesh.element(at.element)[c].index()];
  return time;
}

}  // namespace

template <int Corners>
std::vector<ProbeTime> probe_times(const SimplexMesh<Corners>& mesh, std::span<const double> times,
                                   std::span<const Vec3d> points, double tolerance, int threads) {
  const PointLocator<Corners> locator(mesh, threads);
  std::vector<ProbeTime> result;
  for (const Vec3d& p : points) {
    if (const auto at = locator.locate(p, tolerance)) result.push_back({interpolate(mesh, *at, times), at->distance});
    else result.push_back({std::nullopt, locator.nearest(p).distance});
  }
  return result;
}

std::vector<ProbeTime> probe_times(const ImageGrid& grid, std::span<const std::uint8_t> mask,
                                   std::span<const double> times, std::span<const Vec3d> points, double tolerance) {
  const Metric metric;  // times are read, nothing is traced
  const GridField field(grid, metric, mask, times);
  std::vector<ProbeTime> result;
  for (const Vec3d& p : points) {
    const Vec3d at = GridField::clamped(grid, grid.index_of(p));
    const double distance = grid.voxel_at(p) ? 0 : norm(grid.position(at) - p);
    const auto voxel = grid.voxel_at(grid.position(at));
    const bool inside = distance <= tolerance && voxel && (mask.empty() || mask[voxel->index()] != 0);
    result.push_back({inside ? std::optional(field.time(at)) : std::nullopt, distance});
  }
  return result;
}

template std::vector<ProbeTime> probe_times(const TriangleMesh&, std::span<const double>, std::span<const Vec3d>,
                                            double, int);
template std::vector<ProbeTime> probe_times(const TetMesh&, std::span<const double>, std::span<const Vec3d>, double,
                                            int);

}  // namespace isochron
