// Inputs as files: where they lie, sets of them in one input, and compressed parts.
#pragma once

#include <filesystem>

#include "fuzz/targets.h"
#include "io/image_samples.h"

namespace isochron::fuzz {

namespace fs = std::filesystem;

/// A folder of this process, in memory where the system has that; it is removed at the end.
const fs::path& scratch();

fs::path put(const fs::path& name, std::string_view content);

/// Several files in one input: each but the last behind its size, two bytes.
std::vector<std::string_view> split(std::string_view input, std::size_t parts);
std::string joined(const Texts& files);
/// Writes the files of an input under these names; one that is empty is left out.
void put_all(const Texts& names, std::string_view input);

// A part of an input between a mark and `mark_end` stands for the same bytes packed, so that what is inside compressed
// data can be changed without spoiling it.
enum class Pack : char {
  vtk_blocks = 1,  ///< as VTK packs an array: sizes and zlib data, as base64
  zlib_base64,     ///< as GIFTI does
  sized_base64,    ///< as VTK writes an array that is not compressed
  gzip             ///< to the end of the input
};
std::string marked(Pack how, const std::string& content);
std::string with_packed_parts(std::string_view input);
std::string gzipped(std::string_view content);

/// Numbers as the bytes of this machine.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return test::bytes_of(values, native_encoding);
}

}  // namespace isochron::fuzz
