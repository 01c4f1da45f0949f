// Images on the GPU against the CPU's times. Skips itself where there is no device.
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/papers/methods.h"
#include "isochron/solver.h"
#include "solve/grid_samples.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

class DeviceGrid : public DeviceCase {};
class DeviceSmallGrid : public DeviceCase {};

/// Plain sources: balls would leave little to solve on images this small.
SolveOptions plain_options(Backend backend) {
  SolveOptions options = checked_options(backend);
  options.source_init = SourceInit::plain;
  return options;
}

SolveOptions device_options(Precision precision) {
  SolveOptions options = plain_options(Backend::cuda);
  options.precision = precision;
  return options;
}

struct GridCase {
  ImageGrid grid;
  Metric metric;
  Sources sources;
  std::vector<std::uint8_t> mask = {};

  [[nodiscard]] GridDomain domain() const { return {grid, metric, mask}; }
};

/// Times that agree to the tolerance times the hops, in shortest steps.
void expect_near(const Arrival& arrival, const Arrival& expected, double near) {
  ASSERT_EQ(arrival.times.size(), expected.times.size());
  for (std::size_t v = 0; v < expected.times.size(); ++v) {
    if (std::isinf(expected.times[v])) ASSERT_EQ(arrival.times[v], inf) << v;
    else ASSERT_NEAR(arrival.times[v], expected.times[v], near) << v;
  }
  EXPECT_EQ(arrival.reached, expected.reached);
  EXPECT_EQ(arrival.unreached, expected.unreached);
  EXPECT_NEAR(arrival.max_time, expected.max_time, near);
}

/// Checkers of a device's memory are slow: for them one way to solve has to do.
struct Ways {
  std::vector<Precision> precisions{Precision::single_, Precision::double_};
  std::vector<double> widths{0, 1, 1e6};
  std::vector<int> iterations{0, 1, 3};
};
const Ways one_way{{Precision::single_}, {0}, {0}};

/// The GPU gives the CPU's times in both precisions and for all band widths. `step` is the time of a step.
void expect_solved(const GridCase& problem, double step, const Ways& ways = {}) {
  SolveOptions exact = plain_options(Backend::serial);
  exact.tolerance = 1e-12;
  const Arrival expected = Solver(problem.domain(), exact).solve(problem.sources);
  ASSERT_TRUE(expected.residual->passed());
  const double hops = 3.0 * (problem.grid.shape[0] + problem.grid.shape[1] + problem.grid.shape[2]);
  for (const Precision precision : ways.precisions) {
    const bool single = precision == Precision::single_;
    SCOPED_TRACE(single ? "single" : "double");
    for (const double width : ways.widths) {
      SolveOptions options = device_options(precision);
      options.band_width = width;
      Solver solver(problem.domain(), options);
      const Arrival arrival = solver.solve(problem.sources);
      EXPECT_TRUE(arrival.converged) << arrival.residual->worst;
      EXPECT_EQ(arrival.backend, Backend::cuda);
      EXPECT_EQ(arrival.method, Method::push);
      EXPECT_EQ(arrival.precision, precision);
      EXPECT_GT(arrival.device_bytes, 0U);
      EXPECT_GE(arrival.counters.rounds, 1U);
      expect_near(arrival, expected, (single ? 1e-5 : 1e-6) * hops * step);
      EXPECT_EQ(arrival.source.size(), problem.grid.voxel_count());
    }
  }
}

/// M of tensors that turn along a helix: fast along it, `ratio` times as fast as across.
Metric helix_metric(const ImageGrid& grid, double ratio) {
  std::vector<SymTensor3f> tensor;
  const double middle = 0.5 * grid.shape[0];
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    const SymTensor3d m = fiber_metric(ratio, {middle - j, i - middle + 0.3, 0.4 * middle});
    tensor.push_back({static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
                      static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)});
  }
  return Metric(TensorMetric{std::move(tensor)});
}

/// A random tensor in every voxel, with speeds 1 to 10: eigenvalues of M differ by up to 100.
Metric random_metric(const ImageGrid& grid, std::uint64_t seed) {
  Random random(seed);
  std::vector<SymTensor3f> tensor;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const double z = random.uniform(-1, 1), angle = random.uniform(0, 2 * std::numbers::pi),
                 flat = std::sqrt(1 - z * z);
    const SymTensor3d m = fiber_metric(random.uniform(1, 10), {flat * std::cos(angle), flat * std::sin(angle), z});
    tensor.push_back({static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
                      static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)});
  }
  return Metric(TensorMetric{std::move(tensor)});
}

Metric random_speed(const ImageGrid& grid) {
  Random random(7);
  SpeedMetric speed;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speed.speed.push_back(0.5 + 2 * random.uniform());
  return Metric(std::move(speed));
}

/// Allowed where a curled sheet is: much less than half of the box.
std::vector<std::uint8_t> sheet_mask(const ImageGrid& grid) {
  std::vector<std::uint8_t> mask(grid.voxel_count(), 0);
  for (std::size_t v = 0; v < mask.size(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    const double height = 0.5 * grid.shape[2] + 4 * std::sin(0.6 * i);
    mask[v] = std::abs(k - height) < 2 && j + 1 < grid.shape[1] ? 1 : 0;
  }
  return mask;
}

VertexId first_allowed(const std::vector<std::uint8_t>& mask) {
  std::size_t v = 0;
  while (mask[v] == 0) ++v;
  return VertexId(v);
}

const SymTensor3d example_one = inverse(SymTensor3d{1, 0.9, 0.9, 1, 0.9, 1});

TEST_F(DeviceGrid, AlongTheAxes) {
  const ImageGrid grid = cube_grid(17);
  expect_solved({grid, Metric::isotropic(2), centre_source(grid)}, 0.5);
  expect_solved({grid, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), voxel_source(VertexId(0), -3)}, 1);
  expect_solved({grid, random_speed(grid), centre_source(grid)}, 2);
  const ImageGrid flat = flat_grid(33);
  expect_solved({flat, Metric::isotropic(1), centre_source(flat)}, 1);
  expect_solved({flat, random_speed(flat), voxel_source(VertexId(40))}, 2);
}

TEST_F(DeviceGrid, ExampleOne) {
  const ImageGrid grid = cube_grid(20);
  expect_solved({grid, Metric::constant(example_one), centre_source(grid)}, 1);
  const ImageGrid flat = flat_grid(30);
  expect_solved({flat, Metric::constant(fiber_metric(8, {1, 0.37, 0})), centre_source(flat)}, 1);
}

TEST_F(DeviceGrid, TensorsThatTurnInsideAMask) {
  const ImageGrid grid = cube_grid(18);
  const std::vector<std::uint8_t> mask = sheet_mask(grid);
  expect_solved({grid, helix_metric(grid, 5), voxel_source(first_allowed(mask)), mask}, 1);
  expect_solved({grid, helix_metric(grid, 5), centre_source(grid)}, 1);
  const ImageGrid flat = flat_grid(31);
  expect_solved({flat, helix_metric(flat, 5), centre_source(flat)}, 1);
}

TEST_F(DeviceGrid, OneTensorInsideAMask) {
  const ImageGrid grid = cube_grid(18);
  std::vector<std::uint8_t> mask = sheet_mask(grid);
  const Sources source = voxel_source(first_allowed(mask));
  expect_solved({grid, Metric::isotropic(1), source, mask}, 1);
  expect_solved({grid, Metric::constant(fiber_metric(6, {1, 0.3, 0.1})), source, mask}, 1);
  // Most of the box: cells are numbered as in it.
  for (std::size_t v = 0; v < mask.size(); ++v) mask[v] = v % 29 != 5 ? 1 : 0;
  expect_solved({grid, Metric::constant(fiber_metric(6, {1, 0.3, 0.1})), centre_source(grid), mask}, 1);
  expect_solved({grid, random_speed(grid), centre_source(grid), mask}, 2);
}

TEST_F(DeviceGrid, RandomTensorsOfRatioOneHundred) {
  const ImageGrid grid = cube_grid(14);
  expect_solved({grid, random_metric(grid, 1), centre_source(grid)}, 1);
  const ImageGrid flat = flat_grid(24);
  expect_solved({flat, random_metric(flat, 2), centre_source(flat)}, 1);
}

TEST_F(DeviceGrid, OffsetsThatNoRecordHolds) {
  const ImageGrid flat = flat_grid(9);
  const SymTensor3d m{4000001, 2000, 0, 1, 0, 4000001};  // D has the direction (1, −2000)
  expect_solved({flat, Metric::constant(m), centre_source(flat)}, 2000);
  expect_solved({flat, varying(flat, m), centre_source(flat)}, 2000);
}

TEST_F(DeviceGrid, AnErrorNamesItsSetOfSources) {
  const ImageGrid grid = cube_grid(5);
  const Metric metric = Metric::isotropic(1);
  Solver solver({grid, metric, {}}, device_options(Precision::single_));
  std::vector<Sources> sets(9, centre_source(grid));
  sets[7] = voxel_source(VertexId(9999));
  try {
    (void)solver.solve_many(sets);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("source set 7: ")) << error.what();
  }
}

TEST_F(DeviceGrid, SeveralSourcesWithOnsetsAndTheirLabels) {
  const ImageGrid grid = cube_grid(21);
  Sources sources = voxel_source(grid.voxel(2, 3, 4), 1.5);
  sources.vertices.push_back({grid.voxel(18, 17, 10), -2});
  sources.points.push_back({{10.3, 4.6, 17.2}, 0.25});
  for (const Metric& metric : {Metric::isotropic(1), Metric::constant(example_one), helix_metric(grid, 3)}) {
    expect_solved({grid, metric, sources}, 1);
    SolveOptions with_balls = device_options(Precision::double_);
    with_balls.source_init = SourceInit::ball;
    const Arrival host = Solver({grid, metric, {}}, checked_options()).solve(sources);
    const Arrival device = Solver({grid, metric, {}}, with_balls).solve(sources);
    expect_near(device, host, 1e-3);
    std::size_t different = 0;
    for (std::size_t v = 0; v < grid.voxel_count(); ++v) different += host.source[v] == device.source[v] ? 0 : 1;
    EXPECT_LT(different, grid.voxel_count() / 100) << "only where sources meet";
  }
}

TEST_F(DeviceGrid, ABatchIsItsSingleSolves) {
  const ImageGrid grid = cube_grid(13);
  const std::vector<std::uint8_t> mask = sheet_mask(grid);
  std::vector<Sources> sets;
  for (std::size_t v = 0; v < mask.size() && sets.size() < 150; v += 3)
    if (mask[v] != 0) sets.push_back(voxel_source(VertexId(v), 0.1 * static_cast<double>(sets.size())));
  ASSERT_GT(sets.size(), 128U) << "more than go at once";
  for (const Metric& metric : {Metric::isotropic(1), helix_metric(grid, 4)}) {
    Solver batch({grid, metric, mask}, device_options(Precision::single_));
    Solver single({grid, metric, mask}, device_options(Precision::single_));
    const std::vector<Arrival> arrivals = batch.solve_many(sets);
    ASSERT_EQ(arrivals.size(), sets.size());
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{77}, sets.size() - 1}) {
      EXPECT_TRUE(arrivals[i].converged);
      expect_near(arrivals[i], single.solve(sets[i]), 1e-3);
      EXPECT_TRUE(batch.residual(arrivals[i], sets[i]).passed());
    }
  }
}

TEST_F(DeviceGrid, AnotherMetricOnTheSameImage) {
  const ImageGrid grid = cube_grid(12);
  const Metric slow = Metric::isotropic(1), turning = helix_metric(grid, 4),
               bad = Metric::constant(SymTensor3d::diagonal(1, -1, 1));
  Solver solver({grid, slow, {}}, device_options(Precision::single_));
  const Sources sources = centre_source(grid);
  const Arrival before = solver.solve(sources);
  solver.set_metric(turning);
  expect_near(solver.solve(sources), Solver({grid, turning, {}}, plain_options(Backend::serial)).solve(sources), 1e-3);
  solver.set_metric(slow);
  EXPECT_THROW(solver.set_metric(bad), InputError);
  expect_near(solver.solve(sources), before, 1e-3);
}

TEST_F(DeviceGrid, TheResidualFindsWrongTimes) {
  const ImageGrid grid = cube_grid(12);
  const Sources sources = centre_source(grid);
  for (const Metric& metric : {Metric::isotropic(1), Metric::constant(example_one), helix_metric(grid, 4)}) {
    Solver solver({grid, metric, {}}, device_options(Precision::single_));
    Arrival arrival = solver.solve(sources);
    EXPECT_TRUE(solver.residual(arrival, sources).passed());
    const VertexId wrong = grid.voxel(9, 2, 10);
    for (const double by : {0.01, -0.01, inf}) {
      Arrival changed = arrival;
      changed.times[wrong.index()] += by;
      const Residual residual = solver.residual(changed, sources);
      EXPECT_FALSE(residual.passed());
      EXPECT_EQ(std::isinf(residual.worst), std::isinf(by));
    }
    Arrival late = arrival;
    for (double& time : late.times) time += 1;
    EXPECT_FALSE(solver.residual(late, sources).passed()) << "sources later than their onset";
  }
}

/// Second order on the GPU against the CPU. The first-order times, which differ by the tolerance, choose the
/// differences; where the choice is a close one, a voxel and those behind it may differ by more.
void expect_second_order(const GridCase& problem) {
  SolveOptions host = plain_options(Backend::serial);
  host.order = 2;
  const Arrival expected = Solver(problem.domain(), host).solve(problem.sources);
  ASSERT_TRUE(expected.converged);
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    SolveOptions options = device_options(precision);
    options.order = 2;
    Solver solver(problem.domain(), options);
    const Arrival arrival = solver.solve(problem.sources);
    EXPECT_TRUE(arrival.converged) << arrival.residual->worst;
    EXPECT_EQ(arrival.reached, expected.reached);
    double sum = 0;
    for (std::size_t v = 0; v < expected.times.size(); ++v) {
      ASSERT_EQ(std::isinf(arrival.times[v]), std::isinf(expected.times[v])) << v;
      if (!std::isinf(expected.times[v])) sum += std::abs(arrival.times[v] - expected.times[v]);
    }
    EXPECT_LT(sum / static_cast<double>(expected.reached), 2e-3);
    EXPECT_TRUE(solver.residual(arrival, problem.sources).passed());
    Arrival wrong = arrival;
    wrong.times[problem.sources.vertices[0].vertex.index() + 1] += 0.1;
    EXPECT_FALSE(solver.residual(wrong, problem.sources).passed());
  }
}

/// Seeds of a ball keep their exact times, as on the CPU, although first-order times of others are a little earlier.
void expect_exact_ball() {
  const ImageGrid grid = cube_grid(16);
  const Metric metric = Metric::constant(example_one);
  const Sources sources = centre_source(grid);
  const Vec3d centre = grid.position(sources.vertices[0].vertex.in_whole());
  SolveOptions options = device_options(Precision::double_);
  options.source_init = SourceInit::ball;
  options.order = 2;
  const Arrival arrival = Solver({grid, metric, {}}, options).solve(sources);
  EXPECT_TRUE(arrival.converged);
  std::size_t near = 0;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    if (norm(grid.position(VertexId(v)) - centre) > 2.1) continue;
    EXPECT_NEAR(arrival.times[v], straight_time(grid, example_one, centre, VertexId(v)), 1e-4);
    ++near;
  }
  EXPECT_EQ(near, 33U);
}

/// Nor is a seed that another source overtook later than its own time.
void expect_overtaken_seeds() {
  const OvertakenSeeds image = overtaken_seeds();
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    SolveOptions options = device_options(precision);
    options.source_init = SourceInit::ball;
    options.order = 2;
    const Arrival arrival = solved(image.grid, image.metric, image.sources, options);
    options = checked_options();
    options.precision = precision;
    options.order = 2;
    expect_near(arrival, solved(image.grid, image.metric, image.sources, options), 1e-2);
  }
}

TEST_F(DeviceGrid, SecondOrder) {
  const ImageGrid grid = cube_grid(16), flat = flat_grid(25);
  expect_second_order({grid, Metric::isotropic(1), centre_source(grid)});
  expect_second_order({grid, random_speed(grid), centre_source(grid)});
  expect_second_order({grid, Metric::constant(example_one), centre_source(grid)});
  expect_second_order({grid, helix_metric(grid, 3), centre_source(grid)});
  expect_second_order({flat, helix_metric(flat, 3), centre_source(flat)});
  const std::vector<std::uint8_t> mask = sheet_mask(grid);
  expect_second_order({grid, helix_metric(grid, 3), voxel_source(first_allowed(mask)), mask});
  expect_second_order({grid, Metric::isotropic(1), voxel_source(first_allowed(mask)), mask});
  expect_exact_ball();
  expect_overtaken_seeds();
  std::vector<Sources> sets{centre_source(grid), voxel_source(VertexId(7), 3), voxel_source(VertexId(99))};
  const Metric metric = Metric::constant(example_one);
  SolveOptions options = device_options(Precision::double_);
  options.order = 2;
  Solver batch({grid, metric, {}}, options), single({grid, metric, {}}, options);
  const std::vector<Arrival> arrivals = batch.solve_many(sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    EXPECT_TRUE(arrivals[i].converged);
    EXPECT_NEAR(arrivals[i].max_time, single.solve(sets[i]).max_time, 1e-2);
  }
}

/// The blocks' values in memory, and their neighbours in shared memory.
struct BlockPlaces {
  BlockOrder order;
  BlockHalo halo;
};
constexpr BlockPlaces all_block_places[] = {{BlockOrder::blocks, BlockHalo::banked},
                                            {BlockOrder::blocks, BlockHalo::plain},
                                            {BlockOrder::rows, BlockHalo::banked},
                                            {BlockOrder::rows, BlockHalo::plain}};

SolveOptions block_options(Precision precision, const BlockPlaces& places) {
  SolveOptions options = device_options(precision);
  options.scheme = GridScheme::godunov;
  options.paper.block_order = places.order;
  options.paper.block_halo = places.halo;
  return options;
}

/// Paper 004's blocks against its list on the CPU, which has the same update.
void expect_blocks(const GridCase& problem, double near, const Ways& ways = {}) {
  SolveOptions host = plain_options(Backend::serial);
  host.scheme = GridScheme::godunov;
  const Arrival expected = Solver(problem.domain(), host).solve(problem.sources);
  ASSERT_TRUE(expected.converged);
  for (const Precision precision : ways.precisions)
    for (const int iterations : ways.iterations)
      for (const BlockPlaces& places : all_block_places) {
        SCOPED_TRACE(std::string(places.order == BlockOrder::rows ? "rows" : "packed") +
                     (places.halo == BlockHalo::plain ? ", plain" : ", banked"));
        SolveOptions options = block_options(precision, places);
        options.paper.inner_iterations = iterations;
        Solver solver(problem.domain(), options);
        const Arrival arrival = solver.solve(problem.sources);
        EXPECT_TRUE(arrival.converged) << arrival.residual->worst;
        EXPECT_EQ(arrival.method, Method::patch_fim);
        expect_near(arrival, expected, near);
        Arrival wrong = arrival;
        for (double& time : wrong.times) time += 1;
        EXPECT_FALSE(solver.residual(wrong, problem.sources).passed());
        EXPECT_TRUE(solver.residual(arrival, problem.sources).passed());
      }
}

TEST_F(DeviceGrid, BlocksOfPaper004) {
  const ImageGrid grid = cube_grid(14), flat = flat_grid(21);
  expect_blocks({grid, Metric::isotropic(1), centre_source(grid)}, 1e-3);
  expect_blocks({grid, random_speed(grid), voxel_source(VertexId(5), 2)}, 1e-3);
  expect_blocks({grid, Metric::constant(fiber_metric(2, {1, 0.5, 0.2})), centre_source(grid)}, 1e-3);
  expect_blocks({flat, helix_metric(flat, 2), centre_source(flat)}, 1e-3);
  const std::vector<std::uint8_t> mask = sheet_mask(grid);
  expect_blocks({grid, helix_metric(grid, 1.5), voxel_source(first_allowed(mask)), mask}, 1e-3);
}

TEST_F(DeviceGrid, PlantedTimesFailTheCheckOfBlocks) {
  for (const Precision precision : {Precision::single_, Precision::double_})
    for (const BlockPlaces& places : {all_block_places[0], all_block_places[3]}) {
      const SolveOptions options = block_options(precision, places);
      for (const double ratio : {1.0, 2.0, 5.0})
        expect_planted_times_are_found(cube_grid(9), ratio, {1, 0.5, 0.3}, options);
      for (const double ratio : {1.0, 2.0, 10.0})
        expect_planted_times_are_found(flat_grid(17), ratio, {1, 0.5, 0}, options);
    }
}

/// A few rounds are too few; without a limit the same solver comes to its end. `place` is of the seed, in the list.
template <class T>
void expect_to_give_up(cuda::DeviceGrid<T>& device, const GridCells& cells, std::size_t place) {
  StartSeeds start;
  const bool listed = device.numbers() == cuda::CellNumbers::list;
  start.seeds.push_back({GlobalVertexId(listed ? place : cells.list[place]), 0});
  for (const std::uint32_t limit : {2U, 0U}) {
    device.limit_rounds(limit);
    double seconds = 0;
    const Counters counters = device.solve({&start, 1}, static_cast<T>(1e-5), 0, seconds);
    EXPECT_EQ(device.converged(), limit == 0);
    EXPECT_TRUE(limit == 0 ? counters.rounds > 2 : counters.rounds == limit) << counters.rounds;
  }
}

/// Stencils along the axes and other ones, the same everywhere or not, and numbers of both kinds.
template <class T>
void expect_schedules_to_give_up(const ImageGrid& grid, const std::vector<std::uint8_t>& mask) {
  const GridCells cells = make_cells(grid, mask);
  const std::size_t place = cells.list.size() / 2;
  for (const Metric& metric : {Metric::isotropic(1), Metric::constant(fiber_metric(3, {1, 0.5, grid.flat() ? 0 : 0.3})),
                               helix_metric(grid, 3)}) {
    const auto stencils = make_stencils<T>({grid, metric}, cells, 1);
    for (const int order : {1, 2})
      std::visit(
          [&](const auto& problem) { expect_to_give_up(*cuda::make_device_grid(problem, order, 1), cells, place); },
          stencils);
    const auto tensors = make_tensors<T>({grid, metric}, cells, 1);
    for (const BlockPlaces& places : all_block_places)
      std::visit(
          [&](const auto& problem) {
            const SolveOptions options = block_options(Precision::automatic, places);
            expect_to_give_up(*cuda::make_block_fim(problem, options.paper), cells, place);
          },
          tensors);
  }
}

TEST_F(DeviceGrid, EndsWhenItTakesTooManyRounds) {
  for (const ImageGrid& grid : {cube_grid(17), flat_grid(41)}) {
    std::vector<std::uint8_t> strips(grid.voxel_count(), 0);  // most of the box is left out
    for (std::size_t v = 0; v < strips.size(); ++v) strips[v] = grid.index(VertexId(v))[1] % 8 < 3 ? 1 : 0;
    for (const std::vector<std::uint8_t>& mask : {std::vector<std::uint8_t>(), strips}) {
      expect_schedules_to_give_up<float>(grid, mask);
      expect_schedules_to_give_up<double>(grid, mask);
    }
  }
}

TEST_F(DeviceSmallGrid, OneBlockAndTwo) {
  for (const std::uint32_t n : {1U, 4U, 5U}) {
    const ImageGrid grid = cube_grid(n), flat = flat_grid(2 * n);
    expect_blocks({grid, Metric::isotropic(1), voxel_source(VertexId(0))}, 1e-4, one_way);
    expect_blocks({flat, Metric::isotropic(1), voxel_source(VertexId(0))}, 1e-4, one_way);
  }
}

TEST_F(DeviceSmallGrid, SecondOrder) {
  const ImageGrid grid = cube_grid(6);
  for (const Metric& metric : {Metric::isotropic(1), helix_metric(grid, 3)}) {
    SolveOptions options = device_options(Precision::single_);
    options.order = 2;
    EXPECT_TRUE(Solver({grid, metric, {}}, options).solve(centre_source(grid)).converged);
  }
}

TEST_F(DeviceSmallGrid, OneVoxelAndOneRow) {
  ImageGrid grid;
  for (const Metric& metric : {Metric::isotropic(1), Metric::constant(fiber_metric(3, {1, 0.4, 0.2}))}) {
    grid.shape = {1, 1, 1};
    const Arrival one =
        Solver({grid, metric, {}}, device_options(Precision::single_)).solve(voxel_source(VertexId(0), 2));
    EXPECT_EQ(one.times, std::vector<double>{2});
    EXPECT_TRUE(one.converged);
    for (const auto& shape : {std::array<std::uint32_t, 3>{9, 1, 1}, {1, 9, 1}, {1, 1, 9}}) {
      grid.shape = shape;
      expect_solved({grid, metric, voxel_source(VertexId(2))}, 1, one_way);
    }
  }
}

TEST_F(DeviceSmallGrid, AMaskOfOneVoxelAndPartsThatAreNotReached) {
  const ImageGrid grid = cube_grid(5);
  for (const Metric& metric :
       {Metric::isotropic(1), Metric::constant(fiber_metric(3, {1, 0.4, 0.2})), helix_metric(grid, 3)}) {
    std::vector<std::uint8_t> mask(grid.voxel_count(), 0);
    mask[62] = 1;
    const Arrival one =
        Solver({grid, metric, mask}, device_options(Precision::single_)).solve(voxel_source(VertexId(62)));
    EXPECT_EQ(one.reached, 1U);
    EXPECT_EQ(one.times[62], 0);
    EXPECT_EQ(one.times[61], inf);
    for (std::size_t v = 0; v < mask.size(); ++v) mask[v] = grid.index(VertexId(v))[1] == 2 ? 0 : 1;
    expect_solved({grid, metric, voxel_source(VertexId(1)), mask}, 1, one_way);
  }
}

TEST_F(DeviceSmallGrid, WhatTheGpuDoesNotHaveIsSaid) {
  const ImageGrid grid = cube_grid(4);
  const Metric metric = Metric::isotropic(1);
  SolveOptions options = device_options(Precision::single_);
  options.scheme = GridScheme::lax_friedrichs;
  EXPECT_THROW(Solver({grid, metric, {}}, options), UsageError);
  options = device_options(Precision::single_);
  options.source_init = SourceInit::factored;
  EXPECT_THROW(Solver({grid, metric, {}}, options), UsageError);
  options = device_options(Precision::single_);
  options.method = Method::active_list;
  EXPECT_THROW(Solver({grid, metric, {}}, options), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
