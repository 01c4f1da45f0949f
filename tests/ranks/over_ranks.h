// Solves over ranks that are threads, and what their results are held against.
#pragma once

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/solve/ranks/distributed_solver.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/scatter.h"
#include "isochron/solve/solver.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {

struct Case {
  int ranks = 3;
  Delays delays = {};
  mpi::RankOptions rank_options = {.blocks_per_rank = 2, .partitioner = Partitioner::curve};
  mpi::Pace pace = mpi::Pace::banded;
  bool by_time = false;  ///< rank_of for the sources, instead of `rank_options`
};

struct Outcome {
  Arrival arrival;
  mpi::Traffic traffic;
};

template <int Corners>
Outcome solve_over_ranks(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                         SolveOptions options, const Case& how) {
  options.verify = Keep::yes;
  Outcome outcome;
  run_delayed(how.ranks, how.delays, [&](Communicator& communicator) {
    const bool root = communicator.rank() == 0;
    const auto seeds = mpi::root_seeds<Corners>(communicator, root ? &mesh : nullptr, root ? &metric : nullptr,
                                                root ? &sources : nullptr, options);
    std::vector<std::uint32_t> rank_of;
    if (root && how.by_time) rank_of = mpi::partition_by_time(mesh, metric, seeds, how.ranks, 1);
    else if (root) rank_of = mpi::partition_in_blocks(mesh, how.ranks, how.rank_options);
    const auto share = mpi::scatter<Corners>(communicator, root ? &mesh : nullptr, root ? &metric : nullptr, rank_of,
                                             options.obtuse, 1);
    mpi::DistributedSolver<Corners> solver(communicator, share.part, share.metric, options, how.pace,
                                           share.virtual_elements);
    const mpi::DistributedArrival own = solver.solve(seeds);
    Arrival whole = mpi::gather_arrival(communicator, share.part, own);
    if (root) outcome = {std::move(whole), own.traffic};
  });
  return outcome;
}

inline SolveOptions no_split() {
  SolveOptions options;
  options.obtuse = ObtuseSplit::none;
  return options;
}

/// Times are those of one process, and so are the sources, apart from points that two reach at about the same time.
inline void expect_same(const Arrival& arrival, const Arrival& serial, Precision precision) {
  const double tolerance = precision == Precision::single_ ? 1e-3 : 1e-4;
  EXPECT_LE(worst_difference(arrival.times, serial.times), tolerance);
  EXPECT_EQ(arrival.backend, Backend::mpi);
  EXPECT_EQ(arrival.reached, serial.reached);
  EXPECT_EQ(arrival.unreached, serial.unreached);
  EXPECT_NEAR(arrival.max_time, serial.max_time, tolerance);
  ASSERT_TRUE(arrival.residual);
  EXPECT_TRUE(arrival.residual->passed()) << arrival.residual->worst;
  ASSERT_EQ(arrival.source.size(), serial.source.size());
  std::size_t other_source = 0;
  for (std::size_t v = 0; v < serial.source.size(); ++v) {
    EXPECT_EQ(arrival.source[v] < 0, serial.source[v] < 0);
    if (arrival.source[v] != serial.source[v]) ++other_source;
  }
  EXPECT_LE(other_source, serial.source.size() / 500);
}

template <int Corners>
void expect_serial(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources, const Case& how,
                   SolveOptions options = no_split()) {
  const Outcome outcome = solve_over_ranks(mesh, metric, sources, options, how);
  options.backend = Backend::serial;
  const Arrival serial = solve(mesh, metric, sources, options);
  expect_same(outcome.arrival, serial, options.precision);
}

}  // namespace isochron::test
