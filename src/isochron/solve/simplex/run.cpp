#include "isochron/solve/simplex/run.h"

#include <algorithm>
#include <cmath>

#include "isochron/solve/schedules/banded/banded_team.h"
#include "isochron/solve/simplex/fim.h"
#include "isochron/solve/simplex/fmm.h"
#include "isochron/solve/simplex/fsm.h"

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

namespace {

template <class T, int Corners>
void run_banded(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const RunOptions& options,
                Horizon horizon = Horizon::band) {
  BandTuning tuning = band_tuning(Corners, problem.vertex_count, options.threads, options.band_width);
  tuning.horizon = horizon;
  if (options.threads > 1) {
    const Relaxer<T, Corners, SharedTimes<T>> relax(problem, SharedTimes<T>{state.time.data()});
    BandedTeam(relax, state, tuning, options.threads).run();
  } else {
    banded_serial(Relaxer<T, Corners, PlainTimes<T>>(problem, PlainTimes<T>{state.time.data()}), state, tuning);
  }
}

}  // namespace

template <class T, int Corners>
void run_schedule(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const RunOptions& options) {
  const Relaxer<T, Corners, PlainTimes<T>> plain(problem, PlainTimes<T>{state.time.data()});
  switch (options.method) {
    case Method::fim:
      if (options.threads > 1)
        fim(Relaxer<T, Corners, SharedTimes<T>>(problem, SharedTimes<T>{state.time.data()}), problem, state,
            options.threads);
      else fim(plain, problem, state, 1);
      break;
    case Method::fmm: fmm(problem, state); break;
    case Method::fsm: fsm(plain, state, sweep_orders(problem, options.points)); break;
    case Method::relabel_sync: relabel(plain, problem, state, Relabelling::synchronous); break;
    case Method::relabel_async: relabel(plain, problem, state, Relabelling::asynchronous); break;
    default: run_banded(problem, state, options);
  }
}

template <class T, int Corners>
void correct(const SimplexProblem<T, Corners>& problem, SolveState<T>& state, const RunOptions& options) {
  const Relaxer<T, Corners, PlainTimes<T>> relax(problem, PlainTimes<T>{state.time.data()});
  state.seeds.clear();
  for (std::uint32_t v = 0; v < problem.vertex_count; ++v) {
    const T time = relax.pull(v, state.counters.local_solves);
    if (time < state.time[v] && lower_countably(relax, state, v, time)) state.seeds.push_back(v);
  }
  if (!state.seeds.empty()) run_banded(problem, state, options, Horizon::none);
}

template void run_schedule(const SimplexProblem<float, 3>&, SolveState<float>&, const RunOptions&);
template void run_schedule(const SimplexProblem<float, 4>&, SolveState<float>&, const RunOptions&);
template void run_schedule(const SimplexProblem<double, 3>&, SolveState<double>&, const RunOptions&);
template void run_schedule(const SimplexProblem<double, 4>&, SolveState<double>&, const RunOptions&);
template void correct(const SimplexProblem<float, 3>&, SolveState<float>&, const RunOptions&);
template void correct(const SimplexProblem<float, 4>&, SolveState<float>&, const RunOptions&);
template void correct(const SimplexProblem<double, 3>&, SolveState<double>&, const RunOptions&);
template void correct(const SimplexProblem<double, 4>&, SolveState<double>&, const RunOptions&);

}  // namespace isochron
