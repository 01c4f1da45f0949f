// The b-values and b-vectors that go with a diffusion image, in two text files.
#pragma once

#include <filesystem>

#include "isochron/mesh/gradient_table.h"

namespace isochron {

/// Reads FSL's pair: b-values in a row or a column; b-vectors in three rows with a column per volume, or in a row of
/// three per volume (three rows of three are taken as FSL's rows). Throws InputError: a file cannot be read, holds
/// something else, or the counts differ.
GradientTable read_gradients(const std::filesystem::path& bval, const std::filesystem::path& bvec);

}  // namespace isochron
