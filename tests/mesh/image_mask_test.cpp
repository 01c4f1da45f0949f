#include "isochron/image.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ImageGrid grid_of(std::uint32_t nx, std::uint32_t ny) { return {{nx, ny, 1}, {-10, 4, 2}}; }

template <class T>
Image image_of(const ImageGrid& grid, std::vector<T> values, int components = 1) {
  Image image{grid, {}, {}, {}};
  image.data.set({"values", components, std::move(values)});
  return image;
}

std::vector<double> values_of(const DataArray& array) {
  std::vector<double> result;
  for (std::size_t t = 0; t < array.tuple_count(); ++t)
    for (int c = 0; c < array.components; ++c) result.push_back(array.at(t, c));
  return result;
}

TEST(ImageMask, InsideIsFiniteAndNotZero) {
  const ImageGrid grid = grid_of(3, 2);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(mask_of(image_of<double>(grid, {0, 1e-9, -2, nan, inf, 255}), grid, "f"), ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT([&] { mask_of(image_of<std::uint8_t>(grid, std::vector<std::uint8_t>(6, 0)), grid, "f"); },
              ThrowsMessage<InputError>(HasSubstr("f is empty")));
}

TEST(ImageMask, MustHaveTheVoxelsOfTheImage) {
  const ImageGrid grid = grid_of(3, 2);
  const std::vector<std::uint8_t> values{0, 1, 0, 2, 0, 0};
  EXPECT_THAT([&] { mask_of(image_of(grid_of(2, 3), values), grid, "f"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("another shape"), HasSubstr("2 x 3 x 1, not 3 x 2 x 1"))));
  ImageGrid moved = grid;
  moved.origin.x += 1;
  EXPECT_THAT([&] { mask_of(image_of(moved, values), grid, "f"); },
              ThrowsMessage<InputError>(HasSubstr("another affine")));
  EXPECT_THAT([&] { mask_of(image_of(grid, std::vector<std::uint8_t>(12, 1), 2), grid, "f"); },
              ThrowsMessage<InputError>(HasSubstr("2 values a voxel")));
  EXPECT_THAT([&] { mask_of(Image{grid, {}, {}, {}}, grid, "f"); }, ThrowsMessage<InputError>(HasSubstr("no values")));
}

TEST(ImageMask, OfSeveralArraysOneIsNamed) {
  const ImageGrid grid = grid_of(2, 1);
  Image image = image_of<std::uint8_t>(grid, {1, 0});
  image.data.set({"reached", 1, std::vector<std::uint8_t>{0, 1}});
  EXPECT_THAT(mask_of(image, grid, "f", "reached"), ElementsAre(0, 1));
  EXPECT_THAT(mask_of(image, grid, "f", "values"), ElementsAre(1, 0));
  EXPECT_THAT([&] { mask_of(image, grid, "f"); },
              ThrowsMessage<InputError>(
                  AllOf(HasSubstr("f has several arrays (values, reached)"), HasSubstr("name it with mask_array"))));
  EXPECT_THAT([&] { mask_of(image, grid, "f", "other"); },
              ThrowsMessage<InputError>(HasSubstr("f has no array 'other'; it has: values, reached")));
}

TEST(ImageMask, ConfidenceOfTensorsBecomesTheImagesOwn) {
  const ImageGrid grid = grid_of(3, 1);
  Image image = image_of<float>(grid, {1, 1, 2, 3, 4, 5, 6, 0.25, 7, 8, 9, 10, 11, 12, 0.5, 13, 14, 15, 16, 17, 18}, 7);
  split_confidence(image, 0);
  EXPECT_EQ(image.tensor_order, TensorOrder::row);
  EXPECT_THAT(values_of(image.data.all().front()),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18));
  ASSERT_NE(own_mask(image), nullptr);
  EXPECT_THAT(values_of(*own_mask(image)), ElementsAre(1, 0, 1));
  std::vector<std::uint8_t> mask;
  apply_own_mask(image, mask);
  EXPECT_THAT(mask, ElementsAre(1, 0, 1));
  mask = {0, 1, 1};
  apply_own_mask(image, mask);
  EXPECT_THAT(mask, ElementsAre(0, 0, 1));
}

TEST(ImageMask, ImagesWithoutOneStayAsTheyAre) {
  const ImageGrid grid = grid_of(2, 1);
  Image image = image_of<float>(grid, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 6);
  split_confidence(image, 0);
  EXPECT_EQ(image.data.all().front().components, 6);
  EXPECT_FALSE(image.tensor_order.has_value());
  EXPECT_EQ(own_mask(image), nullptr);
  std::vector<std::uint8_t> mask;
  apply_own_mask(image, mask);
  EXPECT_TRUE(mask.empty());
}

}  // namespace TEST_FILE
}  // namespace isochron
