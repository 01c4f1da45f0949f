#include "isochron/solve/ranks/rank_groups.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "isochron/solve/ranks/ranked_solver.h"
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
    mpi::RankGroups groups(communicator, communicator.rank() == 0 ? most : 0);
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

/// What rank 0 finds when the others serve it.
template <int Corners>
void expect_serial_in_teams(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                            const Delays& delays, int ranks, int parts) {
  SolveOptions options = no_split();
  options.verify = Keep::yes;
  options.backend = Backend::serial;
  const Arrival serial = solve(mesh, metric, sources, options);
  options.backend = Backend::mpi;
  run_delayed(ranks, delays, [&](Communicator& communicator) {
    if (communicator.rank() > 0) {
      EXPECT_EQ(mpi::serve(communicator, options), mpi::AfterServing::end);
      return;
    }
    mpi::Ranks all(communicator);
    mpi::RankedSolver<Corners> solver(all, {mesh, metric}, options, {});
    for (int again = 0; again < 2; ++again) {
      const Arrival arrival = solver.solve(sources);
      EXPECT_LE(worst_difference(arrival.times, serial.times), 1e-4);
      EXPECT_EQ(arrival.reached, serial.reached);
      EXPECT_TRUE(arrival.residual && arrival.residual->passed());
      EXPECT_EQ(solver.traffic().parts, parts);
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
      if (communicator.rank() > 0) {
        EXPECT_EQ(mpi::serve(communicator, options), mpi::AfterServing::end);
        return;
      }
      mpi::Ranks all(communicator);
      mpi::RankedSolver<4> solver(all, {mesh, metric}, options, {});
      for (int again = 0; again < 2; ++again) {  // before the mesh is shared out, and after
        EXPECT_THROW(solver.solve(from(vertex(99999))), InputError);
        EXPECT_FALSE(all.stranded());
        EXPECT_EQ(solver.solve(from(vertex(0))).reached, mesh.vertex_count());
      }
    });
}

/// `told` of four ranks has been told to stop: all do, sooner or later, in solves that `make` makes.
template <class Make>
void expect_all_stop(int told, int machine_ranks, Make&& make) {
  std::atomic<int> cancelled{0};
  const std::atomic<bool> stop{true};
  run_delayed(4, {.machine_ranks = machine_ranks}, [&](Communicator& communicator) {
    SolveOptions options = no_split();
    options.backend = Backend::mpi;
    if (communicator.rank() == told) options.progress.cancel = &stop;
    try {
      if (communicator.rank() > 0) {
        (void)mpi::serve(communicator, options);
        return;
      }
      mpi::Ranks all(communicator);
      const auto solver = make(all, options);
      // The one that is told may be late for one solve.
      for (int again = 0; again < 100; ++again) (void)solver->solve(from(vertex(0)));
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
    for (int told = 0; told < 4; ++told)
      expect_all_stop(told, machine_ranks, [&](mpi::Ranks& all, const SolveOptions& options) {
        return std::make_unique<mpi::RankedSolver<4>>(all, MeshDomain<4>{mesh, metric}, options, mpi::RankOptions{});
      });
}

TEST(RankGroups, StopOnImagesWhenAnyOfThemIsTold) {
  ImageGrid grid;
  grid.shape = {30, 30, 30};
  const Metric metric = Metric::isotropic(1);
  for (int told = 0; told < 4; ++told)
    expect_all_stop(told, 4, [&](mpi::Ranks& all, const SolveOptions& options) {
      SolveOptions grid_options;
      grid_options = options;
      return std::make_unique<mpi::RankedGridSolver>(all, GridDomain{grid, metric, {}}, grid_options,
                                                     mpi::RankOptions{});
    });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
