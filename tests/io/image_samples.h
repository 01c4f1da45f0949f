// Small images, bytes in either order, and comparing what was read with what was written.
#pragma once

#include <cmath>
#include <limits>

#include <zlib.h>

#include "io/io_test_support.h"
#include "isochron/io.h"
#include "isochron/io/values.h"

namespace isochron::test {

/// The bytes of a value, or of several in a row, in the given order, for headers built by hand.
template <class T>
std::string bytes_of(T value, Encoding encoding) {
  if (encoding != native_encoding) value = byte_swapped(value);
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
template <class T>
std::string bytes_of(const std::vector<T>& values, Encoding encoding) {
  std::string bytes;
  for (const T value : values) bytes += bytes_of(value, encoding);
  return bytes;
}
/// The numbers first, first + step, … as such bytes.
template <class T>
std::string counted_bytes(std::size_t count, Encoding encoding, int first = 0, int step = 1) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(first + step * static_cast<int>(i));
  return bytes_of(values, encoding);
}

/// Puts a value, or several in a row, into a header built by hand.
template <class T>
void put(std::string& header, std::size_t offset, T value, Encoding encoding) {
  header.replace(offset, sizeof(T), bytes_of(value, encoding));
}
template <class T>
void put_all(std::string& header, std::size_t offset, const std::vector<T>& values, Encoding encoding) {
  header.replace(offset, values.size() * sizeof(T), bytes_of(values, encoding));
}

enum class Packed { zlib, gzip };
inline std::string zipped(const std::string& bytes, Packed how = Packed::zlib) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + (how == Packed::gzip ? 16 : 0), 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(bytes.size() + 200, '\0'), input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// With line ends in it, as some programs write them.
inline std::string base64(const std::string& bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : alphabet[bits >> (18U - 6U * static_cast<unsigned>(k)) & 63U];
    if (i % 9 == 0) text += "\n";
  }
  return text;
}

/// A grid of 4 × 3 × 2 voxels of different sizes in an oblique, left-handed frame.
inline ImageGrid oblique_grid() {
  ImageGrid grid;
  grid.shape = {4, 3, 2};
  grid.origin = {-10.5, 20.25, 3};
  const double c = std::cos(0.4), s = std::sin(0.4);
  grid.axes = {2.0 * Vec3d{0, c, s}, -1.5 * Vec3d{1, 0, 0}, 2.5 * Vec3d{0, s, -c}};
  return grid;
}

/// Values that are all different: the position in the list, and something of the sign and fraction if T has that.
template <class T>
std::vector<T> counted_values(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double signed_value = (i % 3 == 0 ? -1.0 : 1.0) * static_cast<double>(i);
    if constexpr (std::is_floating_point_v<T>) values[i] = static_cast<T>(signed_value / 7);
    else values[i] = std::is_signed_v<T> ? static_cast<T>(signed_value) : static_cast<T>(i);
  }
  return values;
}

template <class T>
Image counted_image(int components, const std::string& name = "a name") {
  Image image;
  image.grid = oblique_grid();
  image.data.set(
      {name, components, counted_values<T>(image.grid.voxel_count() * static_cast<std::size_t>(components))});
  return image;
}

inline void expect_near(const Vec3d& actual, const Vec3d& expected, double tolerance = 1e-12) {
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(actual[d], expected[d], tolerance) << "component " << d;
}

inline void expect_same_grid(const ImageGrid& actual, const ImageGrid& expected, double tolerance = 1e-12) {
  EXPECT_EQ(actual.shape, expected.shape);
  expect_near(actual.origin, expected.origin, tolerance);
  for (std::size_t a = 0; a < 3; ++a) expect_near(actual.axes[a], expected.axes[a], tolerance);
}

inline std::string image_error(const fs::path& path) {
  return input_error(path, [&] { return read_image(path); });
}

/// What reading a file of this name and content gives, or the error that it ends with.
inline Image read_image_content(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return read_image(folder.file(name, content));
}
inline std::string image_content_error(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return image_error(folder.file(name, content));
}
inline void expect_image_refused(const std::string& name, std::initializer_list<Refused> cases) {
  for (const Refused& one : cases)
    EXPECT_THAT(image_content_error(name, one.content), testing::HasSubstr(one.message)) << one.content;
}

}  // namespace isochron::test
