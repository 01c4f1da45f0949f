#include "isochron/solve/grid_solver.h"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/core/error.h"
#include "solve/grid_samples.h"

namespace isochron::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Arrival solved(const ImageGrid& grid, const Metric& metric, const Sources& sources, const GridOptions& options,
               std::span<const std::uint8_t> mask = {}) {
  Arrival arrival = solve(grid, metric, sources, options, mask);
  EXPECT_TRUE(arrival.converged);
  EXPECT_TRUE(arrival.residual && arrival.residual->passed());
  return arrival;
}

TEST(GridSolver, ExampleOneIsWithinTwoPerCentAtFirstOrder) {
  const ImageGrid grid = cube_grid(64);
  const SymTensor3d m = inverse(SymTensor3d{1, 0.9, 0.9, 1, 0.9, 1});
  const Arrival arrival = solved(grid, Metric::constant(m), centre_source(grid), checked_options());
  EXPECT_LT(error_against_straight(grid, m, grid.position(Vec3d{32, 32, 32}), arrival).mean_relative, 0.02);
  EXPECT_EQ(arrival.reached, grid.voxel_count());
}

TEST(GridSolver, TenToOneIsWithinThreePerCentAtFirstOrder) {
  const ImageGrid grid = cube_grid(48);
  const SymTensor3d m = fiber_metric(10, {1, 0.37, 0.61});
  const Arrival arrival = solved(grid, Metric::constant(m), centre_source(grid), checked_options());
  EXPECT_LT(error_against_straight(grid, m, grid.position(Vec3d{24, 24, 24}), arrival).mean_relative, 0.03);
}

TEST(GridSolver, AVaryingTensorThatDoesNotVaryIsTheUniformOne) {
  const ImageGrid grid = cube_grid(20);
  const SymTensor3d m = fiber_metric(4, {1, 2, -0.5});
  const Arrival one = solved(grid, Metric::constant(m), centre_source(grid), checked_options());
  const Arrival all = solved(grid, varying(grid, m), centre_source(grid), checked_options());
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) EXPECT_NEAR(one.times[v], all.times[v], 1e-4);
}

TEST(GridSolver, NothingLeaksThroughAWallOneVoxelThick) {
  const ImageGrid grid = cube_grid(15);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t k = 0; k < 15; ++k)
    for (std::uint32_t j = 0; j < 15; ++j) mask[grid.voxel(7, j, k).index()] = 0;
  for (const Metric& metric : {Metric::isotropic(1), Metric::constant(fiber_metric(20, {1, 0.3, 0.1})),
                               varying(grid, fiber_metric(20, {1, 0.3, 0.1}))}) {
    const Arrival arrival = solved(grid, metric, voxel_source(grid.voxel(3, 7, 7)), checked_options(), mask);
    EXPECT_EQ(arrival.reached, 7U * 15 * 15);
    for (std::size_t v = 0; v < grid.voxel_count(); ++v)
      EXPECT_EQ(std::isfinite(arrival.times[v]), grid.index(VertexId(v))[0] < 7);
  }
}

TEST(GridSolver, RefusesWhatItCannotUse) {
  const ImageGrid grid = cube_grid(4);
  const Metric metric = Metric::isotropic(1);
  EXPECT_THROW(solve(grid, metric, {}), InputError);
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(64))), InputError);
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(0), inf)), InputError);
  EXPECT_THROW(solve(grid, metric, point_source({4, 0, 0})), InputError);
  std::vector<std::uint8_t> mask(64, 1);
  mask[5] = 0;
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(5)), {}, mask), InputError);
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(4)), {}, std::vector<std::uint8_t>(64, 0)), InputError);
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(4)), {}, std::vector<std::uint8_t>(63, 1)), InputError);
  ImageGrid empty = grid;
  empty.shape[1] = 0;
  EXPECT_THROW(solve(empty, metric, voxel_source(VertexId(0))), InputError);
}

}  // namespace
}  // namespace isochron::test
