// Reads VTU and VTP files with VTK's XML readers.
#pragma once

#include <filesystem>

#include "isochron/io/vtk_xml_writer.h"
#include "isochron/mesh/dataset.h"

namespace isochron::vtk {

/// Reads every piece of the file. VTK's arrays are released one by one as they are converted. Throws InputError.
Dataset read_vtk_xml(const std::filesystem::path& path, VtkXmlKind kind);

}  // namespace isochron::vtk
