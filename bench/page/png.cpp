#include "bench/page/png.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

#include "isochron/error.h"

namespace isochron::bench {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

std::string chunk(std::string_view type, const std::string& data) {
  std::string body(type);
  body += data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

std::string deflated(const std::string& raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
                static_cast<uLong>(raw.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();  // nothing else can go wrong with this size
  packed.resize(size);
  return packed;
}

}  // namespace

std::string png_of(std::span<const Color> pixels, std::size_t width) {
  assert(width > 0 && pixels.size() % width == 0);
  const std::size_t height = pixels.size() / width;
  std::string raw;
  raw.reserve(height * (1 + 3 * width));
  for (std::size_t y = 0; y < height; ++y) {
    raw += '\1';  // each byte as the difference from the pixel to the left
    Color left{};
    for (const Color& pixel : pixels.subspan(y * width, width)) {
      for (std::size_t c = 0; c < 3; ++c) raw += static_cast<char>(pixel[c] - left[c]);
      left = pixel;
    }
  }
  std::string header = big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, colour, deflate, filters, not interlaced
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", deflated(raw)) + chunk("IEND", "");
}

}  // namespace isochron::bench
