// Cells whose values cannot be used: how many there are, and the first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

class BadCells {
 public:
  void add(std::size_t cell) {
    if (count_++ == 0) first_ = cell;
  }
  /// Throws InputError "`what` on N of M cells (first: cell F); `advice`" when any was added.
  void check(const std::string& what, std::size_t cells, const Message& advice) const {
    if (count_ > 0)
      throw InputError(fmt::format("{} on {} of {} cells (first: cell {}); ", what, count_, cells, first_) + advice);
  }
  void check_symmetric(const std::string& what, std::size_t cells) const {
    check(what + " is not symmetric", cells, "choose another array");
  }

 private:
  std::size_t count_ = 0;
  std::size_t first_ = 0;
};

/// Whether a full matrix of nine components is symmetric up to what files round away.
inline bool is_symmetric(std::span<const double> t) {
  const double off = std::max({std::abs(t[1] - t[3]), std::abs(t[2] - t[6]), std::abs(t[5] - t[7])});
  return !(off > 1e-3 * (std::abs(t[0]) + std::abs(t[4]) + std::abs(t[8])));
}

}  // namespace isochron
