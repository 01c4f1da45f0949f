#include "isochron/solve/ranks/source_scheduler.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "isochron/solver.h"
#include "solve/grid_samples.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {
namespace TEST_FILE {

/// Sets of one source each: vertex i with onset i.
std::vector<Sources> numbered(std::size_t count) {
  std::vector<Sources> sets;
  for (std::size_t i = 0; i < count; ++i) sets.push_back(from(vertex(i), static_cast<double>(i)));
  return sets;
}

/// Calls `work` on rank 0, while the others serve with `solve`.
void with_scheduler(int ranks, Delays delays, const ranks::SolveMany& solve,
                    const std::function<void(Communicator&)>& work) {
  run_delayed(ranks, delays, [&](Communicator& communicator) {
    if (communicator.rank() > 0) ranks::serve_sources(communicator, solve);
    else work(communicator);
  });
}

TEST(SourceDealer, GivesEveryResultOnceAndInOrder) {
  const ranks::SolveMany solve = [](std::span<const Sources> sets, const TakeArrival& take) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      Arrival arrival;
      arrival.times = {sets[i].vertices[0].time, static_cast<double>(sets[i].vertices[0].vertex.value)};
      take(i, std::move(arrival));
    }
  };
  for (const int ranks : {1, 2, 5})
    for (const std::size_t chunk : {1U, 3U})
      for (const int delay : {0, 20}) {
        const std::vector<Sources> sets = numbered(23);
        std::size_t next = 0;
        with_scheduler(ranks, {.looks = delay}, solve, [&](Communicator& communicator) {
          ranks::schedule_sources(communicator, sets, chunk, solve, {}, [&](std::size_t i, Arrival&& arrival) {
            EXPECT_EQ(i, next++);
            EXPECT_EQ(arrival.times, (std::vector<double>{static_cast<double>(i), static_cast<double>(i)}));
          });
        });
        EXPECT_EQ(next, sets.size());
      }
}

TEST(SourceDealer, HoldsAFewResultsAtATime) {
  constexpr int ranks = 3;
  std::atomic<std::size_t> taken{0}, max_ahead{0};
  std::mutex mutex;
  std::set<std::thread::id> solvers;
  const ranks::SolveMany solve = [&](std::span<const Sources> sets, const TakeArrival& take) {
    const std::size_t set = sets[0].vertices[0].vertex.index();
    {
      const std::lock_guard lock(mutex);
      solvers.insert(std::this_thread::get_id());
      max_ahead = std::max(max_ahead.load(), set - std::min(set, taken.load()));
    }
    // The first set takes long: all others wait for their turn.
    if (set == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (std::size_t i = 0; i < sets.size(); ++i) take(i, {});
  };
  const std::vector<Sources> sets = numbered(60);
  with_scheduler(ranks, {}, solve, [&](Communicator& communicator) {
    ranks::schedule_sources(communicator, sets, 1, solve, {}, [&](std::size_t, Arrival&&) { ++taken; });
  });
  EXPECT_EQ(taken, sets.size());
  EXPECT_EQ(solvers.size(), static_cast<std::size_t>(ranks));  // all had a share
  EXPECT_LT(max_ahead, ranks::chunks_ahead * ranks);
}

TEST(SourceDealer, ThrowsWhatASolveThrowsWhenItsTurnComes) {
  const ranks::SolveMany solve = [](std::span<const Sources> sets, const TakeArrival& take) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].vertices[0].vertex.index() == 7) throw InputError("no such vertex; give another");
      take(i, {});
    }
  };
  const std::vector<Sources> sets = numbered(12);
  for (const int ranks : {1, 2, 4})
    for (const std::size_t chunk : {1U, 4U}) {
      std::size_t taken = 0;
      std::string message;
      with_scheduler(ranks, {.looks = 3}, solve, [&](Communicator& communicator) {
        try {
          ranks::schedule_sources(communicator, sets, chunk, solve, {}, [&](std::size_t, Arrival&&) { ++taken; });
        } catch (const InputError& error) {
          message = error.what();
        }
      });
      EXPECT_EQ(taken, 7U);
      EXPECT_EQ(message, "source set 7: no such vertex; give another");
    }
}

TEST(SourceDealer, LetsTheOthersGoWhenTheTakerThrows) {
  const ranks::SolveMany solve = [](std::span<const Sources> sets, const TakeArrival& take) {
    for (std::size_t i = 0; i < sets.size(); ++i) take(i, {});
  };
  const std::vector<Sources> sets = numbered(12);
  with_scheduler(3, {}, solve, [&](Communicator& communicator) {
    EXPECT_THROW(ranks::schedule_sources(communicator, sets, 1, solve, {},
                                         [&](std::size_t i, Arrival&&) {
                                           if (i == 4) throw RuntimeError("the disk is full; make room");
                                         }),
                 RuntimeError);
  });
}

TEST(SourceDealer, StopsOnAllRanksWhenTold) {
  std::atomic<bool> stop{false};
  const ranks::SolveMany solve = [](std::span<const Sources> sets, const TakeArrival& take) {
    for (std::size_t i = 0; i < sets.size(); ++i) take(i, {});
  };
  const std::vector<Sources> sets = numbered(50);
  const Progress progress{{}, &stop};
  std::atomic<int> stopped{0};
  run_delayed(3, {}, [&](Communicator& communicator) {
    try {
      if (communicator.rank() > 0) ranks::serve_sources(communicator, solve);
      else
        ranks::schedule_sources(communicator, sets, 1, solve, progress, [&](std::size_t i, Arrival&&) {
          if (i == 5) stop = true;
        });
    } catch (const Cancelled&) {
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

/// Solves all sets over ranks and gives how they were shared out.
Division expect_batch(int ranks, const Domain& domain, const SolveOptions& options, const std::vector<Sources>& sets,
                      const std::vector<Arrival>& expected) {
  Division division{};
  std::size_t next = 0;
  run_delayed(ranks, {.looks = 2}, [&](Communicator& communicator) {
    Solver solver(domain, options, communicator);
    solver.solve_many(sets, [&](std::size_t i, Arrival&& arrival) {
      EXPECT_EQ(communicator.rank(), 0);
      EXPECT_EQ(i, next++);
      EXPECT_LE(worst_difference(arrival.times, expected[i].times), 1e-4);
      EXPECT_EQ(arrival.times.size(), expected[i].times.size());
      EXPECT_EQ(arrival.reached, expected[i].reached);
      EXPECT_EQ(arrival.unreached, expected[i].unreached);
      EXPECT_EQ(arrival.source, expected[i].source);
      EXPECT_EQ(arrival.backend, Backend::mpi);
      ASSERT_TRUE(arrival.residual);
      EXPECT_TRUE(arrival.residual->passed());
      division = arrival.traffic->division;
    });
    // The same solver goes on, with the domain partitioned.
    const Arrival last = solver.solve(sets.back());
    EXPECT_TRUE(solver.residual(last, sets.back()).passed());
    if (communicator.rank() > 0) return;
    EXPECT_LE(worst_difference(last.times, expected.back().times), 1e-4);
    EXPECT_EQ(last.traffic->division, Division::domain);
  });
  EXPECT_EQ(next, sets.size());
  return division;
}

TEST(RankedSolver, SharesOutSourcesWhenThereAreEnough) {
  const TetMesh mesh = cube(7, 0.2);
  const Metric metric = rough_fibers(mesh, 2);
  std::vector<Sources> sets;
  for (const std::size_t v : {0U, 100U, 200U, 300U, 340U}) sets.push_back(from(vertex(v), 0.5));
  sets.push_back({});
  sets.back().points.push_back({{2.3, 3.1, 1.7}, 1});
  SolveOptions options;
  options.verify = Keep::yes;
  SolveOptions serial = options;
  serial.backend = Backend::serial;
  const std::vector<Arrival> expected = Solver({mesh, metric}, serial).solve_many(sets);
  const Domain domain(mesh, metric);
  const auto with = [&](const RankOptions& ranks) {
    SolveOptions result = options;
    result.ranks = ranks;
    return result;
  };
  EXPECT_EQ(expect_batch(3, domain, options, sets, expected), Division::sources);
  EXPECT_EQ(expect_batch(6, domain, options, sets, expected), Division::sources);
  EXPECT_EQ(expect_batch(7, domain, options, sets, expected), Division::domain);
  EXPECT_EQ(expect_batch(3, domain, with({.blocks_per_rank = 2}), sets, expected), Division::domain);
  EXPECT_EQ(expect_batch(2, domain, with({.rank_backend = Backend::threads, .batch_threads = 2}), sets, expected),
            Division::sources);
}

TEST(RankedSolver, SharesOutSourcesOnTriangles) {
  const TriangleMesh mesh = square(15, 0.2);
  const Metric metric = Metric::isotropic(2);
  const std::vector<Sources> sets{from(vertex(0)), from(vertex(100)), from(vertex(224))};
  SolveOptions options;
  options.verify = Keep::yes;
  options.backend = Backend::serial;
  const std::vector<Arrival> expected = Solver({mesh, metric}, options).solve_many(sets);
  EXPECT_EQ(expect_batch(3, {mesh, metric}, options, sets, expected), Division::sources);
}

TEST(RankedGridSolver, SharesOutSourcesWhenThereAreEnough) {
  const ImageGrid grid = cube_grid(11);
  const Metric metric = varying(grid, fiber_metric(3, {1, 2, 1}));
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t j = 0; j < 11; ++j) mask[grid.voxel(5, j, 3).index()] = 0;
  std::vector<Sources> sets;
  for (const std::uint32_t i : {0U, 3U, 7U, 10U}) sets.push_back(voxel_source(grid.voxel(i, i, 10 - i)));
  for (const int order : {1, 2}) {
    SolveOptions options = checked_options();
    options.order = order;
    const std::vector<Arrival> expected = Solver({grid, metric, mask}, options).solve_many(sets);
    const Domain domain(grid, metric, mask);
    EXPECT_EQ(expect_batch(3, domain, options, sets, expected), Division::sources);
    EXPECT_EQ(expect_batch(5, domain, options, sets, expected), Division::domain);
  }
}

TEST(RankedSolver, NamesTheSetThatIsWrong) {
  const TetMesh mesh = cube(5);
  const Metric metric = Metric::isotropic(1);
  const std::vector<Sources> sets{from(vertex(0)), from(vertex(1)), from(vertex(99999)), from(vertex(3))};
  run_delayed(2, {}, [&](Communicator& communicator) {
    Solver solver({mesh, metric}, {}, communicator);
    std::size_t taken = 0;
    try {
      solver.solve_many(sets, [&](std::size_t, Arrival&&) { ++taken; });
      FAIL() << "no error";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("source set 2"), std::string::npos) << error.what();
    }
    EXPECT_EQ(taken, communicator.rank() == 0 ? 2U : 0U);
    // All go on together, and what `take` throws all throw.
    EXPECT_THROW(
        solver.solve_many({&sets[0], 1}, [](std::size_t, Arrival&&) { throw RuntimeError("full; make room"); }),
        RuntimeError);
    EXPECT_EQ(solver.solve(sets[0]).reached, communicator.rank() == 0 ? mesh.vertex_count() : 0);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
