// Solves of images over ranks that are threads, and what their results are held against.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "ranks/over_ranks.h"
#include "solve/grid_samples.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {

struct ImageCase {
  int ranks = 3;
  Delays delays = {};
  int blocks = 3;  ///< for each rank; 0: tuned
  Backend rank_backend = Backend::serial;
};

struct Image3 {
  ImageGrid grid;
  Metric metric;
  std::vector<std::uint8_t> mask;
};

inline Arrival solve_over_ranks(const Image3& image, const Sources& sources, SolveOptions options,
                                const ImageCase& how) {
  options.ranks = {.blocks_per_rank = how.blocks, .rank_backend = how.rank_backend};
  return solve_whole({image.grid, image.metric, image.mask}, sources, options, how.ranks, how.delays);
}

inline void expect_serial(const Image3& image, const Sources& sources, const ImageCase& how,
                          SolveOptions options = {}) {
  const Arrival arrival = solve_over_ranks(image, sources, options, how);
  options.backend = Backend::serial;
  expect_same(arrival, solve(image.grid, image.metric, sources, options, image.mask), options.precision);
}

/// Spacings and directions as scanners give them.
inline ImageGrid tilted(std::array<std::uint32_t, 3> shape) {
  ImageGrid grid;
  grid.shape = shape;
  grid.origin = {-30, 12, 7};
  grid.axes = {Vec3d{0.9, 0.1, 0}, Vec3d{-0.15, 1.35, 0.3}, Vec3d{0, -0.25, 1.1}};
  return grid;
}

inline Metric rough_speed(const ImageGrid& grid, std::uint64_t seed) {
  Random random(seed);
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(0.5 + 2 * random.uniform());
  return Metric(std::move(speeds));
}

/// Fibres that turn from voxel to voxel, `ratio` times as fast along as across.
inline Metric rough_tensors(const ImageGrid& grid, double ratio) {
  TensorMetric tensors;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const Vec3d p = grid.position(VertexId(v));
    const SymTensor3d m =
        fiber_metric(ratio, {std::cos(0.3 * p.x), std::sin(0.2 * p.y + 0.1), 0.4 * std::sin(0.25 * p.z)});
    tensors.tensor.push_back({static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
                              static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)});
  }
  return Metric(std::move(tensors));
}

/// A wall with a gap, and a corner that nothing reaches.
inline std::vector<std::uint8_t> wall(const ImageGrid& grid) {
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    if (i == grid.shape[0] / 2 && j + 3 < grid.shape[1]) mask[v] = 0;
    const std::uint32_t from_corner = i + j + k;
    if (from_corner == 4) mask[v] = 0;
  }
  return mask;
}

inline Sources two_voxels(const ImageGrid& grid, double later = 1.5) {
  Sources sources = centre_source(grid);
  sources.vertices.push_back({grid.voxel(grid.shape[0] - 2, 1, grid.shape[2] / 2), later});
  return sources;
}

}  // namespace isochron::test
