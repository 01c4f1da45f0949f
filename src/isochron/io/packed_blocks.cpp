#include "isochron/io/packed_blocks.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include <zlib.h>

#include "isochron/io/bytes.h"
#include "isochron/io/stretches.h"

namespace isochron {
namespace {

constexpr std::string_view packed_too_short = "the compressed data is too short for what the file announces";

void unpack(std::string_view packed, std::span<char> result, const std::filesystem::path& path) {
  z_stream stream{};
  constexpr int zlib_or_gzip = 15 + 32;
  if (inflateInit2(&stream, zlib_or_gzip) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, inflateEnd);
  std::size_t taken = 0, made = 0;
  while (made < result.size()) {  // zlib counts in 32 bits
    const auto piece = [](std::size_t left) { return static_cast<uInt>(std::min<std::size_t>(left, 1U << 30U)); };
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = piece(packed.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + made);
    stream.avail_out = piece(result.size() - made);
    const uInt room = stream.avail_out, input = stream.avail_in;
    const int code = inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    made += room - stream.avail_out;
    const bool another_member = code == Z_STREAM_END && stream.avail_in > 1 && stream.next_in[0] == 0x1f;
    if (another_member && inflateReset(&stream) == Z_OK) continue;
    if (code == Z_STREAM_END || code == Z_BUF_ERROR) break;  // nothing more to be had
    if (code != Z_OK) damaged_file(path, "the compressed data is damaged");
  }
  if (made < result.size()) damaged_file(path, "{}", packed_too_short);
  if (taken == packed.size()) return;
  std::array<Bytef, 1> behind{};  // what follows is not wanted, but a checksum that does not fit is seen
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size() - taken, 16));
  stream.next_out = behind.data();
  stream.avail_out = 1;
  if (inflate(&stream, Z_NO_FLUSH) == Z_DATA_ERROR) damaged_file(path, "the compressed data is damaged");
}

/// A block of zlib data. Throws bad_alloc.
std::string packed(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  const int code =
      compress2(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), Z_BEST_SPEED);
  if (code != Z_OK) throw std::bad_alloc();  // the bound is too small: never
  result.resize(size);
  return result;
}

}  // namespace

std::string unpacked(std::string_view packed, std::size_t expected, const std::filesystem::path& path) {
  const PackedBlock block{packed, expected};
  return unpacked(std::span(&block, 1), path);
}

std::string unpacked(std::span<const PackedBlock> blocks, const std::filesystem::path& path) {
  std::vector<std::size_t> begin;
  std::size_t bytes = 0;
  for (const PackedBlock& block : blocks) {
    if (block.bytes > max_deflate_gain * block.packed.size()) damaged_file(path, "{}", packed_too_short);
    begin.push_back(bytes);
    bytes += block.bytes;
  }
  UnpackLimit::take(bytes, path);
  std::string result(bytes, '\0');
  parallel_tasks(bytes < worth_threads ? 1 : usual_threads(), blocks.size(), [&](std::size_t i) {
    unpack(blocks[i].packed, std::span(result).subspan(begin[i], blocks[i].bytes), path);
  });
  return result;
}

PackedBytes packed_in_blocks(std::string_view bytes) {
  PackedBytes result{task_bytes, {}, {}};
  std::vector<std::string> blocks((bytes.size() + task_bytes - 1) / task_bytes);
  parallel_tasks(bytes.size() < worth_threads ? 1 : usual_threads(), blocks.size(),
                 [&](std::size_t i) { blocks[i] = packed(bytes.substr(i * task_bytes, task_bytes)); });
  for (const std::string& block : blocks) {
    result.sizes.push_back(block.size());
    result.bytes += block;
  }
  return result;
}

bool begins_like_zlib(std::string_view bytes) {
  if (bytes.size() < 2) return false;
  const auto first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  return (first & 0xfU) == Z_DEFLATED && (256U * first + second) % 31 == 0;
}

}  // namespace isochron
