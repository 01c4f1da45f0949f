#include "bench/paper/cases.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/generate.h"

namespace isochron::bench {
namespace TEST_FILE {

BenchOptions quick() {
  BenchOptions options;
  options.size = BenchSize::quick;
  return options;
}

TEST(BenchCases, MedianIsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3, 1, 100}), 3);
  EXPECT_EQ(median({4, 1, 100, 2}), 3);
  EXPECT_EQ(median({7}), 7);
}

TEST(BenchCases, MedianSolveChecksItsAnswer) {
  const TriangleMesh mesh = generate_square({.n = 9});
  const Metric metric = Metric::isotropic(1);
  SolveOptions options = paper_options({"", Method::banded, 1});
  options.verify = Keep::no;
  Solver solver({mesh, metric}, options);
  const Measured m = median_solve(solver, middle_source(mesh), quick());
  EXPECT_TRUE(m.valid);
  ASSERT_TRUE(m.arrival.residual.has_value());
  EXPECT_TRUE(m.arrival.residual->passed());
  EXPECT_EQ(m.timing.rfind("median of 3, set-up", 0), 0U) << m.timing;
}

TEST(BenchCases, FastMarchingOutOfOrderIsCheckedToo) {
  const TriangleMesh mesh = generate_irregular_square({.n = 65, .extent = 64});
  const MethodCase fmm{"", Method::fmm, 1};
  const Measured m = measure(mesh, Metric::isotropic(1), middle_source(mesh), fmm, quick());
  EXPECT_TRUE(m.valid);
  EXPECT_EQ(m.remark.text.rfind("unordered, residual ", 0), 0U) << m.remark.text;
  EXPECT_FALSE(m.remark.failed);
  ASSERT_FALSE(m.arrival.residual->settled());

  const auto fails = [&](double factor, std::size_t vertex, double value) {
    Arrival arrival = m.arrival;
    std::vector<double> right = arrival.times;
    for (double& time : arrival.times) time *= factor;
    arrival.times[vertex] = value;
    const Measured result = checked_out_of_order(std::move(arrival), right);
    EXPECT_EQ(result.valid, !result.remark.failed);
    return !result.valid;
  };
  const double last = m.arrival.times[0];
  EXPECT_FALSE(fails(1, 0, last));
  EXPECT_FALSE(fails(1.009, 0, 1.009 * last));
  EXPECT_TRUE(fails(1.011, 0, 1.011 * last));
  EXPECT_TRUE(fails(1, 0, 0.999 * last)) << "earlier than a right one";
  EXPECT_TRUE(fails(1, 0, std::numeric_limits<double>::infinity())) << "not reached";
}

TEST(BenchCases, EveryRunOfSetsIsChecked) {
  const TriangleMesh mesh = generate_square({.n = 9});
  const Metric metric = Metric::isotropic(1);
  const Sources sources = middle_source(mesh);
  double whole_seconds = 0;
  Solver solver({mesh, metric}, paper_options({"", Method::banded, 1}));
  const Measured m = median_of_sets(solver, {sources, sources}, quick(), whole_seconds);
  EXPECT_TRUE(m.valid);
  EXPECT_EQ(m.timing, "median of 3");
  EXPECT_GT(whole_seconds, 0);
}

TEST(BenchCases, RunsThatEndWithAnErrorAreFailuresButForAMissingMetis) {
  const Measured no_metis = ended_with(UsageError("no METIS; leave " + Setting{Option::partitioner} + " out"));
  EXPECT_FALSE(no_metis.valid);
  EXPECT_FALSE(no_metis.remark.failed);
  EXPECT_EQ(no_metis.remark.text.rfind("not run: no METIS", 0), 0U) << no_metis.remark.text;
  EXPECT_TRUE(ended_with(UsageError("patches of 5 vertices do not work")).remark.failed);
  EXPECT_TRUE(ended_with(DeviceError("the memory is full")).remark.failed);
}

TEST(BenchCases, RatiosPassOnTheFailureOfEither) {
  Measured good{true, {}, {}}, bad{false, failed_check, {}};
  good.arrival.solve_seconds = 2;
  EXPECT_EQ(ratio_of("r", "c", 3, good, good, "times", seconds).ours, 1);
  for (const auto& [over, under] : {std::pair{good, bad}, {bad, good}, {bad, bad}}) {
    const Entry entry = ratio_of("r", "c", 3, over, under, "times", seconds);
    EXPECT_FALSE(entry.ours);
    EXPECT_TRUE(entry.remark.failed);
  }
}

TEST(BenchCases, GpuColumnsHaveANumberOrSayThatThereIsNoGpu) {
  const TriangleMesh mesh = generate_square({.n = 9});
  const Measured m = measure(mesh, Metric::isotropic(1), middle_source(mesh), gpu_push(), quick());
  EXPECT_EQ(m.valid, has_gpu());
  EXPECT_EQ(m.remark.text, has_gpu() ? "" : "no GPU");
}

TEST(BenchCases, CpuColumnsAreLeftOutOnRequest) {
  const TriangleMesh mesh = generate_square({.n = 9});
  BenchOptions options = quick();
  options.columns = BenchColumns::gpu;
  const Measured m = measure(mesh, Metric::isotropic(1), middle_source(mesh), {"", Method::banded, 1}, options);
  EXPECT_FALSE(m.valid);
  EXPECT_EQ(m.remark.text, "left out");
}

TEST(BenchCases, TimesSayHowTheyCameAboutAndCountsDoNot) {
  Measured m;
  m.valid = true;
  m.timing = "median of 10";
  EXPECT_EQ(entry_of("", "", {}, m, "ms", milliseconds).remark.text, "median of 10");
  EXPECT_EQ(entry_of("", "", {}, m, "per vertex", rounds).remark.text, "");
}

TEST(BenchCases, GpuSchemesAskForTheGpu) {
  const SolveOptions options = paper_options(gpu_subdomains("", SubdomainBlocks::several, 5));
  EXPECT_EQ(options.backend, Backend::cuda);
  EXPECT_EQ(options.method, Method::domain_decomposition);
  EXPECT_EQ(options.paper.subdomains, 5);
  EXPECT_EQ(options.paper.subdomain_blocks, SubdomainBlocks::several);
}

TEST(BenchReport, FailuresMakeATableUnsound) {
  const auto sound = [](const Remark& remark) {
    Report report("t", "t", quick());
    report.add({"", "", {}, {}, "s", remark});
    return report.result().sound();
  };
  EXPECT_TRUE(sound("no GPU"));
  EXPECT_TRUE(sound("not run: the patch is too large"));
  EXPECT_FALSE(sound(failed_check));
  EXPECT_FALSE(sound(failed_run("the GPU's memory is full")));
}

TEST(BenchCases, WhiteNoiseComesNearerToAConstantWithEachStep) {
  const TriangleMesh mesh = generate_square({.n = 33});
  double before = 1;
  for (const int steps : {1, 5, 20, 100}) {
    const std::vector<double> speeds = smoothed_white_noise(mesh, steps);
    ASSERT_EQ(speeds.size(), mesh.element_count());
    const auto [low, high] = std::minmax_element(speeds.begin(), speeds.end());
    EXPECT_GT(*low, 0.1);
    EXPECT_LT(*high, 1);
    EXPECT_LT(*high - *low, 0.8 * before) << steps;
    before = *high - *low;
  }
  EXPECT_LT(before, 0.15);
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
