#include "bench/page/field_picture.h"

#include <array>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>
#include <zlib.h>

#include "bench/page/png.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace TEST_FILE {

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The pixels of a file of ours: one chunk of data behind the header, each row as differences to the left.
struct Pixels {
  std::size_t width = 0, height = 0;
  std::vector<Color> all;

  explicit Pixels(const std::string& png) : width(number_at(png, 16)), height(number_at(png, 20)) {
    std::string raw(height * (1 + 3 * width), '\0');
    uLongf size = raw.size();
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(raw.data()), &size, reinterpret_cast<const Bytef*>(png.data()) + 41,
                         number_at(png, 33)),
              Z_OK);
    EXPECT_EQ(size, raw.size());
    std::size_t at = 0;
    for (std::size_t y = 0; y < height; ++y) {
      EXPECT_EQ(raw[at++], 1);
      Color left{};
      for (std::size_t x = 0; x < width; ++x) {
        for (std::uint8_t& c : left) c = static_cast<std::uint8_t>(c + static_cast<std::uint8_t>(raw[at++]));
        all.push_back(left);
      }
    }
  }
  [[nodiscard]] Color at(double x, double y) const {
    return all[static_cast<std::size_t>(y * static_cast<double>(height)) * width +
               static_cast<std::size_t>(x * static_cast<double>(width))];
  }
};

constexpr Color white{255, 255, 255};

TEST(FieldPicture, PngHoldsThePixels) {
  const std::vector<Color> pixels{{0, 1, 2}, {255, 0, 7}, {3, 3, 3}, {9, 200, 100}, {0, 0, 0}, {255, 255, 255}};
  const Pixels read(png_of(pixels, 3));
  EXPECT_EQ(read.width, 3U);
  EXPECT_EQ(read.height, 2U);
  EXPECT_EQ(read.all, pixels);
}

TEST(FieldPicture, ColoursGoFromLowToHighAndUnreachedIsGrey) {
  const TriangleMesh mesh = generate_square({.n = 9, .extent = 1});
  std::vector<double> values;
  for (const Vec3d& p : mesh.points) values.push_back(p.x);
  const FieldView view{.to_eye = {0, 0, 1}, .size = 120, .lines = 0};
  const Picture picture = surface_picture("name", "caption", "x", mesh, values, view);
  EXPECT_EQ(picture.legend, (PictureLegend{"x", 0, 1, 0}));
  const Pixels shown(picture.png);
  const auto brightness = [](const Color& c) { return c[0] + c[1] + c[2]; };
  EXPECT_LT(brightness(shown.at(0.1, 0.5)), brightness(shown.at(0.5, 0.5)));
  EXPECT_LT(brightness(shown.at(0.5, 0.5)), brightness(shown.at(0.9, 0.5)));
  EXPECT_EQ(shown.at(0.001, 0.001), white);  // the margin
  std::fill(values.begin(), values.end(), std::numeric_limits<double>::infinity());
  const Color grey = Pixels(surface_picture("", "", "", mesh, values, view).png).at(0.5, 0.5);
  EXPECT_LT(std::abs(grey[0] - grey[2]), 8);
  EXPECT_GT(grey[0], 100);
}

TEST(FieldPicture, LinesAreWhereTheLevelsAre) {
  const TriangleMesh mesh = generate_square({.n = 9, .extent = 1});
  std::vector<double> values;
  for (const Vec3d& p : mesh.points) values.push_back(10 * p.x);
  FieldView view{.to_eye = {0, 0, 1}, .size = 300, .lines = 10};
  const Picture picture = surface_picture("", "", "", mesh, values, view);
  EXPECT_EQ(picture.legend.spacing, 1);
  view.lines = 0;
  const Pixels with(picture.png), without(surface_picture("", "", "", mesh, values, view).png);
  int lines = 0;
  const std::size_t row = with.height / 2 * with.width;
  for (std::size_t x = 1; x < with.width; ++x)
    if (with.all[row + x] != without.all[row + x] && with.all[row + x - 1] == without.all[row + x - 1]) ++lines;
  EXPECT_GE(lines, 9);
  EXPECT_LE(lines, 11);  // 1 to 9, and the ends where rounding decides
}

TEST(FieldPicture, TheNearerSideHidesTheOther) {
  TriangleMesh mesh;
  for (const double z : {0.0, 1.0})
    for (const auto& [x, y] : {std::array{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}}) mesh.points.push_back({x, y, z});
  mesh.elements = {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(3), VertexId(4), VertexId(5)}};
  const std::vector<double> values{0, 0, 0, 1, 1, 1};
  const FieldView above{.to_eye = {0, 0, 1}, .size = 100, .lines = 0};
  const FieldView below{.to_eye = {0, 0, -1}, .size = 100, .lines = 0};
  const Color top = Pixels(surface_picture("", "", "", mesh, values, above).png).at(0.3, 0.7);
  const Color bottom = Pixels(surface_picture("", "", "", mesh, values, below).png).at(0.7, 0.7);
  EXPECT_GT(top[1], 150);    // yellow
  EXPECT_LT(bottom[1], 80);  // violet
}

TEST(FieldPicture, SlicesLeaveOutWhatIsOutsideTheMask) {
  ImageGrid grid;
  grid.shape = {10, 10, 3};
  std::vector<double> values(grid.voxel_count(), 1);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t j = 0; j < 10; ++j)
    for (std::uint32_t i = 0; i < 5; ++i) mask[grid.voxel(i, j, 1).index()] = 0;
  values[0] = 2;  // in another slice, so that the range is not empty
  FieldView view{.size = 100, .range = std::pair{0.0, 2.0}, .lines = 0};
  const Pixels cut(slice_picture("", "", "", grid, values, mask, {2, 1}, view).png);
  EXPECT_NEAR(static_cast<double>(cut.height) / static_cast<double>(cut.width), 2, 0.2);  // half of it
  EXPECT_NE(cut.at(0.5, 0.5), white);
  const Pixels whole(slice_picture("", "", "", grid, values, {}, {2, 1}, view).png);
  EXPECT_EQ(whole.height, whole.width);
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
