// CARP .pts/.elem/.lon (openCARP meshes; coordinates are kept as they are, usually µm): arrays "region", "fiber",
// "sheet".
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_carp(const std::filesystem::path& path);
void write_carp(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
