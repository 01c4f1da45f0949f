// The names of the arrays that `solve` puts into a mesh file.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "isochron/dataset.h"

namespace isochron::cli {

/// True for arrival_time, arrival_time_0 and so on, source, reached, and the upwind arrays.
inline bool made_by_solve(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"arrival_time", "source", "reached", "upwind_vertices",
                                                  "upwind_weights"};
  constexpr std::string_view of_one_source = "arrival_time_";
  if (name.starts_with(of_one_source)) {
    const std::string_view number = name.substr(of_one_source.size());
    return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  }
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Takes earlier results out: beside new ones they would pass for a part of them.
inline void drop_results(DataArrays& data) {
  std::erase_if(data.all(), [](const DataArray& array) { return made_by_solve(array.name); });
}

}  // namespace isochron::cli
