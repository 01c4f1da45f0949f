// OFF, COFF, NOFF...: triangles of a surface; colours, normals and arrays are not kept.
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

Dataset read_off(const std::filesystem::path& path);
void write_off(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
