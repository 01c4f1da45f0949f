// Bare numbers without a header, as volumes and velocity models are often passed on.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

#include "isochron/io/scalar_type.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// What a raw file does not say itself.
struct RawLayout {
  std::array<std::uint32_t, 3> shape{1, 1, 1};  ///< the first index runs fastest in the file
  int components = 1;                           ///< values of a voxel, side by side
  ScalarType type = ScalarType::float32;
  Encoding encoding = native_encoding;
  Vec3d spacing{1, 1, 1};
  std::size_t skip = 0;  ///< bytes before the first value
};

/// A type's name and byte order: "float32", "uint16be"; without "le" or "be" it is this machine's order. Throws
/// UsageError that lists the names.
std::pair<ScalarType, Encoding> parse_raw_type(std::string_view name);

/// Reads the values, gzipped or not; the first voxel is at the origin and the axes are x, y and z. Throws InputError
/// when the file does not have exactly as many bytes as the layout says, or when the layout makes no sense.
Image read_raw_image(const std::filesystem::path& path, const RawLayout& layout);

}  // namespace isochron
