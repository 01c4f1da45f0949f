// Whether what was written comes back, as far as the format can hold it.
#pragma once

#include <filesystem>
#include <string>

#include "isochron/dataset.h"
#include "isochron/image.h"

namespace isochron::fuzz {

/// How a format keeps coordinates and values.
enum class Keeps { exactly, singles };
/// Whether a format keeps the numbers of the points, or only where the corners of its cells are.
enum class Points { numbered, of_each_cell };

/// Writes with the extension and reads again; throws Finding when that is not the same. A format that cannot hold the
/// data may refuse to write it.
void check_round_trip(const Dataset& dataset, const std::string& extension, Keeps keeps, Points points);
/// Writes a file that has been read so as VTU that its arrays are taken over as they are stored, where they can be, and
/// reads that; throws Finding when it is not the same.
void check_taken_over(const std::filesystem::path& file, const Dataset& dataset);
void check_round_trip(const Image& image, const std::string& extension, Keeps keeps);

}  // namespace isochron::fuzz
