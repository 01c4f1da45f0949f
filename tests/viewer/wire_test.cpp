#include "apps/viewer/server/wire.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "viewer/unpacked.h"

namespace isochron::viewer {
namespace TEST_FILE {

TEST(Wire, ArraysComeBack) {
  Pack pack;
  pack.meta["name"] = "äöü";
  pack.add_points("points", std::vector<Vec3d>{{1, 2, 3}, {-4, 5.5, 1e30}}, "mm");
  const auto odd = pack.bytes("odd", {3});
  for (std::size_t i = 0; i < 3; ++i) odd[i] = static_cast<std::uint8_t>(250 + i);
  const std::vector<std::uint32_t> ids{0, 4294967295U};
  pack.add_integers("ids", ids);
  const double infinity = std::numeric_limits<double>::infinity();
  pack.add_values("times", std::vector<double>{0.5, infinity});
  (void)pack.floats("nothing", {0, 3});

  const Unpacked read(pack.packed());  // which checks that every array begins at a multiple of 8
  EXPECT_EQ(read.meta()["name"], "äöü");
  EXPECT_EQ(read.floats("points"), (std::vector<float>{1, 2, 3, -4, 5.5F, 1e30F}));
  EXPECT_EQ(read.shape("points"), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(read.bytes("odd"), (std::vector<std::uint8_t>{250, 251, 252}));
  EXPECT_EQ(read.integers("ids"), ids);
  EXPECT_EQ(read.floats("times")[1], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(read.floats("nothing").empty());
}

TEST(Wire, LayoutIsAsDocumented) {
  Pack pack;
  pack.add_integers("n", std::vector<std::uint32_t>{7});
  const std::string bytes = pack.packed();
  EXPECT_EQ(bytes.substr(0, 4), "ISO1");
  const auto length = static_cast<unsigned char>(bytes[4]) + 256U * static_cast<unsigned char>(bytes[5]);
  EXPECT_EQ((8 + length) % 8, 0U);
  const Json header = Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["arrays"]["n"], (Json{{"dtype", "uint32"}, {"shape", {1}}, {"offset", 0}}));
  EXPECT_EQ(bytes.size(), 8 + length + 8);  // arrays are padded too
  EXPECT_EQ(bytes[8 + length], 7);
}

TEST(Wire, NamesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(text_of(Json{{"a", "x\xff"}}), "{\"a\":\"x\uFFFD\"}");
  EXPECT_TRUE(finite_or_null(std::nan("")).is_null());
  EXPECT_EQ(finite_or_null(2.5), 2.5);
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
