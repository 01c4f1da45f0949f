#include "isochron/io/packed_bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>

#include <fmt/format.h>
#include <zlib.h>

#include "isochron/core/error.h"
#include "isochron/io/unpack_limit.h"

namespace isochron {
namespace {

[[noreturn]] void damaged(const std::filesystem::path& path, std::string_view why) {
  throw InputError(
      fmt::format("{}: {}; the file may be cut short or damaged, get or write it again", path.string(), why));
}

/// zlib's state, let go in any case.
class Inflater {
 public:
  Inflater() {
    constexpr int zlib_or_gzip = 15 + 32;
    if (inflateInit2(&stream_, zlib_or_gzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

constexpr std::array<std::int8_t, 256> base64_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return values;
}

}  // namespace

std::string unpacked(std::string_view packed, std::size_t expected, const std::filesystem::path& path) {
  constexpr std::string_view too_short = "the compressed data is too short for what the file announces";
  if (expected / max_deflate_gain > packed.size()) damaged(path, too_short);
  UnpackLimit::take(expected, path);
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::string result(expected, '\0');
  std::size_t taken = 0, made = 0;
  while (made < expected) {  // zlib counts in 32 bits
    const auto piece = [](std::size_t left) { return static_cast<uInt>(std::min<std::size_t>(left, 1U << 30U)); };
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = piece(packed.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + made);
    stream.avail_out = piece(expected - made);
    const uInt room = stream.avail_out, input = stream.avail_in;
    const int code = inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    made += room - stream.avail_out;
    if (code == Z_STREAM_END) break;
    if (code != Z_OK && code != Z_BUF_ERROR) damaged(path, "the compressed data is damaged");
    if (input == stream.avail_in && room == stream.avail_out) break;  // nothing more to be had
  }
  if (made < expected) damaged(path, too_short);
  return result;
}

std::string from_base64(std::string_view text, const std::filesystem::path& path) {
  static constexpr auto values = base64_values();
  std::string result;
  result.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    if (c == ' ' || (c >= '\t' && c <= '\r')) continue;
    const std::int8_t value = values[static_cast<unsigned char>(c)];
    if (value < 0) damaged(path, "the base64 data has other characters in it");
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
  }
  return result;
}

}  // namespace isochron
