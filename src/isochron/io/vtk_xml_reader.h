// Reads VTU, VTP and VTI files.
#pragma once

#include <filesystem>

#include "isochron/io/vtk_xml_header.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// All throw InputError that begins with the path. The pieces of a file follow one another; nothing is merged.
Dataset read_vtu(const std::filesystem::path& path);
Dataset read_vtp(const std::filesystem::path& path);
Image read_vti(const std::filesystem::path& path);

}  // namespace isochron
