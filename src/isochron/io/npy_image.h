// NumPy arrays as images.
#pragma once

#include <filesystem>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// Reads a .npy file: array index [i, j], [i, j, k] or [i, j, k, component] is the voxel, whatever order the numbers
/// have in the file. Voxels are unit cubes, the first one at the origin. Truth values become 0 and 1. Throws
/// InputError.
Image read_npy_image(const std::filesystem::path& path);

/// Writes the image's one array with the same meaning of its indices (in Fortran order). A flat image of one component
/// has two indices. The image's place in the world is lost. Throws RuntimeError.
void write_npy_image(const OutputFile& file, const Image& image);

}  // namespace isochron
