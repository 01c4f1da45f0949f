// Runs one schedule on a prepared problem: the only place that knows which schedules there are.
#pragma once

#include <span>

#include "isochron/solve/common/state.h"
#include "isochron/solve/options.h"
#include "isochron/solve/schedules/banded/banded.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

struct RunOptions {
  Method method = Method::banded;
  int threads = 1;
  double band_width = 0;          ///< 0: the tuned one
  std::span<const Vec3d> points;  ///< the mesh's, for the sweeps' reference orders
};

/// The tuned band width and ring size for a kind of problem (bench/NOTES.md has the measurements); `wanted_width` > 0
/// wins.
BandTuning band_tuning(int corners, std::size_t vertices, int threads, double wanted_width);

/// Brings `state.time` to the method's result. Throws Cancelled.
template <class T, int Corners>
void run_schedule(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const RunOptions& options);

/// Queues every vertex that its elements can improve and lets `banded` finish: turns any upper bound into the fixed
/// point.
template <class T, int Corners>
void correct(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const RunOptions& options);

}  // namespace isochron
