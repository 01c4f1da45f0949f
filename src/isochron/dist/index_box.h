// Boxes of indices in a lattice of up to three dimensions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace isochron {

using LatticeIndex = std::array<std::uint64_t, 3>;

/// The indices from `low` up to but not including `high`.
struct IndexBox {
  LatticeIndex low{};
  LatticeIndex high{};

  [[nodiscard]] bool empty() const { return count() == 0; }
  [[nodiscard]] std::uint64_t length(int axis) const { return high[axis] - low[axis]; }
  [[nodiscard]] std::uint64_t count() const { return length(0) * length(1) * length(2); }
  [[nodiscard]] bool contains(const LatticeIndex& at) const {
    for (int d = 0; d < 3; ++d)
      if (at[d] < low[d] || at[d] >= high[d]) return false;
    return true;
  }
  /// With `by` more indices on every side, but not past the sides of `whole`.
  [[nodiscard]] IndexBox grown(std::uint64_t by, const IndexBox& whole) const {
    IndexBox result;
    for (int d = 0; d < 3; ++d) {
      result.low[d] = low[d] - std::min(by, low[d] - whole.low[d]);
      result.high[d] = high[d] + std::min(by, whole.high[d] - high[d]);
    }
    return result;
  }
  /// Where an index inside comes among all of them, the first running fastest.
  [[nodiscard]] std::uint64_t offset(const LatticeIndex& at) const {
    return at[0] - low[0] + length(0) * (at[1] - low[1] + length(1) * (at[2] - low[2]));
  }
  friend bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// The indices in both.
inline IndexBox common(const IndexBox& a, const IndexBox& b) {
  IndexBox result;
  for (int d = 0; d < 3; ++d) {
    result.low[d] = std::max(a.low[d], b.low[d]);
    result.high[d] = std::max(result.low[d], std::min(a.high[d], b.high[d]));
  }
  return result;
}

/// Calls `body(first, length)` for the rows of a box along the first axis.
template <class Body>
void for_each_row(const IndexBox& box, Body&& body) {
  if (box.empty()) return;
  for (std::uint64_t k = box.low[2]; k < box.high[2]; ++k)
    for (std::uint64_t j = box.low[1]; j < box.high[1]; ++j) body(LatticeIndex{box.low[0], j, k}, box.length(0));
}

/// Calls `body` with every index of a box, the first running fastest.
template <class Body>
void for_each_index(const IndexBox& box, Body&& body) {
  for (std::uint64_t k = box.low[2]; k < box.high[2]; ++k)
    for (std::uint64_t j = box.low[1]; j < box.high[1]; ++j)
      for (std::uint64_t i = box.low[0]; i < box.high[0]; ++i) body(LatticeIndex{i, j, k});
}

}  // namespace isochron
