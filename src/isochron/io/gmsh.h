// Gmsh .msh: reads 2.x and 4.1, text and binary; writes 2.2 text. Tags are the arrays "gmsh:physical" and
// "gmsh:geometrical".
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_gmsh(const std::filesystem::path& path);
void write_gmsh(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
