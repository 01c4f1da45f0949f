// TetGen and Triangle .node/.ele: points with attributes, and tetrahedra or triangles with a region.
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_tetgen(const std::filesystem::path& path);
void write_tetgen(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
