// Wavefront OBJ files: vertices, faces and lines.
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Reads v, f and l lines; texture coordinates, normals, groups and materials are passed over, so that a texture seam
/// does not cut the surface open. Throws InputError.
Dataset read_obj(const std::filesystem::path& path);

/// Writes points, triangles and lines as text with all digits (no arrays). Throws RuntimeError for a full disk.
void write_obj(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
