#include "isochron/metric_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One voxel with two tensors of six components; the file knows the order of the first.
Image two_tensors() {
  Image image;
  const std::vector<double> row{1, 0, 0, 4, 0, 9};
  image.data.set({"first", 6, row});
  image.data.set({"second", 6, row});
  image.tensor_order = TensorOrder::row;
  return image;
}

TEST(MetricFromImage, TheFileTellsTheOrderOfItsFirstArrayAlone) {
  const Image image = two_tensors();
  const Metric metric = metric_from_image(image, {.metric_array = "first"}, {}, {}).metric;
  EXPECT_EQ(metric.tensor(ElementId(0)), SymTensor3d::diagonal(1, 4, 9));
  EXPECT_THAT([&] { metric_from_image(image, {.metric_array = "second"}, {}, {}); },
              ThrowsMessage<InputError>(HasSubstr("tensor_order")));
  const Metric told = metric_from_image(image, {.metric_array = "second"}, TensorOrder::row, {}).metric;
  EXPECT_EQ(told.tensor(ElementId(0)), SymTensor3d::diagonal(1, 4, 9));
}

}  // namespace TEST_FILE
}  // namespace isochron
