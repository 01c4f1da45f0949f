// The file formats of the VTK family, and the surface formats that its users expect beside them.
#pragma once

#include <filesystem>

#include "isochron/mesh/dataset.h"

namespace isochron::vtk {

/// Reads .vtu .vtp (through VTK), .vtk .ply .stl .obj (parsed by Isochron; these may be gzipped, .ply.gz); the
/// extension decides. Strips become triangles; cells that are no triangle, tetrahedron or line are counted in
/// `ignored_cells`. Arrays keep their type: 8- and 16-bit integers other than uint8 become int32, uint32 becomes int64.
/// Prints nothing. Throws InputError that begins with the path: malformed or damaged file, id out of range, coordinate
/// that is not finite.
Dataset read_file(const std::filesystem::path& path);

/// Writes the data set to `where` in the format that `target_name`'s extension names. .vtp .ply .stl .obj take no
/// tetrahedra (UsageError). Formats without arrays (.stl .obj) leave them out. RuntimeError when the disk is full.
void write_file(const std::filesystem::path& where, const std::filesystem::path& target_name, const Dataset& dataset);

}  // namespace isochron::vtk
