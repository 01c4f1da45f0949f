#include "isochron/solve/ranks/rank_groups.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "ranks/over_ranks.h"

namespace isochron::test {
namespace TEST_FILE {

struct Place {
  int groups = 0;
  bool leads = false;
  int leaders = 0;
  int threads = 0;
};

std::vector<Place> places(int ranks, int machine_ranks, int most) {
  std::vector<Place> all(static_cast<std::size_t>(ranks));
  run_delayed(ranks, {.machine_ranks = machine_ranks}, [&](Communicator& communicator) {
    // What rank 0 says counts.
    ranks::RankGroups groups(communicator, communicator.rank() == 0 ? most : 0);
    all[static_cast<std::size_t>(communicator.rank())] = {
        groups.count(), groups.leads(), groups.leads() ? groups.between().size() : 0, groups.threads()};
  });
  return all;
}

TEST(RankGroups, AreTheRanksOfAMachine) {
  for (const auto& [ranks, machine, most, leaders] : {std::tuple{6, 3, 0, std::vector{0, 3}},
                                                      {5, 4, 0, std::vector{0, 4}},
                                                      {7, 7, 3, std::vector{0, 3, 6}},
                                                      {4, 4, 1, std::vector{0, 1, 2, 3}},
                                                      {3, 1, 0, std::vector{0, 1, 2}},
                                                      {1, 1, 0, std::vector{0}}}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << machine << " a machine, teams of " << most);
    const std::vector<Place> all = places(ranks, machine, most);
    for (int rank = 0; rank < ranks; ++rank) {
      const Place& place = all[static_cast<std::size_t>(rank)];
      const bool leads = std::find(leaders.begin(), leaders.end(), rank) != leaders.end();
      EXPECT_EQ(place.groups, static_cast<int>(leaders.size()));
      EXPECT_EQ(place.leads, leads) << rank;
      if (leads) {
        EXPECT_EQ(place.leaders, static_cast<int>(leaders.size()));
      }
    }
  }
}

TEST(RankGroups, HaveAThreadForEachRankAsFarAsThereAreCores) {
  const int cores = allowed_cores().count();
  ASSERT_GT(cores, 0);
  const std::vector<Place> all = places(5, 3, 0);
  EXPECT_EQ(all[0].threads, std::min(3, cores));
  EXPECT_EQ(all[3].threads, std::min(2, cores));
}

/// What rank 0 finds.
template <int Corners>
void expect_serial_in_teams(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                            const Delays& delays, int ranks, int parts) {
  SolveOptions options = no_split();
  options.verify = Keep::yes;
  options.backend = Backend::serial;
  const Arrival serial = solve(mesh, metric, sources, options);
  options.backend = Backend::mpi;
  run_delayed(ranks, delays, [&](Communicator& communicator) {
    Solver solver({mesh, metric}, options, communicator);
    for (int again = 0; again < 2; ++again) {
      const Arrival arrival = solver.solve(sources);
      if (communicator.rank() > 0) continue;
      EXPECT_LE(worst_difference(arrival.times, serial.times), 1e-4);
      EXPECT_EQ(arrival.reached, serial.reached);
      EXPECT_TRUE(arrival.residual && arrival.residual->passed());
      EXPECT_EQ(arrival.traffic->parts, parts);
    }
  });
}

TEST(RankGroups, GiveTheSerialTimes) {
  const TetMesh mesh = cube(14, 0.3);
  const TriangleMesh flat = square(40, 0.3);
  for (const int delay : {0, 20}) {
    expect_serial_in_teams(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.looks = delay, .machine_ranks = 2}, 5, 3);
    expect_serial_in_teams(flat, rough_speed(flat), from(vertex(820)), {.looks = delay, .machine_ranks = 4}, 4, 1);
    expect_serial_in_teams(one_tet(), Metric::isotropic(1), from(vertex(0)), {.looks = delay, .machine_ranks = 2}, 6,
                           3);
  }
}

TEST(RankGroups, GoOnAfterSourcesThatAreWrong) {
  const TetMesh mesh = cube(8);
  const Metric metric = Metric::isotropic(1);
  for (const int machine_ranks : {1, 2, 4})
    run_delayed(4, {.machine_ranks = machine_ranks}, [&](Communicator& communicator) {
      SolveOptions options = no_split();
      options.backend = Backend::mpi;
      Solver solver({mesh, metric}, options, communicator);
      for (int again = 0; again < 2; ++again) {  // before the mesh is partitioned, and after
        EXPECT_THROW(solver.solve(from(vertex(99999))), InputError);
        const Arrival arrival = solver.solve(from(vertex(0)));
        EXPECT_EQ(arrival.reached, communicator.rank() == 0 ? mesh.vertex_count() : 0);
      }
    });
}

/// `told` of four ranks has been told to stop: all do, sooner or later.
void expect_all_stop(const Domain& domain, int told, int machine_ranks) {
  std::atomic<int> cancelled{0};
  const std::atomic<bool> stop{true};
  run_delayed(4, {.machine_ranks = machine_ranks}, [&](Communicator& communicator) {
    SolveOptions options = no_split();
    options.backend = Backend::mpi;
    if (communicator.rank() == told) options.progress.cancel = &stop;
    try {
      Solver solver(domain, options, communicator);
      // The one that is told may be late for one solve.
      for (int again = 0; again < 100; ++again) (void)solver.solve(from(vertex(0)));
    } catch (const Cancelled&) {
      ++cancelled;
    }
  });
  EXPECT_EQ(cancelled, 4) << told << " of " << machine_ranks;
}

TEST(RankGroups, StopWhenAnyOfThemIsTold) {
  const TetMesh mesh = cube(20);
  const Metric metric = Metric::isotropic(1);
  for (const int machine_ranks : {2, 4})  // two groups, then one
    for (int told = 0; told < 4; ++told) expect_all_stop({mesh, metric}, told, machine_ranks);
}

TEST(RankGroups, StopOnImagesWhenAnyOfThemIsTold) {
  ImageGrid grid;
  grid.shape = {30, 30, 30};
  const Metric metric = Metric::isotropic(1);
  for (int told = 0; told < 4; ++told) expect_all_stop({grid, metric}, told, 4);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
