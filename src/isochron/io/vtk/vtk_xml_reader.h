// Reads VTU and VTP files with VTK's XML readers.
#pragma once

#include <filesystem>

#include "isochron/mesh/dataset.h"

namespace isochron {

/// Reads every piece of the file. Strips become triangles; cells that are no triangle, tetrahedron or line are counted
/// in `ignored_cells`. Arrays keep their type: 8- and 16-bit integers other than uint8 become int32, uint32 becomes
/// int64. VTK's arrays are released one by one as they are converted; VTK prints nothing. Throws InputError.
Dataset read_vtu(const std::filesystem::path& path);
Dataset read_vtp(const std::filesystem::path& path);

}  // namespace isochron
