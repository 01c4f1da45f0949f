// Arrays of directions whose sign means nothing: f and −f are the same fibre.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "isochron/dataset.h"

namespace isochron {

/// What they are called, in the order in which files of fibres hold them.
inline constexpr std::array<std::string_view, 3> direction_names{"fiber", "sheet", "normal"};

inline bool holds_directions(const DataArray& array) {
  return array.components == 3 &&
         std::find(direction_names.begin(), direction_names.end(), array.name) != direction_names.end();
}

}  // namespace isochron
