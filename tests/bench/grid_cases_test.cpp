#include "bench/paper/grid_cases.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace isochron::bench {
namespace TEST_FILE {

TEST(GridCases, FibersAreAsManyTimesFasterAsAsked) {
  const Vec3d along{1, 0.37, 0.61}, across{0.37, -1, 0};
  const SymTensor3d m = fiber_tensor(10, along);
  EXPECT_NEAR(squared_length(m, along), dot(along, along) / 100, 1e-12);
  EXPECT_NEAR(squared_length(m, across), dot(across, across), 1e-12);
}

TEST(GridCases, ExampleOneIsFastAlongTheDiagonal) {
  const SymTensor3d m = example_one_tensor();  // D has the eigenvalues 2.8 and 0.1
  EXPECT_NEAR(squared_length(m, Vec3d{1, 1, 1}), 3 / 2.8, 1e-12);
  EXPECT_NEAR(squared_length(m, Vec3d{1, -1, 0}), 2 / 0.1, 1e-12);
}

TEST(GridCases, TheShellHasAsManyVoxelsAsThePapersBrain) {
  const ExampleSizes sizes = example_sizes(BenchSize::paper);
  const GridModel shell = folded_shell(sizes.brain, sizes.thickness);
  EXPECT_EQ(shell.mask.size(), 256U * 256U * 100U);
  EXPECT_EQ(static_cast<std::size_t>(std::count(shell.mask.begin(), shell.mask.end(), 1)), shell.cells);
  EXPECT_NEAR(static_cast<double>(shell.cells), 196e3, 10e3);
  EXPECT_EQ(shell.mask[shell.source.index()], 1);
}

TEST(GridCases, MeasuresAreCheckedAndReachTheWholeShell) {
  const ExampleSizes sizes = example_sizes(BenchSize::quick);
  const GridModel shell = folded_shell(sizes.brain, sizes.thickness);
  BenchOptions bench;
  bench.size = BenchSize::quick;
  SolveOptions options;
  options.backend = Backend::serial;
  const Measured quickest = quickest_solve(shell, options, bench);
  EXPECT_TRUE(quickest.valid);
  EXPECT_EQ(quickest.arrival.reached, shell.cells);
  double whole_seconds = 0;
  const Measured twice = median_solve(shell, {shell.sources(), shell.sources()}, options, bench, whole_seconds);
  EXPECT_TRUE(twice.valid);
  EXPECT_EQ(twice.timing, "median of 3");
  EXPECT_EQ(twice.arrival.times, quickest.arrival.times);
  EXPECT_GE(whole_seconds, twice.arrival.solve_seconds);
}

TEST(GridAccuracy, ErrorsAreThoseOfTheTimes) {
  GridCase problem = constant_case("isotropic", 16, SymTensor3d::identity());
  const SolveOptions options = options_of(2, SourceInit::factored);
  const GridResult right = measured(problem, options, 0);
  EXPECT_TRUE(right.valid);
  EXPECT_LT(right.largest_relative, 1e-12);
  const Exact exact = problem.exact;
  problem.exact = [&](const Vec3d& x) { return exact(x) * 2; };
  const GridResult half = measured(problem, options, 1);
  EXPECT_NEAR(half.mean_relative, 0.5, 1e-12);
  EXPECT_NEAR(half.largest_relative, 0.5, 1e-12);
  EXPECT_NEAR(half.largest, std::sqrt(3.0) * 8 / 15, 1e-12);
  EXPECT_LT(half.cpu_seconds, 10);
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
