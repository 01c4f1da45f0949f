#include "isochron/connect.h"

#include <gtest/gtest.h>

#include "connect/connect_samples.h"
#include "isochron/error.h"

namespace isochron::test {
namespace TEST_FILE {

TensorField view(const TensorSample& sample) { return {sample.grid, sample.tensors, sample.mask}; }

ImageGrid ring_grid() {
  ImageGrid grid = straight_grid(25, 25, 5);
  grid.origin = {-12, -12, -2};
  return grid;
}

TEST(TensorAt, IsLinearBetweenVoxels) {
  const TensorSample sample(straight_grid(4, 3, 2, 2.0),
                            [](const Vec3d& p) { return SymTensor3d::diagonal(1 + p.x, 2 + p.y, 3 + p.z + p.x); });
  const auto t = tensor_at(view(sample), {3.3, 1.7, 0.9});
  ASSERT_TRUE(t);
  EXPECT_NEAR(t->xx, 4.3, 1e-12);
  EXPECT_NEAR(t->yy, 3.7, 1e-12);
  EXPECT_NEAR(t->zz, 7.2, 1e-12);
  EXPECT_FALSE(tensor_at(view(sample), {-1.1, 0, 0}));
  const auto beyond = tensor_at(view(sample), {-0.9, 0, 0});  // in the outer half of the first voxel
  ASSERT_TRUE(beyond);
  EXPECT_NEAR(beyond->xx, 1, 1e-12);
}

TEST(TensorAt, LeavesOutMaskedVoxels) {
  TensorSample sample(straight_grid(3, 1, 1), [](const Vec3d& p) { return SymTensor3d::identity(1 + p.x); });
  sample.mask[2] = 0;
  EXPECT_NEAR(tensor_at(view(sample), {1.4, 0, 0})->xx, 2, 1e-12);
  EXPECT_FALSE(tensor_at(view(sample), {1.6, 0, 0}));
}

TEST(Streamlines, FollowStraightFibresFromBorderToBorder) {
  const Vec3d along{1, 0.25, 0};
  const TensorSample sample(straight_grid(30, 12, 7), [&](const Vec3d&) { return fiber_tensor(along); });
  const Region from = voxel_region({sample.grid.voxel(3, 2, 3)}), to = voxel_region({sample.grid.voxel(23, 7, 3)});
  const Streamlines found = track_streamlines(view(sample), from, to);
  EXPECT_EQ(found.seeds, 8u);
  ASSERT_EQ(found.lines.size(), 8u);
  EXPECT_GT(found.reaching, 0u);
  for (const Streamline& line : found.lines) {
    EXPECT_GT(norm(line.points.back() - line.points.front()), 28);
    for (const Vec3d& p : line.points) {
      const Vec3d off = p - line.points.front();
      EXPECT_NEAR(norm(cross(off, along)) / norm(along), 0, 1e-9);
    }
  }
}

// A circle of radius 8 closes on itself to the fourth order of the step: the radius stays although the line turns.
TEST(Streamlines, StayOnACircle) {
  const TensorSample sample(ring_grid(), ring_tensor);
  StreamlineOptions options;
  options.seeds_per_axis = 1;
  options.longest = 60;
  const Region from = voxel_region({*sample.grid.voxel_at({8, 0, 0})}),
               to = voxel_region({*sample.grid.voxel_at({-8, 0, 0})});
  const Streamlines found = track_streamlines(view(sample), from, to, options);
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.reaching, 1u);
  EXPECT_GT(found.lines[0].points.size(), 200u);
  for (const Vec3d& p : found.lines[0].points) {
    EXPECT_NEAR(std::hypot(p.x, p.y), 8, 0.1);
    EXPECT_NEAR(p.z, 0, 1e-6);
  }
}

TEST(Streamlines, EndAtTheMaskAndAtLowAnisotropy) {
  TensorSample sample(straight_grid(20, 3, 3), [](const Vec3d& p) {
    return p.x > 14 ? SymTensor3d::identity(1e-3) : fiber_tensor({1, 0, 0});
  });
  for (std::uint32_t j = 0; j < 3; ++j)
    for (std::uint32_t k = 0; k < 3; ++k) sample.mask[sample.grid.voxel(4, j, k).index()] = 0;
  StreamlineOptions options;
  options.seeds_per_axis = 1;
  const Region from = voxel_region({sample.grid.voxel(10, 1, 1)}), to = voxel_region({sample.grid.voxel(2, 1, 1)});
  const Streamlines found = track_streamlines(view(sample), from, to, options);
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.reaching, 0u);
  double low = 1e9, high = -1e9;
  for (const Vec3d& p : found.lines[0].points) {
    low = std::min(low, p.x);
    high = std::max(high, p.x);
  }
  EXPECT_NEAR(low, 5, 0.51);
  EXPECT_GT(high, 13);
  EXPECT_LT(high, 15.5);
}

TEST(Streamlines, EndWhereTheyWouldTurnSharply) {
  const TensorSample sample(straight_grid(20, 20, 3), [](const Vec3d& p) {
    return fiber_tensor(p.x < 9.5 ? Vec3d{1, 0, 0} : Vec3d{0.2, 1, 0});
  });
  StreamlineOptions options;
  options.seeds_per_axis = 1;
  options.largest_angle = 15;
  const Region from = voxel_region({sample.grid.voxel(2, 5, 1)}), to = voxel_region({sample.grid.voxel(10, 15, 1)});
  const Streamlines found = track_streamlines(view(sample), from, to, options);
  ASSERT_EQ(found.lines.size(), 1u);
  double furthest = 0;
  for (const Vec3d& p : found.lines[0].points) furthest = std::max(furthest, p.x);
  EXPECT_GT(furthest, 8);
  EXPECT_LT(furthest, 10.5);
}

TEST(Streamlines, DoNotDependOnThreads) {
  const TensorSample sample(ring_grid(), ring_tensor);
  StreamlineOptions options;
  options.longest = 30;
  const Region from = voxel_region({*sample.grid.voxel_at({5, 0, 0}), *sample.grid.voxel_at({8, 0, 0})});
  const Region to = voxel_region({*sample.grid.voxel_at({0, 8, 0})});
  const Streamlines one = track_streamlines(view(sample), from, to, options);
  options.threads = 3;
  const Streamlines three = track_streamlines(view(sample), from, to, options);
  ASSERT_FALSE(one.lines.empty());
  ASSERT_EQ(one.lines.size(), three.lines.size());
  for (std::size_t i = 0; i < one.lines.size(); ++i) EXPECT_EQ(one.lines[i].points, three.lines[i].points);
}

TEST(Streamlines, RefuseOptionsOutOfRange) {
  const TensorSample sample(straight_grid(2, 2, 2), [](const Vec3d&) { return fiber_tensor({1, 0, 0}); });
  StreamlineOptions options;
  options.step = 0;
  const Region region = voxel_region({VertexId(0)});
  EXPECT_THROW(track_streamlines(view(sample), region, region, options), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
