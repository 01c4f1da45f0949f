#include "isochron/draw/image_isosurface.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "isochron/mesh_quality.h"
#include "support/random_frame.h"

namespace isochron {
namespace TEST_FILE {

/// Turned, mirrored when asked for, with three spacings.
ImageGrid turned_grid(std::array<std::uint32_t, 3> shape, bool mirrored) {
  Random random(4);
  const test::RandomFrame frame(random);
  ImageGrid grid{shape, {10, -20, 5}, {0.8 * frame.axis[0], 1.1 * frame.axis[1], 1.4 * frame.axis[2]}};
  const bool left_handed = dot(grid.axes[0], cross(grid.axes[1], grid.axes[2])) < 0;
  if (left_handed != mirrored) grid.axes[0] = -grid.axes[0];
  return grid;
}

template <class Function>
std::vector<float> values_on(const ImageGrid& grid, const Function& function) {
  std::vector<float> values;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v)
    values.push_back(static_cast<float>(function(grid.position(VertexId(v)))));
  return values;
}

Vec3d centre_of(const ImageGrid& grid) {
  return grid.position(0.5 * Vec3d{grid.shape[0] - 1.0, grid.shape[1] - 1.0, grid.shape[2] - 1.0});
}

double voxel_volume(const ImageGrid& grid) { return std::abs(dot(grid.axes[0], cross(grid.axes[1], grid.axes[2]))); }

void expect_closed(const TriangleMesh& mesh) {
  const SurfaceTopology topology = surface_topology(mesh);
  EXPECT_TRUE(topology.closed());
  EXPECT_TRUE(topology.manifold());
  EXPECT_TRUE(topology.oriented());
  EXPECT_GT(topology.volume, 0);
}

class ImageIsosurface : public testing::TestWithParam<bool> {};

TEST_P(ImageIsosurface, ABallIsWhereTheWorldHasIt) {
  const ImageGrid grid = turned_grid({34, 27, 23}, GetParam());
  const Vec3d centre = centre_of(grid) + Vec3d{0.3, -0.2, 0.1};
  const auto distance = values_on(grid, [&](const Vec3d& p) { return norm(p - centre); });
  const TriangleMesh mesh = image_isosurface(grid, distance, 8, Enclose::below);
  expect_closed(mesh);
  const SurfaceTopology topology = surface_topology(mesh);
  EXPECT_EQ(topology.euler_characteristic(), 2);
  const double exact = 4 * std::numbers::pi / 3 * 512;
  EXPECT_NEAR(topology.volume, exact, 0.02 * exact);
  for (const Vec3d& p : mesh.points) EXPECT_NEAR(norm(p - centre), 8, 0.08);
  // The same set as values above a level.
  auto height = distance;
  for (float& value : height) value = 100 - value;
  const TriangleMesh same = image_isosurface(grid, height, 92, Enclose::above);
  EXPECT_EQ(same.element_count(), mesh.element_count());
  EXPECT_NEAR(surface_topology(same).volume, topology.volume, 1e-3);
  const auto normals = vertex_normals(mesh);
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3d n{normals[v].x, normals[v].y, normals[v].z};
    EXPECT_NEAR(norm(n), 1, 1e-5);
    EXPECT_GT(dot(n, (mesh.points[v] - centre) / 8.0), 0.9);
  }
}

// Linear values have a plane, exactly, and the border half a voxel beyond the image.
TEST_P(ImageIsosurface, LinearValuesGiveAPlane) {
  const ImageGrid grid = turned_grid({9, 8, 7}, GetParam());
  const Vec3d normal{0.6, 0, 0.8}, centre = centre_of(grid);
  const TriangleMesh mesh = image_isosurface(
      grid, values_on(grid, [&](const Vec3d& p) { return dot(p - centre, normal); }), 0.37, Enclose::above);
  expect_closed(mesh);
  std::size_t on_plane = 0;
  for (const Vec3d& p : mesh.points) {
    const Vec3d index = grid.index_of(p);
    bool inner = true;
    for (int a = 0; a < 3; ++a) inner = inner && index[a] > -1e-9 && index[a] < grid.shape[a] - 1 + 1e-9;
    if (!inner) continue;
    EXPECT_NEAR(dot(p - centre, normal), 0.37, 2e-3);
    ++on_plane;
  }
  EXPECT_GT(on_plane, 20U);
}

// The star of a point in the six tetrahedra of each cell has the volume of four voxels; half its size, of half a voxel.
TEST_P(ImageIsosurface, OneVoxelIsHalfItsStar) {
  const ImageGrid grid = turned_grid({3, 4, 5}, GetParam());
  std::vector<float> values(grid.voxel_count(), std::numeric_limits<float>::infinity());
  for (const auto at : {std::array<std::uint32_t, 3>{1, 2, 3}, {0, 0, 0}, {2, 3, 4}}) {
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::infinity());
    values[grid.voxel(at[0], at[1], at[2]).index()] = -7;
    const TriangleMesh mesh = image_isosurface(grid, values, 0, Enclose::below);
    expect_closed(mesh);
    EXPECT_EQ(mesh.vertex_count(), 14U);
    EXPECT_NEAR(surface_topology(mesh).volume, 0.5 * voxel_volume(grid), 1e-12);
  }
}

// All voxels: blocks between the centres, with half of what is around.
TEST_P(ImageIsosurface, AFullImageIsClosedBeyondItsBorder) {
  const ImageGrid grid = turned_grid({4, 4, 4}, GetParam());
  const TriangleMesh mesh = image_isosurface(grid, std::vector<float>(grid.voxel_count(), 1), 0.5, Enclose::above);
  expect_closed(mesh);
  const double volume = surface_topology(mesh).volume / voxel_volume(grid);
  EXPECT_GT(volume, 27);
  EXPECT_LT(volume, 64);
}

INSTANTIATE_TEST_SUITE_P(Handedness, ImageIsosurface, testing::Bool());

TEST(ImageIsosurfaceInput, NothingInsideGivesNothing) {
  const ImageGrid grid = turned_grid({4, 4, 4}, false);
  std::vector<float> values(grid.voxel_count(), 1);
  EXPECT_EQ(image_isosurface(grid, values, 2, Enclose::above).element_count(), 0U);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(image_isosurface(grid, values, 2, Enclose::above).element_count(), 0U);
}

TEST(ImageIsosurfaceInput, IsRefusedWhenItMakesNoSense) {
  const ImageGrid grid = turned_grid({4, 4, 4}, false);
  const std::vector<float> values(grid.voxel_count(), 1);
  EXPECT_THROW(image_isosurface(grid, values, std::nan(""), Enclose::above), UsageError);
  EXPECT_THROW(image_isosurface(grid, std::span(values).first(7), 0, Enclose::above), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron
