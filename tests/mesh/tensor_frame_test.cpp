#include "isochron/image.h"

#include <gtest/gtest.h>

#include <cmath>

#include "isochron/core/random.h"
#include "isochron/types.h"
#include "support/random_frame.h"

namespace isochron {
namespace TEST_FILE {

using test::random_unit;
using test::RandomFrame;

/// An oblique image; its affine has a positive determinant, or a negative one.
ImageGrid oblique(Random& random, double handedness) {
  const RandomFrame frame(random);
  ImageGrid grid;
  grid.shape = {4, 5, 6};
  grid.axes = {handedness * 1.5 * frame.axis[0], 2.0 * frame.axis[1], 2.7 * frame.axis[2]};
  return grid;
}

void expect_near(const SymTensor3d& a, const SymTensor3d& b, double tolerance) {
  EXPECT_LT(largest_component(a - b), tolerance);
}

TEST(TensorFrame, OnePhysicalTensorInThreeFrames) {
  Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    for (const double handedness : {1.0, -1.0}) {
      const ImageGrid grid = oblique(random, handedness);
      const RandomFrame fibres(random);
      const SymTensor3d world = tensor_of_eigen(Vec3d{1.7e-3, 4e-4, 2e-4}, fibres.axis);
      // Components along the voxel axes are products with the axes' directions.
      const Vec3d a = grid.axes[0] / 1.5, b = grid.axes[1] / 2.0, c = grid.axes[2] / 2.7;
      const SymTensor3d voxel{product(world, a, a), product(world, a, b), product(world, a, c),
                              product(world, b, b), product(world, b, c), product(world, c, c)};
      SymTensor3d fsl = voxel;
      if (handedness > 0) {
        fsl.xy = -fsl.xy;
        fsl.xz = -fsl.xz;
      }
      expect_near(rotate_to_world(world, grid, TensorFrame::world), world, 1e-18);
      expect_near(rotate_to_world(voxel, grid, TensorFrame::voxel), world, 1e-17);
      expect_near(rotate_to_world(fsl, grid, TensorFrame::fsl), world, 1e-17);
    }
  }
}

TEST(TensorFrame, DirectionsTurnLikeTensors) {
  Random random(12);
  for (const double handedness : {1.0, -1.0})
    for (const TensorFrame frame : {TensorFrame::world, TensorFrame::voxel, TensorFrame::fsl}) {
      const ImageGrid grid = oblique(random, handedness);
      const Vec3d v = random_unit(random);
      const Vec3d turned = rotate_to_world(v, frame_axes(grid, frame));
      EXPECT_NEAR(norm(turned), 1, 1e-14);
      expect_near(rotate_to_world(SymTensor3d::outer(v), grid, frame), SymTensor3d::outer(turned), 1e-14);
    }
}

TEST(TensorFrame, FslReversesTheFirstAxisOfRightHandedImagesOnly) {
  ImageGrid grid;
  EXPECT_EQ(frame_axes(grid, TensorFrame::fsl).axis[0], (Vec3d{-1, 0, 0}));
  EXPECT_EQ(frame_axes(grid, TensorFrame::voxel).axis[0], (Vec3d{1, 0, 0}));
  grid.axes[0] = {-2, 0, 0};  // radiological storage, as FSL likes it
  EXPECT_EQ(frame_axes(grid, TensorFrame::fsl).axis[0], (Vec3d{-1, 0, 0}));
  EXPECT_EQ(frame_axes(grid, TensorFrame::fsl).axis[1], (Vec3d{0, 1, 0}));
}

TEST(TensorFrame, ShearedAxesGiveTheNearestRightAngles) {
  ImageGrid grid;
  grid.axes = {Vec3d{1, 0, 0}, Vec3d{std::sin(0.1), std::cos(0.1), 0}, Vec3d{0, 0, 3}};
  const FrameAxes axes = frame_axes(grid, TensorFrame::voxel);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(norm(axes.axis[i]), 1, 1e-14);
    EXPECT_NEAR(dot(axes.axis[i], axes.axis[(i + 1) % 3]), 0, 1e-14);
  }
  // Both axes give way alike: by half the angle.
  EXPECT_NEAR(axes.axis[0].y, -std::sin(0.05), 1e-12);
  EXPECT_NEAR(axes.axis[1].x, std::sin(0.05), 1e-12);
}

}  // namespace TEST_FILE
}  // namespace isochron
