// Paths on the times of the grid solver.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/diffusion.h"
#include "isochron/generate.h"
#include "isochron/metric_arrays.h"
#include "isochron/path.h"
#include "isochron/solver.h"
#include "isochron/trace/grid_field.h"
#include "solve/grid_samples.h"
#include "trace/face_lattice.h"
#include "trace/trace_samples.h"

namespace isochron::test {
namespace TEST_FILE {

/// An image with times from its sources.
struct SolvedGrid {
  ImageGrid grid;
  Metric metric;
  Sources sources;
  std::vector<std::uint8_t> mask{};
  Arrival arrival = solve(grid, metric, sources, {}, mask);

  [[nodiscard]] Path path(VertexId v, Shorten shorten = Shorten::yes) const {
    return trace_path(grid, metric, mask, arrival.times, sources, grid.position(v), {shorten});
  }
};

void expect_all_end(const SolvedGrid& on, std::size_t stride, Shorten shorten) {
  for (std::size_t v = 0; v < on.grid.voxel_count(); v += stride) {
    if (!std::isfinite(on.arrival.times[v])) continue;
    const Path path = on.path(VertexId(v), shorten);
    expect_sound(path);
    EXPECT_LT(norm(path.points.back() - on.grid.position(on.sources.vertices[0].vertex.in_whole())), 1e-9);
    EXPECT_TRUE(std::isfinite(path.travel_time));  // it would be infinite outside the mask
    if (::testing::Test::HasFailure()) FAIL() << "from voxel " << v;
  }
}

/// One tensor a voxel: `ratio` times as fast along a direction of its own as across.
Metric random_fibers(const ImageGrid& grid, double ratio, std::uint64_t seed) {
  Random random(seed);
  TensorMetric tensors;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const SymTensor3d m = fiber_metric(ratio, {random.normal(), random.normal(), random.normal()});
    tensors.tensor.push_back({static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
                              static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)});
  }
  return Metric(std::move(tensors));
}

TEST(GridSolvedPath, StraightAtStrongAnisotropy) {
  const ImageGrid grid = cube_grid(25);
  const SymTensor3d m = fiber_metric(10, {1, 0.7, 0.3});
  const SolvedGrid on{grid, Metric::constant(m), centre_source(grid)};
  const Vec3d source = grid.position(on.sources.vertices[0].vertex.in_whole());
  double sum = 0, exact = 0;
  for (std::size_t v = 3; v < grid.voxel_count(); v += 311) {
    const Path path = on.path(VertexId(v));
    expect_sound(path);
    sum += path.travel_time;
    exact += straight_time(grid, m, source, VertexId(v));
  }
  EXPECT_LT(sum / exact, 1.01);
}

TEST(GridSolvedPath, EveryVoxelOfARandomMediumHasItsPath) {
  const ImageGrid grid = cube_grid(13);
  const SolvedGrid on{grid, random_fibers(grid, 6, 2), centre_source(grid)};
  expect_all_end(on, 1, Shorten::no);
  expect_all_end(on, 97, Shorten::yes);
}

TEST(GridSolvedPath, NeverLeavesARaggedMask) {
  const ImageGrid grid = cube_grid(15);
  Random random(8);
  std::vector<std::uint8_t> mask(grid.voxel_count());
  for (auto& m : mask) m = random.uniform() < 0.65 ? 1 : 0;
  const Sources sources = centre_source(grid);
  mask[sources.vertices[0].vertex.index()] = 1;
  const SolvedGrid on{grid, random_fibers(grid, 3, 5), sources, mask};
  ASSERT_GT(on.arrival.reached, grid.voxel_count() / 4);
  expect_all_end(on, 1, Shorten::no);
  expect_all_end(on, 101, Shorten::yes);
}

// A fast tube winds through a slow block: the path stays in it.
TEST(GridSolvedPath, FollowsAHelix) {
  ImageGrid grid = cube_grid(40);
  const auto axis = [](double angle) {
    return Vec3d{20 + 11 * std::cos(angle), 20 + 11 * std::sin(angle), 4 + 5 * angle};
  };
  constexpr double turns = 6.2;
  SpeedMetric speed;
  std::vector<double> from_axis;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    double nearest = 1e9;
    for (double angle = 0; angle <= turns; angle += 0.05)
      nearest = std::min(nearest, norm(grid.position(VertexId(v)) - axis(angle)));
    from_axis.push_back(nearest);
    speed.speed.push_back(nearest < 2.5 ? 1 : 0.02);
  }
  const auto voxel_near = [&](Vec3d p) { return *grid.voxel_at(p); };
  const SolvedGrid on{grid, Metric(std::move(speed)), voxel_source(voxel_near(axis(0)))};
  const Path path = on.path(voxel_near(axis(turns)));
  expect_sound(path);
  for (const Vec3d& p : path.points) EXPECT_LT(from_axis[grid.voxel_at(p)->index()], 2.5);
  EXPECT_LT(path.travel_time, path.times.front());  // first-order times are late at the tube's steps
  EXPECT_GT(path.travel_time, 0.8 * path.times.front());
  EXPECT_GT(path.length, 60);  // by and large the tube's, not the 32 of the straight line
}

/// The same with fibres along the tube: of paper 004, Example 2. Voxels are coarse for it, so that a traced path costs
/// several times what the front took, and more than the straight way through the slow block.
class HelixOfFibers : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Across, HelixOfFibers, ::testing::Values(1e-2, 1e-3, 1e-4));

TEST_P(HelixOfFibers, ShorterPathsStayInTheTube) {
  HelixTensorsOptions options;
  options.across = GetParam();
  const Image image = generate_helix_tensors(options);
  const MetricRequest request{.velocity_tensor_array = "velocity_tensor"};
  const auto voxel_at = [&](double t) { return *image.grid.voxel_at(helix_point(options, t)); };
  const SolvedGrid on{image.grid, metric_from_image(image, request, image.tensor_order, {}).metric,
                      voxel_source(voxel_at(0.02))};
  const auto in_tube = [&](const Vec3d& p) {
    const SymTensor3d d = inverse(on.metric.tensor(ElementId(on.grid.voxel_at(p)->index())));
    return d.xx + d.yy + d.zz > 0.5;
  };
  for (const double t : {0.4, 0.98}) {
    const Path traced = on.path(voxel_at(t), Shorten::no), path = on.path(voxel_at(t));
    expect_sound(path);
    EXPECT_LT(path.travel_time, traced.travel_time);
    EXPECT_LT(path.travel_time, 1.3 * path.times.front());
    for (std::size_t i = 1; i < path.points.size(); ++i) {
      EXPECT_TRUE(in_tube(path.points[i])) << t;
      EXPECT_TRUE(in_tube(0.5 * (path.points[i - 1] + path.points[i]))) << t;
    }
  }
}

/// Two bundles that cross in a plane, and the path through one of them.
class CrossingFibers : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Angle, CrossingFibers, ::testing::Values(30, 45, 60, 75, 90));

TEST_P(CrossingFibers, NoWayOverAFineLatticeIsQuicker) {
  CrossingFibersOptions options;
  options.size = {{48, 48, 1}, 2};
  options.angle = GetParam();
  const Image image = generate_crossing_fibers(options);
  const auto tensors =
      world_tensors(*image.data.find("tensor"), TensorOrder::row, image.grid, TensorFrame::world, "crossing");
  const auto mask = std::get<std::vector<std::uint8_t>>(image.data.find("mask")->values);
  const double half = GetParam() * std::numbers::pi / 360;
  const Vec3d middle = image.grid.position(Vec3d{23.5, 23.5, 0}), along{std::cos(half), std::sin(half), 0};
  const auto at = [&](double distance) { return *image.grid.voxel_at(middle + distance * along); };
  const SolvedGrid on{image.grid, diffusion_metric(tensors, mask).metric, voxel_source(at(-40)), mask};
  for (const double distance : {25.0, 40.0}) {
    const Path path = on.path(at(distance));
    expect_sound(path);
    const double best = FaceLattice(on.grid, on.metric, on.mask).quickest(at(-40), at(distance));
    EXPECT_LT(path.travel_time, 1.005 * best);
  }
}

TEST(GridSolvedPath, ShorteningNeverCostsTime) {
  const ImageGrid grid = cube_grid(7);
  for (const double ratio : {3.0, 10.0, 100.0}) {
    const SolvedGrid on{grid, random_fibers(grid, ratio, 11), centre_source(grid)};
    double traced = 0, shorter = 0;
    for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
      const double before = on.path(VertexId(v), Shorten::no).travel_time;
      const double after = on.path(VertexId(v)).travel_time;
      ASSERT_LE(after, before) << "from voxel " << v << " at " << ratio;
      traced += before;
      shorter += after;
    }
    EXPECT_LT(shorter, 0.9 * traced);
  }
}

TEST(GridSolvedPath, TheMetricOfTheSolveExplainsItsPathsAndNoOtherDoes) {
  const ImageGrid grid = cube_grid(13);
  SpeedMetric speeds;
  Random random(5);
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(random.uniform() < 0.5 ? 1 : 10);
  const Vec3d between{4.3, 5.2, 6.6};
  for (const Metric& metric : {Metric(speeds), random_fibers(grid, 3, 3)})
    for (const Sources& sources : {centre_source(grid), point_source(between, 0)}) {
      const SolvedGrid on{grid, metric, sources};
      Metric other = metric;
      other.change_unit(1.5);
      const double share = metric.isotropic() ? 1e-6 : 0.3;  // at borders tensors also take times along the axes
      const GridPathTracer right(grid, metric, {}, on.arrival.times, on.sources);
      const GridPathTracer wrong(grid, other, {}, on.arrival.times, on.sources);
      for (std::size_t v = 0; v < grid.voxel_count(); v += 17) {
        const Path path = on.path(VertexId(v), Shorten::no);
        EXPECT_TRUE(right.explains(path, share)) << v;
        if (norm(path.points.front() - path.points.back()) > 4) {
          EXPECT_FALSE(wrong.explains(path, 0.3)) << v;
        }
      }
    }
}

// Whatever the scheme, every path of a rough image reaches the source; times of second order are no other metric's.
TEST(GridSolvedPath, SecondOrderAndSmearedTimesOfARoughImageHaveTheirPaths) {
  const ImageGrid grid = cube_grid(13);
  SpeedMetric speeds;
  Random random(9);
  for (std::size_t v = 0; v < grid.voxel_count(); ++v)
    speeds.speed.push_back(static_cast<float>(std::exp(random.normal())));
  const Metric metric(speeds);
  const Sources sources = centre_source(grid);
  for (const auto& [scheme, order] : {std::pair{GridScheme::adaptive, 2}, std::pair{GridScheme::lax_friedrichs, 1}}) {
    SolveOptions options;
    options.scheme = scheme;
    options.order = order;
    const Arrival arrival = solve(grid, metric, sources, options);
    ASSERT_TRUE(arrival.converged);
    const GridPathTracer tracer(grid, metric, {}, arrival.times, sources);
    std::size_t paths = 0, suspected = 0;
    for (std::size_t v = 0; v < grid.voxel_count(); v += 13) {
      const Path path = tracer.from(grid.position(VertexId(v)), {Shorten::no});
      expect_sound(path);
      if (!tracer.explains(path, 0.1)) ++suspected;
      ++paths;
    }
    if (order == 2) {
      EXPECT_LT(static_cast<double>(suspected), 0.05 * static_cast<double>(paths));
    }
  }
}

TEST(GridSolvedPath, EndsAtAPointBetweenVoxels) {
  const ImageGrid grid = flat_grid(40);
  const Vec3d source{11.3, 17.8, 0};
  const SolvedGrid on{grid, Metric{}, point_source(source, 2)};
  const Path path = trace_path(grid, on.metric, {}, on.arrival.times, on.sources, {33.6, 30.2, 0});
  expect_sound(path);
  EXPECT_LT(norm(path.points.back() - source), 1e-9);
  EXPECT_EQ(path.times.back(), 2);
  EXPECT_LT(bend(path), 0.3);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
