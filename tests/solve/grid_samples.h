// Images and metrics for tests of grid solves, with their exact times.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "isochron/solve/grid_solver.h"

namespace isochron::test {

inline ImageGrid cube_grid(std::uint32_t n) {
  ImageGrid grid;
  grid.shape = {n, n, n};
  return grid;
}

inline ImageGrid flat_grid(std::uint32_t n) {
  ImageGrid grid;
  grid.shape = {n, n, 1};
  return grid;
}

/// M of a medium that is `ratio` times as fast along `fiber` as across it, where its speed is 1.
inline SymTensor3d fiber_metric(double ratio, Vec3d fiber) {
  fiber = fiber / norm(fiber);
  return SymTensor3d::identity() + SymTensor3d::outer(fiber, 1 / (ratio * ratio) - 1);
}

inline Sources voxel_source(VertexId voxel, double time = 0) {
  Sources sources;
  sources.vertices.push_back({voxel, time});
  return sources;
}

inline Sources centre_source(const ImageGrid& grid) {
  return voxel_source(grid.voxel(grid.shape[0] / 2, grid.shape[1] / 2, grid.shape[2] / 2));
}

inline Sources point_source(Vec3d position, double time = 0) {
  Sources sources;
  sources.points.push_back({position, time});
  return sources;
}

/// The same tensor in every voxel, as one that may vary.
inline Metric varying(const ImageGrid& grid, const SymTensor3d& m) {
  const SymTensor3f single{static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
                           static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)};
  return Metric(TensorMetric{std::vector<SymTensor3f>(grid.voxel_count(), single)});
}

/// Times of straight lines from a world position.
inline double straight_time(const ImageGrid& grid, const SymTensor3d& m, const Vec3d& from, VertexId voxel) {
  return std::sqrt(squared_length(m, grid.position(voxel) - from));
}

struct GridError {
  double mean_relative = 0;  ///< of voxels more than five voxels (of index) away
  double largest = 0;
};

inline GridError error_against_straight(const ImageGrid& grid, const SymTensor3d& m, const Vec3d& from,
                                        const Arrival& arrival) {
  GridError error;
  std::size_t far = 0;
  const Vec3d at = grid.index_of(from);
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const VertexId voxel(v);
    const double exact = straight_time(grid, m, from, voxel), off = std::abs(arrival.times[v] - exact);
    error.largest = std::max(error.largest, off);
    if (norm(grid.index_of(grid.position(voxel)) - at) <= 5) continue;
    error.mean_relative += off / exact;
    ++far;
  }
  if (far > 0) error.mean_relative /= static_cast<double>(far);
  return error;
}

inline GridOptions checked_options(Backend backend = Backend::serial) {
  GridOptions options;
  options.common.backend = backend;
  options.common.verify = Keep::yes;
  if (backend == Backend::threads) options.common.threads = 3;
  return options;
}

}  // namespace isochron::test
