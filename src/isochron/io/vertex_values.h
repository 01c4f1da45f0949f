// Values at the vertices of a mesh in files of their own, as openCARP and its tools have them.
#pragma once

#include <filesystem>

#include "isochron/dataset.h"
#include "isochron/io.h"

namespace isochron {

/// Whether the extension is that of such a file: .dat or .igb. Looks at the name only.
bool is_vertex_values_file(const std::filesystem::path& path);

/// Writes one value for each vertex, in the order of the mesh: .dat as text, a line each; .igb as one frame of single
/// precision behind a header of 1024 bytes. What is not finite becomes -1, as openCARP marks vertices that are never
/// activated. Throws RuntimeError when the disk is full.
void write_vertex_values(const OutputFile& file, const DataArray& values);

}  // namespace isochron
