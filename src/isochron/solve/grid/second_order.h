// Second-order times on grids.
//
// Second-order differences are not monotone, so a schedule that repeats updates until nothing changes has nothing to
// rest on. Here the first-order times u¹ (not factored), which are a true fixed point, decide everything but the
// values: which of two neighbours along a direction is upwind (the earlier), whether the second one behind it serves
// (it is there, not later than the first, and the extrapolated time is below u¹(x), which fails where the speed jumps
// up). Where the second-order times of the two then come the other way round, the first-order difference stays: an
// extrapolation from them would lie before both, and such falls add up. What is left is one update a cell, in the order
// of u¹, from cells that have their second-order times already. The result is unique, does not depend on threads, and a
// residual pass can compute every cell again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/solve/grid/by_bands.h"
#include "isochron/solve/grid/grid_factor.h"
#include "isochron/solve/grid/grid_relax.h"
#include "isochron/solve/grid/grid_start.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// The second-order update of one problem, over times accessed through `Times`.
template <class Problem, class Times, class Factor>
class SecondOrder {
 public:
  using T = typename Problem::Scalar;
  static constexpr int terms = Problem::terms;
  static constexpr T inf = std::numeric_limits<T>::infinity();

  SecondOrder(const Problem& problem, const T* first, Times times, const Factor& factor)
      : grid_(problem), first_(first), times_(times), factor_(factor) {}

  /// Of a reached cell, as if it were no seed.
  [[nodiscard]] T update(std::uint32_t x) const {
    const auto s = grid_.stencil(x);
    const auto part = factor_.at(grid_, s, x);
    const T now = first_[x];
    T m[terms], weight[terms];
    for (int i = 0; i < terms; ++i) {
      const auto behind = static_cast<std::uint32_t>(x - s.step[i]), before = static_cast<std::uint32_t>(x + s.step[i]);
      const T back = s.back(i) ? first_[behind] : inf, ahead = s.ahead(i) ? first_[before] : inf;
      const bool from_back = back <= ahead;
      const int side = from_back ? 1 : -1;
      const std::uint32_t near = from_back ? behind : before;
      weight[i] = s.weight[i];
      m[i] = inf;
      if (!(std::min(back, ahead) < now)) continue;
      const auto far = static_cast<std::uint32_t>(near - side * s.step[i]);
      const T one = times_.load(near);
      m[i] = part.one(one, near, i, side);
      if ((from_back ? s.second_back(i) : s.second_ahead(i)) && first_[far] <= first_[near] &&
          4 * first_[near] - first_[far] < 3 * now) {
        const T two = times_.load(far);
        if (two > one) continue;
        m[i] = part.two(one, two, near, far, i, side);
        weight[i] *= T(9) / T(4);
      }
    }
    T time = upwind_time(m, weight);
    if (s.has_edges()) time = std::min(time, along_axes(x));
    // Beside far slower cells the step from an earlier cell can be lost in rounding: nothing is earlier then.
    return time < inf ? time : now;
  }

 private:
  [[nodiscard]] T along_axes(std::uint32_t x) const {
    T earliest = inf;
    if constexpr (terms != Problem::dim) {
      const auto step_time = grid_.axis_times(x);
      grid_.for_axis_neighbours(x, [&](std::uint32_t y, int axis) {
        if (first_[y] < first_[x]) earliest = std::min(earliest, times_.load(y) + step_time[axis]);
      });
    }
    return earliest;
  }

  const Problem& grid_;
  const T* first_;
  Times times_;
  const Factor& factor_;
};

/// Calls `visit(x)` for the allowed cells that a second-order update of y may read beside those of `for_read`.
template <class Problem, class Visit>
void for_second_read(const Problem& problem, std::uint32_t y, Visit&& visit) {
  const std::uint8_t* allowed = problem.cells->allowed.data();
  const auto look = [&](std::ptrdiff_t step) {
    if (allowed[y + step] != 0 && allowed[y + 2 * step] != 0) visit(static_cast<std::uint32_t>(y + 2 * step));
  };
  const auto s = problem.stencil(y);
  for (int i = 0; i < Problem::terms; ++i) {
    if (s.back(i) && s.second_back(i)) look(-s.step[i]);
    if (s.ahead(i) && s.second_ahead(i)) look(s.step[i]);
  }
}

/// Times that are NaN until they are known; notes a cell that was asked for too early.
template <class T>
struct PendingTimes {
  T* data;
  std::uint32_t* missing;
  [[nodiscard]] T load(std::uint32_t x) const {
    const T time = std::atomic_ref<T>(data[x]).load(std::memory_order_relaxed);
    if (std::isnan(time)) *missing = x;
    return time;
  }
};

/// Turns first-order times into second-order ones. Bands of time go one after the other, and
/// in a band cells go by number, neighbours close together; a cell whose neighbour is not known yet computes that one
/// first. Threads share bands: two may compute the same cell, to the same value.
template <class Problem, class Factor>
void second_order_times(const Problem& problem, const Factor& factor, const BigVector<typename Problem::Scalar>& first,
                        const SeedRule<typename Problem::Scalar>& rule, int threads,
                        BigVector<typename Problem::Scalar>& times) {
  using T = typename Problem::Scalar;
  constexpr std::uint32_t none = VertexId::invalid_value;
  constexpr std::size_t piece = 1024;
  const std::vector<std::uint32_t> order = by_bands(problem.cells->list, first.data(), 2 * problem.mean_edge);
  times = first;
  for (const std::uint32_t x : order)
    if (!rule.keeps(x)) times[x] = std::numeric_limits<T>::quiet_NaN();
  std::atomic<std::size_t> next{0};
  parallel_region(threads, [&](int, int) {
    std::uint32_t missing = none;
    const PendingTimes<T> pending{times.data(), &missing};
    const SecondOrder<Problem, PendingTimes<T>, Factor> second(problem, first.data(), pending, factor);
    std::vector<std::uint32_t> waiting;  // the last one is needed by the one before it, and so on
    for (std::size_t begin; (begin = next.fetch_add(piece, std::memory_order_relaxed)) < order.size();)
      for (std::size_t k = begin; k < std::min(begin + piece, order.size()); ++k) {
        if (const T known = pending.load(order[k]); !std::isnan(known)) continue;
        waiting.assign(1, order[k]);
        while (!waiting.empty()) {
          missing = none;
          const T time = rule.limited(waiting.back(), second.update(waiting.back()));
          if (missing != none) {
            waiting.push_back(missing);
          } else {
            std::atomic_ref<T>(times[waiting.back()]).store(time, std::memory_order_relaxed);
            waiting.pop_back();
          }
        }
      }
  });
}

}  // namespace isochron
