#include "isochron/solve/simplex/run.h"

#include <algorithm>
#include <cmath>

#include "isochron/solve/schedules/banded/banded_team.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {

BandTuning band_tuning(int corners, std::size_t vertices, int threads, double wanted_width) {
  constexpr std::uint32_t buckets = 1024;
  if (wanted_width > 0) return {wanted_width, buckets};
  const double serial = corners == 3 ? 1.0 : 0.5;
  if (threads == 1) return {serial, buckets};
  // A band should keep every thread busy: wider ones where the front (a surface through the mesh) is small for the
  // team.
  const double front = std::pow(static_cast<double>(vertices), corners == 3 ? 1.0 / 2 : 2.0 / 3);
  const double busy = corners == 3 ? 1024 : 128;
  return {std::clamp(busy * threads / front, serial, 4 * serial), buckets};
}

template <class T, int Corners>
void run_banded(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const BandedRun& run) {
  BandTuning tuning = band_tuning(Corners, problem.vertex_count, run.threads, run.band_width);
  tuning.horizon = run.horizon;
  if (run.threads > 1) {
    const Relaxer<T, Corners, SharedTimes<T>> relax(problem, SharedTimes<T>{state.time.data()});
    BandedTeam(relax, state, tuning, run.threads).run();
  } else {
    banded_serial(Relaxer<T, Corners, PlainTimes<T>>(problem, PlainTimes<T>{state.time.data()}), state, tuning);
  }
}

template void run_banded(const SimplexProblem<float, 3>&, SolveState<float>&, const BandedRun&);
template void run_banded(const SimplexProblem<float, 4>&, SolveState<float>&, const BandedRun&);
template void run_banded(const SimplexProblem<double, 3>&, SolveState<double>&, const BandedRun&);
template void run_banded(const SimplexProblem<double, 4>&, SolveState<double>&, const BandedRun&);

}  // namespace isochron
