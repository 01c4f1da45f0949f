// The state before a grid schedule runs, and what is needed to read its result.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/grid/kept_seed.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

template <class T>
struct GridStart {
  SolveState<T> state;
  BigVector<T> first;                ///< of a second-order solve: the first-order times
  std::vector<std::uint8_t> pinned;  ///< per cell: starts with a time
  std::vector<std::int32_t> label;
  std::vector<SeedTime<T>> seeds;  ///< as they were before the schedule ran
  double base = 0;                 ///< user's time that is 0 inside

  /// Per cell: a seed that no other one made earlier, so that it keeps its time at second order.
  template <class Problem>
  [[nodiscard]] std::vector<std::uint8_t> kept_seeds(const Problem& problem, const BigVector<T>& times) const {
    std::vector<std::uint8_t> kept = pinned;
    for (const auto& [cell, time] : seeds)
      kept[cell] = keeps_its_time(time, times[cell], shortest_step(problem, cell)) ? 1 : 0;
    return kept;
  }
};

}  // namespace isochron
