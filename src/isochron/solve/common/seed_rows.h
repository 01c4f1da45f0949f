// How the times of seeds depend on what was given.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/adjoint/rows.h"

namespace isochron {

/// Rows of which each depends on earlier ones.
struct SeedRows {
  DependenceRows rows;
  std::vector<std::uint32_t> row_of;  ///< of each seed, in their order

  /// A seed that changes with its source's onset alone.
  void add_onset(std::int32_t source) {
    row_of.push_back(rows.current());
    rows.add_onset(source);
    rows.end_row();
  }
  /// A seed at the onset and the time that is that row's value.
  void add_after(std::uint32_t row, std::int32_t source) {
    rows.add_node(row, 1);
    add_onset(source);
  }
};

}  // namespace isochron
