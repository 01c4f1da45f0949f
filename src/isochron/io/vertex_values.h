// Values at the vertices of a mesh in files of their own, without the mesh: for openCARP and its tools, NumPy, and
// tables.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/io.h"

namespace isochron {

/// Whether the extension is that of such a file: .dat, .igb or .npy. Looks at the name only.
bool is_vertex_values_file(const std::filesystem::path& path);

/// Writes one value for each vertex, in the order of the mesh: .dat as text, a line each; .igb as one frame of single
/// precision behind a header of 1024 bytes; .npy as one axis in the type that the values have. What is not finite
/// becomes -1 in .dat and .igb, as openCARP marks vertices that are never activated. Throws RuntimeError when the disk
/// is full.
void write_vertex_values(const OutputFile& file, const DataArray& values);

/// Whether the extension is that of a table: .csv, perhaps gzipped. Looks at the name only.
bool is_table_file(const std::filesystem::path& path);

/// Writes a line "id,x,y,z,…" for each vertex or voxel, with a column for each of some arrays of one component, behind
/// a line of their names. `position_of` gives the place of each; several threads ask. Throws like
/// `write_vertex_values`.
void write_vertex_table(const OutputFile& file, const std::function<Vec3d(std::size_t)>& position_of,
                        const std::vector<const DataArray*>& columns);

}  // namespace isochron
