#include "bench/page/scene_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/draw/shaded_mesh.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace TEST_FILE {

constexpr Color white{255, 255, 255}, pale{200, 200, 200}, red{220, 0, 0}, blue{0, 0, 220};
const SceneView from_above{.to_eye = {0, 0, 1}, .size = 90};

Color at(const Raster& raster, double x, double y) {
  return raster.pixels[static_cast<std::size_t>(y * static_cast<double>(raster.height())) * raster.width +
                       static_cast<std::size_t>(x * static_cast<double>(raster.width))];
}

std::size_t darker_than(const Raster& raster, int limit) {
  return static_cast<std::size_t>(
      std::count_if(raster.pixels.begin(), raster.pixels.end(), [&](const Color& c) { return c[1] < limit; }));
}

Shape square(std::uint32_t n, Color color, double z = 0) {
  Shape shape;
  shape.mesh = generate_square({.n = n, .extent = 1});
  for (Vec3d& p : shape.mesh.points) p.z = z;
  shape.colors = {color};
  return shape;
}

Raster drawn(Shape shape, const SceneView& view = from_above) {
  Scene scene;
  scene.add(std::move(shape));
  return scene.drawn(view);
}

TEST(ScenePicture, EdgesAreLinesWhereTrianglesAreLargeEnough) {
  Shape coarse = square(4, pale);
  EXPECT_EQ(darker_than(drawn(coarse), 150), 0U);
  coarse.edges = true;
  const Raster lines = drawn(coarse);
  EXPECT_GT(darker_than(lines, 150), 300U);                      // about 10 lines of 80 pixels
  EXPECT_LT(darker_than(lines, 150), lines.pixels.size() / 2);   // the rest is the triangles
  EXPECT_GT(at(lines, 0.5 - 1.0 / 18, 0.5 - 1.0 / 18)[1], 150);  // beside the diagonal of the middle cell
  Shape fine = square(90, pale);
  fine.edges = true;
  EXPECT_EQ(darker_than(drawn(fine), 150), 0U) << "lines of one pixel beside one another would hide the surface";
}

TEST(ScenePicture, ColoursAreOfTrianglesOrMixedBetweenVertices) {
  Shape shape = square(2, red);
  shape.light = Shape::Light::none;
  shape.colors = {red, blue};
  shape.colors_of = Shape::ColorsOf::triangles;
  const Raster halves = drawn(shape);
  const auto count = [&](const Color& color) { return std::count(halves.pixels.begin(), halves.pixels.end(), color); };
  EXPECT_NEAR(static_cast<double>(count(red)) / static_cast<double>(count(blue)), 1, 0.1);
  shape.colors = {red, red, blue, blue};
  shape.colors_of = Shape::ColorsOf::vertices;
  const Color mixed = at(drawn(shape), 0.5, 0.5);
  EXPECT_NEAR(mixed[0], 110, 12);
  EXPECT_NEAR(mixed[2], 110, 12);
}

TEST(ScenePicture, NearerShapesHideThoseBehind) {
  Scene scene;
  scene.add(square(3, blue, 1));
  scene.add(square(3, red, 0));
  EXPECT_EQ(scene.triangle_count(), 16U);
  EXPECT_GT(at(scene.drawn(from_above), 0.5, 0.5)[2], 100);
  EXPECT_GT(at(scene.drawn({.to_eye = {0, 0, -1}, .size = 90}), 0.5, 0.5)[0], 100);
}

TEST(ScenePicture, ZoomShowsItsSquareBesideTheWhole) {
  Scene scene;
  scene.add(square(3, blue));
  Shape spot = square(2, red, 0.1);
  for (Vec3d& p : spot.mesh.points) p = {0.8 + 0.05 * p.x, 0.2 + 0.05 * p.y, p.z};
  scene.add(spot);
  const Zoom zoom{{0.825, 0.225, 0}, 0.02};
  const Raster both = scene.drawn_with_zoom(from_above, zoom);
  EXPECT_EQ(both.width, 190U);
  EXPECT_EQ(both.height(), 90U);
  EXPECT_GT(at(both, 145.0 / 190, 0.5)[0], 100) << "the spot fills the square";
  EXPECT_EQ(at(both, 145.0 / 190, 0.5)[2], 0);
  EXPECT_EQ(at(both, 101.0 / 190, 0.5), both.pixels[100]) << "its frame";
  EXPECT_GT(at(both, 0.2, 0.5)[2], 100);
  const Raster framed = scene.drawn_with_frame(from_above, zoom), plain = scene.drawn(from_above);
  EXPECT_NE(framed.pixels, plain.pixels);
}

TEST(ScenePicture, CloudsAreDenseWhereValuesAreLow) {
  ImageGrid grid;
  grid.shape = {21, 21, 21};
  std::vector<double> values;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v)
    values.push_back(norm(grid.position(VertexId(v)) - Vec3d{10, 10, 10}) / 8);
  Shape frame = square(2, white, -5);
  for (Vec3d& p : frame.mesh.points) p.x *= 20, p.y *= 20;
  frame.light = Shape::Light::none;
  Scene scene;
  scene.add(frame);
  scene.set_cloud({grid, values, 0, 1, 1});
  const Raster cloud = scene.drawn(from_above);
  EXPECT_LT(at(cloud, 0.5, 0.5)[1], at(cloud, 0.62, 0.5)[1]);
  EXPECT_LT(at(cloud, 0.62, 0.5)[1], at(cloud, 0.75, 0.5)[1]);
  EXPECT_EQ(at(cloud, 0.15, 0.5), white);
  std::fill(values.begin(), values.end(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(darker_than(scene.drawn(from_above), 255), 0U);
}

TEST(ScenePicture, SlicesAreGreyAndLeaveOutWhatIsOutsideTheMask) {
  ImageGrid grid;
  grid.shape = {5, 4, 3};
  std::vector<double> values(grid.voxel_count(), 0.5);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  EXPECT_EQ(grey_slice(grid, values, mask, 2, 1).mesh.element_count(), 24U);
  EXPECT_EQ(grey_slice(grid, values, mask, 0, 1).mesh.element_count(), 12U);
  mask[grid.voxel(2, 2, 1).index()] = 0;
  const Shape slice = grey_slice(grid, values, mask, 2, 1);
  EXPECT_EQ(slice.mesh.element_count(), 16U);
  EXPECT_EQ(slice.colors.front(), (Color{128, 128, 128}));
  for (const Vec3d& p : slice.mesh.points) EXPECT_EQ(p.z, 1);
}

TEST(ScenePicture, TubesAndGlyphsKeepTheirColours) {
  const std::vector<Vec3d> path{{0, 0, 0}, {1, 0, 0}};
  const Shape tube = shape_of(make_tube(path, {.radius = 0.1}), red);
  EXPECT_EQ(tube.colors, std::vector{red});
  const ShadedMesh glyph = superquadric_glyphs(std::vector<TensorAt>{{{0, 0, 0}, SymTensor3d{3, 0, 0, 1, 0, 1}}});
  const Shape shape = shape_of(glyph);
  EXPECT_EQ(shape.colors.size(), shape.mesh.vertex_count());
  const Raster picture = drawn(shape);
  EXPECT_GT(at(picture, 0.5, 0.5)[0], 4 * at(picture, 0.5, 0.5)[1]) << "red: from left to right";
}

TEST(ScenePicture, PicturesOfDifferentHeightsStandBesideEachOther) {
  const Raster high{2, std::vector<Color>(12, red)}, low{3, std::vector<Color>(6, blue)};
  const Raster both = side_by_side(high, low);
  EXPECT_EQ(both.height(), 6U);
  EXPECT_EQ(std::count(both.pixels.begin(), both.pixels.end(), red), 12);
  EXPECT_EQ(std::count(both.pixels.begin(), both.pixels.end(), blue), 6);
  EXPECT_EQ(both.pixels[2 * both.width + both.width - 1], blue);
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
