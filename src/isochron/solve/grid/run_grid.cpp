#include "isochron/solve/grid/run_grid.h"

#include "isochron/solve/grid/grid_relax.h"
#include "isochron/solve/simplex/banded_threads.h"

namespace isochron {
namespace {

BandTuning tuning_of(const GridRun& run) {
  constexpr std::uint32_t buckets = 1024;
  return {run.band_width > 0 ? run.band_width : 1.0, buckets, Horizon::none};
}

}  // namespace

template <class Problem>
void run_banded(const Problem& problem, SolveState<typename Problem::Scalar>& state, const GridRun& run) {
  using T = typename Problem::Scalar;
  if (run.threads > 1) {
    const GridRelaxer<Problem, SharedTimes<T>, NoFactor> relax(problem, SharedTimes<T>{state.time.data()}, {});
    BandedTeam(relax, state, tuning_of(run), run.threads).run();
  } else {
    const GridRelaxer<Problem, PlainTimes<T>, NoFactor> relax(problem, PlainTimes<T>{state.time.data()}, {});
    banded_serial(relax, state, tuning_of(run));
  }
}

#define ISOCHRON_INSTANTIATE(problem)                                                       \
  template void run_banded(const problem<float, 2>&, SolveState<float>&, const GridRun&);   \
  template void run_banded(const problem<float, 3>&, SolveState<float>&, const GridRun&);   \
  template void run_banded(const problem<double, 2>&, SolveState<double>&, const GridRun&); \
  template void run_banded(const problem<double, 3>&, SolveState<double>&, const GridRun&);
ISOCHRON_INSTANTIATE(AxisProblem)
ISOCHRON_INSTANTIATE(OffsetProblem)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
