// Meshes of labels have the volumes of their voxels, however thin these are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "isochron/core/random.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface.h"
#include "isochron/surface/field/volume.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/mesh_volume.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::HasSubstr;

const Vec3d middle{11.3, 11.6, 11.4};

ImageGrid cube(std::uint32_t n = 24) { return {{n, n, n}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}}; }

std::vector<std::int32_t> labels_by(const ImageGrid& grid, const std::function<std::int32_t(Vec3d)>& label) {
  std::vector<std::int32_t> labels(grid.voxel_count());
  for (std::size_t v = 0; v < labels.size(); ++v) labels[v] = label(grid.position(VertexId(v)));
  return labels;
}

bool in_block(Vec3d p) { return p.x > 3 && p.x < 20 && p.y > 3 && p.y < 20; }

TEST(LabelVolume, OfASplineIsThatOfABall) {
  const ImageGrid grid = cube();
  Lattice lattice;
  for (int& n : lattice.shape) n = 24;
  for (const double radius : {2.0, 5.0, 9.0}) {
    const auto values = sampled(grid, [&](Vec3d p) { return norm(p - middle) - radius; });
    const double exact = 4.0 / 3 * std::numbers::pi * std::pow(radius, 3);
    EXPECT_NEAR(negative_volume(SplineField(lattice, values), values, 2) / exact, 1, 0.15 / (radius * radius));
  }
}

TEST(LabelVolume, OffsetIsFoundAndStaysZeroWhereItIsNearEnough) {
  double last = 0;
  const auto cubic = [&](double offset) {
    last = offset;
    return std::pow(2 + offset, 3);
  };
  EXPECT_NEAR(offset_for_volume(10, 1, cubic), std::cbrt(10) - 2, 0.01);
  EXPECT_NEAR(last, std::cbrt(10) - 2, 0.01);
  EXPECT_NEAR(offset_for_volume(5, 1, cubic), std::cbrt(5) - 2, 0.01);
  EXPECT_EQ(offset_for_volume(8.02, 1, cubic), 0);
  EXPECT_LE(offset_for_volume(100, 1, cubic), 1);
}

class ThinLabels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
    options_.threads = 2;
  }
  /// The volume that a mesh of label 1 has, as a share of that of the voxels.
  double share(const std::function<bool(Vec3d)>& inside, double smoothing) const {
    const ImageGrid grid = cube();
    FieldOptions field;
    field.smoothing = smoothing;
    const ExtractedSurface surface = extract_surface(
        from_labels(grid, labels_by(grid, [&](Vec3d p) { return inside(p) ? 1 : 0; }), {1}, field), options_);
    EXPECT_TRUE(self_intersections(surface.mesh, 2).empty());
    EXPECT_TRUE(surface.notes.empty());
    return surface_topology(surface.mesh).volume / *surface.voxel_volume;
  }
  void expect_volumes(const ExtractedMaterials& surface) const {
    const LabelVolumes found = enclosed_volumes(surface.mesh, surface.sides);
    ASSERT_EQ(found.size(), surface.materials.size());
    ASSERT_EQ(surface.voxel_volumes.size(), surface.materials.size());
    for (std::size_t i = 0; i < surface.materials.size(); ++i)
      EXPECT_NEAR(found.at(surface.materials[i]) / surface.voxel_volumes[i], 1, 0.03) << surface.materials[i];
    EXPECT_TRUE(self_intersections(surface.mesh, 2).empty());
    EXPECT_TRUE(surface.notes.empty());
  }
  ExtractOptions options_;
};

TEST_F(ThinLabels, SheetsShellsAndSmallBallsKeepTheirVolumes) {
  for (const double smoothing : {0.0, 1.0}) {
    SCOPED_TRACE(smoothing);
    for (const int thickness : {1, 2})
      EXPECT_NEAR(share([&](Vec3d p) { return in_block(p) && p.z >= 9 && p.z < 9 + thickness; }, smoothing), 1, 0.03);
    for (const double radius : {2.0, 6.0})
      EXPECT_NEAR(share([&](Vec3d p) { return norm(p - middle) < radius; }, smoothing), 1, 0.03);
  }
  EXPECT_NEAR(share([](Vec3d p) { return std::abs(norm(p - middle) - 7) < 0.5; }, 1), 1, 0.03);
}

// In thick slices a step along each axis has another length.
TEST_F(ThinLabels, KeepTheirVolumesInThickSlices) {
  ImageGrid grid = cube();
  grid.axes[2] = {0, 0, 2.5};
  const auto labels = labels_by(grid, [](Vec3d p) { return in_block(p) && p.z > 20 && p.z < 26 ? 1 : 0; });
  const ExtractedSurface surface = extract_surface(from_labels(grid, labels, {1}), options_);
  EXPECT_NEAR(surface_topology(surface.mesh).volume / *surface.voxel_volume, 1, 0.03);
  expect_volumes(extract_materials(grid, labels, {}, {}, options_));
}

TEST_F(ThinLabels, MaterialsKeepTheirVolumes) {
  const ImageGrid grid = cube();
  const auto layers = labels_by(grid, [](Vec3d p) {
    return !in_block(p) || p.z < 4 || p.z > 19 ? 0 : p.z < 10 ? 4 : p.z < 11 ? 5 : 6;
  });
  expect_volumes(extract_materials(grid, layers, {}, {}, options_));
  const auto coated = labels_by(grid, [](Vec3d p) {
    const double r = norm(p - middle);
    return r < 6 ? 1 : r < 7 ? 2 : 0;
  });
  expect_volumes(extract_materials(grid, coated, {}, {}, options_));
  const auto sheet = labels_by(grid, [](Vec3d p) { return in_block(p) && p.z == 9 ? 1 : 0; });
  expect_volumes(extract_materials(grid, sheet, {}, {}, options_));
}

// The nearest of some random points, and around them nothing.
TEST_F(ThinLabels, CellsOfManyLabelsKeepTheirVolumes) {
  const ImageGrid grid = cube();
  Random random(3);
  std::vector<Vec3d> centres;
  for (int i = 0; i < 30; ++i) centres.push_back({random.uniform(3, 20), random.uniform(3, 20), random.uniform(3, 20)});
  const auto labels = labels_by(grid, [&](Vec3d p) {
    if (norm(p - middle) > 7) return 0;
    const auto nearest = std::min_element(centres.begin(), centres.end(),
                                          [&](const Vec3d& a, const Vec3d& b) { return norm(p - a) < norm(p - b); });
    return static_cast<std::int32_t>(nearest - centres.begin()) % 15 + 1;
  });
  options_.sizing.uniform = 1;
  expect_volumes(extract_materials(grid, labels, {}, {}, options_));
}

TEST_F(ThinLabels, VolumesThatAreLostAreNoted) {
  const ImageGrid grid = cube();
  const auto labels = labels_by(grid, [](Vec3d p) { return norm(p - middle) < 4 ? 7 : 0; });
  options_.sizing.uniform = 4;
  const ExtractedSurface one = extract_surface(from_labels(grid, labels, {7}), options_);
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_THAT(one.notes[0], HasSubstr("less volume than the voxels"));
  const ExtractedMaterials all = extract_materials(grid, labels, {}, {}, options_);
  ASSERT_FALSE(all.notes.empty());
  EXPECT_THAT(all.notes[0], HasSubstr("label 7 (-"));
}

}  // namespace TEST_FILE
}  // namespace isochron
