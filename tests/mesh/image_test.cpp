#include "isochron/image.h"

#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

/// Oblique, with three spacings.
ImageGrid oblique() {
  ImageGrid grid;
  grid.shape = {5, 4, 3};
  grid.origin = {-10, 20, 3};
  grid.axes = {Vec3d{0, 2, 0.5}, Vec3d{-1.5, 0.1, 0}, Vec3d{0.2, 0, 3}};
  return grid;
}

TEST(ImageGrid, VoxelsAndIndicesAreInverse) {
  const ImageGrid grid = oblique();
  std::size_t next = 0;
  for (std::uint32_t k = 0; k < 3; ++k)
    for (std::uint32_t j = 0; j < 4; ++j)
      for (std::uint32_t i = 0; i < 5; ++i) {
        const VertexId voxel = grid.voxel(i, j, k);
        EXPECT_EQ(voxel.index(), next++);
        EXPECT_EQ(grid.index(voxel), (std::array<std::uint32_t, 3>{i, j, k}));
        EXPECT_EQ(grid.voxel_at(grid.position(voxel)), voxel);
      }
  EXPECT_EQ(next, grid.voxel_count());
}

TEST(ImageGrid, PositionsAndIndicesAreInverse) {
  const ImageGrid grid = oblique();
  const Vec3d index{1.25, -0.5, 7.75};
  EXPECT_LT(norm(grid.index_of(grid.position(index)) - index), 1e-12);
}

TEST(ImageGrid, OutsideHasNoVoxel) {
  const ImageGrid grid = oblique();
  EXPECT_TRUE(grid.voxel_at(grid.position({4.4, 0, 0})).has_value());
  EXPECT_FALSE(grid.voxel_at(grid.position({4.6, 0, 0})).has_value());
  EXPECT_FALSE(grid.voxel_at(grid.position({0, -0.6, 0})).has_value());
}

TEST(ImageGrid, SingularAndEmptyAreRefused) {
  ImageGrid grid = oblique();
  EXPECT_NO_THROW(check_grid(grid, "it"));
  grid.axes[2] = grid.axes[0] + grid.axes[1];
  EXPECT_THROW(check_grid(grid, "it"), InputError);
  grid = oblique();
  grid.shape[1] = 0;
  EXPECT_THROW(check_grid(grid, "it"), InputError);
  grid.shape = {65536, 65536, 2};
  EXPECT_THROW(check_grid(grid, "it"), InputError);
  for (const double scale : {1e-160, 1e160}) {
    grid = oblique();
    for (Vec3d& axis : grid.axes) axis = scale * axis;
    EXPECT_THROW(check_grid(grid, "it"), InputError) << scale;
  }
}

TEST(ImageGrid, SameVoxelsAllowsRounding) {
  const ImageGrid grid = oblique();
  ImageGrid other = grid;
  other.origin.x += 1e-3;
  EXPECT_TRUE(same_voxels(grid, other));
  other.origin.x += 0.5;
  EXPECT_FALSE(same_voxels(grid, other));
  other = grid;
  other.shape[0] = 6;
  EXPECT_FALSE(same_voxels(grid, other));
}

TEST(ImageGrid, MetricMeasuresStepsAsTheWorldDoes) {
  const ImageGrid grid = oblique();
  const SymTensor3d m{4, 0.5, 0.1, 3, -0.2, 2};
  const Vec3d step{1, -2, 3};
  EXPECT_NEAR(squared_length(metric_per_voxel(grid, m), step), squared_length(m, grid.position(step) - grid.origin),
              1e-10);
}

TEST(TensorOrder, AllOrdersGiveOneTensor) {
  const SymTensor3d expected{1, 2, 3, 4, 5, 6};
  const auto read = [](std::vector<double> t, TensorOrder order) { return tensor_of(t, order); };
  EXPECT_EQ(read({1, 2, 3, 4, 5, 6}, TensorOrder::row), expected);
  EXPECT_EQ(read({1, 4, 6, 2, 5, 3}, TensorOrder::vtk), expected);
  EXPECT_EQ(read({1, 4, 6, 2, 3, 5}, TensorOrder::mrtrix), expected);
  EXPECT_EQ(read({1, 2, 4, 3, 5, 6}, TensorOrder::lower), expected);
  EXPECT_EQ(read({1, 2, 3, 2, 4, 5, 3, 5, 6}, TensorOrder::vtk), expected);
}

}  // namespace TEST_FILE
}  // namespace isochron
