#include "isochron/surface/extract_materials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh/surface_distance.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "support/data_folder.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr double radius = 7;
const Vec3d centre{10.3, 10.6, 10.4};  // in the image's own frame

// A ball, label 4 where z is below its centre and 9 above.
std::vector<std::int32_t> half_balls(const ImageGrid& grid) {
  std::vector<std::int32_t> labels(grid.voxel_count());
  for (std::size_t v = 0; v < labels.size(); ++v) {
    const auto index = grid.index(VertexId(v));
    Vec3d p;
    for (int a = 0; a < 3; ++a) p[a] = index[a] * grid.spacing(a);
    if (norm(p - centre) < radius) labels[v] = p.z < centre.z ? 4 : 9;
  }
  return labels;
}

double area_between(const ExtractedMaterials& surface, std::int32_t a, std::int32_t b) {
  double area = 0;
  for (std::size_t t = 0; t < surface.sides.size(); ++t) {
    if (std::minmax(surface.sides[t].behind, surface.sides[t].before) != std::minmax(a, b)) continue;
    const auto x = corner_points(surface.mesh, ElementId(t));
    area += 0.5 * norm(cross(x[1] - x[0], x[2] - x[0]));
  }
  return area;
}

// The border of each material is a closed surface that faces outward.
void expect_closed_borders(const ExtractedMaterials& surface) {
  for (const std::int32_t material : surface.materials) {
    SCOPED_TRACE(material);
    const SurfaceTopology border = surface_topology(border_of(surface.mesh, surface.sides, material));
    EXPECT_TRUE(border.closed());
    EXPECT_TRUE(border.manifold());
    EXPECT_TRUE(border.oriented());
    EXPECT_GT(border.volume, 0);
  }
}

class ExtractMaterials : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
    options_.threads = 2;
    options_.sizing.uniform = 1.2;
  }
  ExtractOptions options_;
};

TEST_F(ExtractMaterials, TwoHalfBallsShareADisc) {
  // Straight, and in a turned and mirrored world.
  for (const bool turned : {false, true}) {
    SCOPED_TRACE(turned);
    ImageGrid grid;
    grid.shape = {22, 22, 11};
    grid.axes[2] = {0, 0, 2};
    if (turned) {
      grid.axes[0] = {std::cos(0.4), std::sin(0.4), 0};
      grid.axes[1] = {std::sin(0.4), -std::cos(0.4), 0};
      grid.origin = {5, -3, 8};
    }
    const ExtractedMaterials surface = extract_materials(grid, half_balls(grid), {}, {}, options_);
    EXPECT_THAT(surface.materials, ElementsAre(4, 9));
    EXPECT_TRUE(surface.notes.empty());
    EXPECT_GT(surface.junction_samples, 30U);
    EXPECT_TRUE(self_intersections(surface.mesh).empty());
    expect_closed_borders(surface);

    const double ball = 4 * std::numbers::pi / 3 * std::pow(radius, 3);
    const SurfaceTopology outer = surface_topology(border_of(surface.mesh, surface.sides, 0));
    EXPECT_TRUE(outer.closed() && outer.manifold());
    EXPECT_NEAR(-outer.volume / ball, 1, 0.04);
    double both = 0;
    for (const std::int32_t material : {4, 9}) {
      const SurfaceTopology border = surface_topology(border_of(surface.mesh, surface.sides, material));
      EXPECT_EQ(border.genus(), 0);
      // Between the layers of voxels on both sides, 2 apart, the disc is where it likes.
      EXPECT_NEAR(border.volume, ball / 2, 1.2 * std::numbers::pi * radius * radius);
      both += border.volume;
    }
    EXPECT_NEAR(both, -outer.volume, 1e-9 * ball);
    // Without a groove along the junction; the disc may be off the middle.
    EXPECT_NEAR(std::sqrt(area_between(surface, 4, 9) / std::numbers::pi), radius, 0.22);
    EXPECT_TRUE(surface.differences.empty());

    Vec3d middle{};
    for (const Vec3d& p : surface.mesh.points) middle += p / static_cast<double>(surface.mesh.vertex_count());
    Vec3d expected = grid.origin;
    for (int a = 0; a < 3; ++a) expected += (centre[a] / grid.spacing(a)) * grid.axes[a];
    EXPECT_LT(norm(middle - expected), 0.5);
  }
}

TEST_F(ExtractMaterials, OneOfThemIsItsOwnSurface) {
  ImageGrid grid;
  grid.shape = {22, 22, 22};
  const ExtractedMaterials surface = extract_materials(grid, half_balls(grid), {9}, {}, options_);
  EXPECT_THAT(surface.materials, ElementsAre(9));
  expect_closed_borders(surface);
  EXPECT_EQ(surface_topology(surface.mesh).genus(), 0);
}

TEST_F(ExtractMaterials, SizesAreHonoured) {
  ImageGrid grid;
  grid.shape = {22, 22, 22};
  const auto labels = half_balls(grid);
  std::vector<double> vertices;
  for (const double size : {0.5, 1.0, 2.0}) {
    options_.sizing.uniform = size;
    const ExtractedMaterials surface = extract_materials(grid, labels, {}, {}, options_);
    expect_closed_borders(surface);
    const ShapeStatistics shape = shape_statistics(surface.mesh, 2);
    EXPECT_GT(shape.radius_ratio.mean(), size > 1 ? 0.94 : 0.96);
    EXPECT_GT(shape.radius_ratio.min(), 0.45);
    EXPECT_GT(shape.angles.min(), 20);
    EXPECT_NEAR(surface.expected_particles / static_cast<double>(surface.samples), 1, 0.15);
    vertices.push_back(static_cast<double>(surface.mesh.vertex_count()));
  }
  EXPECT_NEAR(vertices[0] / vertices[1], 4, 1);
  EXPECT_NEAR(vertices[1] / vertices[2], 3.5, 1);  // the junction asks for more than its share
  options_.sizing.uniform = 0;
  const ExtractedMaterials adapted = extract_materials(grid, labels, {}, {}, options_);
  expect_closed_borders(adapted);
  const auto [least, most] = std::minmax_element(adapted.sizes.begin(), adapted.sizes.end());
  EXPECT_GT(*most, 1.3 * *least);  // larger away from the junction
}

TEST_F(ExtractMaterials, ImagesThatAreFullAreClosedAtTheirBorder) {
  ImageGrid grid;
  grid.shape = {12, 12, 12};
  std::vector<std::int32_t> labels(grid.voxel_count(), 1);
  for (std::size_t v = 0; v < labels.size(); ++v)
    if (grid.index(VertexId(v))[0] > 5) labels[v] = 2;
  const ExtractedMaterials surface = extract_materials(grid, labels, {}, {}, options_);
  ASSERT_EQ(surface.notes.size(), 1U);
  EXPECT_THAT(surface.notes[0], HasSubstr("border"));
  expect_closed_borders(surface);
  EXPECT_NEAR(std::sqrt(area_between(surface, 1, 2)), 12, 0.2);
  EXPECT_NEAR(-surface_topology(border_of(surface.mesh, surface.sides, 0)).volume / 1728, 1, 0.06);
  FieldOptions refusing;
  refusing.border = AtBorder::refuse;
  EXPECT_THROW(extract_materials(grid, labels, {}, refusing, options_), InputError);
}

TEST_F(ExtractMaterials, TheSameOnAnyNumberOfThreads) {
  ImageGrid grid;
  grid.shape = {22, 22, 22};
  const auto labels = half_balls(grid);
  const ExtractedMaterials two = extract_materials(grid, labels, {}, {}, options_);
  options_.threads = 1;
  const ExtractedMaterials one = extract_materials(grid, labels, {}, {}, options_);
  EXPECT_EQ(one.mesh.points, two.mesh.points);
  EXPECT_EQ(one.mesh.elements, two.mesh.elements);
  options_.particles.seed = 2;
  EXPECT_NE(extract_materials(grid, labels, {}, {}, options_).mesh.points, one.mesh.points);
}

TEST_F(ExtractMaterials, IsComparedWithTheImage) {
  ImageGrid grid;
  grid.shape = {34, 22, 22};
  std::vector<std::int32_t> labels = half_balls(grid);
  // Two small balls: another part of 9, and all of 3.
  for (std::size_t v = 0; v < labels.size(); ++v) {
    const Vec3d p = grid.position(VertexId(v));
    if (norm(p - Vec3d{26, 6, 11}) < 2.2) labels[v] = 9;
    if (norm(p - Vec3d{26, 15, 11}) < 2.2) labels[v] = 3;
  }
  options_.isosurface = ExtractOptions::Isosurface::fine;
  const ExtractedMaterials fine = extract_materials(grid, labels, {}, {}, options_);
  EXPECT_TRUE(fine.differences.empty());
  const SurfaceDistance distance = surface_distance(fine.mesh, fine.isosurface, 2);
  EXPECT_LT(distance.there.percentile_95, 0.15);
  EXPECT_LT(distance.back.percentile_95, 0.15);
  EXPECT_LT(distance.hausdorff(), 0.6);
  // Borders of two are there once: the isosurface has the area of the mesh.
  EXPECT_NEAR(surface_topology(fine.isosurface).area / surface_topology(fine.mesh).area, 1, 0.03);

  // A mesh without these balls.
  const MultiLabelField field(grid, labels);
  TriangleMesh mesh;
  for (const Vec3d& p : fine.mesh.points) mesh.points.push_back(field.frame().to_lattice(p));
  std::vector<RegionSides> sides;
  for (std::size_t t = 0; t < fine.sides.size(); ++t) {
    if (fine.mesh.point(fine.mesh.elements[t][0]).x > 22) continue;
    mesh.elements.push_back(fine.mesh.elements[t]);
    sides.push_back(fine.sides[t]);
  }
  std::vector<std::int32_t> lost;
  for (const MaterialDifference& one : material_differences(field, mesh, sides, 2)) {
    EXPECT_EQ(one.border.kind, SurfaceDifference::Kind::lost);
    EXPECT_NEAR(one.border.area, 4 * std::numbers::pi * 4, 20);
    EXPECT_NEAR(field.frame().to_world(one.border.place).x, 26, 3);
    lost.push_back(one.material);
  }
  EXPECT_THAT(lost, ElementsAre(3, 9));
}

TEST_F(ExtractMaterials, CanBeStoppedInEveryStage) {
  ImageGrid grid;
  grid.shape = {22, 22, 22};
  const auto labels = half_balls(grid);
  options_.sizing.uniform = 2;
  std::vector<std::string> stages;
  options_.begin_stage = [&](const std::string& stage) {
    stages.push_back(stage);
    return Progress{};
  };
  extract_materials(grid, labels, {}, {}, options_);
  EXPECT_THAT(stages, IsSupersetOf({"fields", "sizes", "points", "particles", "triangles"}));
  const std::atomic<bool> stop = true;
  for (const std::string& last : stages) {
    SCOPED_TRACE(last);
    options_.begin_stage = [&](const std::string& stage) { return Progress{{}, stage == last ? &stop : nullptr}; };
    EXPECT_THROW(extract_materials(grid, labels, {}, {}, options_), Cancelled);
  }
}

TEST_F(ExtractMaterials, SaysWhatIsWrong) {
  ImageGrid grid;
  grid.shape = {22, 22, 22};
  const auto labels = half_balls(grid);
  EXPECT_THROW(extract_materials(grid, labels, {0, 4}, {}, options_), UsageError);
  EXPECT_THROW(extract_materials(grid, labels, {4, 7}, {}, options_), InputError);
  EXPECT_THROW(extract_materials(grid, std::vector<std::int32_t>(labels.size()), {}, {}, options_), InputError);
  EXPECT_THROW(extract_materials(grid, std::span(labels).first(9), {}, {}, options_), InputError);
  options_.max_particles = 100;
  EXPECT_THROW(extract_materials(grid, labels, {}, {}, options_), InputError);
  options_.max_particles = 0;
  options_.sizing.uniform = 1e-5;
  EXPECT_THROW(extract_materials(grid, labels, {}, {}, options_), InputError);
}

TEST_F(ExtractMaterials, SlowFortyTwoLabels) {
  const auto folder = test::data_folder();
  if (!folder) GTEST_SKIP() << "no ISOCHRON_DATA and no ../shared/data";
  const Image image = read_image(*folder / "vol" / "labels_122x101x30.nii.gz");
  std::vector<std::int32_t> labels;
  std::visit([&](const auto& data) { labels.assign(data.begin(), data.end()); }, image.data.all()[0].values);
  options_.sizing.uniform = 8;
  const ExtractedMaterials surface = extract_materials(image.grid, labels, {}, {}, options_);
  EXPECT_GE(surface.materials.size(), 39U);  // specks of a voxel or two may be lost, which is said
  const auto lost = std::count_if(surface.notes.begin(), surface.notes.end(), [](const std::string& note) {
    return note.find("has no triangles") != std::string::npos;
  });
  EXPECT_EQ(surface.materials.size() + static_cast<std::size_t>(lost), 41U);
  for (const MaterialDifference& one : surface.differences) {
    const bool gone =
        one.border.kind == SurfaceDifference::Kind::lost || one.border.kind == SurfaceDifference::Kind::merged;
    EXPECT_TRUE(!gone || one.border.area < 30 * 9) << one.material;  // thirty faces of voxels
  }
  const ShapeStatistics shape = shape_statistics(surface.mesh, 2);
  EXPECT_GT(shape.radius_ratio.min(), 0.2);
  EXPECT_GT(shape.angles.min(), 12);
  EXPECT_TRUE(self_intersections(surface.mesh, 2).empty());
  expect_closed_borders(surface);
}

}  // namespace TEST_FILE
}  // namespace isochron
