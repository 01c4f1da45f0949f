// What must hold of a data set whatever file it came from.
#pragma once

#include <filesystem>

#include "isochron/mesh/dataset.h"

namespace isochron {

/// Throws InputError that begins with the path: a coordinate that is not finite, more points than ids can number, a
/// cell with a vertex that is not there, an array that does not fit.
void check_dataset(const std::filesystem::path& path, const Dataset& dataset);

}  // namespace isochron
