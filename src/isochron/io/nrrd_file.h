// NRRD images: .nrrd, and .nhdr with the values in another file.
#pragma once

#include <filesystem>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// Reads raw, gzip and text values. LPS and LAS space is turned into RAS. Axes that are not in space become components
/// of one array, named after the field `content`. Tensors (kinds 3D-symmetric-matrix, 3D-matrix and their masked kin)
/// and 3-vectors are turned into the world by the measurement frame; tensors get the order `row`, and of nine
/// components the symmetric part; the mask in front of them becomes the array `mask` (1 where it is at least 0.5).
/// Throws InputError.
Image read_nrrd(const std::filesystem::path& path);

/// Writes the image's one array raw behind the header, in RAS. Tensors of known order become 3D-symmetric-matrix or
/// 3D-matrix. Throws RuntimeError.
void write_nrrd(const OutputFile& file, const Image& image);

}  // namespace isochron
