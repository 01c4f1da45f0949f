// Reads VTI files with VTK's XML reader.
#pragma once

#include <filesystem>

#include "isochron/mesh/image.h"

namespace isochron {

/// Reads the image with its origin, spacing and direction. Voxels are VTK's points; in a file that has arrays on cells
/// only, they are the cells. The array that the file marks as its tensors comes first and has the order `vtk`. Throws
/// InputError.
Image read_vti(const std::filesystem::path& path);

}  // namespace isochron
