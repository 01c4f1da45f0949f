// `isochron solve` on an image, and how other commands read what it read.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

/// Runs everything; gives the exit code.
int run_solve_grid(const SolveRequest& request, Console& console);

/// Reads an image and passes on the reader's warnings.
Image read_reported(const std::filesystem::path& file, Console& console);
/// 1 where the mask file is neither 0 nor NaN; empty without one. Throws InputError unless it has the image's voxels.
std::vector<std::uint8_t> read_mask(const SolveRequest& request, const ImageGrid& grid, Console& console);

}  // namespace isochron::cli
