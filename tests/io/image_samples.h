// Small images, bytes in either order, and comparing what was read with what was written.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "io/io_test_support.h"
#include "isochron/io/image_io.h"
#include "isochron/io/values.h"

namespace isochron::test {

/// A value's bytes in the given order, for headers built by hand.
template <class T>
std::string bytes_of(T value, Encoding encoding) {
  if (encoding != native_encoding) value = byte_swapped(value);
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// Puts a value into a header built by hand.
template <class T>
void put(std::string& header, std::size_t offset, T value, Encoding encoding) {
  header.replace(offset, sizeof(T), bytes_of(value, encoding));
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

/// The InputError message that reading the image ends with; a failure when there is none or it is not one line that
/// begins with the path.
inline std::string image_error(const fs::path& path) {
  try {
    static_cast<void>(read_image(path));
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << path << " was read without an error";
  return "";
}

}  // namespace isochron::test
