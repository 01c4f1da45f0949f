// Medit .mesh (ASCII): triangles, tetrahedra and edges with a reference number each, the array "medit:ref".
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "isochron/io/array_columns.h"
#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_medit(const std::filesystem::path& path);
void write_medit(std::span<const OutputFile> files, const Dataset& dataset);
/// The name that one of `arrays` has in a file that was written; empty when it has no place there.
std::string medit_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array);

}  // namespace isochron
