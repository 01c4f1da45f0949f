// Relax steps on a prepared image: pull a cell's time from its stencil, push a cell's time to those that read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "isochron/solve/common/state.h"
#include "isochron/solve/grid/grid_factor.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// Access to times that nobody changes.
template <class T>
struct ConstTimes {
  const T* data;
  [[nodiscard]] T load(std::uint32_t cell) const { return data[cell]; }
};

/// Only times before `end`.
template <class Times, class T>
struct EarlierTimes {
  Times times;
  T end;
  [[nodiscard]] T load(std::uint32_t cell) const {
    const T time = times.load(cell);
    return time < end ? time : std::numeric_limits<T>::infinity();
  }
};

/// Cells that are not ghosts.
struct OwnCells {
  const std::uint8_t* allowed;  ///< `GridCells::allowed`
  [[nodiscard]] bool holds(std::uint32_t cell) const { return allowed[cell] != GridCells::ghost; }
};

/// Relax steps over times accessed through `Times`. `Factor` may correct the neighbours' times for a known singular
/// part (`grid/grid_factor.h`). Pushes go to `Targets` only.
template <class Problem, class Times, class Factor, class Targets = AllTargets>
class GridRelaxer {
 public:
  using Scalar = typename Problem::Scalar;
  using T = Scalar;
  static constexpr T inf = std::numeric_limits<T>::infinity();
  static constexpr int terms = Problem::terms;

  /// What schedules ask about the problem.
  struct View {
    struct Edge {
      const Problem* problem;
      Targets targets;
      /// Others have no stencil here: all that they gain counts.
      T operator[](std::uint32_t cell) const { return targets.holds(cell) ? shortest_step(*problem, cell) : T(0); }
    };
    std::size_t vertex_count;
    T mean_edge;
    Edge edge;
  };

  GridRelaxer(const Problem& problem, Times times, Factor factor, Targets targets = {})
      : grid_(problem),
        times_(times),
        factor_(factor),
        targets_(targets),
        view_{problem.vertex_count, problem.mean_edge, {&problem, targets}} {}

  [[nodiscard]] const View& problem() const { return view_; }
  [[nodiscard]] const Problem& grid() const { return grid_; }
  [[nodiscard]] const Times& times() const { return times_; }
  [[nodiscard]] const Factor& factor() const { return factor_; }

  /// The update of an allowed cell.
  [[nodiscard]] ISOCHRON_ALWAYS_INLINE T pull(std::uint32_t x) const {
    const auto s = grid_.stencil(x);
    const auto part = factor_.at(grid_, s, x);
    T m[terms], weight[terms];
    for (int i = 0; i < terms; ++i) {
      const T back = s.back(i) ? part.one(times_.load(behind(x, s.step[i])), behind(x, s.step[i]), i, 1) : inf;
      const T ahead = s.ahead(i) ? part.one(times_.load(before(x, s.step[i])), before(x, s.step[i]), i, -1) : inf;
      m[i] = std::min(back, ahead);
      weight[i] = s.weight[i];
    }
    const T time = upwind_time(m, weight);
    return s.has_edges() ? std::min(time, along_axes(x)) : time;
  }

  /// The same, counted.
  [[nodiscard]] T pull(std::uint32_t x, std::uint64_t& solves) const {
    ++solves;
    return pull(x);
  }

  /// Whether the earlier cells of its stencil bring the front to an allowed cell by `now` + `slack`. Adds to `solves`.
  [[nodiscard]] bool arrives_by(std::uint32_t x, T now, T slack, std::uint64_t& solves) const {
    using Earlier = GridRelaxer<Problem, EarlierTimes<Times, T>, Factor, Targets>;
    return Earlier(grid_, {times_, now}, factor_, targets_).pull(x, solves) <= now + slack;
  }

  /// Calls `visit(y)` for the reached cells that may have their time through x, whose own was not before `time`.
  template <class Visit>
  void for_dependents(std::uint32_t x, T time, Visit&& visit) const {
    grid_.for_dependents(x, [&](std::uint32_t y) {
      if (const T now = times_.load(y); time < now && now < inf) visit(y);
    });
  }

  /// Offers (cell, time) to `offer` for each cell that reads x and that x may make earlier; gives the number of
  /// updates. A cell that is not later than what it sees at x does not depend on x.
  template <class Offer>
  std::uint64_t push(std::uint32_t x, T /*horizon*/, Offer&& offer) const {
    std::uint64_t solves = 0;
    const T time = times_.load(x);
    grid_.for_dependents(x, [&](std::uint32_t y) {
      if (!targets_.holds(y)) return;
      const T now = times_.load(y);
      if (now <= time && !factor_.may_depend(grid_, y, x, now, time)) return;
      ++solves;
      if (const T candidate = pull(y); candidate < now) offer(y, candidate);
    });
    return solves;
  }

  // Rows of neighbours lie close together and are in the cache already.
  void prepare_near(std::uint32_t) const {}
  void prepare_far(std::uint32_t) const {}
  void prepare_farthest(std::uint32_t) const {}

  [[nodiscard]] static std::uint32_t behind(std::uint32_t x, std::ptrdiff_t step) {
    return static_cast<std::uint32_t>(x - step);
  }
  [[nodiscard]] static std::uint32_t before(std::uint32_t x, std::ptrdiff_t step) {
    return static_cast<std::uint32_t>(x + step);
  }

 private:
  [[nodiscard]] T along_axes(std::uint32_t x) const {
    T earliest = inf;
    if constexpr (Problem::terms != Problem::dim) {
      const auto step_time = grid_.axis_times(x);
      grid_.for_axis_neighbours(
          x, [&](std::uint32_t y, int axis) { earliest = std::min(earliest, times_.load(y) + step_time[axis]); });
    }
    return earliest;
  }

  const Problem& grid_;
  Times times_;
  Factor factor_;
  Targets targets_;
  View view_;
};

}  // namespace isochron
