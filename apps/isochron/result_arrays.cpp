#include "apps/isochron/result_arrays.h"

#include <algorithm>
#include <array>

namespace isochron::cli {

bool made_by_solve(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"arrival_time", "source", "reached", "upwind_vertices",
                                                  "upwind_weights"};
  constexpr std::string_view of_one_source = "arrival_time_";
  if (name.starts_with(of_one_source)) {
    const std::string_view number = name.substr(of_one_source.size());
    return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  }
  return std::find(names.begin(), names.end(), name) != names.end();
}

void drop_results(DataArrays& data) {
  std::erase_if(data.all(), [](const DataArray& array) { return made_by_solve(array.name); });
}

}  // namespace isochron::cli
