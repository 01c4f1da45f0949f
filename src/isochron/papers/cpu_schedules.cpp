#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/papers/fim.h"
#include "isochron/papers/fmm.h"
#include "isochron/papers/fsm.h"
#include "isochron/papers/methods.h"
#include "isochron/solve/simplex/run.h"

namespace isochron {
namespace {

template <class T, int Corners>
class CpuSchedule final : public MeshSchedule<T, Corners> {
  using Plain = Relaxer<T, Corners, PlainTimes<T>>;
  using Shared = Relaxer<T, Corners, SharedTimes<T>>;

 public:
  CpuSchedule(Method method, const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
              const SolveOptions& options)
      : method_(method), problem_(problem), mesh_(mesh), options_(options) {}

  void run(SolveState<T>& state, int threads, std::vector<std::string>& notes) override {
    const Plain plain = relaxer(state);
    switch (method_) {
      case Method::fim:
        if (threads > 1) fim(Shared(problem_, SharedTimes<T>{state.time.data()}), problem_, state, threads);
        else fim(plain, problem_, state, 1);
        break;
      case Method::fsm: fsm(plain, state, sweep_orders(problem_, mesh_.points)); break;
      case Method::relabel_sync: relabel(plain, problem_, state, Relabelling::synchronous); break;
      case Method::relabel_async: relabel(plain, problem_, state, Relabelling::asynchronous); break;
      default: march(state, threads, notes);
    }
  }

 private:
  [[nodiscard]] Plain relaxer(SolveState<T>& state) const { return {problem_, PlainTimes<T>{state.time.data()}}; }

  void march(SolveState<T>& state, int threads, std::vector<std::string>& notes) const {
    const bool unordered = problem_.obtuse_corners > 0;
    if (unordered) check_ordering(notes);
    fmm(problem_, state);
    if (unordered && options_.unordered == Unordered::hand_over) correct(state, threads);
  }

  /// Refuses fast marching where its ordering does not hold, unless the options say otherwise.
  void check_ordering(std::vector<std::string>& notes) const {
    const std::string why =
        fmt::format("{} of {} element corners are obtuse in the metric, where a vertex can depend on a later one",
                    problem_.obtuse_corners, problem_.elements.size() * Corners);
    if (options_.unordered == Unordered::refuse)
      throw InputError(fmt::format("fast marching cannot order this mesh ({}); use ", why) +
                       Setting{Option::method, "banded"} + ", or " + Setting{Option::unordered, "hand-over"} +
                       " to correct its result, or " + Setting{Option::unordered, "run"} + " to run it regardless");
    notes.push_back(options_.unordered == Unordered::run
                        ? fmt::format("unordered: fast marching ran although {}; times may be too late", why)
                        : fmt::format("handed over: {}, so banded corrected the result", why));
  }

  /// Queues every vertex that its elements can improve and lets `banded` finish: turns any upper bound into the fixed
  /// point.
  void correct(SolveState<T>& state, int threads) const {
    const Plain relax = relaxer(state);
    state.seeds.clear();
    for (std::uint32_t v = 0; v < problem_.vertex_count; ++v) {
      const T time = relax.pull(v, state.counters.local_solves);
      if (time < state.time[v] && lower_countably(relax, state, v, time)) state.seeds.push_back(v);
    }
    if (!state.seeds.empty()) run_banded(problem_, state, {threads, options_.band_width, Horizon::none});
  }

  Method method_;
  const SimplexProblem<T, Corners>& problem_;
  const SimplexMesh<Corners>& mesh_;
  const SolveOptions& options_;
};

}  // namespace

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_cpu_schedule(Method method, const SimplexProblem<T, Corners>& problem,
                                                            const SimplexMesh<Corners>& mesh,
                                                            const SolveOptions& options) {
  return std::make_unique<CpuSchedule<T, Corners>>(method, problem, mesh, options);
}

#define ISOCHRON_INSTANTIATE(T, corners)                                \
  template std::unique_ptr<MeshSchedule<T, corners>> make_cpu_schedule( \
      Method, const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const SolveOptions&);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
