// Runs time bands on a prepared mesh.
#pragma once

#include "isochron/solve/common/state.h"
#include "isochron/solve/schedules/banded/banded.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

struct BandedRun {
  int threads = 1;
  double band_width = 0;  ///< 0: the tuned one
  Horizon horizon = Horizon::band;
};

/// The tuned band width and ring size for a kind of problem (bench/NOTES.md has the measurements); `wanted_width` > 0
/// wins.
BandTuning band_tuning(int corners, std::size_t vertices, int threads, double wanted_width);

/// Brings `state.time` to the fixed point. Throws Cancelled.
template <class T, int Corners>
void run_banded(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const BandedRun& run);

}  // namespace isochron
