// The banded schedule on threads, on fronts that are large enough for a partition.
#include "isochron/solve/schedules/banded/banded_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "isochron/solve/simplex/relax.h"
#include "isochron/solve/simplex/run.h"
#include "solve/samples.h"

namespace isochron {
using namespace test;
namespace TEST_FILE {

/// A few vertices, and the travel times from one to the next.
struct Graph {
  struct Problem {
    std::size_t vertex_count = 0;
    std::vector<double> edge;
    double mean_edge = 1;
  };
  struct Way {
    std::uint32_t to;
    double takes;
  };
  using Scalar = double;

  Problem whole;
  double* time = nullptr;
  std::vector<std::vector<Way>> ways;

  [[nodiscard]] const Problem& problem() const { return whole; }
  [[nodiscard]] SharedTimes<double> times() const { return {time}; }
  void prepare_farthest(std::uint32_t) const {}
  void prepare_far(std::uint32_t) const {}
  void prepare_near(std::uint32_t) const {}
  template <class Offer>
  std::uint64_t push(std::uint32_t x, double, Offer&& offer) const {
    for (const Way& way : ways[x]) offer(way.to, times().load(x) + way.takes);
    return ways[x].size();
  }
};

/// Counts the vertices that each thread processes; one thread is slow.
struct VisitCounter {
  std::vector<std::atomic<std::uint64_t>>* visits;
  int slow = -1;
  void operator()(int thread, std::uint32_t) const {
    ++(*visits)[static_cast<std::size_t>(thread)];
    if (thread == slow) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
};

class BandedTeams : public ::testing::Test {
 protected:
  using Relax = Relaxer<double, 4, SharedTimes<double>>;

  BandedTeams() : mesh_(cube(33, 0.2)), problem_(prepare_topology<double>(mesh_, KeepOrder::yes, 1)) {
    apply_metric(problem_, mesh_, rough_fibers(mesh_, 5), 1);
    solve_on_one();
  }

  void solve_on_one() {
    SolveState<double> state = start();
    banded_serial(Relaxer<double, 4, PlainTimes<double>>(problem_, {state.time.data()}), state, tuning_);
    serial_.assign(state.time.begin(), state.time.end());
  }

  [[nodiscard]] SolveState<double> start() const {
    SolveState<double> state;
    state.tolerance = 1e-7;
    state.time.resize(problem_.vertex_count);
    std::fill(state.time.begin(), state.time.end(), std::numeric_limits<double>::infinity());
    state.seeds = {0};
    state.time[0] = 0;
    for (const std::uint32_t v : late_) {
      state.seeds.push_back(v);
      state.time[v] = onset_;
    }
    return state;
  }

  /// Solves on so many threads, expects the times of one, and gives what each thread did.
  std::vector<std::uint64_t> expect_times_of_one(int threads, int slow = -1) {
    std::vector<std::atomic<std::uint64_t>> visits(static_cast<std::size_t>(threads));
    SolveState<double> state = start();
    const Relax relax(problem_, {state.time.data()});
    BandedTeam<Relax, VisitCounter>(relax, state, tuning_, threads, VisitCounter{&visits, slow}).run();
    std::size_t different = 0;
    for (std::uint32_t v = 0; v < serial_.size(); ++v)
      different += std::abs(state.time[v] - serial_[v]) <= 1e-5 * problem_.edge[v] ? 0 : 1;
    EXPECT_EQ(different, 0U) << threads << " threads";
    std::vector<std::uint64_t> result(visits.begin(), visits.end());
    EXPECT_EQ(std::accumulate(result.begin(), result.end(), std::uint64_t{0}), state.counters.vertex_updates);
    return result;
  }

  TetMesh mesh_;
  SimplexProblem<double, 4> problem_;
  BandTuning tuning_{.width = 0.5, .buckets = 1024};
  std::vector<std::uint32_t> late_;  ///< further sources
  double onset_ = 0;                 ///< of those
  std::vector<double> serial_;
};

TEST_F(BandedTeams, GiveTheTimesOfOneThread) {
  for (const int threads : {1, 2, 3, 7}) expect_times_of_one(threads);
}

TEST_F(BandedTeams, TakeOnsetsThatComeAllAtOnce) {
  onset_ = 0.3 * *std::max_element(serial_.begin(), serial_.end());
  for (std::uint32_t v = 1; v < serial_.size(); ++v)
    if (v % 3 == 0 && serial_[v] > onset_) late_.push_back(v);
  ASSERT_GT(late_.size(), serial_.size() / 5);
  solve_on_one();
  for (const int threads : {2, 3, 7}) expect_times_of_one(threads);
}

TEST_F(BandedTeams, DoNotWaitForAThreadThatIsSlow) {
  const std::vector<std::uint64_t> visits = expect_times_of_one(4, 2);
  const std::uint64_t all = std::accumulate(visits.begin(), visits.end(), std::uint64_t{0});
  EXPECT_LT(visits[2], all / 10);
}

/// The first of two sources is processed, then the bands after it ahead, up to the end of a ring of eight; then all.
void expect_times_after_going_ahead(double onset, double takes, int threads) {
  SolveState<double> state;
  state.tolerance = 1e-9;
  state.time.assign(4, std::numeric_limits<double>::infinity());
  state.time[0] = 0;
  state.time[1] = onset;
  state.seeds = {0, 1};
  Graph graph;
  graph.whole.edge.assign(4, 1.0);
  graph.whole.vertex_count = 4;
  graph.time = state.time.data();
  graph.ways.resize(4);
  graph.ways[1].push_back({2, takes});
  graph.ways[2].push_back({3, 1.0});
  BandedTeam<Graph> team(graph, state, BandTuning{.width = 1, .buckets = 8}, threads);
  team.lead([&] {
    team.process(team.next_bucket());
    for (std::uint32_t band = 1; band < 8; ++band)
      for (int tries = 0; team.process_ahead(band, 64); ++tries) ASSERT_LT(tries, 10);
    for (std::uint32_t next = team.next_bucket(); next != BandedTeam<Graph>::none; next = team.next_bucket())
      team.process(next);
  });
  EXPECT_DOUBLE_EQ(state.time[2], onset + takes);
  EXPECT_DOUBLE_EQ(state.time[3], onset + takes + 1);
}

TEST(BandsAhead, LoseNothingBeyondTheRing) {
  for (const int threads : {1, 2}) {
    expect_times_after_going_ahead(2.5, 1.25, threads);
    expect_times_after_going_ahead(6.5, 3, threads);    // from the ring into what is beyond it
    expect_times_after_going_ahead(7.5, 20, threads);   // from its last bucket
    expect_times_after_going_ahead(100.5, 1, threads);  // waits in the last bucket, too early
  }
}

/// Two vertices that make each other earlier, as no update should.
TEST(Banded, GivesUpWhereTimesNeverSettle) {
  for (const int threads : {0, 1, 2}) {
    SolveState<double> state;
    state.time.assign(2, std::numeric_limits<double>::infinity());
    state.time[0] = 0;
    state.seeds = {0};
    Graph graph;
    graph.whole.edge.assign(2, 1.0);
    graph.whole.vertex_count = 2;
    graph.time = state.time.data();
    graph.ways = {{{1, -1.0}}, {{0, -1.0}}};
    const BandTuning tuning{.width = 1, .buckets = 8};
    if (threads == 0) banded_serial(graph, state, tuning);
    else BandedTeam<Graph>(graph, state, tuning, threads).run();
    EXPECT_FALSE(state.converged) << threads;
    EXPECT_GE(state.counters.vertex_updates, max_updates({2})) << threads;
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
