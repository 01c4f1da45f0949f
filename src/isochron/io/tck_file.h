// MRtrix track files: streamlines in scanner coordinates (RAS, mm).
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Reads the streamlines as lines, each with points of its own, in 32- or 64-bit reals of either byte order. A count in
/// the header that does not fit is a warning. Throws InputError.
Dataset read_tck(const std::filesystem::path& path);

/// Writes the lines alone, as 32-bit reals (little-endian). Throws RuntimeError for a full disk.
void write_tck(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
