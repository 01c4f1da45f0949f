// STL files: text and binary; equal corners of neighbouring triangles are made one vertex.
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Reads all solids of the file. Corners at exactly the same place are merged; triangles that this collapses are left
/// out and counted in `warnings`. Throws InputError.
Dataset read_stl(const std::filesystem::path& path);

/// Writes binary STL: single precision, triangles only (no arrays, no lines). Throws RuntimeError for a full disk.
void write_stl(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
