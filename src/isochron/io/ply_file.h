// Stanford PLY files: text and binary of either byte order, every scalar property kept as an array.
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Reads `vertex`, `face`, `tristrips` and `edge` elements. nx,ny,nz become the array "Normals", red,green,blue(,alpha)
/// "RGB" ("RGBA"), s,t or u,v "TCoords", and NAME_0, NAME_1, … of one type the array NAME. List properties other than
/// the corners, and other elements, are left out. Throws InputError.
Dataset read_ply(const std::filesystem::path& path);

/// Writes binary PLY: points (float when that is exact, else double), triangles, lines as edges, and all arrays; int64
/// arrays become int where they fit and double elsewhere. Throws RuntimeError for a full disk.
void write_ply(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
