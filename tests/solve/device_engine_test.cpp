// The engine of solves on the GPU, and the adapter of images, over stand-ins that need no GPU.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/device_engine.h"
#include "isochron/solve/grid/adaptive.h"
#include "isochron/solve/grid/device_adapter.h"
#include "solve/grid_samples.h"

namespace isochron::test {
namespace TEST_FILE {

/// Two vertices: the first one gets the time of the layer's first seed, the second is not reached.
class TwoVertices final : public DeviceAdapter {
 public:
  explicit TwoVertices(int readers) : readers_(readers) {}

  [[nodiscard]] std::size_t user_count() const override { return 2; }
  [[nodiscard]] Precision precision() const override { return Precision::single_; }
  [[nodiscard]] std::size_t device_bytes() const override { return 7; }
  [[nodiscard]] std::size_t layers_that_fit() const override { return 5; }
  [[nodiscard]] StartSeeds start(std::span<const Seed> seeds) const override {
    return make_start_seeds<float>(seeds, 1);
  }
  Counters solve(std::span<const StartSeeds> layers, double, double, double&) override {
    batches.push_back(layers.size());
    times_.clear();
    for (const StartSeeds& layer : layers) times_.push_back(layer.base + layer.seeds[0].time);
    return {.local_solves = 10 * layers.size(), .vertex_updates = layers.size(), .rounds = 3};
  }
  void load_times(std::span<const double> times, double) override { times_.assign(1, times[0]); }
  Residual residual(std::size_t layer, const StartSeeds&, double limit) override {
    Residual residual;
    residual.worst = times_[layer];
    residual.limit = limit;
    return residual;
  }
  void write_times(std::size_t, double, cuda::DeviceArray<double>&) override {}
  void write_labels(std::size_t, const StartSeeds&, cuda::DeviceArray<std::int32_t>&) override {}
  [[nodiscard]] int readers() const override { return readers_; }
  void make_room(std::size_t layers) override { fetched.resize(layers); }
  [[nodiscard]] bool reads_all() const override { return false; }
  void fetch(std::size_t layer) override { fetched[layer % fetched.size()] = times_[layer]; }
  void read_times(std::size_t layer, double, int, std::span<double> result) override {
    result[0] = fetched[layer % fetched.size()];
  }
  void read_labels(std::size_t, const StartSeeds& start, int, std::span<std::int32_t> result) override {
    result[0] = start.seeds.back().source;
  }

  std::vector<std::size_t> batches;
  std::vector<double> fetched;

 private:
  int readers_;
  std::vector<double> times_;
};

/// The i-th set starts at time i; those with an odd number have a second source, whose number is 9.
std::vector<std::vector<Seed>> numbered_sets(std::size_t count) {
  std::vector<std::vector<Seed>> sets;
  for (std::size_t i = 0; i < count; ++i) {
    sets.push_back({{VertexId(0), static_cast<double>(i), 4}});
    if (i % 2 == 1) sets.back().push_back({VertexId(1), static_cast<double>(i), 9});
  }
  return sets;
}

TEST(DeviceEngine, GivesAllInOrderHoweverManyAreReadAtOnce) {
  SolveOptions options;
  options.verify = Keep::yes;
  for (const int readers : {1, 2, 3, 8}) {
    TwoVertices adapter(readers);
    std::size_t next = 0;
    DeviceEngine(adapter, Plan(), options).solve(numbered_sets(12), [&](std::size_t set, Arrival&& arrival) {
      ASSERT_EQ(set, next++);
      EXPECT_EQ(arrival.times, (std::vector<double>{double(set), std::numeric_limits<double>::infinity()}));
      EXPECT_EQ(arrival.source, (std::vector<std::int32_t>{set % 2 == 1 ? 9 : 4, -1}));
      EXPECT_EQ(arrival.reached, 1U);
      EXPECT_EQ(arrival.unreached, 1U);
      EXPECT_EQ(arrival.counters.local_solves, 10U);
      EXPECT_EQ(arrival.counters.rounds, 3U);
      EXPECT_EQ(arrival.residual->worst, double(set));
      EXPECT_EQ(arrival.converged, set == 0);
    });
    EXPECT_EQ(next, 12U);
    EXPECT_EQ(adapter.batches, (std::vector<std::size_t>{5, 5, 2}));
    EXPECT_TRUE(adapter.fetched.empty());
  }
}

TEST(DeviceEngine, NamesTheSetWhoseOnsetIsTooFar) {
  TwoVertices adapter(1);
  auto sets = numbered_sets(12);
  sets[7][1].time = 1e300;
  std::size_t taken = 0;
  try {
    DeviceEngine(adapter, Plan(), {}).solve(sets, [&](std::size_t, Arrival&&) { ++taken; });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("source set 7: onset time")) << error.what();
  }
  EXPECT_EQ(taken, 5U);
}

TEST(DeviceEngine, IsCancelledBetweenBatches) {
  TwoVertices adapter(3);
  std::atomic<bool> cancel{false};
  SolveOptions options;
  options.progress.cancel = &cancel;
  const auto run = [&] {
    DeviceEngine(adapter, Plan(), options).solve(numbered_sets(12), [&](std::size_t, Arrival&&) { cancel = true; });
  };
  EXPECT_THROW(run(), Cancelled);
  EXPECT_EQ(adapter.batches.size(), 1U);
}

/// Solves on the host in place of a device.
class HostGrid final : public cuda::DeviceGrid<float> {
 public:
  using Problem = AxisProblem<float, 3>;

  HostGrid(const Problem& problem, cuda::CellNumbers numbers) : problem_(problem), numbers_(numbers) {}

  [[nodiscard]] cuda::CellNumbers numbers() const override { return numbers_; }
  [[nodiscard]] std::size_t cell_count() const override {
    return numbers_ == cuda::CellNumbers::list ? problem_.cells->list.size() : problem_.vertex_count;
  }
  [[nodiscard]] std::size_t device_bytes() const override { return 0; }
  [[nodiscard]] std::size_t layers_that_fit() const override { return 4; }
  Counters solve(std::span<const StartSeeds> layers, float tolerance, double, double&) override {
    times_.clear();
    for (const StartSeeds& layer : layers) {
      auto start =
          make_start<float>(problem_.vertex_count, layer, tolerance, [&](GlobalVertexId v) { return cell(v.index()); });
      solve_adaptive(problem_, start, {});
      std::vector<float>& times = times_.emplace_back(cell_count());
      for (std::size_t i = 0; i < times.size(); ++i) times[i] = start.state.time[cell(i)];
    }
    return {};
  }
  void times(std::size_t layer, std::span<float> result) const override {
    std::copy(times_[layer].begin(), times_[layer].end(), result.begin());
  }
  [[nodiscard]] const float* times(std::size_t layer) const override { return times_[layer].data(); }
  void load_times(std::span<const float> times) override { times_.assign(1, {times.begin(), times.end()}); }
  /// At the first seed, how late it is.
  Residual residual(std::size_t layer, std::span<const Seed> seeds, double limit) override {
    Residual residual;
    residual.worst = times_[layer][seeds[0].vertex.index()] - seeds[0].time;
    residual.limit = limit;
    residual.worst_vertex = seeds[0].vertex;
    return residual;
  }

 private:
  [[nodiscard]] std::uint32_t cell(std::size_t number) const {
    return numbers_ == cuda::CellNumbers::list ? problem_.cells->list[number] : static_cast<std::uint32_t>(number);
  }

  const Problem& problem_;
  cuda::CellNumbers numbers_;
  std::vector<std::vector<float>> times_;
};

TEST(ImageDeviceAdapter, GoesFromVoxelsToTheDevicesCellsAndBack) {
  const ImageGrid grid = cube_grid(9);
  const Metric metric = Metric::isotropic(2);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); v += 5) mask[v] = 0;
  const GridCells cells = make_cells(grid, mask);
  const auto problem = make_stencils<float>({grid, metric}, cells, 1);
  SolveOptions options;
  options.backend = Backend::serial;
  options.precision = Precision::single_;
  options.source_init = SourceInit::plain;
  Solver solver({grid, metric, mask}, options);
  std::vector<Sources> source_sets(6);
  std::vector<std::vector<Seed>> seed_sets(6);
  for (std::size_t i = 0; i < 6; ++i)
    for (const std::size_t v : {701 - i * 10, 3 + i * 5}) {
      const double time = 0.5 * static_cast<double>(i) + 0.001 * static_cast<double>(v);
      seed_sets[i].push_back({VertexId(v), time, static_cast<std::int32_t>(source_sets[i].vertices.size())});
      source_sets[i].vertices.push_back({VertexId(v), time});
    }
  const std::vector<Arrival> expected = solver.solve_many(source_sets);
  for (const cuda::CellNumbers numbers : {cuda::CellNumbers::box, cuda::CellNumbers::list}) {
    const auto& axes = std::get<HostGrid::Problem>(problem);
    ImageDeviceAdapterOf<HostGrid::Problem> adapter(grid, axes, std::make_unique<HostGrid>(axes, numbers), 3);
    const Plan plan;
    DeviceEngine engine(adapter, plan, options);
    engine.solve(seed_sets, [&](std::size_t set, Arrival&& arrival) {
      EXPECT_EQ(arrival.times, expected[set].times);
      EXPECT_EQ(arrival.source, expected[set].source);
      EXPECT_EQ(arrival.reached, expected[set].reached);
      EXPECT_EQ(arrival.max_time, expected[set].max_time);
    });
    std::vector<double> late = expected[2].times;
    late[681] += 3;
    const Residual residual = engine.residual(late, seed_sets[2]);
    EXPECT_EQ(residual.worst_vertex, GlobalVertexId(681));
    EXPECT_FALSE(residual.passed());
    EXPECT_TRUE(engine.residual(expected[2].times, seed_sets[2]).passed());
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
