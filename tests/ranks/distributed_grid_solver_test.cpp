#include "isochron/solve/ranks/grid_partition.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include <gtest/gtest.h>

#include "ranks/image_over_ranks.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(DistributedGridSolver, GivesTheSerialTimesInSpace) {
  const ImageGrid plain = cube_grid(17);
  const ImageGrid grid = tilted({15, 13, 18});
  for (const int ranks : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(ranks);
    expect_serial({plain, Metric::isotropic(2), {}}, centre_source(plain), {.ranks = ranks});
    expect_serial({plain, rough_speed(plain, 3), {}}, two_voxels(plain), {.ranks = ranks});
    expect_serial({grid, Metric::constant(fiber_metric(4, {1, 2, 1})), {}}, centre_source(grid), {.ranks = ranks});
    expect_serial({grid, rough_tensors(grid, 3), {}}, two_voxels(grid), {.ranks = ranks});
    expect_serial({plain, varying(plain, diag149), {}}, centre_source(plain), {.ranks = ranks});
  }
}

TEST(DistributedGridSolver, GivesTheSerialTimesInThePlane) {
  const ImageGrid plain = flat_grid(40);
  const ImageGrid grid = tilted({37, 41, 1});
  for (const int ranks : {1, 2, 4, 7}) {
    SCOPED_TRACE(ranks);
    expect_serial({plain, Metric::isotropic(2), {}}, centre_source(plain), {.ranks = ranks});
    expect_serial({plain, rough_speed(plain, 3), {}}, two_voxels(plain), {.ranks = ranks});
    expect_serial({grid, Metric::constant(fiber_metric(5, {1, 2, 0})), {}}, centre_source(grid), {.ranks = ranks});
    expect_serial({grid, rough_tensors(grid, 3), {}}, two_voxels(grid), {.ranks = ranks});
  }
}

TEST(DistributedGridSolver, GivesTheExactTimesOfAConstantSpeed) {
  const ImageGrid grid = cube_grid(33);
  const Metric metric = Metric::isotropic(2);
  SolveOptions options;
  options.order = 2;
  const Arrival outcome = solve_over_ranks({grid, metric, {}}, centre_source(grid), options, {.ranks = 4});
  const GridError error =
      error_against_straight(grid, metric.tensor(ElementId(0)), grid.position(Vec3d{16, 16, 16}), outcome);
  EXPECT_LT(error.mean_relative, 0.01);
}

TEST(DistributedGridSolver, KeepsToMasks) {
  for (const ImageGrid& grid : {tilted({19, 16, 11}), tilted({33, 30, 1})}) {
    const std::vector<std::uint8_t> mask = wall(grid);
    for (const int ranks : {2, 5}) {
      SCOPED_TRACE(ranks);
      for (const Metric& metric : {Metric::isotropic(1), rough_speed(grid, 5), rough_tensors(grid, 4),
                                   Metric::constant(fiber_metric(3, {1, 1, 0}))})
        expect_serial({grid, metric, mask}, voxel_source(grid.voxel(grid.shape[0] - 3, 2, grid.shape[2] / 2)),
                      {.ranks = ranks});
    }
  }
  // One slice of a volume is left: still a volume.
  const ImageGrid grid = cube_grid(9);
  std::vector<std::uint8_t> slice(grid.voxel_count(), 0);
  for (std::uint32_t j = 0; j < 9; ++j)
    for (std::uint32_t i = 0; i < 9; ++i) slice[grid.voxel(i, j, 4).index()] = 1;
  for (const int ranks : {1, 3})
    expect_serial({grid, Metric::constant(fiber_metric(3, {1, 1, 1})), slice}, centre_source(grid), {.ranks = ranks});
}

TEST(DistributedGridSolver, GivesTheSerialTimesOfSecondOrder) {
  SolveOptions options;
  options.order = 2;
  const ImageGrid flat = tilted({37, 41, 1}), grid = tilted({15, 13, 18});
  const OvertakenSeeds overtaken = overtaken_seeds();
  Sources beside_the_wall = voxel_source(grid.voxel(12, 2, 9));
  beside_the_wall.vertices.push_back({grid.voxel(3, 8, 4), 1.5});
  for (const int ranks : {1, 3, 6})
    for (const int delay : {0, 15}) {
      const ImageCase how{.ranks = ranks, .delays = {.looks = delay}};
      SCOPED_TRACE(ranks);
      expect_serial({flat, Metric::isotropic(1), wall(flat)}, voxel_source(flat.voxel(30, 4, 0)), how, options);
      expect_serial({flat, rough_speed(flat, 2), {}}, two_voxels(flat), how, options);
      expect_serial({grid, rough_tensors(grid, 3), wall(grid)}, beside_the_wall, how, options);
      expect_serial({grid, rough_tensors(grid, 3), {}}, two_voxels(grid), how, options);
      expect_serial({grid, Metric::constant(fiber_metric(3, {1, 2, 1})), {}}, two_voxels(grid), how, options);
      expect_serial({overtaken.grid, overtaken.metric, {}}, overtaken.sources, how, options);
    }
}

TEST(DistributedGridSolver, GivesTheSerialTimesInSinglePrecision) {
  SolveOptions options;
  options.precision = Precision::single_;
  const ImageGrid grid = cube_grid(16);
  expect_serial({grid, rough_speed(grid, 1), {}}, centre_source(grid), {.ranks = 3}, options);
  options.order = 2;
  expect_serial({grid, Metric::isotropic(1), {}}, centre_source(grid), {.ranks = 3}, options);
}

TEST(DistributedGridSolver, TakesEverySource) {
  const ImageGrid grid = tilted({16, 15, 14});
  Sources point = point_source(grid.position(Vec3d{5.3, 7.8, 6.1}), 1.5);
  expect_serial({grid, Metric::isotropic(1), {}}, point, {.ranks = 4});
  point.points.push_back({grid.position(Vec3d{12.2, 3.5, 9.9}), -2});
  expect_serial({grid, rough_tensors(grid, 2), {}}, point, {.ranks = 4});
  SolveOptions plain;
  plain.source_init = SourceInit::plain;
  expect_serial({grid, rough_speed(grid, 8), {}}, two_voxels(grid), {.ranks = 4}, plain);
  expect_serial({grid, Metric::isotropic(1), {}}, two_voxels(grid, 500), {.ranks = 3});
  Sources region;
  for (std::uint32_t i = 3; i < 9; ++i) region.vertices.push_back({grid.voxel(i, 4, 5), 0.1 * i});
  expect_serial({grid, Metric::isotropic(1), {}}, region, {.ranks = 4});
}

TEST(DistributedGridSolver, SourceOnAHaloVoxel) {
  const ImageGrid grid = cube_grid(12);
  // Two blocks for each of three ranks: wherever their borders are, a source is on each plane of voxels.
  for (std::uint32_t i = 0; i < 12; ++i)
    expect_serial({grid, rough_speed(grid, 4), {}}, voxel_source(grid.voxel(i, i, 11 - i)), {.ranks = 3, .blocks = 2});
}

TEST(DistributedGridSolver, StandsMoreRanksThanVoxels) {
  ImageGrid tiny;
  tiny.shape = {2, 2, 1};
  ImageGrid one;
  for (const int ranks : {3, 8}) {
    expect_serial({tiny, Metric::isotropic(1), {}}, voxel_source(VertexId(0)), {.ranks = ranks});
    expect_serial({one, Metric::isotropic(1), {}}, voxel_source(VertexId(0)), {.ranks = ranks});
    std::vector<std::uint8_t> mask{1, 0, 0, 1};
    expect_serial({tiny, Metric::isotropic(1), mask}, voxel_source(VertexId(3)), {.ranks = ranks});
  }
}

TEST(DistributedGridSolver, LeavesTooLongUpdatesToOneRank) {
  // A medium so much faster along one line that updates read 40 voxels away.
  ImageGrid grid;
  grid.shape = {60, 60, 1};
  const Metric metric = varying(grid, fiber_metric(300, {41, 40, 0}));
  const Arrival outcome = solve_over_ranks({grid, metric, {}}, centre_source(grid), {}, {.ranks = 3});
  EXPECT_EQ(outcome.traffic->messages, 0U);
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_NE(outcome.notes[0].find("one rank solves it all: the metric is so anisotropic"), std::string::npos);
  expect_serial({grid, metric, {}}, centre_source(grid), {.ranks = 3});
}

TEST(DistributedGridSolver, SaysWhereRanksHaveNothingToDo) {
  const auto notes = [](const ImageGrid& grid, const Metric& metric, int ranks) {
    return solve_over_ranks({grid, metric, {}}, centre_source(grid), {}, {.ranks = ranks, .blocks = 0}).notes;
  };
  EXPECT_EQ(notes(cube_grid(9), Metric::isotropic(1), 1), std::vector<std::string>{});
  EXPECT_EQ(notes(cube_grid(9), Metric::isotropic(1), 3),
            std::vector<std::string>{"one rank solves it all: the image is too small for more blocks (at least 12 "
                                     "voxels wide; updates read 1 voxel away)"});
  EXPECT_EQ(notes(cube_grid(20), Metric::isotropic(1), 9),
            std::vector<std::string>{"8 of 9 ranks solve it: the image is too small for more blocks (at least 12 "
                                     "voxels wide; updates read 1 voxel away)"});
  EXPECT_EQ(notes(cube_grid(20), Metric::isotropic(1), 8), std::vector<std::string>{});
  ImageGrid flat;
  flat.shape = {60, 60, 1};
  // An update along a fibre reads 30 voxels away: blocks would be as large as the image.
  const auto anisotropic = notes(flat, varying(flat, fiber_metric(300, {31, 30, 0})), 3);
  ASSERT_EQ(anisotropic.size(), 1U);
  EXPECT_TRUE(anisotropic[0].starts_with("one rank solves it all: the image is too small")) << anisotropic[0];
}

TEST(DistributedGridSolver, WaitsForASlowRank) {
  const ImageGrid grid = tilted({13, 12, 11});
  for (const int slow : {0, 2})
    expect_serial({grid, rough_tensors(grid, 3), {}}, two_voxels(grid),
                  {.ranks = 3, .delays = {.looks = 5, .slow_rank = slow, .slow_micros = 300}});
}

TEST(DistributedGridSolver, StandsDelaysAndReorderedMessages) {
  const ImageGrid grid = tilted({14, 12, 13});
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const int delay : {3, 40}) {
      SCOPED_TRACE(seed);
      expect_serial({grid, rough_tensors(grid, 2.0 + 0.3 * static_cast<double>(seed)), {}}, two_voxels(grid),
                    {.ranks = 4, .delays = {.seed = seed, .looks = delay}});
    }
}

TEST(DistributedGridSolver, SendsEachTimeAboutOnce) {
  const ImageGrid grid = cube_grid(24);
  const Arrival outcome = solve_over_ranks({grid, rough_speed(grid, 1), {}}, centre_source(grid), {}, {.ranks = 4});
  EXPECT_GT(outcome.traffic->messages, 0U);
  EXPECT_GE(outcome.traffic->bytes, outcome.traffic->halo_bytes);
  EXPECT_LE(outcome.traffic->bytes, 3 * outcome.traffic->halo_bytes);
  SolveOptions second;
  second.order = 2;
  const Arrival twice = solve_over_ranks({grid, rough_speed(grid, 1), {}}, centre_source(grid), second, {.ranks = 4});
  EXPECT_GE(twice.traffic->bytes, twice.traffic->halo_bytes);
  EXPECT_LE(twice.traffic->bytes, 3 * twice.traffic->halo_bytes);
}

TEST(DistributedGridSolver, StopsOnAllRanksWhenOneIsTold) {
  const ImageGrid grid = cube_grid(10);
  std::atomic<bool> stop{true};
  SolveOptions options;
  options.progress.cancel = &stop;
  EXPECT_THROW(solve_over_ranks({grid, Metric::isotropic(1), {}}, centre_source(grid), options, {}), Cancelled);
}

TEST(DistributedGridSolver, RefusesWhatItCannotDo) {
  const ImageGrid grid = cube_grid(5);
  const Image3 image{grid, Metric::isotropic(1), {}};
  SolveOptions options;
  options.scheme = GridScheme::godunov;
  EXPECT_THROW(solve_over_ranks(image, centre_source(grid), options, {}), UsageError);
  options = {};
  options.order = 3;
  EXPECT_THROW(solve_over_ranks(image, centre_source(grid), options, {}), UsageError);
  options = {};
  options.source_init = SourceInit::factored;
  EXPECT_THROW(solve_over_ranks(image, centre_source(grid), options, {}), UsageError);
  EXPECT_THROW(solve_over_ranks(image, voxel_source(VertexId(5000)), {}, {}), InputError);
  EXPECT_THROW(
      solve_over_ranks({grid, Metric::isotropic(1), std::vector<std::uint8_t>(125, 0)}, centre_source(grid), {}, {}),
      InputError);
}

TEST(DealBlocks, GivesEveryRankItsShareOfTheFront) {
  const ImageGrid grid = cube_grid(64);
  const Metric metric = Metric::isotropic(1);
  const GridCells cells = make_cells(grid, {});
  constexpr int ranks = 4;
  const std::vector<Seed> seeds{{VertexId(0), 0, 0}};
  const ranks::GridPartition partition = ranks::partition_blocks({grid, metric}, cells, {1, 1, 1}, seeds, ranks, 0);
  // Work of a shell is done when its slowest rank is done.
  const Arrival arrival = solve(grid, metric, voxel_source(VertexId(0)));
  std::map<int, std::array<double, ranks>> shells;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    const std::uint32_t block =
        partition.lattice.block_of({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
    shells[static_cast<int>(arrival.times[v])][partition.rank_of[block]] += 1;
  }
  double slowest = 0;
  for (const auto& [shell, work] : shells) slowest += *std::max_element(work.begin(), work.end());
  EXPECT_LT(slowest * ranks, 1.5 * static_cast<double>(grid.voxel_count()));
}

TEST(DealBlocks, DoesNotDependOnTheUnitOfTime) {
  const ImageGrid grid = cube_grid(40);
  const GridCells cells = make_cells(grid, {});
  const auto partitioned = [&](double unit) {
    const std::vector<Seed> seeds{{VertexId(0), 0, 0}, {VertexId(500), 3 * unit, 1}};
    return ranks::partition_blocks({grid, Metric::isotropic(1 / unit)}, cells, {1, 1, 1}, seeds, 3, 0).rank_of;
  };
  const std::vector<std::uint32_t> ranks = partitioned(1);
  EXPECT_GT(std::count(ranks.begin(), ranks.end(), 2U), 10);
  for (const double unit : {0x1p-100, 0x1p100, 0x1p400}) EXPECT_EQ(partitioned(unit), ranks) << unit;
}

TEST(PaddedBlocks, FindsItsVoxelsAgain) {
  for (const bool flat : {false, true}) {
    const ranks::BlockLattice lattice{{3, 1, 0}, {10, 7, flat ? 1 : 5}, {4, 3, flat ? 1 : 2}};
    EXPECT_EQ(lattice.count(), flat ? 9U : 27U);
    const ranks::PaddedBlocks blocks(lattice, {2, 1, flat ? 0 : 1}, {1, 4, 8}, flat);
    const ImageGrid grid = blocks.grid(ImageGrid{});
    EXPECT_EQ(grid.flat(), flat);
    EXPECT_EQ(grid.voxel_count(), blocks.voxel_count());
    std::size_t at = 0;
    blocks.for_voxels([&](const Vec3i& index, bool inside) {
      const auto [i, j, k] = grid.index(VertexId(at++));
      const Vec3i padded_index{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
      EXPECT_EQ(blocks.image_index(padded_index), index);
      if (!inside || !lattice.holds(index)) return;
      const auto place = std::find(blocks.blocks().begin(), blocks.blocks().end(), lattice.block_of(index));
      ASSERT_NE(place, blocks.blocks().end());
      EXPECT_EQ(blocks.padded_index(static_cast<std::size_t>(place - blocks.blocks().begin()), index), padded_index);
    });
    EXPECT_EQ(at, blocks.voxel_count());
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
