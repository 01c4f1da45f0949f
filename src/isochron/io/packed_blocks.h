// zlib and gzip data in memory: unpacked, and packed in blocks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isochron {

/// A byte of deflate data stands for at most so many; the format cannot pack better.
inline constexpr std::size_t max_deflate_gain = 1032;

/// The first `expected` bytes of zlib or gzip data. Throws InputError about the file when the data is damaged or
/// shorter; a size that the data cannot hold allocates nothing.
std::string unpacked(std::string_view packed, std::size_t expected, const std::filesystem::path& path);
/// The same for data that is packed in several blocks, on several threads.
struct PackedBlock {
  std::string_view packed;
  std::size_t bytes;  ///< unpacked
};
std::string unpacked(std::span<const PackedBlock> blocks, const std::filesystem::path& path);

/// Bytes that zlib packed in blocks, each by itself: all stand for `block_bytes` but the last one.
struct PackedBytes {
  std::size_t block_bytes;
  std::vector<std::size_t> sizes;  ///< of the blocks, packed
  std::string bytes;               ///< of all blocks
};
/// Packs on several threads.
PackedBytes packed_in_blocks(std::string_view bytes);
/// Whether zlib data can begin with these two bytes.
bool begins_like_zlib(std::string_view bytes);

}  // namespace isochron
