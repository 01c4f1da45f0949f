// The names of the arrays that `solve` puts into a mesh file.
#pragma once

#include <string_view>

#include "isochron/mesh/dataset.h"

namespace isochron::cli {

/// True for arrival_time, arrival_time_0 and so on, source, reached, and the upwind arrays.
bool made_by_solve(std::string_view name);

/// Takes earlier results out: beside new ones they would pass for a part of them.
void drop_results(DataArrays& data);

}  // namespace isochron::cli
