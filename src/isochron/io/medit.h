// Medit .mesh (ASCII): triangles, tetrahedra and edges with a reference number each, the array "medit:ref".
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_medit(const std::filesystem::path& path);
void write_medit(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
