#include "isochron/papers/axis_schemes.h"

#include <algorithm>
#include <limits>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/local/godunov_update.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/grid/grid_finish.h"

namespace isochron {
namespace {

template <class T, int Dim>
TensorProblem<T, Dim> tensors_of(const VoxelMetric& metric, const GridCells& cells, int threads) {
  StencilPlan plan = plan_stencils(metric, cells, threads);
  plan.diagonal = true;  // the axes' neighbours alone
  TensorProblem<T, Dim> problem;
  static_cast<AxisProblem<T, Dim>&>(problem) =
      std::get<AxisProblem<T, Dim>>(make_stencils<T>(metric, cells, plan, threads));
  const double square = problem.unit * problem.unit;
  const bool uniform = std::holds_alternative<UniformMetric>(metric.metric.kind());
  problem.tensors.resize(uniform ? 1 : cells.list.size());
  stoppable_for(threads, problem.tensors.size(), [&](std::size_t k) {
    const SymTensor3d d = square * velocity_tensor<Dim>(metric.at(cells.box.voxel(cells.box.index(cells.list[k]))));
    problem.tensors[k] = {static_cast<T>(d.xx), static_cast<T>(d.xy), static_cast<T>(d.xz),
                          static_cast<T>(d.yy), static_cast<T>(d.yz), static_cast<T>(d.zz)};
  });
  if (uniform) return problem;
  problem.tensor_of.assign(cells.box.cell_count, 0);
  for (std::size_t k = 0; k < cells.list.size(); ++k) problem.tensor_of[cells.list[k]] = static_cast<std::uint32_t>(k);
  return problem;
}

/// Updates of cells from their neighbours along the axes.
template <class T, int Dim>
class AxisUpdate {
 public:
  static constexpr T inf = std::numeric_limits<T>::infinity();

  AxisUpdate(const TensorProblem<T, Dim>& problem, const T* time) : problem_(problem), time_(time) {}

  template <class Test>
  [[nodiscard]] T godunov(std::uint32_t x) const {
    return godunov_time<Test>(problem_.tensor(x), neighbours(x));
  }

  /// See `nearest_godunov_time`.
  [[nodiscard]] T nearest_godunov(std::uint32_t x) const {
    return nearest_godunov_time<Dim>(problem_.tensor(x), neighbours(x), time_[x]);
  }

  [[nodiscard]] T lax_friedrichs(std::uint32_t x) const { return lax_friedrichs(x, neighbours(x)); }

  /// No time that the cell got while it and its neighbours were as late as now or later is earlier. Inside, the update
  /// never falls as a neighbour gets later. Beside the edge it is concave in the only neighbours up to the cell's own
  /// time and does not fall beyond it, so it is least where each of them has its own time or the cell's.
  [[nodiscard]] T earliest_lax_friedrichs(std::uint32_t x) const {
    const AxisTimes<T> now = neighbours(x);
    const T here = time_[x];
    T earliest = inf;
    for (unsigned raised = 0; raised < 1U << static_cast<unsigned>(Dim); ++raised) {
      AxisTimes<T> u = now;
      bool beside_edge = true;
      for (int k = 0; k < Dim; ++k) {
        if ((raised >> k & 1U) == 0) continue;
        beside_edge = beside_edge && (u.back[k] < inf) != (u.ahead[k] < inf);
        if (u.back[k] < inf) u.back[k] = std::max(u.back[k], here);
        if (u.ahead[k] < inf) u.ahead[k] = std::max(u.ahead[k], here);
      }
      if (beside_edge) earliest = std::min(earliest, lax_friedrichs(x, u));
    }
    return earliest;
  }

 private:
  [[nodiscard]] AxisTimes<T> neighbours(std::uint32_t x) const {
    AxisTimes<T> u{{inf, inf, inf}, {inf, inf, inf}};
    for (int k = 0; k < Dim; ++k) {
      const std::ptrdiff_t step = problem_.cells->box.axis_step(k);
      u.back[k] = time_[x - step];
      u.ahead[k] = time_[x + step];
    }
    return u;
  }

  /// Beside the edge of the domain the missing neighbour is extrapolated from the cell and the one opposite, and never
  /// earlier than that one, so that nothing comes in from outside.
  [[nodiscard]] T lax_friedrichs(std::uint32_t x, AxisTimes<T> u) const {
    const T here = time_[x];
    for (int k = 0; k < Dim; ++k) {
      const bool back = u.back[k] < inf, ahead = u.ahead[k] < inf;
      if (!back && !ahead) u.back[k] = u.ahead[k] = here;
      else if (!back) u.back[k] = std::max(2 * here - u.ahead[k], u.ahead[k]);
      else if (!ahead) u.ahead[k] = std::max(2 * here - u.back[k], u.back[k]);
    }
    return lax_friedrichs_time(problem_.tensor(x), u, Dim);
  }

  const TensorProblem<T, Dim>& problem_;
  const T* time_;
};

template <class T, int Dim>
T counted_gain(const TensorProblem<T, Dim>& problem, const SolveState<T>& state, std::uint32_t x) {
  return state.time[x] < std::numeric_limits<T>::infinity()
             ? countable_gain(state.tolerance, shortest_step(problem, x), state.time[x])
             : T(0);
}

/// Paper 004 Algorithm 4.1: a list of active cells. A cell that no longer changes leaves the list and calls in those
/// neighbours that it makes earlier; later ones and earlier ones, because with anisotropy a cell may depend on a later
/// one.
template <class Test, class T, int Dim>
void fast_iterative(const TensorProblem<T, Dim>& problem, SolveState<T>& state) {
  const AxisUpdate<T, Dim> update(problem, state.time.data());
  std::vector<std::uint8_t> active(problem.vertex_count, 0);
  std::vector<std::uint32_t> list, next;
  std::vector<T> fresh;
  const auto call_in = [&](std::uint32_t x, std::vector<std::uint32_t>& where) {
    if (active[x] != 0) return;
    active[x] = 1;
    where.push_back(x);
  };
  const std::uint64_t most = max_sweeps({problem.vertex_count});
  for (const std::uint32_t seed : state.seeds) problem.for_dependents(seed, [&](std::uint32_t x) { call_in(x, list); });
  for (; !list.empty() && state.counters.rounds < most; ++state.counters.rounds) {
    if ((state.counters.rounds & 15U) == 0 && state.progress.cancelled()) throw Cancelled();
    fresh.clear();
    for (const std::uint32_t x : list)
      fresh.push_back(update.template godunov<Test>(x));  // all from the times before, as Jacobi's
    state.counters.local_solves += list.size();
    state.counters.vertex_updates += list.size();
    next.clear();
    std::vector<std::uint32_t> settled;
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::uint32_t x = list[k];
      const bool gains = fresh[k] < state.time[x] - counted_gain(problem, state, x);
      if (fresh[k] < state.time[x]) state.time[x] = fresh[k];
      if (gains) {
        next.push_back(x);
      } else {
        active[x] = 0;
        settled.push_back(x);
      }
    }
    for (const std::uint32_t x : settled)
      problem.for_dependents(x, [&](std::uint32_t y) {
        if (active[y] != 0) return;
        ++state.counters.local_solves;
        const T time = update.template godunov<Test>(y);
        if (!(time < state.time[y] - counted_gain(problem, state, y))) return;
        state.time[y] = time;
        call_in(y, next);
      });
    list.swap(next);
  }
  state.converged = list.empty();
}

/// All cells in the order of the axes' directions, each combination of them in turn, until a whole turn changes
/// nothing.
template <class T, int Dim, class Update>
void sweep(const TensorProblem<T, Dim>& problem, SolveState<T>& state, const Update& update) {
  const GridBox& box = problem.cells->box;
  const std::uint8_t* allowed = problem.cells->allowed.data();
  constexpr unsigned directions = 1U << static_cast<unsigned>(Dim);
  const std::uint64_t most = max_sweeps({problem.vertex_count});
  const auto visit = [&](std::uint32_t x, bool& changed) {
    ++state.counters.local_solves;
    const T time = update(x);
    if (!(time < state.time[x])) return;
    if (time < state.time[x] - counted_gain(problem, state, x)) changed = true;
    state.time[x] = time;
  };
  bool changed = true;
  while (changed && state.counters.rounds < most) {
    changed = false;
    for (unsigned direction = 0; direction < directions; ++direction, ++state.counters.rounds) {
      if (state.progress.cancelled()) throw Cancelled();
      const auto place = [&](int axis, int i, int size) { return (direction >> axis & 1U) != 0 ? size - 1 - i : i; };
      for (int k = 0; k < box.shape.z; ++k)
        for (int j = 0; j < box.shape.y; ++j)
          for (int i = 0; i < box.shape.x; ++i) {
            const std::uint32_t x = box.cell(
                box.lower + Vec3i{place(0, i, box.shape.x), place(1, j, box.shape.y), place(2, k, box.shape.z)});
            if (allowed[x] != 0) visit(x, changed);
          }
    }
  }
  state.counters.vertex_updates = state.counters.local_solves;
  state.converged = !changed;
}

/// The cells that the seeds' parts consist of get a time later than any arrival: Lax–Friedrichs cannot start from +inf.
template <class T, int Dim>
void start_late(const TensorProblem<T, Dim>& problem, Start<T>& start) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  T slowest = 0, latest_seed = 0;
  for (const std::uint32_t x : problem.cells->list) {
    const SymTensor3<T> m = inverse(problem.tensor(x));
    slowest = std::max({slowest, std::sqrt(m.xx), std::sqrt(m.yy), Dim == 3 ? std::sqrt(m.zz) : T(0)});
  }
  for (const auto& [x, time] : start.seeds) latest_seed = std::max(latest_seed, time);
  const Vec3i& shape = problem.cells->box.shape;
  const T late = latest_seed + slowest * static_cast<T>(shape.x + shape.y + shape.z);
  std::vector<std::uint32_t> wave = start.state.seeds;
  for (std::size_t k = 0; k < wave.size(); ++k) {  // NOLINT(modernize-loop-convert): grows while it is read
    problem.for_dependents(wave[k], [&](std::uint32_t x) {
      if (start.state.time[x] < inf) return;
      start.state.time[x] = late;
      wave.push_back(x);
    });
  }
}

template <class Test, class T, int Dim>
void solve_godunov(const TensorProblem<T, Dim>& problem, AxisScheme scheme, Start<T>& start) {
  if (scheme == AxisScheme::godunov_fim) return fast_iterative<Test>(problem, start.state);
  const AxisUpdate<T, Dim> update(problem, start.state.time.data());
  sweep(problem, start.state, [&](std::uint32_t x) { return update.template godunov<Test>(x); });
}

template <class T, int Dim>
void solve_lax_friedrichs(const TensorProblem<T, Dim>& problem, Start<T>& start) {
  const AxisUpdate<T, Dim> update(problem, start.state.time.data());
  start_late(problem, start);
  sweep(problem, start.state, [&](std::uint32_t x) {
    return start.pinned[x] == 0 && start.state.time[x] < AxisUpdate<T, Dim>::inf ? update.lax_friedrichs(x)
                                                                                 : start.state.time[x];
  });
}

}  // namespace

template <class T>
AnyTensorProblem<T> make_tensors(const VoxelMetric& metric, const GridCells& cells, int threads) {
  if (metric.grid.flat()) return tensors_of<T, 2>(metric, cells, threads);
  return tensors_of<T, 3>(metric, cells, threads);
}

template AnyTensorProblem<float> make_tensors(const VoxelMetric&, const GridCells&, int);
template AnyTensorProblem<double> make_tensors(const VoxelMetric&, const GridCells&, int);

template <class T, int Dim>
void solve_axis_scheme(const TensorProblem<T, Dim>& problem, AxisScheme scheme, Start<T>& start, Validity validity) {
  if (scheme == AxisScheme::lax_friedrichs_fsm) solve_lax_friedrichs(problem, start);
  else if (validity == Validity::integers) solve_godunov<godunov::IntegerTest>(problem, scheme, start);
  else solve_godunov<godunov::HamiltonianTest>(problem, scheme, start);
}

template <class T, int Dim>
Residual check_axis_scheme(const TensorProblem<T, Dim>& problem, AxisScheme scheme, const Start<T>& start, int threads,
                           double limit) {
  const T* time = start.state.time.data();
  const AxisUpdate<T, Dim> update(problem, time);
  return grid_residual(problem, time, start.pinned, start.seeds, limit, threads, [&](std::uint32_t x) {
    if (scheme != AxisScheme::lax_friedrichs_fsm) return update.nearest_godunov(x);
    const T now = time[x];
    if (start.pinned[x] != 0 || !(now < AxisUpdate<T, Dim>::inf)) return now;
    if (const T latest = update.lax_friedrichs(x); now > latest) return latest;
    return std::max(now, update.earliest_lax_friedrichs(x));
  });
}

#define ISOCHRON_INSTANTIATE(T, Dim)                                                              \
  template void solve_axis_scheme(const TensorProblem<T, Dim>&, AxisScheme, Start<T>&, Validity); \
  template Residual check_axis_scheme(const TensorProblem<T, Dim>&, AxisScheme, const Start<T>&, int, double);
ISOCHRON_INSTANTIATE(float, 2)
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(double, 2)
ISOCHRON_INSTANTIATE(double, 3)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
