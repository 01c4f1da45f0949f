// The fixed-point checks, on times and updates that the tests make up.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/solve/common/residual.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/simplex/finish.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(CountedDifference, IsInEdgesWithoutTheRounding) {
  EXPECT_NEAR(counted_difference(3.0, 2.0, 0.5), 2, 1e-12);
  EXPECT_NEAR(counted_difference(2.0, 3.0, 0.5), 2, 1e-12) << "late or early";
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  EXPECT_LE(counted_difference(1e10, 1e10 * (1 + 7 * epsilon), 1e-9), 0);
  EXPECT_GT(counted_difference(1e10, 1e10 * (1 + 10 * epsilon), 1e-9), 0);
  EXPECT_EQ(counted_difference(std::nan(""), 1.0, 1.0), inf);
  EXPECT_EQ(counted_difference(1.0, 1.0, 0.0), -inf);
}

/// What the check asks of a mesh: times, what an update gives, and edges of different lengths.
struct Case {
  std::vector<double> time, again, edge;
  std::vector<std::uint8_t> pinned;
  std::vector<SeedTime<double>> seeds;

  explicit Case(std::size_t count) : time(count, 1), again(count, 1), edge(count, 0.5), pinned(count, 0) {}
};

struct FakeRelax {
  using Scalar = double;
  struct Problem {
    std::size_t vertex_count;
    std::vector<double> edge;
    [[nodiscard]] static GlobalVertexId user(std::uint32_t v) { return GlobalVertexId(v + 100); }
  };
  struct Times {
    const std::vector<double>& time;
    [[nodiscard]] double load(std::uint32_t v) const { return time[v]; }
  };
  const Case& made_up;
  Problem fake{made_up.time.size(), made_up.edge};

  [[nodiscard]] const Problem& problem() const { return fake; }
  [[nodiscard]] Times times() const { return {made_up.time}; }
  [[nodiscard]] double pull(std::uint32_t v, std::uint64_t&) const { return made_up.again[v]; }
};

/// The same of an image; a voxel's shortest step is its edge.
struct FakeGrid {
  using Scalar = double;
  static constexpr int terms = 1;
  struct Box {
    [[nodiscard]] static std::uint32_t index(std::uint32_t cell) { return cell; }
    [[nodiscard]] static GlobalVertexId voxel(std::uint32_t index) { return GlobalVertexId(index + 100); }
  };
  struct Cells {
    std::vector<std::uint32_t> list;
    Box box;
  };
  struct Stencil {
    double weight[1];
  };
  std::shared_ptr<Cells> cells = std::make_shared<Cells>();
  std::vector<double> edge;
  [[nodiscard]] Stencil stencil(std::uint32_t cell) const { return {{1 / (edge[cell] * edge[cell])}}; }
};

Residual on_mesh(const Case& made_up, int threads, std::size_t vertices) {
  return residual_pass(FakeRelax{made_up}, made_up.pinned, made_up.seeds, 0.25, threads, vertices);
}

Residual on_grid(const Case& made_up, int threads, std::size_t cells) {
  FakeGrid grid;
  grid.edge = made_up.edge;
  for (std::size_t k = 0; k < std::min(cells, made_up.time.size()); ++k)
    grid.cells->list.push_back(static_cast<std::uint32_t>(k));
  return grid_residual(grid, made_up.time.data(), made_up.pinned, made_up.seeds, 0.25, threads,
                       [&](std::uint32_t x) { return made_up.again[x]; });
}

/// Both checks, with one thread and several.
void expect_worst(const Case& made_up, double worst, std::uint64_t vertex, std::size_t checked = 1000) {
  for (const int threads : {1, 3})
    for (const auto& check : {on_mesh, on_grid}) {
      const Residual found = check(made_up, threads, checked);
      EXPECT_EQ(found.limit, 0.25);
      if (std::isinf(worst)) EXPECT_EQ(found.worst, worst);
      else EXPECT_NEAR(found.worst, worst, 1e-9);
      EXPECT_EQ(found.worst_vertex, worst == 0 ? GlobalVertexId() : GlobalVertexId(vertex + 100));
    }
}

TEST(FixedPointCheck, FindsTheWorstVertex) {
  Case made_up(10);
  expect_worst(made_up, 0, 0);
  made_up.again[3] = 1.1;
  expect_worst(made_up, 0.2, 3);
  made_up.again[7] = 0.8;
  expect_worst(made_up, 0.4, 7);
  made_up.edge[3] = 0.125;
  expect_worst(made_up, 0.8, 3);
  expect_worst(made_up, 0.8, 3, 4);
  expect_worst(made_up, 0, 0, 3);
  made_up.again[9] = inf;
  expect_worst(made_up, inf, 9);
  made_up.again[9] = 1;
  made_up.time[0] = inf;
  expect_worst(made_up, inf, 0);
  made_up.again[0] = inf;
  expect_worst(made_up, 0.8, 3);
}

TEST(FixedPointCheck, SeedsMayBeEarlierThanTheirNeighboursSay) {
  Case made_up(5);
  made_up.pinned[2] = 1;
  made_up.seeds = {{2, 1}};
  made_up.again[2] = 3;
  expect_worst(made_up, 0, 0);
  made_up.again[2] = 0.9;
  expect_worst(made_up, 0.2, 2);
}

TEST(FixedPointCheck, SeedsMayNotBeLaterThanTheirOwnTime) {
  Case made_up(5);
  made_up.pinned[2] = made_up.pinned[4] = 1;
  made_up.seeds = {{2, 0.9}, {4, 0.8}};
  made_up.time[0] = made_up.again[0] = 5;  // no seed
  made_up.edge[4] = 2;
  expect_worst(made_up, 0.2, 2);
  made_up.edge[4] = 0.5;
  expect_worst(made_up, 0.4, 4);
  made_up.again[1] = 1.15;
  expect_worst(made_up, 0.4, 4);
  made_up.again[1] = 1.25;
  expect_worst(made_up, 0.5, 1);
  made_up.seeds = {{2, 1}, {4, 1.5}};
  made_up.again[1] = 1;
  expect_worst(made_up, 0, 0);
}

TEST(FixedPointCheck, NoNumberIsNoPass) {
  Case made_up(5);
  made_up.time[1] = std::nan("");
  expect_worst(made_up, inf, 1);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
