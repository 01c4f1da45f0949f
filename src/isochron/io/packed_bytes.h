// Compressed and base64 data inside other files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace isochron {

/// A byte of deflate data stands for at most so many; the format cannot pack better.
inline constexpr std::size_t max_deflate_gain = 1032;

/// The first `expected` bytes of zlib or gzip data. Throws InputError that begins with the path when the data is
/// damaged or shorter; a size that the data cannot hold allocates nothing.
std::string unpacked(std::string_view packed, std::size_t expected, const std::filesystem::path& path);

/// The bytes of base64 text, in which white space does not count. Throws InputError that begins with the path.
std::string from_base64(std::string_view text, const std::filesystem::path& path);

}  // namespace isochron
