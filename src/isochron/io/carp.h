// CARP .pts/.elem/.lon (openCARP meshes; coordinates are kept as they are, usually µm): arrays "region", "fiber",
// "sheet".
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "isochron/io/array_columns.h"
#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_carp(const std::filesystem::path& path);
void write_carp(std::span<const OutputFile> files, const Dataset& dataset);
/// The name that one of `arrays` has in a file that was written; empty when it has no place there.
std::string carp_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array);
/// Whether there are cells with fibres, so that a .lon file is written.
bool has_carp_fibers(const Dataset& dataset);

}  // namespace isochron
