// What is recovered in one pass after a grid solve has ended: the residual, and who reached whom.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/solve/common/label_spread.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/grid/by_bands.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// The fixed-point check of times against `update(cell)`. `pinned[c]` marks the seeds, which may be earlier than their
/// neighbours say, not later, and not later than their own time either.
template <class Problem, class Update>
Residual grid_residual(const Problem& problem, const typename Problem::Scalar* time,
                       const std::vector<std::uint8_t>& pinned,
                       const std::vector<SeedTime<typename Problem::Scalar>>& seeds, double limit, int threads,
                       const Update& update) {
  using T = typename Problem::Scalar;
  constexpr T inf = std::numeric_limits<T>::infinity();
  struct Part {
    double worst = 0;
    std::uint32_t cell = VertexId::invalid_value;
  };
  const std::vector<std::uint32_t>& list = problem.cells->list;
  std::vector<Part> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    Part& part = parts[thread];
    loop(list.size() * thread / team, list.size() * (thread + 1) / team, [&](std::size_t k) {
      const std::uint32_t x = list[k];
      const T now = time[x], again = update(x);
      if (now == again || (pinned[x] != 0 && !(again < now))) return;
      const double difference = now < inf && again < inf ? counted_difference(now, again, shortest_step(problem, x))
                                                         : std::numeric_limits<double>::infinity();
      if (difference > part.worst) part = {difference, x};
    });
  });
  for (const auto& [x, wanted] : seeds) {
    if (time[x] <= wanted) continue;
    const double difference = counted_difference(time[x], wanted, shortest_step(problem, x));
    if (difference > parts[0].worst) parts[0] = {difference, x};
  }
  Residual result;
  result.limit = limit;
  for (const Part& part : parts)
    if (part.worst > result.worst) {
      result.worst = part.worst;
      result.worst_vertex = problem.cells->box.voxel(problem.cells->box.index(part.cell));
    }
  return result;
}

/// The earlier cells that a cell's time is from. Along Σ weight (u − m)² = 1 what a front carries changes as
/// Σ weight (u − m) (φ − φ_m) = 0 says.
template <class Problem>
class GridUpwind {
  using T = typename Problem::Scalar;

 public:
  static constexpr int most = Problem::terms;

  /// `time` has a value for each cell; keeps references.
  GridUpwind(const Problem& problem, const T* time) : problem_(problem), time_(time) {}

  UpwindVertices<most> operator()(std::uint32_t x) const {
    UpwindVertices<most> result;
    const T now = time_[x];
    if (!(now < std::numeric_limits<T>::infinity())) return result;
    if constexpr (requires { problem_.upwind(time_, x); }) {  // its updates are others than those of its stencils
      result = problem_.upwind(time_, x);
      if (result.count > 0) return result;
    }
    const auto s = problem_.stencil(x);
    for (int i = 0; i < most; ++i) {
      std::uint32_t from = x;
      if (s.back(i)) from = earlier(from, static_cast<std::uint32_t>(x - s.step[i]));
      if (s.ahead(i)) from = earlier(from, static_cast<std::uint32_t>(x + s.step[i]));
      if (from != x) result.add(from, static_cast<float>(s.weight[i] * (now - time_[from])));
    }
    if constexpr (Problem::terms != Problem::dim) {
      if (result.count > 0 || !s.has_edges()) return result;
      std::uint32_t from = x;
      problem_.for_axis_neighbours(x, [&](std::uint32_t y, int) { from = earlier(from, y); });
      if (from != x) result.add(from, 1);
    }
    return result;
  }

 private:
  [[nodiscard]] std::uint32_t earlier(std::uint32_t x, std::uint32_t y) const { return time_[y] < time_[x] ? y : x; }

  const Problem& problem_;
  const T* time_;
};

/// Finds the source of every cell (−1: unreached). `label` holds the sources of the seeds that kept their time, −1
/// elsewhere. A cell has its source from the earlier cells that its time is from, see `LabelSpread`. Ghosts may be
/// given a label.
template <class Problem>
class GridLabelSpreader : public LabelSpread<GridUpwind<Problem>> {
 public:
  GridLabelSpreader(const Problem& problem, const typename Problem::Scalar* time, std::vector<std::int32_t>& label,
                    int threads)
      : LabelSpread<GridUpwind<Problem>>(label, {problem, time}),
        problem_(problem),
        time_(time),
        order_(by_bands(problem.cells->list, time, 2 * problem.mean_edge)),
        threads_(threads) {
    for (const std::uint32_t x : problem.cells->ghosts) this->leave_out(x);
  }

  void spread() {
    start();
    adopt(Adopting::any);
    this->finish();
  }
  void start() {
    this->run(
        order_.size(), [&](std::size_t k) { return order_[k]; }, threads_);
  }
  bool adopt(Adopting which) { return LabelSpread<GridUpwind<Problem>>::adopt(which, Around{problem_, time_}); }

 private:
  using Scalar = typename Problem::Scalar;

  /// What `LabelSpread::adopt` asks for.
  struct Around {
    const Problem& problem;
    const Scalar* times;

    [[nodiscard]] double time(std::uint32_t x) const { return static_cast<double>(times[x]); }
    [[nodiscard]] bool owns(std::uint32_t x) const { return problem.cells->allowed[x] == 1; }
    template <class Visit>
    void for_givers(std::uint32_t x, Visit&& visit) const {
      for_read(problem, x, visit);
    }
    template <class Visit>
    void for_takers(std::uint32_t x, Visit&& visit) const {
      problem.for_dependents(x, visit);
    }
  };

  const Problem& problem_;
  const Scalar* time_;
  std::vector<std::uint32_t> order_;
  int threads_;
};

}  // namespace isochron
