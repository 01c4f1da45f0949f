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
  friend bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// Calls `body` with every index of a box, the first running fastest.
template <class Body>
void for_each_index(const IndexBox& box, Body&& body) {
  for (std::uint64_t k = box.low[2]; k < box.high[2]; ++k)
    for (std::uint64_t j = box.low[1]; j < box.high[1]; ++j)
      for (std::uint64_t i = box.low[0]; i < box.high[0]; ++i) body(LatticeIndex{i, j, k});
}

}  // namespace isochron
