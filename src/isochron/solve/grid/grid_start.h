// What becomes of seeds at second order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/grid/kept_seed.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// What seeds are at second order: one that no other made earlier keeps its time, any other is not later than its own.
template <class T>
class SeedRule {
 public:
  template <class Problem>
  SeedRule(const Problem& problem, const std::vector<SeedTime<T>>& seeds, const BigVector<T>& first)
      : marks_(first.size(), Mark::none) {
    for (const SeedTime<T>& seed : seeds) {
      const bool kept = keeps_its_time(seed.time, first[seed.vertex], shortest_step(problem, seed.vertex));
      marks_[seed.vertex] = kept ? Mark::kept : Mark::overtaken;
      if (!kept) overtaken_.push_back(seed);
    }
    std::sort(overtaken_.begin(), overtaken_.end(), earlier_cell);
  }

  [[nodiscard]] bool keeps(std::uint32_t cell) const { return marks_[cell] == Mark::kept; }
  [[nodiscard]] T limited(std::uint32_t cell, T time) const {
    if (marks_[cell] != Mark::overtaken) return time;
    const auto seed = std::lower_bound(overtaken_.begin(), overtaken_.end(), SeedTime<T>{cell, time}, earlier_cell);
    return std::min(time, seed->time);
  }

 private:
  enum class Mark : std::uint8_t { none, kept, overtaken };
  static bool earlier_cell(const SeedTime<T>& a, const SeedTime<T>& b) { return a.vertex < b.vertex; }

  std::vector<Mark> marks_;  ///< per cell
  std::vector<SeedTime<T>> overtaken_;
};

template <class Problem, class T = typename Problem::Scalar>
SeedRule<T> seed_rule(const Problem& problem, const Start<T>& start) {
  return {problem, start.seeds, start.first};
}

}  // namespace isochron
