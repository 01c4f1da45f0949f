// Images and metrics for tests of grid solves, with their exact times.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isochron/solver.h"

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

/// An image where seeds around one source are overtaken by the other's front at first order.
struct OvertakenSeeds {
  ImageGrid grid;
  Metric metric;
  Sources sources;
};
inline OvertakenSeeds overtaken_seeds() {
  OvertakenSeeds sample;
  sample.grid.shape = {24, 22, 20};
  sample.metric = Metric::constant(inverse(SymTensor3d::identity(0.1) + SymTensor3d::outer({0.8, 0.6, 0}, 0.9)));
  sample.sources = voxel_source(VertexId(100));
  sample.sources.vertices.push_back({VertexId(5287), 0});
  return sample;
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

inline SolveOptions checked_options(Backend backend = Backend::serial) {
  SolveOptions options;
  options.backend = backend;
  options.verify = Keep::yes;
  if (backend == Backend::threads) options.threads = 3;
  return options;
}

/// Solves and expects the residual check to pass.
inline Arrival solved(const ImageGrid& grid, const Metric& metric, const Sources& sources, const SolveOptions& options,
                      std::span<const std::uint8_t> mask = {}) {
  Arrival arrival = solve(grid, metric, sources, options, mask);
  EXPECT_TRUE(arrival.converged);
  EXPECT_TRUE(arrival.residual && arrival.residual->passed())
      << (arrival.residual ? arrival.residual->worst : -1) << " at voxel " << arrival.residual->worst_vertex.value;
  return arrival;
}

/// Every 23rd cell and the last are made earlier or later, one at a time, and the residual has to say so.
inline void expect_planted_times_are_found(const ImageGrid& grid, double ratio, const Vec3d& fiber,
                                           SolveOptions options) {
  options.source_init = SourceInit::plain;  // cells of a ball may be earlier than their neighbours say
  SCOPED_TRACE(fmt::format("{} {}, {}:1", name_of(options.scheme), name_of(options.method), ratio));
  const Metric metric = Metric::constant(fiber_metric(ratio, fiber));
  const Sources sources = centre_source(grid);
  Solver solver({grid, metric, {}}, options);
  Arrival arrival = solver.solve(sources);
  ASSERT_TRUE(solver.residual(arrival, sources).passed()) << solver.residual(arrival, sources).worst;
  std::vector<std::size_t> cells;
  for (std::size_t v = 0; v < grid.voxel_count(); v += 23) cells.push_back(v);
  cells.push_back(grid.voxel_count() - 1);
  for (const std::size_t v : cells) {
    const double right = arrival.times[v];
    if (right == 0) continue;
    for (const double share : {0.8, 1.2}) {
      arrival.times[v] = share * right;
      EXPECT_FALSE(solver.residual(arrival, sources).passed()) << v << " at " << share;
    }
    arrival.times[v] = right;
  }
  for (double& time : arrival.times) time *= 0.8;
  EXPECT_FALSE(solver.residual(arrival, sources).passed()) << "all of them early";
}

}  // namespace isochron::test
