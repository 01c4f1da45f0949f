#include "isochron/diffusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

/// Two voxels whose components count up.
Image image_of(int components) {
  Image image;
  image.grid.shape = {2, 1, 1};
  std::vector<float> values;
  for (int i = 0; i < 2 * components; ++i) values.push_back(static_cast<float>(i + 1));
  image.data.set({"tensors", components, values});
  return image;
}

TEST(TensorImage, KnowsTensorsByTheirComponents) {
  for (const int n : {6, 7, 9}) EXPECT_TRUE(holds_tensors(image_of(n))) << n;
  for (const int n : {1, 3, 8, 20}) EXPECT_FALSE(holds_tensors(image_of(n))) << n;
  EXPECT_FALSE(holds_tensors(Image{}));
}

TEST(TensorImage, TakesTheOrderThatIsGivenOrTheFileOwn) {
  Image image = image_of(6);
  const auto row = image_tensors(image, TensorOrder::row, TensorFrame::world, "a");
  EXPECT_EQ(row[0], (SymTensor3d{1, 2, 3, 4, 5, 6}));
  image.tensor_order = TensorOrder::mrtrix;
  const auto own = image_tensors(image, {}, TensorFrame::world, "a");
  EXPECT_EQ(own[1], (SymTensor3d{7, 10, 11, 8, 12, 9}));
  EXPECT_EQ(image_tensors(image, TensorOrder::row, TensorFrame::world, "a"), row);
}

TEST(TensorImage, BelowHalfAConfidenceThereIsNothing) {
  Image image = image_of(7);
  auto& values = std::get<std::vector<float>>(image.data.all().front().values);
  values[7] = 0.25F;
  const auto tensors = image_tensors(image, TensorOrder::row, TensorFrame::world, "a");
  EXPECT_EQ(tensors[0], (SymTensor3d{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(tensors[1], SymTensor3d{});
}

TEST(TensorImage, SaysWhatIsMissing) {
  const auto message = [](Image image) {
    try {
      image_tensors(std::move(image), {}, TensorFrame::world, "brain.nii");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(image_of(6)),
              testing::AllOf(testing::HasSubstr("brain.nii"), testing::HasSubstr("tensor_order fsl")));
  EXPECT_THAT(message(image_of(4)), testing::HasSubstr("no tensor image (volumes: 4"));
  EXPECT_THAT(message(Image{}), testing::HasSubstr("no values"));
}

}  // namespace TEST_FILE
}  // namespace isochron
