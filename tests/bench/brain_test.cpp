#include "bench/paper/brain.h"

#include <functional>

#include <gtest/gtest.h>

#include "io/io_test_support.h"
#include "isochron/io.h"

namespace isochron::bench {
namespace TEST_FILE {

TEST(Brain, ThePhantomHasAsManyVoxelsAsTheRealOne) {
  const Brain brain = phantom_brain(BenchSize::paper, 2);
  EXPECT_EQ(brain.grid.voxel_count(), 82U * 82U * 48U);
  EXPECT_NEAR(static_cast<double>(brain.metric.counts.usable), 73613, 3000);
}

TEST(Brain, RegionsOfThePhantomAreJoinedAcrossTheMiddle) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  const auto queries = dragged_queries(brain, 12);
  ASSERT_EQ(queries.size(), 12U);
  EXPECT_NE(queries[0].from.voxels, queries[6].from.voxels);
  const Connection found = Connector(brain.domain(), {}).connect(queries[0]);
  EXPECT_EQ(found.path.end, PathEnd::source) << found.path.why;
  EXPECT_LT(found.path.points.front().x, 0);
  EXPECT_GT(found.path.points.back().x, 0);
}

TEST(Brain, ParcelsCoverThePhantom) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  std::size_t voxels = 0;
  const auto parcels = brain_parcels(brain, 6, {});
  for (const LabelledRegion& parcel : parcels) voxels += parcel.region.voxels.size();
  EXPECT_EQ(parcels.size(), 6U);
  EXPECT_EQ(voxels, brain.metric.counts.usable);
}

TEST(Brain, TheMiddleOfTheWhiteMatterIsInTheMask) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  const GridModel model = brain_model(brain);
  EXPECT_EQ(brain.metric.usable[model.source.index()], 1);
  EXPECT_GE(fractional_anisotropy(brain.tensors[model.source.index()]), 0.25);
  EXPECT_LT(norm(brain.grid.position(model.source)), 60);  // the head is about 80 by 86 by 57 mm
  EXPECT_EQ(model.cells, brain.metric.counts.usable);
}

/// A small image of tensors as NIfTI, and the same as .npy arrays.
class BrainFiles : public ::testing::Test {
 protected:
  static Image image_of(int components, const std::function<double(std::size_t, int)>& value) {
    Image image{grid(), {}, {}, {}};
    std::vector<double> values;
    for (std::size_t v = 0; v < image.grid.voxel_count(); ++v)
      for (int c = 0; c < components; ++c) values.push_back(value(v, c));
    image.data.set({"values", components, std::move(values)});
    return image;
  }
  static ImageGrid grid() { return {{3, 2, 4}, {-5, 6, 7}, {{{0, 2, 0}, {-2, 0, 0}, {0, 0, 3}}}}; }
  static Image tensors() {
    return image_of(6, [](std::size_t v, int c) { return c < 3 ? 1e-3 * (c + 1) : 1e-5 * static_cast<double>(v); });
  }
  static Image mask() {
    return image_of(1, [](std::size_t v, int) { return v == 5 ? 0.0 : 1.0; });
  }
  void write(const char* extension) const {
    write_image(folder_ / ("tensor_mrtrix" + std::string(extension)), tensors(), Overwrite::no);
    write_image(folder_ / ("mask" + std::string(extension)), mask(), Overwrite::no);
  }

  test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(BrainFiles, NothingIsFoundInAnEmptyFolder) { EXPECT_FALSE(brain_in(folder_, 1)); }

TEST_F(BrainFiles, ArraysWithAnAffineAreTheImage) {
  write(".nii");
  const auto image = brain_in(folder_, 1);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->metric.counts.usable, grid().voxel_count() - 1);
  std::filesystem::remove(folder_ / "tensor_mrtrix.nii");
  write(".npy");
  EXPECT_THROW((void)brain_in(folder_, 1), Error);  // no affine
  Image affine{{{4, 4, 1}, {}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, {}, {}, {}};
  affine.data.set({"affine", 1, std::vector<double>{0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 3, 0, -5, 6, 7, 1}});
  write_image(folder_ / "affine.npy", affine, Overwrite::no);
  const auto arrays = brain_in(folder_, 1);
  ASSERT_TRUE(arrays);
  EXPECT_TRUE(same_voxels(arrays->grid, image->grid, 1e-6));
  EXPECT_EQ(arrays->metric.usable, image->metric.usable);
  for (std::size_t v = 0; v < grid().voxel_count(); ++v) {
    const SymTensor3d a = arrays->metric.metric.tensor(ElementId(v)), b = image->metric.metric.tensor(ElementId(v));
    EXPECT_NEAR(a.xy, b.xy, 1e-4 * b.xx);
    EXPECT_NEAR(a.zz, b.zz, 1e-4 * b.xx);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
