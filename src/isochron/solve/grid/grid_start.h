// The state before a grid schedule runs, and what is needed to read its result.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/state.h"

namespace isochron {

template <class T>
struct GridStart {
  SolveState<T> state;
  BigVector<T> first;                ///< of a second-order solve: the first-order times
  std::vector<std::uint8_t> pinned;  ///< per cell: starts with a time
  std::vector<std::int32_t> label;
  std::vector<SeedTime<T>> seeds;  ///< as they were before the schedule ran
  double base = 0;                 ///< user's time that is 0 inside

  /// The seeds that no other one made earlier: they keep their times at second order. Gains as small as rounding do not
  /// count, or second order would replace an exact time.
  [[nodiscard]] std::vector<std::uint8_t> kept_seeds(const BigVector<T>& times) const {
    constexpr T slack = T(1e-4);  // of a step
    std::vector<std::uint8_t> kept = pinned;
    for (const auto& [cell, time] : seeds)
      if (times[cell] < time - slack) kept[cell] = 0;
    return kept;
  }
};

}  // namespace isochron
