// What is recovered in one pass after a grid solve has ended: the residual, and who reached whom.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/solve/arrival.h"
#include "isochron/solve/common/residual.h"
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

/// The earlier cell that a cell's time depends on most: the term of the largest share of Σ weight (u − m)² = 1.
template <class Problem>
std::uint32_t steepest_neighbour(const Problem& problem, const typename Problem::Scalar* time, std::uint32_t x) {
  using T = typename Problem::Scalar;
  std::uint32_t best = VertexId::invalid_value;
  T best_share = 0;
  const T now = time[x];
  if (!(now < std::numeric_limits<T>::infinity())) return best;
  const auto consider = [&](std::uint32_t y, T weight) {
    const T gain = now - time[y];
    if (!(gain > 0) || !(weight * gain * gain > best_share)) return;
    best_share = weight * gain * gain;
    best = y;
  };
  const auto s = problem.stencil(x);
  for (int i = 0; i < Problem::terms; ++i) {
    if (s.back(i)) consider(static_cast<std::uint32_t>(x - s.step[i]), s.weight[i]);
    if (s.ahead(i)) consider(static_cast<std::uint32_t>(x + s.step[i]), s.weight[i]);
  }
  if constexpr (Problem::terms != Problem::dim) {
    if (best == VertexId::invalid_value && s.has_edges())
      problem.for_axis_neighbours(x, [&](std::uint32_t y, int) { consider(y, T(1)); });
  }
  return best;
}

/// Finds the source of every cell (−1: unreached). `label` holds the sources of the seeds that kept their time, −1
/// elsewhere. A cell inherits from the earliest of the cells its update reads: that one is earlier than itself and on
/// the way its arrival came, so the chain ends at a seed. Ghosts may get a label from outside; then `spread` goes on
/// from there.
class GridLabelSpreader {
 public:
  template <class Problem>
  GridLabelSpreader(const Problem& problem, const typename Problem::Scalar* time, std::vector<std::int32_t>& label,
                    int threads)
      : list_(problem.cells->list), label_(label), parent_(problem.vertex_count, none) {
    stoppable_for(threads, list_.size(), [&](std::size_t k) {
      const std::uint32_t x = list_[k];
      if (label_[x] < 0) parent_[x] = steepest_neighbour(problem, time, x);
    });
  }

  void spread() {
    for (const std::uint32_t x : list_) {
      std::uint32_t end = x;
      path_.clear();
      for (; label_[end] < 0 && parent_[end] != none; end = parent_[end]) path_.push_back(end);
      for (const std::uint32_t p : path_) label_[p] = label_[end];
    }
  }

 private:
  static constexpr std::uint32_t none = VertexId::invalid_value;

  const std::vector<std::uint32_t>& list_;
  std::vector<std::int32_t>& label_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> path_;
};

}  // namespace isochron
