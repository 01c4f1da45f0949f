#include "isochron/solve/grid/adaptive.h"

#include "isochron/solve/grid/grid_factor.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/grid_relax.h"
#include "isochron/solve/grid/second_order.h"
#include "isochron/solve/schedules/banded/banded_team.h"

namespace isochron {
namespace {

/// To the first-order fixed point.
template <class Problem, class Factor>
void march(const Problem& problem, const Factor& factor, SolveState<typename Problem::Scalar>& state,
           const AdaptiveRun& run) {
  using T = typename Problem::Scalar;
  if (run.threads > 1) {
    const GridRelaxer<Problem, SharedTimes<T>, Factor> relax(problem, SharedTimes<T>{state.time.data()}, factor);
    BandedTeam(relax, state, adaptive_tuning(run.band_width), run.threads).run();
  } else {
    const GridRelaxer<Problem, PlainTimes<T>, Factor> relax(problem, PlainTimes<T>{state.time.data()}, factor);
    banded_serial(relax, state, adaptive_tuning(run.band_width));
  }
}

template <class Problem, class Factor>
Residual check_first(const Problem& problem, const Factor& factor, const BigVector<typename Problem::Scalar>& times,
                     const Start<typename Problem::Scalar>& start, int threads, double limit) {
  using T = typename Problem::Scalar;
  const GridRelaxer<Problem, ConstTimes<T>, Factor> relax(problem, ConstTimes<T>{times.data()}, factor);
  return grid_residual(problem, times.data(), start.pinned, start.seeds, limit, threads,
                       [&](std::uint32_t x) { return relax.pull(x); });
}

template <class Problem, class Factor>
Residual check_second(const Problem& problem, const Factor& factor, const Start<typename Problem::Scalar>& start,
                      int threads, double limit) {
  using T = typename Problem::Scalar;
  const BigVector<T>& first = start.first;
  const SeedRule<T> rule = seed_rule(problem, start);
  const T* times = start.state.time.data();
  const SecondOrder<Problem, ConstTimes<T>, Factor> second(problem, first.data(), {times}, factor);
  return grid_residual(problem, times, start.pinned, start.seeds, limit, threads, [&](std::uint32_t x) {
    return rule.keeps(x) || !(first[x] < std::numeric_limits<T>::infinity()) ? first[x]
                                                                             : rule.limited(x, second.update(x));
  });
}

/// Calls `use` with the factor that the run asks for.
template <class Problem, class Use>
auto with_factor(const Problem& problem, const AdaptiveRun& run, Use&& use) {
  if constexpr (std::is_same_v<typename Problem::Scalar, double>) {
    if (run.factored != nullptr) {
      const SourceTimes times(problem, run.factored->index, run.factored->metric, run.threads);
      return use(SourceFactor(times));
    }
  }
  return use(NoFactor{});
}

}  // namespace

template <class Problem>
void solve_adaptive(const Problem& problem, Start<typename Problem::Scalar>& start, const AdaptiveRun& run) {
  SolveState<typename Problem::Scalar>& state = start.state;
  if (run.order == 1) {
    with_factor(problem, run, [&](const auto& factor) { march(problem, factor, state, run); });
    return;
  }
  march(problem, NoFactor{}, state, run);
  start.first.swap(state.time);
  with_factor(problem, run, [&](const auto& factor) {
    second_order_times(problem, factor, start.first, seed_rule(problem, start), run.threads, state.time);
  });
  state.counters.local_solves += problem.cells->list.size();
  state.counters.vertex_updates += problem.cells->list.size();
  ++state.counters.rounds;
}

template <class Problem>
bool update_adaptive(const Problem& problem, Start<typename Problem::Scalar>& start,
                     const ChangedStart<typename Problem::Scalar>& changed, const AdaptiveRun& run) {
  using T = typename Problem::Scalar;
  const GridRelaxer<Problem, PlainTimes<T>, NoFactor> relax(problem, PlainTimes<T>{start.state.time.data()}, {});
  const auto max = static_cast<std::size_t>(max_withdrawn_share * static_cast<double>(problem.cells->list.size()));
  if (withdraw(relax, start, changed, adaptive_tuning(run.band_width), max) > max) return false;
  march(problem, NoFactor{}, start.state, run);
  return true;
}

template <class Problem>
Residual check_adaptive(const Problem& problem, const Start<typename Problem::Scalar>& start, const AdaptiveRun& run,
                        double limit) {
  if (run.order == 1)
    return with_factor(problem, run, [&](const auto& factor) {
      return check_first(problem, factor, start.state.time, start, run.threads, limit);
    });
  const Residual first = check_first(problem, NoFactor{}, start.first, start, run.threads, limit);
  const Residual second = with_factor(
      problem, run, [&](const auto& factor) { return check_second(problem, factor, start, run.threads, limit); });
  return second.worst > first.worst ? second : first;
}

// One problem kind and scalar.
#define ISOCHRON_INSTANTIATE(...)                                                                    \
  template void solve_adaptive(const __VA_ARGS__&, Start<__VA_ARGS__::Scalar>&, const AdaptiveRun&); \
  template bool update_adaptive(const __VA_ARGS__&, Start<__VA_ARGS__::Scalar>&,                     \
                                const ChangedStart<__VA_ARGS__::Scalar>&, const AdaptiveRun&);       \
  template Residual check_adaptive(const __VA_ARGS__&, const Start<__VA_ARGS__::Scalar>&, const AdaptiveRun&, double);
ISOCHRON_INSTANTIATE(AxisProblem<float, 2>)
ISOCHRON_INSTANTIATE(AxisProblem<float, 3>)
ISOCHRON_INSTANTIATE(AxisProblem<double, 2>)
ISOCHRON_INSTANTIATE(AxisProblem<double, 3>)
ISOCHRON_INSTANTIATE(OffsetProblem<float, 2>)
ISOCHRON_INSTANTIATE(OffsetProblem<float, 3>)
ISOCHRON_INSTANTIATE(OffsetProblem<double, 2>)
ISOCHRON_INSTANTIATE(OffsetProblem<double, 3>)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
