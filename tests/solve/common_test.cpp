// The small decisions that all solves share: when gains count, when a solve gives up, what is done with seeds, and how
// the results of several solves are joined.
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/common/state.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Limits, TellWhatAPrecisionHolds) {
  EXPECT_EQ(default_tolerance(true), 1e-5);
  EXPECT_EQ(default_tolerance(false), 1e-6);
  EXPECT_TRUE(fits_single(3.1e-4, 2.9e3));
  EXPECT_FALSE(fits_single(2.9e-4, 1));
  EXPECT_FALSE(fits_single(1, 3e3)) << "the limit itself does not fit";
  EXPECT_FALSE(fits_single(3e-4, 1));
  EXPECT_TRUE(fits_double(1.1e-28, 0.9e28));
  EXPECT_FALSE(fits_double(0.9e-28, 1));
  EXPECT_FALSE(fits_double(1, 1.1e28));
}

TEST(Limits, TellWhichEdgesAreTooLong) {
  EXPECT_TRUE(spoils_neighbours(1, 1.1e12, 100));
  EXPECT_FALSE(spoils_neighbours(1, 0.9e12, 1)) << "not so much longer than the element's other edges";
  EXPECT_FALSE(spoils_neighbours(1, 1.1e12, 120)) << "not so much longer than those of the mesh";
  EXPECT_FALSE(spoils_neighbours(1, 1e12, 1)) << "the limit itself is allowed";
  EXPECT_FALSE(spoils_neighbours(1, 1e13, 1000));
  EXPECT_TRUE(spoils_neighbours(0.5, 0.6e12, 1)) << "as many times as long, however short the others are";
  EXPECT_FALSE(spoils_neighbours(2, 1.9e12, 1));
  EXPECT_TRUE(ordinary_edge_times(1, 0.9e12));
  EXPECT_FALSE(ordinary_edge_times(1, 1.1e12));
  EXPECT_FALSE(ordinary_edge_times(1e-29, 1));
  EXPECT_TRUE(hides_edge_times(1.1e4, 1, 1e-6));
  EXPECT_FALSE(hides_edge_times(0.9e4, 1, 1e-6));
  EXPECT_TRUE(hides_edge_times(0.5e4, 0.4, 1e-6));
}

TEST(Limits, CountWhatASolveMayDo) {
  EXPECT_EQ(max_passes({100, 1}), 1000U + 80 + 80) << "8 √100";
  EXPECT_EQ(max_passes({9, 2}), 1000U + 9 + 160) << "not more steps than vertices";
  EXPECT_EQ(max_passes({0, 1e9}), 1000U + 8'000'000) << "contrasts end at 1e5";
  EXPECT_EQ(max_passes({10'000, 1e4}), 1000U + 800 + 8000) << "a hundred vertices may depend on each other slowly";
  EXPECT_EQ(max_passes({0, 0.5}), 1080U) << "and begin at 1";
  EXPECT_EQ(max_sweeps({100, 1}), 1260U);
  EXPECT_EQ(max_rounds({100, 1}), 8U * 1260);
  EXPECT_EQ(max_rounds({1ULL << 40U, 1}), 0x7ffffff0U);
  EXPECT_EQ(max_updates({100, 1}), 101U * 1160);
  EXPECT_EQ(ProblemSize{}.contrast, 1);
}

TEST(SolveState, GivesUpBeyondTheLimit) {
  SolveState<double> state;
  state.time.assign(100, 0);
  EXPECT_FALSE(state.gives_up_after(117'160));
  EXPECT_TRUE(state.converged);
  EXPECT_TRUE(state.gives_up_after(117'161));
  EXPECT_FALSE(state.converged);
  EXPECT_TRUE(state.gives_up_after(0)) << "once for all";
  SolveState<float> rounds;
  rounds.time.assign(100, 0);
  EXPECT_FALSE(rounds.gives_up_after_rounds(10'080));
  EXPECT_TRUE(rounds.gives_up_after_rounds(10'081));
  EXPECT_FALSE(rounds.converged);
  EXPECT_EQ(rounds.contrast, 1);
  EXPECT_EQ(rounds.transfer_seconds, 0);
}

TEST(SolveState, GainsCountByEdgeOrByTime) {
  EXPECT_EQ(countable_gain(1e-3, 2.0, 1.0), 2e-3);
  EXPECT_EQ(countable_gain(1e-3, 2.0, 1e20), 4 * std::numeric_limits<double>::epsilon() * 1e20);
}

template <class Times>
void expect_lowers(const Times& times) {
  EXPECT_EQ(times.load(1), 5);
  EXPECT_FALSE(times.lower(1, 4.5, 0.5)) << "exactly the least gain is none";
  EXPECT_EQ(times.load(1), 5);
  EXPECT_TRUE(times.lower(1, 4.25, 0.5));
  EXPECT_EQ(times.load(1), 4.25);
  EXPECT_EQ(times.load(0), 9);
}

TEST(SolveState, TimesAreLoweredByGainsThatCount) {
  std::vector<double> plain{9, 5}, shared{9, 5};
  expect_lowers(PlainTimes<double>{plain.data()});
  expect_lowers(SharedTimes<double>{shared.data()});
}

/// As far as `lower_countably` looks at one.
struct OneEdge {
  struct Problem {
    std::vector<double> edge;
  };
  std::vector<double>& time;
  Problem edges{{1, 1}};
  [[nodiscard]] PlainTimes<double> times() const { return {time.data()}; }
  [[nodiscard]] const Problem& problem() const { return edges; }
};

TEST(SolveState, TheFirstTimeAlwaysCounts) {
  std::vector<double> time{5, inf};
  const OneEdge relax{time};
  SolveState<double> state;
  state.tolerance = 0.5;
  EXPECT_FALSE(lower_countably(relax, state, 0, 4.75));
  EXPECT_TRUE(lower_countably(relax, state, 0, 4.25));
  EXPECT_TRUE(lower_countably(relax, state, 1, 7.0));
  EXPECT_EQ(time, (std::vector<double>{4.25, 7}));
}

TEST(Seeds, BallsShareAQuarterOfTheVertices) {
  EXPECT_EQ(limited_rings(5, 1, 100, 3), 5);
  EXPECT_EQ(limited_rings(1000, 1, 100, 3), 22) << "(∛1e5 − 1)/2";
  EXPECT_EQ(limited_rings(1000, 1, 100, 2), 157);
  EXPECT_EQ(limited_rings(1000, 1, 4'000'000, 3), 49) << "a quarter of the vertices";
  EXPECT_EQ(limited_rings(1000, 1000, 100, 2), 4);
  EXPECT_EQ(limited_rings(1000, 0, 100, 2), 157);
  EXPECT_EQ(limited_rings(1000, 1'000'000, 100, 2), 0);
}

Seed seed(std::uint64_t vertex, double time, std::int32_t source = 0, SeedKind kind = SeedKind::own) {
  return {GlobalVertexId(vertex), time, source, kind};
}

TEST(Seeds, StartAtZeroEachVertexOnce) {
  const StartSeeds sorted = make_start_seeds<double>(std::vector{seed(1, 7, 3), seed(4, 5, 2), seed(9, inf, 1)}, 2);
  EXPECT_EQ(sorted.base, 5);
  ASSERT_EQ(sorted.seeds.size(), 3U);
  EXPECT_EQ(sorted.seeds[0].time, 1);
  EXPECT_EQ(sorted.seeds[1].time, 0);
  EXPECT_EQ(sorted.seeds[2].time, inf);
  EXPECT_EQ(sorted.seeds[1].source, 2);
  const StartSeeds twice =
      make_start_seeds<double>(std::vector{seed(4, 5, 0), seed(1, 9, 1), seed(4, 3, 2), seed(1, 11, 3)}, 2);
  EXPECT_EQ(twice.base, 3);
  ASSERT_EQ(twice.seeds.size(), 2U);
  EXPECT_EQ(twice.seeds[0].vertex.value, 4U);
  EXPECT_EQ(twice.seeds[0].time, 0);
  EXPECT_EQ(twice.seeds[0].source, 2);
  EXPECT_EQ(twice.seeds[1].vertex.value, 1U);
  EXPECT_EQ(twice.seeds[1].time, 3);
  EXPECT_EQ(twice.seeds[1].source, 1);
  const StartSeeds beside = make_start_seeds<double>(std::vector{seed(1, 2), seed(1, 1)}, 1);
  EXPECT_EQ(beside.seeds.size(), 1U) << "twice in a row";
  EXPECT_TRUE(make_start_seeds<double>({}, 1).seeds.empty());
}

/// A source alone, two with balls, and a zero set, which is no point.
std::vector<Seed> seeds_of_all_kinds() {
  return {seed(0, 0, 5),
          seed(1, 0, 6),
          seed(2, 1, 6, SeedKind::ball),
          seed(3, 2, 6, SeedKind::ball),
          seed(4, 1, 7, SeedKind::free_ball),
          seed(5, 0, 8, SeedKind::level_set)};
}

TEST(Seeds, PointsAndTheirBallsAreCounted) {
  EXPECT_EQ(count_balls(seeds_of_all_kinds()).sources, 3U);
  EXPECT_EQ(count_balls(seeds_of_all_kinds()).balls, 2U);
  EXPECT_EQ(count_balls({}).sources, 0U);
}

template <class T>
std::string refusal(double first, double last, double unit) {
  try {
    static_cast<void>(make_start_seeds<T>(std::vector{seed(0, first), seed(1, last), seed(2, inf)}, unit));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Seeds, OnsetsLeaveDigitsForTravelTimes) {
  using testing::HasSubstr;
  EXPECT_EQ(refusal<double>(0, 1, 1), "");
  EXPECT_EQ(refusal<double>(4e13, 4e13, 1), "");
  EXPECT_THAT(refusal<double>(5e13, 5e13, 1), HasSubstr("double precision has 15"));
  EXPECT_THAT(refusal<double>(-5e13, 0, 1), HasSubstr("double precision has 15"));
  EXPECT_THAT(refusal<double>(-3e13, 3e13, 1), HasSubstr("double precision has 15"));
  EXPECT_EQ(refusal<float>(0, 8e4, 1), "");
  EXPECT_THAT(refusal<float>(0, 9e4, 1), HasSubstr("single precision has 6"));
  EXPECT_EQ(refusal<float>(8e4, 16e4, 1), "") << "only what lies between counts";
  EXPECT_EQ(refusal<float>(0, 9e4, 2), "");
  EXPECT_EQ(refusal<float>(0, 9e4, inf), "");
}

TEST(Seeds, TheOnlySourceIsKnown) {
  EXPECT_EQ(only_source(std::vector{seed(0, 0, 4), seed(1, 0, 4)}), 4);
  EXPECT_EQ(only_source(std::vector{seed(0, 0, 4), seed(1, 0, 5)}), -1);
}

TEST(Seeds, FillTheStart) {
  const StartSeeds seeds{{seed(3, 0.5, 7), seed(1, 0, 2)}, 10};
  const Start<double> start =
      make_start<double>(4, seeds, 1e-3, [](GlobalVertexId v) { return static_cast<std::uint32_t>(v.value - 1); });
  EXPECT_EQ(start.state.tolerance, 1e-3);
  EXPECT_EQ(SolveState<double>{}.tolerance, 0) << "else every gain counts";
  EXPECT_EQ(start.base, 10);
  EXPECT_EQ(start.state.seeds, (std::vector<std::uint32_t>{2, 0}));
  EXPECT_EQ(start.pinned, (std::vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(start.label, (std::vector<std::int32_t>{2, -1, 7, -1}));
  EXPECT_THAT(std::vector<double>(start.state.time.begin(), start.state.time.end()),
              testing::ElementsAre(0, inf, 0.5, inf));
  ASSERT_EQ(start.seeds.size(), 2U);
  EXPECT_EQ(start.seeds[0].vertex, 2U);
  EXPECT_EQ(start.seeds[0].time, 0.5);
}

Residual residual(double worst, double limit, double below, double most_below, std::uint64_t vertex) {
  return {worst, limit, GlobalVertexId(vertex), below, most_below, GlobalVertexId(vertex + 1)};
}

TEST(ArrivalParts, TheWorseResidualStays) {
  Residual sum = residual(1, 10, 0.1, 0.2, 1);
  take_worse(residual(1, 20, 0.1, 0.3, 3), sum);
  EXPECT_EQ(sum.worst_vertex.value, 1U) << "a smaller share of its limit";
  EXPECT_EQ(sum.vertex_below.value, 2U);
  take_worse(residual(1, 10, 0.1, 0.2, 5), sum);
  EXPECT_EQ(sum.worst_vertex.value, 1U) << "no worse";
  EXPECT_EQ(sum.vertex_below.value, 2U);
  take_worse(residual(0.5, 2, 0.1, 0.1, 7), sum);
  EXPECT_EQ(sum.worst, 0.5);
  EXPECT_EQ(sum.limit, 2);
  EXPECT_EQ(sum.worst_vertex.value, 7U);
  EXPECT_EQ(sum.share_below, 0.1);
  EXPECT_EQ(sum.max_share_below, 0.1);
  EXPECT_EQ(sum.vertex_below.value, 8U);
}

Arrival arrival(std::vector<double> times, std::int32_t source) {
  Arrival result;
  result.source.assign(times.size(), source);
  result.upwind.resize(times.size());
  for (std::size_t v = 0; v < times.size(); ++v)
    result.upwind[v].weights = {static_cast<float>(source), static_cast<float>(v)};
  result.times = std::move(times);
  result.counters = {3, 5, 7};
  result.solve_seconds = 2;
  result.residual = residual(source, 10, 0, 1, 0);
  return result;
}

TEST(ArrivalParts, TheEarlierTimesStay) {
  Arrival sum = arrival({1, 2, inf}, 1);
  take_earlier(arrival({2, 1, inf}, 4), sum);
  EXPECT_EQ(sum.times, (std::vector<double>{1, 1, inf}));
  EXPECT_EQ(sum.source, (std::vector<std::int32_t>{1, 4, 1}));
  EXPECT_EQ(sum.upwind[0].weights[0], 1);
  EXPECT_EQ(sum.upwind[1].weights[0], 4);
  EXPECT_EQ(sum.upwind[1].weights[1], 1) << "of the same vertex";
  EXPECT_EQ(sum.counters.local_solves, 6U);
  EXPECT_EQ(sum.counters.vertex_updates, 10U);
  EXPECT_EQ(sum.counters.rounds, 14U);
  EXPECT_EQ(sum.solve_seconds, 4);
  EXPECT_TRUE(sum.converged);
  EXPECT_EQ(sum.residual->worst, 4);
  Arrival rest = arrival({0, 9, 9}, 5);
  rest.converged = false;
  rest.source.clear();
  rest.upwind.clear();
  rest.residual.reset();
  take_earlier(std::move(rest), sum);
  EXPECT_FALSE(sum.converged);
  EXPECT_EQ(sum.source, (std::vector<std::int32_t>{1, 4, 1}));
  EXPECT_EQ(sum.residual->worst, 4);
  take_earlier(arrival({9, 9, 9}, 6), sum);
  EXPECT_FALSE(sum.converged) << "one that has not is enough";
}

TEST(ArrivalParts, SummariesCountWhatIsReached) {
  Arrival sum;
  sum.times = {-3, inf, -2, -5};
  summarise(sum);
  EXPECT_EQ(sum.reached, 3U);
  EXPECT_EQ(sum.unreached, 1U);
  EXPECT_EQ(sum.max_time, -2);
  summarise(sum);
  EXPECT_EQ(sum.reached, 3U) << "each time anew";
}

TEST(ArrivalParts, SourcesAreDescribed) {
  Arrival arrival;
  describe_sources(SourceInit::ball, seeds_of_all_kinds(), arrival);
  EXPECT_EQ(arrival.source_init, SourceInit::ball);
  EXPECT_EQ(arrival.point_sources, 3U);
  EXPECT_EQ(arrival.source_balls, 2U);
  describe_sources(SourceInit::plain, seeds_of_all_kinds(), arrival);
  EXPECT_EQ(arrival.source_init, SourceInit::plain);
  EXPECT_EQ(arrival.source_balls, 0U);
}

TEST(ArrivalParts, FactoredSourcesAreAtMost64) {
  EXPECT_NO_THROW(check_factored_count(64));
  EXPECT_THROW(check_factored_count(65), FactoringFailed);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
