// FreeSurfer volumes: .mgh and, compressed, .mgz.
#pragma once

#include <filesystem>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// Reads a volume in scanner RAS; frames become components. A file that does not say where it is gets FreeSurfer's
/// default (coronal slices, 1 mm), with a warning. Throws InputError.
Image read_mgh(const std::filesystem::path& path);

/// Writes the image's one array: bytes and 32-bit integers as they are, everything else in single precision, which is
/// all that the format has. Throws RuntimeError.
void write_mgh(const OutputFile& file, const Image& image);

}  // namespace isochron
