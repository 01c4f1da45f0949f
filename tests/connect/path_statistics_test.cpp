#include "isochron/connect.h"

#include <limits>

#include <gtest/gtest.h>

#include "connect/connect_samples.h"
#include "isochron/diffusion.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(PathStatistics, AreThoseOfTheTensorsAlongAStraightPath) {
  const Vec3d along{0.6, 0.8, 0};
  const SymTensor3d tensor = fiber_tensor(along);
  const TensorSample sample(straight_grid(20, 20, 3), [&](const Vec3d&) { return tensor; });
  const DiffusionMetric metric = diffusion_metric(sample.tensors);
  std::vector<Vec3d> path;
  for (int i = 0; i <= 20; ++i) path.push_back(Vec3d{2, 2, 1} + (0.03 * i * i) * along);  // uneven pieces
  const TensorField field{sample.grid, sample.tensors, sample.mask};
  const PathStatistics found = path_statistics(path, field, metric.metric);
  EXPECT_NEAR(found.length, 12, 1e-9);
  EXPECT_NEAR(found.mean_anisotropy, fractional_anisotropy(tensor), 1e-9);
  EXPECT_NEAR(found.mean_diffusivity, 0.7e-3, 1e-9);
  const double per_mm = std::sqrt(squared_length(metric.metric.tensor(ElementId(0)), along));
  EXPECT_NEAR(found.cost, 12 * per_mm, 1e-5 * found.cost);
  EXPECT_NEAR(found.cost_density, per_mm, 1e-5 * per_mm);
  ASSERT_EQ(found.profile.size(), path.size());
  EXPECT_EQ(found.profile.front().distance, 0);
  EXPECT_NEAR(found.profile.back().distance, 12, 1e-9);
  for (const PathSample& sample_here : found.profile) EXPECT_NEAR(sample_here.local_cost, per_mm, 1e-5 * per_mm);
}

TEST(PathStatistics, MeansAreByLengthAndSkipWhatIsNotKnown) {
  TensorSample sample(straight_grid(11, 1, 1), [](const Vec3d& p) {
    return p.x < 5 ? fiber_tensor({1, 0, 0}) : SymTensor3d::identity(1e-3);
  });
  sample.mask[10] = 0;
  const TensorField field{sample.grid, sample.tensors, sample.mask};
  const std::vector<Vec3d> path{{0, 0, 0}, {1, 0, 0}, {4, 0, 0}, {6, 0, 0}, {9, 0, 0}, {10, 0, 0}};
  const PathStatistics found = path_statistics(path, field, Metric::isotropic(2));
  const double fiber = fractional_anisotropy(fiber_tensor({1, 0, 0}));
  EXPECT_NEAR(found.mean_anisotropy, (4 * fiber + 2 * 0.5 * fiber) / 9, 1e-9);
  EXPECT_NEAR(found.min_anisotropy, 0, 1e-9);
  EXPECT_TRUE(std::isnan(found.profile.back().anisotropy));
  EXPECT_NEAR(found.length, 10, 1e-12);
  EXPECT_NEAR(found.cost, 5, 1e-12);
}

// Cheap along x in the left half and along y in the right one: a path that bends where they meet is cheap all along.
TEST(PathStatistics, TheCostBesideABendIsThatOfItsPieces) {
  const TensorSample sample(straight_grid(8, 8, 1), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  TensorMetric metric;
  for (std::size_t v = 0; v < sample.grid.voxel_count(); ++v)
    metric.tensor.push_back(v % 8 < 4 ? SymTensor3f{1, 0, 0, 100, 0, 1} : SymTensor3f{100, 0, 0, 4, 0, 1});
  const std::vector<Vec3d> path{{1.5, 2, 0}, {2.5, 2, 0}, {3.5, 2, 0}, {3.6, 3, 0}, {3.6, 5, 0}};
  const PathStatistics found = path_statistics(path, {sample.grid, sample.tensors, sample.mask}, Metric(metric));
  const double bend = std::sqrt((100 * 0.01 + 4) / 1.01), piece = std::sqrt(1.01);
  const std::vector<double> exact{1, 1, (1 + piece * bend) / (1 + piece), (piece * bend + 2 * 2) / (piece + 2), 2};
  ASSERT_EQ(found.profile.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found.profile[i].local_cost, exact[i], 1e-9) << i;
}

TEST(PathStatistics, APathOfOnePointHasNoLength) {
  const TensorSample sample(straight_grid(2, 2, 2), [](const Vec3d&) { return fiber_tensor({1, 0, 0}); });
  const TensorField field{sample.grid, sample.tensors, sample.mask};
  const std::vector<Vec3d> path{{1, 1, 1}};
  const PathStatistics found = path_statistics(path, field, Metric::isotropic(1));
  EXPECT_EQ(found.length, 0);
  EXPECT_EQ(found.cost_density, 0);
  EXPECT_EQ(found.profile.size(), 1u);
}

TEST(Components, CornersJoinAndGapsPart) {
  const ImageGrid grid = straight_grid(5, 3, 1);
  const std::vector<std::uint8_t> set{1, 0, 0, 0, 1,  //
                                      0, 1, 0, 0, 1,  //
                                      0, 0, 1, 0, 0};
  const Components found = find_components(grid, set);
  ASSERT_EQ(found.sizes, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(found.of_voxel[0], found.of_voxel[12]);
  EXPECT_EQ(found.of_voxel[4], 1);
  EXPECT_EQ(found.of_voxel[1], -1);
}

TEST(Components, JoiningLevelIsThatOfTheLowestPass) {
  const ImageGrid grid = straight_grid(5, 3, 1);
  const double wall = std::numeric_limits<double>::infinity();
  const std::vector<double> heights{1, 9, 2, 8,    1,  //
                                    1, 9, 7, wall, 1,  //
                                    1, 4, 9, 9,    1};
  const std::vector<VertexId> left{VertexId(0)}, right{VertexId(4), VertexId(9)}, shut{VertexId(8)};
  EXPECT_EQ(joining_level(grid, heights, left, right), 8);
  EXPECT_EQ(joining_level(grid, heights, left, left), 1);
  EXPECT_EQ(joining_level(grid, heights, left, shut), wall);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
