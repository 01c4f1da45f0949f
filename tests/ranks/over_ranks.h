// Solves over ranks that are threads, and what their results are held against.
#pragma once

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/solver.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {

struct Case {
  int ranks = 3;
  Delays delays = {};
  RankOptions rank_options = {.blocks_per_rank = 2, .partitioner = Partitioner::curve};
};

/// Parts that are made for the sources.
inline const RankOptions by_time = {.group_size = 1};

inline RankOptions at_pace(Pace pace) {
  return {.blocks_per_rank = 2, .partitioner = Partitioner::curve, .pace = pace};
}

/// What rank 0 finds.
inline Arrival solve_whole(const Domain& domain, const Sources& sources, SolveOptions options, int ranks,
                           const Delays& delays) {
  options.verify = Keep::yes;
  Arrival arrival;
  run_delayed(ranks, delays, [&](Communicator& communicator) {
    const bool root = communicator.rank() == 0;
    Solver solver(root ? domain : Domain(), options, communicator);
    Arrival own = solver.solve(root ? sources : Sources());
    if (root) arrival = std::move(own);
    else EXPECT_TRUE(own.times.empty());
  });
  return arrival;
}

template <int Corners>
Arrival solve_over_ranks(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                         SolveOptions options, const Case& how) {
  const Backend backend = options.backend;
  options.ranks = how.rank_options;
  if (backend == Backend::cuda) options.ranks.rank_backend = backend;
  return solve_whole({mesh, metric}, sources, options, how.ranks, how.delays);
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
  const Arrival arrival = solve_over_ranks(mesh, metric, sources, options, how);
  options.backend = Backend::serial;
  expect_same(arrival, solve(mesh, metric, sources, options), options.precision);
}

}  // namespace isochron::test
