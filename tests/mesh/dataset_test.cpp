#include "isochron/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(DataArray, ReadsTuplesOfAnyType) {
  const DataArray a{"v", 3, std::vector<float>{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(a.tuple_count(), 2U);
  EXPECT_EQ(a.at(1, 2), 6);
  const DataArray b{"label", 1, std::vector<std::int32_t>{-7, 8}};
  EXPECT_EQ(b.at(0), -7);
}

TEST(DataArrays, KeepNamesUnique) {
  DataArrays arrays;
  EXPECT_TRUE(arrays.empty());
  EXPECT_THAT([&] { (void)arrays.require("cv", "points"); }, ThrowsMessage<InputError>(HasSubstr("no arrays")));
  arrays.set({"a", 1, std::vector<double>{1}});
  arrays.set({"b", 1, std::vector<double>{2}});
  arrays.set({"a", 1, std::vector<double>{3}});
  EXPECT_EQ(arrays.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(arrays.require("a", "points").at(0), 3);
  EXPECT_EQ(arrays.find("c"), nullptr);
  EXPECT_THAT([&] { (void)arrays.require("c", "points"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("'c'"), HasSubstr("a, b"))));
}

TEST(Dataset, LendsItsMeshAndTakesItBack) {
  Dataset dataset;
  dataset.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  dataset.triangles.cells = {{VertexId(0), VertexId(1), VertexId(2)}};
  TriangleMesh mesh = take_mesh<3>(dataset);
  EXPECT_EQ(mesh.vertex_count(), 3U);
  EXPECT_TRUE(dataset.points.empty());
  restore_mesh(dataset, std::move(mesh));
  EXPECT_EQ(dataset.points.size(), 3U);
  EXPECT_EQ(dataset.triangles.cells.size(), 1U);
}

}  // namespace TEST_FILE
}  // namespace isochron
