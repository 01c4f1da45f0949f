#include "isochron/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

TEST(Layers, FlatLayersAreExact) {
  const Image image =
      generate_layers({.n = {5, 11}, .layers = 5, .speed_top = 1000, .speed_bottom = 5000, .relief = 0});
  EXPECT_TRUE(image.grid.flat());
  EXPECT_EQ(image.grid.axes[1], (Vec3d{0, 10, 0}));
  const auto& speed = image.data.require("speed", "image");
  const auto& layer = image.data.require("layer", "image");
  for (std::uint32_t j = 0; j < 11; ++j)
    for (std::uint32_t i = 0; i < 5; ++i) {
      const std::size_t v = image.grid.voxel(i, j, 0).index();
      EXPECT_EQ(layer.at(v), std::min(4U, j / 2));
      EXPECT_EQ(speed.at(v), 1000.0 * (1 + std::min(4U, j / 2)));
    }
}

TEST(Layers, WavingInterfacesStayInOrder) {
  const LayersOptions options{.n = {200, 160}, .layers = 8, .relief = 0.95, .seed = 5};
  const Image image = generate_layers(options);
  const auto& layer = image.data.require("layer", "image");
  bool waves = false;
  for (std::uint32_t i = 0; i < 200; ++i)
    for (std::uint32_t j = 0; j < 160; ++j) {
      const double here = layer.at(image.grid.voxel(i, j, 0).index());
      // Within half a layer of where it would be flat, never upwards again, and no layer is skipped.
      EXPECT_NEAR(here, std::floor(8 * j / 159.0), 1.0);
      if (j > 0) {
        const double above = layer.at(image.grid.voxel(i, j - 1, 0).index());
        EXPECT_TRUE(here == above || here == above + 1) << i << ' ' << j;
      }
      waves = waves || here != layer.at(image.grid.voxel(0, j, 0).index());
    }
  EXPECT_TRUE(waves);
  EXPECT_THROW((void)generate_layers({.layers = 0}), UsageError);
  EXPECT_THROW((void)generate_layers({.relief = 1}), UsageError);
  EXPECT_THROW((void)generate_layers({.speed_top = 0}), UsageError);
  EXPECT_THROW((void)generate_layers({.n = {1, 5}}), UsageError);
}

TEST(Salt, SitsInAGradient) {
  const SaltOptions round{.n = {201, 101}, .roughness = 0};
  const Image image = generate_salt(round);
  const auto& speed = image.data.require("speed", "image");
  const auto& salt = image.data.require("salt", "image");
  std::size_t inside = 0;
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v) {
    const Vec3d p = image.grid.position(VertexId(v));
    if (salt.at(v) > 0) {
      ++inside;
      EXPECT_EQ(speed.at(v), 4500);
    } else {
      EXPECT_NEAR(speed.at(v), 1500 + 2 * p.y, 1e-3);  // 3500 at a depth of 1000 m
    }
  }
  EXPECT_NEAR(static_cast<double>(inside), std::numbers::pi * 25 * 25, 40);
  SaltOptions rough = round;
  rough.roughness = 0.4;
  EXPECT_NE(generate_salt(rough).data.require("salt", "image").values, salt.values);
  EXPECT_THROW((void)generate_salt({.roughness = 1}), UsageError);
  EXPECT_THROW((void)generate_salt({.radius = 0}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
