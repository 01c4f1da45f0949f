// Runs the schedules of grids.
#pragma once

#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/simplex/state.h"

namespace isochron {

struct GridRun {
  int threads = 1;
  double band_width = 0;  ///< in mean shortest steps; 0: tuned
};

/// First-order times to the fixed point, with the default schedule: time bands of cells that push to those that read
/// them.
template <class Problem>
void run_banded(const Problem& problem, SolveState<typename Problem::Scalar>& state, const GridRun& run);

}  // namespace isochron
