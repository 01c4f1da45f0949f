#include "isochron/diffusion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isochron/image.h"

namespace isochron::test {
namespace TEST_FILE {

/// Thin straight fibres along the voxel diagonals (1, 1, 1) and, in the upper half, (1, 1, 0), nothing between them, on
/// an axis-permuted, mirrored grid.
struct Bundles {
  ImageGrid grid;
  std::vector<SymTensor3d> tensors;

  Bundles() {
    grid.shape = {24, 24, 24};
    grid.axes = {Vec3d{0, -2, 0}, Vec3d{0, 0, 2.5}, Vec3d{-3, 0, 0}};
    for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
      const auto [i, j, k] = grid.index(VertexId(v));
      const bool upper = k >= 12;
      const bool fiber = upper ? (i + 24 - j) % 4 == 0 && k % 4 == 0 : (i + 24 - k) % 4 == 0 && (j + 24 - k) % 4 == 0;
      const Vec3d along = grid.axes[0] + grid.axes[1] + (upper ? 0.0 : 1.0) * grid.axes[2];
      tensors.push_back(SymTensor3d::identity(0.2) + SymTensor3d::outer(along / norm(along), fiber ? 1.0 : 0.0));
    }
  }
};

SymTensor3d mirrored(const SymTensor3d& t, int axis) {
  const double x = axis == 0 ? -1 : 1, y = axis == 1 ? -1 : 1, z = axis == 2 ? -1 : 1;
  return {t.xx, x * y * t.xy, x * z * t.xz, t.yy, y * z * t.yz, t.zz};
}

TEST(FiberCoherence, RightAxesAreLeftInPeace) {
  const Bundles bundles;
  const FiberCoherence found = fiber_coherence(bundles.grid, bundles.tensors);
  EXPECT_EQ(found.voxels, 2 * 24U * 24 * 12 / 16);
  ASSERT_EQ(found.candidates.size(), 6U);
  EXPECT_EQ(found.candidates[0].name, "as given");
  EXPECT_GT(found.candidates[0].coherence, 0.85);
  EXPECT_EQ(found.better(), nullptr);
}

TEST(FiberCoherence, ANegatedAxisIsFound) {
  const Bundles bundles;
  const char* names[] = {"x negated", "y negated", "z negated"};
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<SymTensor3d> wrong;
    for (const SymTensor3d& t : bundles.tensors) wrong.push_back(mirrored(t, axis));
    const FiberCoherence found = fiber_coherence(bundles.grid, wrong);
    ASSERT_NE(found.better(), nullptr) << names[axis];
    EXPECT_EQ(found.better()->name, names[axis]);
  }
}

TEST(FiberCoherence, TensorsAlongTheVoxelAxesAreFound) {
  const Bundles bundles;
  for (const auto& [frame, name] :
       {std::pair{TensorFrame::voxel, "frame voxel"}, std::pair{TensorFrame::fsl, "frame fsl"}}) {
    // What a program writes that gives components along the frame's axes: the inverse rotation.
    const FrameAxes axes = frame_axes(bundles.grid, frame);
    const auto& [a, b, c] = axes.axis;
    std::vector<SymTensor3d> wrong;
    for (const SymTensor3d& t : bundles.tensors)
      wrong.push_back(
          {product(t, a, a), product(t, a, b), product(t, a, c), product(t, b, b), product(t, b, c), product(t, c, c)});
    const FiberCoherence found = fiber_coherence(bundles.grid, wrong);
    ASSERT_NE(found.better(), nullptr) << name;
    EXPECT_EQ(found.better()->name, name);
    EXPECT_NEAR(found.better()->coherence, fiber_coherence(bundles.grid, bundles.tensors).candidates[0].coherence,
                1e-12);
  }
}

TEST(FiberCoherence, AWrongFrameIsFoundFromEachOther) {
  const Bundles bundles;
  // Tensors along the world's axes that somebody took for tensors along the voxels'.
  std::vector<SymTensor3d> wrong;
  for (const SymTensor3d& t : bundles.tensors) wrong.push_back(rotate_to_world(t, bundles.grid, TensorFrame::voxel));
  const FiberCoherence found = fiber_coherence(bundles.grid, wrong, TensorFrame::voxel);
  ASSERT_NE(found.better(), nullptr);
  EXPECT_EQ(found.better()->name, "frame world");
}

TEST(FiberCoherence, NothingToSeeIsNoComplaint) {
  ImageGrid grid;
  grid.shape = {4, 4, 4};
  std::vector<SymTensor3d> tensors(64, SymTensor3d::identity());
  tensors[1] = {};
  tensors[2].xx = std::nan("");
  tensors[3] = SymTensor3d::diagonal(1, 0.1, 0.1);
  const FiberCoherence found = fiber_coherence(grid, tensors);
  EXPECT_EQ(found.voxels, 1U);
  EXPECT_EQ(found.better(), nullptr);
  EXPECT_EQ(fiber_coherence(grid, std::vector<SymTensor3d>(64)).voxels, 0U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
