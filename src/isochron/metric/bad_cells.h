// Cells or voxels whose values cannot be used: how many there are, and the first.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "isochron/dataset.h"
#include "isochron/error.h"

namespace isochron {

/// Several threads may add cells at once.
class BadCells {
 public:
  explicit BadCells(std::string noun = "cell") : noun_(std::move(noun)) {}

  void add(std::size_t cell) {
    ++count_;
    std::size_t first = first_;
    while (cell < first && !first_.compare_exchange_weak(first, cell)) {
    }
  }
  /// Throws InputError "`what` on N of M cells (first: cell F); `advice`" when any was added.
  void check(const std::string& what, std::size_t cells, const Message& advice) const {
    if (count_ > 0)
      throw InputError(
          fmt::format("{} on {} of {} {}s (first: {} {}); ", what, count_.load(), cells, noun_, noun_, first_.load()) +
          advice);
  }
  void check_symmetric(const std::string& what, std::size_t cells) const {
    check(what + " is not symmetric", cells, "choose another array");
  }

 private:
  std::string noun_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> first_ = std::numeric_limits<std::size_t>::max();
};

/// Whether a full matrix of nine components is symmetric up to what files round away.
inline bool is_symmetric(std::span<const double> t) {
  const double off = std::max({std::abs(t[1] - t[3]), std::abs(t[2] - t[6]), std::abs(t[5] - t[7])});
  return !(off > 1e-3 * (std::abs(t[0]) + std::abs(t[4]) + std::abs(t[8])));
}

/// Throws InputError when some of `count` full matrices are not symmetric; `matrix(i)` gives nine components. Those
/// where the mask is 0 may hold anything.
template <class Matrix>
void check_symmetric(const std::string& what, std::size_t count, const std::string& noun,
                     std::span<const std::uint8_t> mask, Matrix&& matrix) {
  BadCells lopsided(noun);
  for (std::size_t i = 0; i < count; ++i)
    if ((mask.empty() || mask[i] != 0) && !is_symmetric(matrix(i))) lopsided.add(i);
  lopsided.check_symmetric(what, count);
}

/// The same for an image's tensors; those of six components always are.
inline void check_symmetric(const DataArray& array, std::span<const std::uint8_t> mask, const std::string& what) {
  if (array.components != 9) return;
  std::array<double, 9> matrix{};
  check_symmetric(what, array.tuple_count(), "voxel", mask, [&](std::size_t voxel) {
    for (int c = 0; c < 9; ++c) matrix[static_cast<std::size_t>(c)] = array.at(voxel, c);
    return std::span<const double>(matrix);
  });
}

}  // namespace isochron
