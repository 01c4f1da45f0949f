// Pictures: right size, colours, legend, and nothing left running.
#ifdef ISOCHRON_WITH_VTK

#include "isochron/draw.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "draw/draw_samples.h"
#include "isochron/draw/color_map.h"
#include "isochron/draw/display.h"
#include "isochron/draw/legend.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/mesh_quality.h"

namespace isochron {
namespace TEST_FILE {

struct Image {
  std::size_t width = 0, height = 0;
  std::string rgb;
  [[nodiscard]] Color at(double x, double y_from_top) const {
    const auto i = static_cast<std::size_t>(x * static_cast<double>(width));
    const auto j = static_cast<std::size_t>(y_from_top * static_cast<double>(height));
    const auto* p = reinterpret_cast<const std::uint8_t*>(rgb.data()) + 3 * (j * width + i);
    return {p[0], p[1], p[2]};
  }
};

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

// Undoes PNG's prediction of each byte from its left, upper and upper left neighbours.
std::string unfiltered(const std::string& raw, std::size_t width, std::size_t height) {
  const std::size_t row = 3 * width;
  std::string out(row * height, '\0');
  const auto byte = [&](std::size_t j, std::size_t i) { return static_cast<std::uint8_t>(out[j * row + i]); };
  for (std::size_t j = 0; j < height; ++j) {
    const int filter = raw[j * (row + 1)];
    for (std::size_t i = 0; i < row; ++i) {
      const int left = i >= 3 ? byte(j, i - 3) : 0;
      const int above = j > 0 ? byte(j - 1, i) : 0;
      const int corner = i >= 3 && j > 0 ? byte(j - 1, i - 3) : 0;
      const int p = left + above - corner;
      const int best = std::abs(p - left) <= std::abs(p - above) && std::abs(p - left) <= std::abs(p - corner) ? left
                       : std::abs(p - above) <= std::abs(p - corner)                                           ? above
                                                                                                               : corner;
      const std::array<int, 5> prediction{0, left, above, (left + above) / 2, best};
      out[j * row + i] =
          static_cast<char>(raw[j * (row + 1) + 1 + i] + prediction.at(static_cast<std::size_t>(filter)));
    }
  }
  return out;
}

Image read_png(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string png = text.str();
  Image image;
  if (!png.starts_with("\x89PNG\r\n\x1a\n")) return image;
  image.width = big_endian(png.substr(16));
  image.height = big_endian(png.substr(20));
  if (png[24] != 8 || png[25] != 2) return Image{};  // 8 bits of red, green and blue
  std::string packed;
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::uint32_t length = big_endian(png.substr(at));
    if (png.compare(at + 4, 4, "IDAT") == 0) packed += png.substr(at + 8, length);
    at += length + 12;
  }
  std::string raw((3 * image.width + 1) * image.height, '\0');
  uLongf size = raw.size();
  uncompress(reinterpret_cast<Bytef*>(raw.data()), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  image.rgb = unfiltered(raw, image.width, image.height);
  return image;
}

class Picture : public testing::Test {
 protected:
  void SetUp() override {
    try {
      const OffscreenDisplay display;
    } catch (const RuntimeError& error) {
      GTEST_SKIP() << error.what();
    }
    std::string name = (std::filesystem::temp_directory_path() / "isochron-draw-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.array = "x";
    options_.width = 420;
    options_.height = 300;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  Image draw(const Dataset& dataset) {
    draw_picture(folder_ / "a.png", dataset, options_);
    return read_png(folder_ / "a.png");
  }
  std::filesystem::path folder_;
  PictureOptions options_;
};

int distance(Color a, Color b) { return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]); }

// X servers among this process's children.
std::size_t servers_running() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream status(entry.path() / "status");
    std::string line, name, parent;
    while (std::getline(status, line)) {
      if (line.starts_with("Name:")) name = line;
      if (line.starts_with("PPid:")) parent = line.substr(5);
    }
    if (name.find("Xvfb") != std::string::npos && std::atoi(parent.c_str()) == getpid()) ++count;
  }
  return count;
}

void expect_legend(const Image& image) {
  const double x = 0.5 * (LegendPlace::left + LegendPlace::right);
  const auto colors = color_map(256);
  for (const double part : {0.07, 0.93}) {
    const double y = 1 - (LegendPlace::bottom + part * (LegendPlace::top - LegendPlace::bottom));
    EXPECT_LT(distance(image.at(x, y), colors[static_cast<std::size_t>(part * 255)]), 24) << part;
  }
}

TEST_F(Picture, OfASquareHasColoursWhereTheyBelongAndALegend) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  options_.title = "A square";
  options_.units = "ms";
  const Image image = draw(sample_square(10));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(image.width, 420U);
  ASSERT_EQ(image.height, 300U);
  expect_legend(image);
  // The square is drawn flat, x to the right: dark left, light right.
  const auto sum = [](Color c) { return c[0] + c[1] + c[2]; };
  EXPECT_LT(sum(image.at(0.21, 0.62)) + 100, sum(image.at(0.66, 0.62)));
  std::set<Color> different;
  for (std::size_t i = 0; i + 2 < image.rgb.size(); i += 3) {
    different.insert({static_cast<std::uint8_t>(image.rgb[i]), static_cast<std::uint8_t>(image.rgb[i + 1]),
                      static_cast<std::uint8_t>(image.rgb[i + 2])});
  }
  EXPECT_GT(different.size(), 200U);
  EXPECT_EQ(servers_running(), 0U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Picture, OfACutCubeShowsTheCutFace) {
  options_.cut = CutPlane{{0.5, 0.5, 0.5}, {0, -1, 0}};
  options_.view_direction = Vec3d{0, -1, 0};
  options_.isochrone_spacing = 0;
  const Image image = draw(sample_cube(3));
  // Seen along the normal the face fills the square; without it one would look inside the shell.
  const auto colors = color_map(256);
  EXPECT_LT(distance(image.at(0.43, 0.53), colors[128]), 60);
}

TEST_F(Picture, ShowsWhatWasNotReachedInGrey) {
  Dataset square = sample_square(10);
  square.point_data.set({"x", 1, std::vector<float>(121, std::numeric_limits<float>::infinity())});
  const Image image = draw(square);
  const Color c = image.at(0.43, 0.53);
  EXPECT_LT(std::abs(c[0] - c[1]), 8);
  EXPECT_GT(c[0], 100);
}

// Whether anything but the page's colour is in a part of the picture, given in parts of its size from the upper left.
bool anything_in(const Image& image, double left, double top, double right, double bottom) {
  const Color page = image.at(0.99, 0.5);
  for (double y = top; y < bottom; y += 0.25 / static_cast<double>(image.height))
    for (double x = left; x < right; x += 0.25 / static_cast<double>(image.width))
      if (distance(image.at(x, y), page) > 24) return true;
  return false;
}

TEST_F(Picture, OfQualityHasAHistogramBesideTheLegend) {
  const auto colors = color_map(256);
  draw_quality(folder_ / "a.png", generate_sphere({.frequency = 4}), options_);
  Image image = read_png(folder_ / "a.png");
  expect_legend(image);
  // Radius ratios above 0.95: bars at the upper end only, and light triangles.
  const double height = LegendPlace::top - LegendPlace::bottom;
  EXPECT_TRUE(anything_in(image, LegendPlace::histogram_left, 1 - LegendPlace::top, 0.87,
                          1 - LegendPlace::top + 0.05 * height));
  EXPECT_FALSE(anything_in(image, LegendPlace::histogram_left, 1 - LegendPlace::top + 0.1 * height, 0.87,
                           1 - LegendPlace::bottom));
  const auto sum = [](Color c) { return c[0] + c[1] + c[2]; };
  int lightest = 0;  // between the lines
  for (double x = 0.34; x < 0.40; x += 0.002) lightest = std::max(lightest, sum(image.at(x, 0.52)));
  EXPECT_GT(lightest, sum(colors[160]));

  // A cube's tetrahedra are all alike; a cut shows whole ones, so the near face is still the cube's.
  options_.cut = CutPlane{{0.5, 0.5, 0.5}, {0, -1, 0}};
  options_.view_direction = Vec3d{0, -1, 0};
  const TetMesh cube = generate_cube({.nx = 5, .ny = 5, .nz = 5, .extent = {1, 1, 1}});
  draw_quality(folder_ / "a.png", cube, options_);
  image = read_png(folder_ / "a.png");
  const double ratio = radius_ratios(cube)[0];
  EXPECT_LT(distance(image.at(0.5 * (LegendPlace::left + LegendPlace::histogram_left),
                              1 - LegendPlace::bottom - ratio * height),
                     colors[static_cast<std::size_t>(ratio * 255)]),
            40);
  options_.cut = CutPlane{{0.5, -2, 0.5}, {0, 1, 0}};
  EXPECT_THROW(draw_quality(folder_ / "a.png", cube, options_), UsageError);
  EXPECT_THROW(draw_quality(folder_ / "a.png", TriangleMesh{}, options_), InputError);
}

TEST_F(Picture, LongTextsStayWhereTheyBelong) {
  options_.width = 840;
  options_.height = 600;
  Dataset square = sample_square(10);
  std::vector<float> half(121, std::numeric_limits<float>::infinity());
  std::fill(half.begin(), half.begin() + 60, 1.0F);
  square.point_data.set({"x", 1, half});
  options_.title = "";
  for (int i = 0; i < 12; ++i) options_.title += "a long title with many words ";
  options_.units = "thousandths of a second after the stimulus";
  const Image image = draw(square);
  EXPECT_TRUE(anything_in(image, 0.02, 0.02, 0.98, 0.07));
  EXPECT_FALSE(anything_in(image, 0.988, 0.0, 0.999, 0.999));
  // Between the object, which ends below, and the legend's title.
  EXPECT_TRUE(anything_in(image, 0.865, 0.07, 0.985, 0.2));
  EXPECT_FALSE(anything_in(image, 0.845, 0.075, 0.860, 0.2));
}

TEST_F(Picture, LeavesLinesOutOnRequest) {
  Dataset square = sample_square(10);
  const Image without = draw(square);
  square.lines = {{VertexId(0), VertexId(120)}};
  EXPECT_NE(draw(square).rgb, without.rgb);
  options_.lines = LineCells::hide;
  EXPECT_EQ(draw(square).rgb, without.rgb);
}

TEST_F(Picture, UpTurnsIt) {
  options_.isochrone_spacing = 0;
  options_.view_direction = Vec3d{0, 0, 1};
  options_.up = Vec3d{1, 0, 0};
  const Image image = draw(sample_square(10));
  const auto sum = [](Color c) { return c[0] + c[1] + c[2]; };
  EXPECT_GT(sum(image.at(0.43, 0.2)), sum(image.at(0.43, 0.85)) + 100);
}

TEST_F(Picture, MissingArrayListsTheNames) {
  options_.array = "speed";
  try {
    draw(sample_square(2));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'speed'"));
    EXPECT_THAT(error.what(), testing::HasSubstr("choose one of: x"));
  }
}

TEST_F(Picture, ThrowsWhatIsWrong) {
  const Dataset square = sample_square(2);
  EXPECT_THROW(draw(Dataset{}), InputError);
  options_.cut = CutPlane{{-1, 0, 0}, {1, 0, 0}};
  EXPECT_THROW(draw(square), UsageError);
  options_.cut = CutPlane{{0, 0, 0}, {0, 0, 0}};
  EXPECT_THROW(draw(square), UsageError);
  options_.cut.reset();
  options_.range = {2, 1};
  EXPECT_THROW(draw(square), UsageError);
  options_.range.reset();
  options_.width = 5;
  EXPECT_THROW(draw(square), UsageError);
  options_.width = 200;
  EXPECT_THROW(draw_picture(folder_ / "no" / "such.png", square, options_), RuntimeError);
  EXPECT_EQ(servers_running(), 0U);
}

TEST(Display, SaysWhatToInstall) {
  const std::string path = std::getenv("PATH");
  const char* old = std::getenv("DISPLAY");
  const std::string display = old != nullptr ? old : "";
  setenv("PATH", "/nonexistent", 1);
  unsetenv("DISPLAY");
  try {
    const OffscreenDisplay none;
    ADD_FAILURE();
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("install the package xvfb"));
  }
  setenv("DISPLAY", ":54321", 1);
  EXPECT_THROW(OffscreenDisplay(), RuntimeError);
  setenv("PATH", path.c_str(), 1);
  if (display.empty()) unsetenv("DISPLAY");
  else setenv("DISPLAY", display.c_str(), 1);
}

}  // namespace TEST_FILE
}  // namespace isochron

#endif
