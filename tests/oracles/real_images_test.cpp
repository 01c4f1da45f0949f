// Real images and brain surfaces: what is in them is known.
#include <algorithm>

#include <gtest/gtest.h>

#include "isochron/diffusion.h"
#include "isochron/io.h"
#include "isochron/io/image/formats.h"
#include "support/data_folder.h"

namespace isochron::test {
namespace TEST_FILE {

class RealImage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!data_folder()) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  }
  static Image read(const char* name) { return read_image(*data_folder() / name); }
  static std::pair<double, double> range(const DataArray& array) {
    double low = array.at(0), high = low;
    for (std::size_t i = 0; i < array.tuple_count(); ++i) {
      low = std::min(low, array.at(i));
      high = std::max(high, array.at(i));
    }
    return {low, high};
  }
};

TEST_F(RealImage, DiffusionImagesLieSagittally) {
  const std::array<std::uint32_t, 3> shape{82, 82, 48};
  const Image dwi = read("dti/dwi.nii.gz");
  EXPECT_EQ(dwi.grid.shape, shape);
  EXPECT_EQ(dwi.data.all()[0].components, 21);
  // Axes point to the back, up and to the left, with a positive determinant.
  const auto& [i, j, k] = dwi.grid.axes;
  EXPECT_NEAR(i.y, -2.7073171, 1e-6);
  EXPECT_NEAR(j.z, 2.7073171, 1e-6);
  EXPECT_NEAR(k.x, -2.7, 1e-6);
  EXPECT_GT(dot(i, cross(j, k)), 0);
  for (const char* name : {"dti/mask.nii.gz", "dti/fa.nii.gz", "dti/tensor_mrtrix.nii.gz"})
    EXPECT_TRUE(same_voxels(dwi.grid, read(name).grid)) << name;
  const Image mask = read("dti/mask.nii.gz");
  const auto& values = std::get<std::vector<std::uint8_t>>(mask.data.all()[0].values);
  EXPECT_EQ(std::count(values.begin(), values.end(), 1), 73613);
}

TEST_F(RealImage, VolumesHaveTheirKnownRanges) {
  const Image head = read("vol/mr_head_160x232x160.nii.gz");
  EXPECT_EQ(head.grid.voxel_count(), 160U * 232 * 160);
  EXPECT_TRUE(std::holds_alternative<std::vector<float>>(head.data.all()[0].values)) << "it has a slope";
  const auto [low, high] = range(head.data.all()[0]);
  EXPECT_EQ(low, 0);
  EXPECT_NEAR(high, 512, 0.01);
  const Image labels = read("vol/labels_122x101x30.nii.gz");  // extensions before the values
  EXPECT_EQ(labels.grid.voxel_count(), 122U * 101 * 30);
  const Image heart = read("vol/heart_mask_233x167x191.nii.gz");
  EXPECT_NEAR(heart.grid.axes[0].x, -1.5, 1e-9);
  EXPECT_EQ(range(heart.data.all()[0]).second, 1);
}

TEST_F(RealImage, FibresOfTheStoredTensorsHangTogether) {
  const Image image = read("dti/tensor_mrtrix.nii.gz");
  const DataArray& array = image.data.all()[0];
  const auto coherence = [&](TensorOrder order, TensorFrame frame) {
    return fiber_coherence(image.grid, world_tensors(array, order, image.grid, frame, "tensors"), frame);
  };
  const FiberCoherence right = coherence(TensorOrder::mrtrix, TensorFrame::world);
  EXPECT_GT(right.voxels, 30000U);
  EXPECT_NEAR(right.candidates[0].coherence, 0.801, 0.002);
  EXPECT_EQ(right.better(), nullptr);
  const FiberCoherence wrong = coherence(TensorOrder::mrtrix, TensorFrame::voxel);
  ASSERT_NE(wrong.better(), nullptr) << "the wrong frame is noticed";
  EXPECT_EQ(wrong.better()->name, "frame world");
}

TEST_F(RealImage, AVelocityModelIsReadRaw) {
  const Image image = read_raw_image(*data_folder() / "vol/marmousi_vp_401x1601_f32.bin",
                                     {.shape = {401, 1601, 1}, .encoding = Encoding::little_endian});
  const DataArray& speed = image.data.all()[0];
  const auto [low, high] = range(speed);  // km/s
  EXPECT_GT(low, 1);
  EXPECT_NEAR(high, 4.7, 1e-6);
  for (std::uint32_t trace = 0; trace < 1601; ++trace)
    ASSERT_EQ(speed.at(image.grid.voxel(0, trace, 0).index()), 1.5) << "water on top of trace " << trace;
}

TEST_F(RealImage, BrainSurfacesAreWhole) {
  for (const auto& [name, points] :
       {std::pair{"brain/fsaverage5_pial_left.gii.gz", 10242U},
        std::pair{"brain/fsaverage5_sphere_left.gii.gz", 10242U}, std::pair{"brain/fsaverage6_lh.pial", 40962U}}) {
    const Dataset d = read_dataset(*data_folder() / name);
    EXPECT_EQ(d.points.size(), points) << name;
    EXPECT_EQ(d.triangles.cells.size(), 2 * points - 4) << name << ": a closed surface without handles";
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
