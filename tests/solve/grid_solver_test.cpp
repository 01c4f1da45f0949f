#include "isochron/solver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/metric_arrays.h"
#include "isochron/solve/grid/segment_cells.h"
#include "isochron/solve/grid/stencils.h"
#include "solve/grid_samples.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

double error_of(const ImageGrid& grid, const SymTensor3d& m, const SolveOptions& options) {
  const Sources sources = centre_source(grid);
  const Arrival arrival = solved(grid, Metric::constant(m), sources, options);
  return error_against_straight(grid, m, grid.position(sources.vertices[0].vertex.in_whole()), arrival).mean_relative;
}

TEST(GridSolver, ExampleOneReachesItsStatedErrors) {
  const ImageGrid grid = cube_grid(64);
  const SymTensor3d m = inverse(SymTensor3d{1, 0.9, 0.9, 1, 0.9, 1});
  SolveOptions options = checked_options();
  EXPECT_LT(error_of(grid, m, options), 0.02);
  options.order = 2;
  EXPECT_LT(error_of(grid, m, options), 0.005);
}

TEST(GridSolver, TenToOneAtAnAngleReachesItsStatedErrors) {
  const ImageGrid grid = cube_grid(64);
  for (const Vec3d& fiber : {Vec3d{1, 0.37, 0.61}, Vec3d{0.2, -1, 0.05}}) {
    SolveOptions options = checked_options();
    EXPECT_LT(error_of(grid, fiber_metric(10, fiber), options), 0.03);
    options.order = 2;
    EXPECT_LT(error_of(grid, fiber_metric(10, fiber), options), 0.01);
  }
}

TEST(GridSolver, ConstantTensorsAtManyAnisotropiesAndAngles) {
  const ImageGrid grid = cube_grid(33), flat = flat_grid(65);
  for (const double ratio : {1.0, 2.0, 5.0, 20.0})
    for (const Vec3d& fiber : {Vec3d{1, 0, 0}, Vec3d{1, 1, 0}, Vec3d{1, 2, 3}, Vec3d{-0.3, 1, 0.1}}) {
      SolveOptions options = checked_options();
      options.order = 2;
      EXPECT_LT(error_of(grid, fiber_metric(ratio, fiber), options), 0.02) << ratio;
      EXPECT_LT(error_of(flat, fiber_metric(ratio, fiber), options), 0.02) << ratio;
    }
}

TEST(GridSolver, ObliqueAxesAndUnequalSpacingMeasureTheWorld) {
  ImageGrid grid = cube_grid(40);
  grid.origin = {-30, 12, 5};
  grid.axes = {Vec3d{0.9, 0.2, -0.1}, Vec3d{-0.3, 1.4, 0.2}, Vec3d{0.4, 0.1, 2.1}};
  SolveOptions options = checked_options();
  for (const SymTensor3d& m : {SymTensor3d::identity(0.25), fiber_metric(3, {1, -1, 0.5})}) {
    options.order = 1;
    EXPECT_LT(error_of(grid, m, options), 0.03);
    options.order = 2;
    EXPECT_LT(error_of(grid, m, options), 0.005);
  }
}

TEST(GridSolver, ErrorsFallWithTheOrder) {
  const SymTensor3d m = fiber_metric(3, {1, 2, 0});
  // The ball has the same size in the world, so that its share of the error falls too.
  const auto error = [&](std::uint32_t n, int order) {
    ImageGrid grid = flat_grid(2 * n + 1);
    SolveOptions options = checked_options();
    options.order = order;
    options.ball_rings = static_cast<int>(n / 5);
    return error_of(grid, m, options);
  };
  const double first = std::log2(error(40, 1) / error(80, 1)), second = std::log2(error(40, 2) / error(80, 2));
  EXPECT_GT(first, 0.85);
  EXPECT_GT(second, 1.6);
}

TEST(GridSolver, SeedsAreNotLaterThanTheirOwnTimeAtSecondOrder) {
  const OvertakenSeeds image = overtaken_seeds();
  for (const Precision precision : {Precision::single_, Precision::double_})
    for (const Backend backend : {Backend::serial, Backend::threads}) {
      SolveOptions options = checked_options(backend);
      options.precision = precision;
      options.order = 2;
      solved(image.grid, image.metric, image.sources, options);
    }
}

// A narrow fast tube in slow surroundings, where second-order times come in another order than first-order ones.
TEST(GridSolver, SecondOrderStaysAfterItsSourceWhereTheSpeedJumps) {
  for (const double across : {1e-2, 1e-3, 1e-4}) {
    HelixTensorsOptions helix;
    helix.size.n = {32, 32, 32};
    helix.across = across;
    const Image image = generate_helix_tensors(helix);
    const Metric metric = metric_from_image(image, {.velocity_tensor_array = "velocity_tensor"}, {}, {}).metric;
    Sources sources;
    sources.vertices.push_back({*image.grid.voxel_at(helix_point(helix, 0)), 0});
    SolveOptions options = checked_options();
    const Arrival first = solved(image.grid, metric, sources, options);
    options.order = 2;
    const Arrival second = solved(image.grid, metric, sources, options);
    for (std::size_t v = 0; v < first.times.size(); ++v) {
      ASSERT_GE(second.times[v], 0) << across << " " << v;
      ASSERT_LE(second.times[v], 1.1 * first.times[v] + 1) << across << " " << v;
    }
  }
}

/// Behind a voxel that takes 1e8 times as long as the others, single precision does not see a step.
TEST(GridSolver, StepsThatAreLostInRoundingAreTaken) {
  ImageGrid grid;
  grid.shape = {9, 1, 1};
  SpeedMetric speed{std::vector<double>(9, 1.0)};
  speed.speed[2] = 1e-8;
  for (const int order : {1, 2}) {
    SolveOptions options = checked_options();
    options.precision = Precision::single_;
    options.order = order;
    const Arrival arrival = solved(grid, Metric(speed), voxel_source(VertexId(0)), options);
    for (std::size_t v = 2; v < 9; ++v) {
      EXPECT_NEAR(arrival.times[v], order == 2 && v == 2 ? 2e8 / 3 : 1e8, 1e3) << order << " " << v;
      EXPECT_EQ(arrival.source[v], 0) << order << " " << v;
    }
  }
}

TEST(GridSolver, AxisOrderDoesNotMatter) {
  const std::uint32_t n = 24;
  const ImageGrid grid = cube_grid(n);
  const SymTensor3d m = fiber_metric(4, {1, 2, 0.4});
  const SymTensor3d turned{m.yy, m.yz, m.xy, m.zz, m.xz, m.xx};  // x, y, z are y, z, x there
  for (const int order : {1, 2}) {
    SolveOptions options = checked_options();
    options.order = order;
    options.tolerance = 1e-12;
    const Arrival a = solved(grid, Metric::constant(m), voxel_source(grid.voxel(5, 9, 14)), options);
    const Arrival b = solved(grid, Metric::constant(turned), voxel_source(grid.voxel(9, 14, 5)), options);
    for (std::uint32_t k = 0; k < n; ++k)
      for (std::uint32_t j = 0; j < n; ++j)
        for (std::uint32_t i = 0; i < n; ++i)
          ASSERT_NEAR(a.times[grid.voxel(i, j, k).index()], b.times[grid.voxel(j, k, i).index()], 1e-9);
  }
}

TEST(GridSolver, ThereAndBackTakeTheSameTime) {
  const ImageGrid grid = cube_grid(24);
  const SymTensor3d m = fiber_metric(6, {1, 0.3, -0.8});
  const VertexId a = grid.voxel(3, 5, 8), b = grid.voxel(19, 14, 17);
  SolveOptions options = checked_options();
  options.source_init = SourceInit::plain;
  const auto time = [&](const Metric& metric, VertexId from, VertexId to) {
    return solved(grid, metric, voxel_source(from), options).times[to.index()];
  };
  EXPECT_NEAR(time(Metric::isotropic(2), a, b), time(Metric::isotropic(2), b, a), 1e-4);
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(1 + 0.03 * grid.position(VertexId(v)).x);
  const double there = time(Metric(speeds), a, b), back = time(Metric(speeds), b, a);
  EXPECT_NEAR(there, back, 0.03 * there);
  const double long_way = time(Metric::constant(m), a, b);
  EXPECT_NEAR(long_way, time(Metric::constant(m), b, a), 0.05 * long_way);  // near the edge stencils are cut
}

TEST(GridSolver, ThreadsGiveTheSameTimes) {
  const ImageGrid grid = cube_grid(28), flat = flat_grid(200);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); v += 7) mask[v] = 0;
  const SymTensor3d m = fiber_metric(5, {1, 0.5, 0.2});
  mask[centre_source(grid).vertices[0].vertex.index()] = 1;
  for (const int order : {1, 2})
    for (const SourceInit init : {SourceInit::ball, SourceInit::factored})
      for (const Metric& metric : {Metric::isotropic(1), Metric::constant(m), varying(grid, m)}) {
        SolveOptions serial = checked_options(), threads = checked_options(Backend::threads);
        serial.order = threads.order = order;
        serial.source_init = threads.source_init = init;
        const Arrival a = solved(grid, metric, centre_source(grid), serial, mask);
        const Arrival b = solved(grid, metric, centre_source(grid), threads, mask);
        EXPECT_EQ(b.backend, Backend::threads);
        EXPECT_EQ(a.reached, b.reached);
        for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
          if (!std::isfinite(a.times[v])) continue;
          ASSERT_NEAR(a.times[v], b.times[v], 1e-4);
        }
      }
  const Arrival a = solved(flat, Metric::constant(m), centre_source(flat), checked_options());
  const Arrival b = solved(flat, Metric::constant(m), centre_source(flat), checked_options(Backend::threads));
  for (std::size_t v = 0; v < flat.voxel_count(); ++v) ASSERT_NEAR(a.times[v], b.times[v], 1e-4);
}

TEST(GridSolver, SinglePrecisionIsClose) {
  const ImageGrid grid = cube_grid(32);
  const SymTensor3d m = fiber_metric(5, {1, 0.5, 0.2});
  SolveOptions options = checked_options();
  for (const int order : {1, 2})
    for (const Metric& metric : {Metric::isotropic(3e-7), Metric::constant(m), varying(grid, m)}) {
      options.order = order;
      options.precision = Precision::double_;
      const Arrival a = solved(grid, metric, centre_source(grid), options);
      options.precision = Precision::single_;
      const Arrival b = solved(grid, metric, centre_source(grid), options);
      EXPECT_EQ(b.precision, Precision::single_);
      for (std::size_t v = 0; v < grid.voxel_count(); ++v)
        ASSERT_NEAR(a.times[v], b.times[v], 2e-4 * (a.times[v] + a.max_time / 16));
    }
}

TEST(GridSolver, AVaryingTensorThatDoesNotVaryIsTheUniformOne) {
  const ImageGrid grid = cube_grid(20);
  const SymTensor3d m = fiber_metric(4, {1, 2, -0.5});
  const Arrival one = solved(grid, Metric::constant(m), centre_source(grid), checked_options());
  const Arrival all = solved(grid, varying(grid, m), centre_source(grid), checked_options());
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) EXPECT_NEAR(one.times[v], all.times[v], 1e-4);
}

/// A shear of the grid: D has the direction (1, −shear), or (0, 1, −shear), so a step along the first axis of these
/// takes √(1 + shear²) and one along the second 1. All its numbers are exact in single precision.
SymTensor3d sheared_metric(const ImageGrid& grid, double shear) {
  const double slow = 1 + shear * shear;
  return grid.flat() ? SymTensor3d{slow, shear, 0, 1, 0, slow} : SymTensor3d{slow, 0, 0, slow, shear, 1};
}

// Its offset is longer than records can hold (and than the image): the steps along the axes do.
TEST(GridSolver, OffsetsThatNoRecordHoldsLeaveTheAxes) {
  for (const ImageGrid& grid : {flat_grid(9), cube_grid(7)}) {
    const double shear = grid.flat() ? 2000 : 600;
    const SymTensor3d m = sheared_metric(grid, shear);
    const Metric metrics[] = {Metric::constant(m), varying(grid, m)};
    for (const Metric& metric : metrics)
      for (const int order : {1, 2}) {
        SolveOptions options = checked_options();
        options.source_init = SourceInit::plain;
        options.order = order;
        const Arrival arrival = solved(grid, metric, voxel_source(VertexId(0)), options);
        for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
          const auto [i, j, k] = grid.index(VertexId(v));
          const double slow = std::sqrt(1 + shear * shear) * (grid.flat() ? i : j);
          // In space this is so in the plane of the shear; beside it fronts are round.
          if (!grid.flat() && i != 0) continue;
          const double exact = slow + (grid.flat() ? j : k);
          ASSERT_NEAR(arrival.times[v], exact, 1e-6 * exact);
        }
      }
  }
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

TEST(GridSolver, NothingSlipsBetweenMaskedVoxelsThatShareAnEdge) {
  // A diagonal wall of voxels that touch along edges only.
  const ImageGrid grid = flat_grid(12);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t i = 0; i < 12; ++i) mask[grid.voxel(i, 11 - i, 0).index()] = 0;
  const Arrival arrival = solved(grid, Metric::constant(fiber_metric(5, {1, 1.1, 0})),
                                 voxel_source(grid.voxel(1, 1, 0)), checked_options(), mask);
  EXPECT_EQ(arrival.reached, 11U * 12 / 2);
}

TEST(GridSolver, ALabyrinthIsWalkedThrough) {
  // Corridors one voxel wide, joined at alternating ends; the fibres cross them at an angle.
  const std::uint32_t n = 13;
  const ImageGrid grid = flat_grid(n);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t j = 1; j < n; j += 2)
    for (std::uint32_t i = 0; i < n; ++i)
      if (i != ((j / 2) % 2 == 0 ? n - 1 : 0)) mask[grid.voxel(i, j, 0).index()] = 0;
  const double corridors = 7 * (n - 1) + 6 * 2;
  for (const int order : {1, 2}) {
    SolveOptions options = checked_options();
    options.order = order;
    const Arrival plain = solved(grid, Metric::isotropic(1), voxel_source(grid.voxel(0, 0, 0)), options, mask);
    EXPECT_NEAR(plain.times[grid.voxel(n - 1, n - 1, 0).index()], corridors, 4) << order;  // corners are cut a little
    const SymTensor3d m = fiber_metric(8, {1, 1, 0});
    for (const Metric& metric : {Metric::constant(m), varying(grid, m)}) {
      const Arrival arrival = solved(grid, metric, voxel_source(grid.voxel(0, 0, 0)), options, mask);
      EXPECT_EQ(arrival.unreached, 6U * (n - 1));
      const double steps = 7 * (n - 1) * std::sqrt(m.xx) + 6 * 2 * std::sqrt(m.yy);
      EXPECT_NEAR(arrival.times[grid.voxel(n - 1, n - 1, 0).index()], steps, 0.15 * steps);
    }
  }
}

TEST(GridSolver, PartsThatDoNotHangTogetherStayUnreached) {
  const ImageGrid grid = cube_grid(9);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 0);
  mask[grid.voxel(1, 1, 1).index()] = mask[grid.voxel(2, 1, 1).index()] = 1;
  mask[grid.voxel(3, 2, 1).index()] = 1;  // shares an edge with the part, not a face
  mask[grid.voxel(7, 7, 7).index()] = 1;
  const Arrival arrival = solved(grid, Metric::constant(fiber_metric(3, {1, 1, 0.2})),
                                 voxel_source(grid.voxel(1, 1, 1)), checked_options(), mask);
  EXPECT_EQ(arrival.reached, 2U);
  EXPECT_EQ(arrival.source[grid.voxel(2, 1, 1).index()], 0);
  EXPECT_EQ(arrival.source[grid.voxel(7, 7, 7).index()], -1);
}

TEST(GridSolver, MaskedOutVoxelsMayHoldAnything) {
  const ImageGrid grid = cube_grid(6);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  SpeedMetric speeds{std::vector<double>(grid.voxel_count(), 2.0)};
  speeds.speed[7] = std::numeric_limits<double>::quiet_NaN();
  mask[7] = 0;
  const Arrival arrival = solved(grid, Metric(speeds), voxel_source(VertexId(0)), checked_options(), mask);
  EXPECT_EQ(arrival.reached, grid.voxel_count() - 1);
  EXPECT_EQ(arrival.times[7], inf);
  mask[7] = 1;
  EXPECT_THROW(solve(grid, Metric(speeds), voxel_source(VertexId(0)), {}, mask), InputError);
}

TEST(GridSolver, StandsTinyImages) {
  for (const std::array<std::uint32_t, 3>& shape :
       {std::array<std::uint32_t, 3>{1, 1, 1}, {5, 1, 1}, {1, 5, 1}, {1, 1, 5}, {2, 3, 1}, {1, 4, 3}}) {
    ImageGrid grid;
    grid.shape = shape;
    for (const int order : {1, 2})
      for (const SymTensor3d& m : {SymTensor3d::identity(), fiber_metric(7, {1, 0.6, 0.3})}) {
        SolveOptions options = checked_options();
        options.order = order;
        const Arrival arrival = solved(grid, varying(grid, m), voxel_source(VertexId(0)), options);
        EXPECT_EQ(arrival.reached, grid.voxel_count());
      }
  }
}

TEST(GridSolver, TakesAnotherMetric) {
  const ImageGrid grid = cube_grid(10);
  const Metric slow = Metric::isotropic(1), fast = Metric::isotropic(4);
  Solver solver({grid, slow, {}}, checked_options());
  const Arrival before = solver.solve(centre_source(grid));
  solver.set_metric(fast);
  const Arrival after = solver.solve(centre_source(grid));
  EXPECT_NEAR(before.max_time, 4 * after.max_time, 1e-9);
  const Metric bad(SpeedMetric{std::vector<double>(5, 1.0)});
  EXPECT_THROW(solver.set_metric(bad), InputError);
  EXPECT_NEAR(solver.solve(centre_source(grid)).max_time, after.max_time, 1e-12);
}

TEST(GridSolver, SolvesManySetsOfSourcesInOrder) {
  const ImageGrid grid = cube_grid(12);
  const Metric metric = Metric::constant(fiber_metric(3, {1, 1, 0.2}));
  std::vector<Sources> sets;
  for (std::size_t v = 0; v < 40; ++v) sets.push_back(voxel_source(VertexId(31 * v)));
  SolveOptions options = checked_options(Backend::threads);
  Solver solver({grid, metric, {}}, options);
  const std::vector<Arrival> all = solver.solve_many(sets);
  ASSERT_EQ(all.size(), sets.size());
  for (const std::size_t k : {std::size_t{0}, std::size_t{17}, std::size_t{39}}) {
    const Arrival one = solve(grid, metric, sets[k], checked_options());
    for (std::size_t v = 0; v < grid.voxel_count(); ++v) ASSERT_NEAR(all[k].times[v], one.times[v], 1e-4);
    EXPECT_EQ(all[k].backend, Backend::threads) << "of the batch";
    EXPECT_EQ(all[k].threads, 3);
  }
}

TEST(GridSolver, AnErrorNamesItsSetOfSources) {
  const ImageGrid grid = cube_grid(5);
  const Metric metric = Metric::isotropic(1);
  Solver solver({grid, metric, {}}, checked_options(Backend::threads));
  const Sources bad = voxel_source(VertexId(9999));
  const auto message_of = [&](std::span<const Sources> sets, std::size_t& taken) -> std::string {
    try {
      solver.solve_many(sets, [&](std::size_t, Arrival&&) { ++taken; });
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  std::vector<Sources> sets(9, voxel_source(VertexId(3)));
  sets[7] = bad;
  std::size_t alone = 0, together = 0;
  const std::string of_one = message_of({&bad, 1}, alone);
  EXPECT_FALSE(of_one.empty());
  EXPECT_EQ(message_of(sets, together), "source set 7: " + of_one);
  EXPECT_EQ(alone, 0U);
  EXPECT_EQ(together, 7U);
}

TEST(GridSolver, ResidualNoticesAChangedTime) {
  const ImageGrid grid = cube_grid(16);
  const Metric metric = Metric::constant(fiber_metric(3, {1, 1, 0.2}));
  for (const int order : {1, 2}) {
    SolveOptions options = checked_options();
    options.order = order;
    options.ball_rings = 3;
    Solver solver({grid, metric, {}}, options);
    Arrival arrival = solver.solve(centre_source(grid));
    EXPECT_TRUE(solver.residual(arrival, centre_source(grid)).passed());
    const VertexId wrong = grid.voxel(2, 13, 4);
    arrival.times[wrong.index()] += 0.01;
    const Residual residual = solver.residual(arrival, centre_source(grid));
    EXPECT_FALSE(residual.passed());
    EXPECT_EQ(residual.worst_vertex, wrong);
  }
}

TEST(GridSolver, StopsWhenCancelled) {
  const ImageGrid grid = cube_grid(8);
  const std::atomic<bool> cancel{true};
  SolveOptions options;
  options.progress.cancel = &cancel;
  EXPECT_THROW(solve(grid, Metric::isotropic(1), centre_source(grid), options), Cancelled);
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
  SymTensor3d indefinite = SymTensor3d::diagonal(1, 1, -1);
  EXPECT_THROW(solve(grid, Metric::constant(indefinite), voxel_source(VertexId(0))), InputError);
  EXPECT_THROW(solve(grid, varying(grid, indefinite), voxel_source(VertexId(0))), InputError);
  SolveOptions options;
  options.order = 3;
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(0)), options), UsageError);
  options.order = 1;
  options.method = Method::fmm;
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(0)), options), UsageError);
  options.method = Method::automatic;
  options.scheme = GridScheme::godunov;
  options.order = 2;
  EXPECT_THROW(solve(grid, metric, voxel_source(VertexId(0)), options), UsageError);
  EXPECT_THROW(grid_scheme_named("upwind"), UsageError);
  EXPECT_EQ(grid_scheme_named("lax-friedrichs"), GridScheme::lax_friedrichs);
  ImageGrid empty = grid;
  empty.shape[1] = 0;
  EXPECT_THROW(solve(empty, metric, voxel_source(VertexId(0))), InputError);
}

TEST(Stencils, StepsAlongAxesAreExactWhereTensorsAreNearlySingular) {
  // (1 + w v vᵀ)⁻¹ = 1 − w v vᵀ / (1 + w |v|²)
  for (const double w : {1.0, 1e6, 1e12}) {
    const Vec3d e[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {7, -5, 3}};
    const double weight[4] = {1, 1, 1, w};
    const auto times = root_of_inverse_diagonal<double, 3>(e, weight);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_NEAR(times[axis], std::sqrt((1 + w * (83 - e[3][axis] * e[3][axis])) / (1 + 83 * w)), 1e-14) << w;
    const Vec3d flat[3] = {{1, 0, 0}, {0, 1, 0}, {7, -5, 0}};
    const double flat_weight[3] = {1, 1, w};
    const auto flat_times = root_of_inverse_diagonal<double, 2>(flat, flat_weight);
    EXPECT_NEAR(flat_times[0], std::sqrt((1 + 25 * w) / (1 + 74 * w)), 1e-14) << w;
    EXPECT_NEAR(flat_times[1], std::sqrt((1 + 49 * w) / (1 + 74 * w)), 1e-14) << w;
  }
}

TEST(SegmentCells, TouchesWhatTheLineTouches) {
  EXPECT_TRUE(touched_voxels({1, 0, 0}).empty());
  EXPECT_EQ(touched_voxels({1, -1, 0}).size(), 2U);  // through an edge: both voxels beside it
  EXPECT_EQ(touched_voxels({1, 1, 1}).size(), 6U);   // through a corner: all that meet there
  EXPECT_EQ(touched_voxels({2, 1, 0}).size(), 2U);   // (1,0) and (1,1)
  EXPECT_EQ(touched_voxels({0, 0, -3}).size(), 2U);
  // By sampling: every voxel a fine walk along the line is in.
  const Vec3i end{7, -4, 3};
  const std::vector<Vec3i> touched = touched_voxels(end);
  for (int step = 0; step <= 1000; ++step) {
    const double t = step / 1000.0;
    const Vec3i voxel{static_cast<int>(std::lround(t * end.x)), static_cast<int>(std::lround(t * end.y)),
                      static_cast<int>(std::lround(t * end.z))};
    if (voxel == Vec3i{} || voxel == end) continue;
    EXPECT_NE(std::find(touched.begin(), touched.end(), voxel), touched.end());
  }
  EXPECT_LT(touched.size(), 24U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
