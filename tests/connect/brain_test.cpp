// Connectivity on a real brain; skipped where the data is not there.
#include <cmath>

#include <gtest/gtest.h>

#include "isochron/connect.h"
#include "isochron/core/parallel.h"
#include "isochron/diffusion.h"
#include "isochron/image.h"
#include "isochron/io.h"
#include "support/data_folder.h"

namespace isochron::test {
namespace TEST_FILE {

/// The tensors, and where the two halves of the brain meet.
class Brain : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = data_folder();
    if (!folder || !std::filesystem::exists(*folder / "dti")) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
    const Image image = read_image(*folder / "dti" / "tensor_mrtrix.nii.gz");
    grid_ = image.grid;
    tensors_ = world_tensors(image.data.all().front(), TensorOrder::mrtrix, grid_, TensorFrame::world, "tensors");
    const auto mask = mask_of(read_image(*folder / "dti" / "mask.nii.gz"), grid_, "mask");
    metric_ = diffusion_metric(tensors_, mask);
  }

  [[nodiscard]] Connection connect(const Vec3d& left, const Vec3d& right) const {
    SolveOptions options;
    options.threads = hardware_threads();
    const auto region = [&](const Vec3d& at) { return make_region({"seed", SphereRegion{at, 4}}, grid_, {}); };
    ConnectQuery query;
    query.from = inside_mask(region(left), grid_, metric_.usable);
    query.to = inside_mask(region(right), grid_, metric_.usable);
    return Connector({grid_, metric_.metric, metric_.usable}, options).connect(query);
  }

  /// Where the path passes the plane between the halves; it must pass it once.
  static Vec3d crossing(const Path& path) {
    constexpr double midline = -2;
    Vec3d where;
    int crossings = 0;
    for (std::size_t i = 1; i < path.points.size(); ++i) {
      const Vec3d &a = path.points[i - 1], &b = path.points[i];
      if ((a.x < midline) == (b.x < midline)) continue;
      where = a + (midline - a.x) / (b.x - a.x) * (b - a);
      ++crossings;
    }
    EXPECT_EQ(crossings, 1);
    return where;
  }

  /// Whether a voxel of the pathway is around the point or beside it: the path runs between voxels.
  [[nodiscard]] bool beside_pathway(const Connection& found, const Vec3d& p) const {
    const auto [i, j, k] = grid_.index(*grid_.voxel_at(p));
    for (std::uint32_t z = k - 1; z <= k + 1; ++z)
      for (std::uint32_t y = j - 1; y <= j + 1; ++y)
        for (std::uint32_t x = i - 1; x <= i + 1; ++x)
          if (found.pathway[grid_.voxel(x, y, z).index()] != 0) return true;
    return false;
  }

  /// The corpus callosum at the midline: strong left-to-right fibres in a box that the other commissures are not in.
  void expect_in_corpus_callosum(const Vec3d& p) const {
    EXPECT_GT(p.y, -38);
    EXPECT_LT(p.y, 5);
    EXPECT_GT(p.z, -36);
    EXPECT_LT(p.z, -8);
    const auto tensor = tensor_at({grid_, tensors_, metric_.usable}, p);
    ASSERT_TRUE(tensor);
    EXPECT_GT(fractional_anisotropy(*tensor), 0.4);
    EXPECT_GT(std::abs(principal_direction(*tensor).x), 0.85);
  }

  ImageGrid grid_;
  std::vector<SymTensor3d> tensors_;
  DiffusionMetric metric_;
};

TEST_F(Brain, HasTheVoxelsOfItsMask) { EXPECT_EQ(metric_.counts.voxels, 73613u); }

// Two seeds in the white matter beside the ventricles, joined by the splenium. A voxel is 2.7 mm.
TEST_F(Brain, TransCallosalPathwayIsFoundAndStableSlow) {
  const Vec3d left{-24, -37, -21}, right{24, -24, -18};
  const Connection found = connect(left, right);
  EXPECT_EQ(found.path.end, PathEnd::source) << found.path.why;
  const Vec3d middle = crossing(found.path);
  expect_in_corpus_callosum(middle);
  EXPECT_NEAR(found.forward_cost, found.backward_cost, 0.15 * found.least_cost);
  const auto statistics = path_statistics(found.path.points, {grid_, tensors_, metric_.usable}, metric_.metric);
  EXPECT_GT(statistics.mean_anisotropy, 0.4);
  EXPECT_TRUE(beside_pathway(found, middle));
  for (const Vec3d& axis : grid_.axes) {
    for (const double sign : {-1.0, 1.0}) {
      const Connection moved = connect(left + sign * axis, right - sign * axis);
      const Vec3d there = crossing(moved.path);
      expect_in_corpus_callosum(there);
      EXPECT_LT(norm(there - middle), 8.2) << sign;
    }
  }
}

// Noisy voxels at the border are strongly anisotropic, so that times come from far away; paths are found all the same.
TEST_F(Brain, ConnectomeOfParcelsIsWholeSlow) {
  Image parcels{grid_, {}, {}, {}};
  parcels.data.set({"parcel", 1, make_parcels(grid_, metric_.usable, 14)});
  SolveOptions options;
  options.threads = hardware_threads();
  const Connectome found =
      connect_all({grid_, metric_.metric, metric_.usable}, all_labels(parcels, grid_, "parcels"), options);
  EXPECT_EQ(found.size(), 14u);
  EXPECT_EQ(found.unconnected, 0u);
  EXPECT_EQ(found.unfinished, 0u);
  EXPECT_LT(found.asymmetry, 0.25);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
