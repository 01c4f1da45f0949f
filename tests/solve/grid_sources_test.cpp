// How grid solves start: points between voxels, balls, factoring, regions, labels.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "solve/grid_samples.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(GridSources, PointsBetweenVoxelsAreNotMoved) {
  ImageGrid grid = cube_grid(30);
  grid.axes[1] = {0, 1.5, 0};
  const SymTensor3d m = fiber_metric(2, {1, 1, 0});
  const Vec3d from{14.3, 20.1, 15.45};
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored}) {
    SolveOptions options = checked_options();
    options.source_init = init;
    options.order = 2;
    const Arrival arrival = solved(grid, Metric::constant(m), point_source(from, 7), options);
    double worst_near = 0;
    for (const Vec3d& corner : {Vec3d{14, 13, 15}, Vec3d{15, 14, 16}, Vec3d{14, 14, 15}}) {
      const VertexId voxel = *grid.voxel_at(grid.position(corner));
      worst_near =
          std::max(worst_near, std::abs(arrival.times[voxel.index()] - 7 - straight_time(grid, m, from, voxel)));
    }
    EXPECT_LT(worst_near, 1e-9);
  }
}

TEST(GridSources, FactoringIsExactForConstantSpeed) {
  const ImageGrid grid = cube_grid(40);
  const double side = 39;
  for (const SymTensor3d& m : {SymTensor3d::identity(), SymTensor3d::diagonal(1, 4, 9)})
    for (const int order : {1, 2}) {
      SolveOptions options = checked_options();
      options.source_init = SourceInit::factored;
      options.ball_rings = 2;
      options.tolerance = 1e-9;
      options.order = order;
      const Arrival arrival = solved(grid, Metric::constant(m), centre_source(grid), options);
      EXPECT_LT(error_against_straight(grid, m, {20, 20, 20}, arrival).largest, 1e-6 * side);
    }
}

TEST(GridSources, FactoringBeatsTheBallOnOffsetStencils) {
  const ImageGrid grid = cube_grid(40);
  const SymTensor3d m = inverse(SymTensor3d{1, 0.9, 0.9, 1, 0.9, 1});
  SolveOptions options = checked_options();
  const auto error = [&](SourceInit init) {
    options.source_init = init;
    const Arrival arrival = solved(grid, Metric::constant(m), centre_source(grid), options);
    return error_against_straight(grid, m, {20, 20, 20}, arrival).mean_relative;
  };
  EXPECT_LT(error(SourceInit::factored), 0.05 * error(SourceInit::ball));
}

/// Exact times in a medium whose speed rises linearly: v = 1 + g·(x − source) along one axis.
double linear_medium_time(double gradient, double source_speed, double speed, double distance_squared) {
  return std::acosh(1 + gradient * gradient * distance_squared / (2 * source_speed * speed)) / gradient;
}

TEST(GridSources, ALinearMediumIsWithinAThousandthAtSecondOrder) {
  const ImageGrid grid = cube_grid(65);
  const double gradient = 1.0 / 64;
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v)
    speeds.speed.push_back(1 + gradient * grid.position(VertexId(v)).z);
  SolveOptions options = checked_options();
  options.source_init = SourceInit::factored;
  options.order = 2;
  for (const Vec3d& from : {Vec3d{32, 32, 32}, Vec3d{20.3, 40.6, 10.2}}) {
    const Arrival arrival = solved(grid, Metric(speeds), point_source(from), options);
    double sum = 0;
    std::size_t far = 0;
    for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
      const Vec3d way = grid.position(VertexId(v)) - from;
      if (norm(way) <= 5) continue;
      const double exact = linear_medium_time(gradient, 1 + gradient * from.z, speeds.speed[v], dot(way, way));
      sum += std::abs(arrival.times[v] - exact) / exact;
      ++far;
    }
    EXPECT_LT(sum / static_cast<double>(far), 0.001);
  }
}

TEST(GridSources, ABallDoesNotReachBehindAWall) {
  // The source stands in front of a wall with a hole far away.
  const ImageGrid grid = flat_grid(31);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t j = 0; j < 30; ++j) mask[grid.voxel(16, j, 0).index()] = 0;
  for (const SourceInit init : {SourceInit::ball, SourceInit::factored}) {
    SolveOptions options = checked_options();
    options.source_init = init;
    const Arrival arrival = solved(grid, Metric::isotropic(1), voxel_source(grid.voxel(14, 5, 0)), options, mask);
    EXPECT_GT(arrival.times[grid.voxel(18, 5, 0).index()], 48);
  }
}

TEST(GridSources, AFaceOfAMaskedVoxelIsAPlaceToStart) {
  const ImageGrid grid = cube_grid(6);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  mask[grid.voxel(2, 3, 3).index()] = 0;
  Sources sources;
  sources.points.push_back({grid.position(Vec3d{2.5, 3, 3}), 0});
  const Arrival arrival = solved(grid, Metric::isotropic(1), sources, checked_options(), mask);
  EXPECT_NEAR(arrival.times[grid.voxel(3, 3, 3).index()], 0.5, 1e-9);
  EXPECT_EQ(arrival.reached, grid.voxel_count() - 1);
}

TEST(GridSources, RegionsKeepTheirTimes) {
  const ImageGrid grid = flat_grid(30);
  Sources region;
  for (std::uint32_t j = 0; j < 30; ++j) region.vertices.push_back({grid.voxel(10, j, 0), 3});
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored}) {
    SolveOptions options = checked_options();
    options.source_init = init;
    const Arrival arrival = solved(grid, Metric::isotropic(2), region, options);
    for (std::uint32_t j = 0; j < 30; ++j)
      for (std::uint32_t i = 0; i < 30; ++i)
        ASSERT_NEAR(arrival.times[grid.voxel(i, j, 0).index()], 3 + std::abs(static_cast<double>(i) - 10) / 2, 1e-9);
  }
}

TEST(GridSources, EveryVoxelKnowsItsSource) {
  const ImageGrid grid = cube_grid(24);
  Sources sources;
  sources.vertices.push_back({grid.voxel(4, 4, 4), 0});
  sources.points.push_back({{18.2, 17.7, 19.1}, 1.5});
  sources.points.push_back({{4.4, 19.0, 6.6}, -1});
  for (const SourceInit init : {SourceInit::ball, SourceInit::factored})
    for (const SymTensor3d& m : {SymTensor3d::identity(), fiber_metric(2, {1, 0.4, 0.1})}) {
      SolveOptions options = checked_options();
      options.source_init = init;
      const Arrival arrival = solved(grid, Metric::constant(m), sources, options);
      const Vec3d from[3] = {{4, 4, 4}, sources.points[0].position, sources.points[1].position};
      const double onset[3] = {0, 1.5, -1};
      for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
        double time[3];
        for (int s = 0; s < 3; ++s) time[s] = onset[s] + straight_time(grid, m, from[s], VertexId(v));
        const double least = std::min({time[0], time[1], time[2]});
        ASSERT_GE(arrival.source[v], 0);
        ASSERT_NEAR(time[arrival.source[v]], least, 1.5) << "voxel " << v;  // near the seam it may go either way
      }
    }
}

/// Beside a source between the nodes the corrections of three terms together can be longer than a step.
TEST(GridSources, FactoringEndsWhereTheSpeedRises) {
  ImageGrid grid;
  grid.shape = {21, 21, 11};
  for (Vec3d& axis : grid.axes) axis = 200.0 * axis;
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v)
    speeds.speed.push_back(1500 + 0.8 * grid.position(VertexId(v)).z);
  SolveOptions options = checked_options();
  options.source_init = SourceInit::factored;
  const double tolerances[] = {1e-4, 1e-6};
  for (const double tolerance : tolerances)
    for (int i = 0; i < 20; ++i) {
      const Vec3d from{500.5 + 61 * i, 501.5 + 37 * i, 1502.5 - 55 * i};
      options.tolerance = tolerance;
      const Arrival arrival = solved(grid, Metric(speeds), point_source(from), options);
      EXPECT_TRUE(arrival.converged);
      const double speed = 1500 + 0.8 * from.z;
      double worst = 0;
      for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
        const Vec3d way = grid.position(VertexId(v)) - from;
        const double exact = linear_medium_time(0.8, speed, speeds.speed[v], dot(way, way));
        worst = std::max(worst, std::abs(arrival.times[v] - exact));
      }
      EXPECT_LT(worst, 0.05) << "source " << i;
    }
}

TEST(GridSources, ManyFactoredSourcesGetBalls) {
  const ImageGrid grid = flat_grid(40);
  Sources sources;
  for (std::uint32_t j = 0; j < 40; j += 4)
    for (std::uint32_t i = 0; i < 40; i += 4) sources.vertices.push_back({grid.voxel(i, j, 0), 0});
  SolveOptions options = checked_options();
  options.source_init = SourceInit::factored;
  const Arrival arrival = solve(grid, Metric::isotropic(1), sources, options);
  EXPECT_EQ(arrival.source_init, SourceInit::ball);
  EXPECT_EQ(arrival.source_balls, 100U);
  EXPECT_EQ(arrival.notes.size(), 1U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
