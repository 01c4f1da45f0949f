#include "isochron/connect.h"

#include <set>

#include <gtest/gtest.h>

#include "connect/connect_samples.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"

namespace isochron::test {
namespace TEST_FILE {

SolveOptions quiet_options(int threads = 1) {
  SolveOptions options;
  options.threads = threads;
  return options;
}

TEST(Parcels, CoverTheMaskWithCompactRegions) {
  const ImageGrid grid = straight_grid(12, 10, 8);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t j = 0; j < 10; ++j)
    for (std::uint32_t k = 0; k < 8; ++k) mask[grid.voxel(5, j, k).index()] = j < 3 ? 1 : 0;
  const std::vector<std::int32_t> labels = make_parcels(grid, mask, 7);
  std::vector<std::size_t> sizes(8, 0);
  for (std::size_t v = 0; v < labels.size(); ++v) {
    EXPECT_EQ(labels[v] == 0, mask[v] == 0);
    ++sizes[static_cast<std::size_t>(labels[v])];
  }
  for (std::size_t p = 1; p < sizes.size(); ++p) {
    EXPECT_GT(sizes[p], 20u);
    EXPECT_LT(sizes[p], 350u);
  }
  EXPECT_EQ(labels, make_parcels(grid, mask, 7));
}

TEST(Parcels, EveryVoxelCanBeItsOwn) {
  const ImageGrid grid = straight_grid(3, 2, 1);
  const std::vector<std::uint8_t> mask(6, 1);
  const auto labels = make_parcels(grid, mask, 6);
  EXPECT_EQ(std::set<std::int32_t>(labels.begin(), labels.end()).size(), 6u);
  EXPECT_THROW(make_parcels(grid, mask, 7), InputError);
  EXPECT_THROW(make_parcels(grid, mask, 0), UsageError);
}

std::vector<LabelledRegion> regions_of(const std::vector<std::int32_t>& labels, const ImageGrid& grid) {
  Image image{grid, {}, {}, {}};
  image.data.set({"labels", 1, labels});
  return all_labels(image, grid, "labels");
}

// Every entry is what a query of these two regions alone would give.
TEST(Connectome, AgreesWithSinglePairs) {
  ImageGrid grid = straight_grid(15, 15, 5, 2);
  grid.origin = {-14, -14, -4};
  const TensorSample sample(grid, ring_tensor);
  const DiffusionMetric metric = diffusion_metric(sample.tensors);
  std::vector<std::int32_t> labels(grid.voxel_count(), 0);
  labels[grid.voxel(12, 7, 2).index()] = 30;
  labels[grid.voxel(7, 12, 2).index()] = 4;
  labels[grid.voxel(2, 7, 2).index()] = labels[grid.voxel(2, 8, 2).index()] = 11;
  const GridDomain domain{grid, metric.metric, metric.usable};
  const auto regions = regions_of(labels, grid);
  const Connectome found = connect_all(domain, regions, quiet_options());
  EXPECT_EQ(found.labels, (std::vector<std::int64_t>{4, 11, 30}));
  EXPECT_EQ(found.unconnected, 0u);
  EXPECT_EQ(found.solves, 3u);
  Connector connector(domain, quiet_options());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.cost[4 * i], 0);
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t at = 3 * i + j;
      EXPECT_EQ(found.cost[at], found.cost[3 * j + i]);
      EXPECT_EQ(found.length[at], found.length[3 * j + i]);
      if (j <= i) continue;
      ConnectQuery query;
      query.from = regions[i].region;
      query.to = regions[j].region;
      const Connection pair = connector.connect(query);
      EXPECT_NEAR(found.cost[at], 0.5 * (pair.forward_cost + pair.backward_cost), 1e-9 * found.cost[at]);
      // That one is made quicker and ends at the borders of larger regions, this one does not.
      EXPECT_NEAR(found.length[at], pair.path.length, 0.06 * pair.path.length + 2 * std::sqrt(3.0));
      EXPECT_NEAR(found.normalised[at], found.cost[at] / found.length[at], 1e-12);
    }
  }
  const Connectome threads = connect_all(domain, regions, quiet_options(3));
  for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(threads.cost[k], found.cost[k], 1e-5 * found.cost[k]);
}

TEST(Connectome, UnjoinedPairsAreInfiniteAndCounted) {
  TensorSample sample(straight_grid(9, 3, 1), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  for (std::uint32_t j = 0; j < 3; ++j) sample.mask[sample.grid.voxel(4, j, 0).index()] = 0;
  const DiffusionMetric metric = diffusion_metric(sample.tensors, sample.mask);
  std::vector<std::int32_t> labels(sample.grid.voxel_count(), 0);
  labels[0] = 1;
  labels[2] = 2;
  labels[8] = 3;
  labels[4] = 4;  // outside the mask
  const auto regions = regions_of(labels, sample.grid);
  const Connectome found = connect_all({sample.grid, metric.metric, metric.usable}, regions, quiet_options());
  EXPECT_EQ(found.pairs(), 6u);
  EXPECT_EQ(found.unconnected, 5u);
  EXPECT_TRUE(std::isfinite(found.cost[1]));
  EXPECT_NEAR(found.length[1], 2, 1e-9);
  for (const auto* matrix : {&found.cost, &found.length, &found.normalised}) {
    EXPECT_TRUE(std::isinf((*matrix)[2]));
    EXPECT_TRUE(std::isinf((*matrix)[3]));
    EXPECT_EQ((*matrix)[15], 0);
  }
}

TEST(Connectome, NeedsTwoRegionsThatAreApart) {
  const TensorSample sample(straight_grid(4, 1, 1), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  const DiffusionMetric metric = diffusion_metric(sample.tensors);
  const GridDomain domain{sample.grid, metric.metric, metric.usable};
  const std::vector<LabelledRegion> one{{1, {"one", {VertexId(0)}}}};
  EXPECT_THROW(connect_all(domain, one, quiet_options()), InputError);
  const std::vector<LabelledRegion> shared{{1, {"one", {VertexId(0)}}}, {2, {"two", {VertexId(0)}}}};
  EXPECT_THROW(connect_all(domain, shared, quiet_options()), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
