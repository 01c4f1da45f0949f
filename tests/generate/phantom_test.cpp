#include "isochron/generate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

double volume_of(const Image& image, double label) {
  std::size_t count = 0;
  const DataArray& labels = *image.data.find("label");
  for (std::size_t v = 0; v < labels.tuple_count(); ++v) count += labels.at(v) == label ? 1 : 0;
  return static_cast<double>(count) * std::pow(image.grid.spacing(0), 3);
}

TEST(Phantom, HasTheVolumesOfItsShapes) {
  const PhantomOptions options{.size = {{61, 61, 61}, 0.5}};
  const Image image = generate_phantom(options);
  const double side = 30, outer = options.radius * side, wall = options.wall * side, tube = options.tube * side;
  const double ball = 4 * std::numbers::pi / 3;
  const double inside = ball * std::pow(outer - wall, 2) * (1.4 * outer - wall);
  EXPECT_NEAR(volume_of(image, 2), inside, 0.01 * inside);
  const double ring = 2 * std::pow(std::numbers::pi * tube, 2) * (outer + tube / 2);
  EXPECT_NEAR(volume_of(image, 3), ring, 0.02 * ring);
  const double shell = ball * 1.4 * std::pow(outer, 3) - inside;
  EXPECT_LT(volume_of(image, 1), shell);
  EXPECT_GT(volume_of(image, 1), shell - ring);
}

TEST(Phantom, DensitiesAreThoseOfLabelsAwayFromBorders) {
  const Image image = generate_phantom({});
  const DataArray &labels = *image.data.find("label"), &density = *image.data.find("density");
  std::array<std::size_t, 4> pure{};
  std::size_t between = 0;
  for (std::size_t v = 0; v < labels.tuple_count(); ++v) {
    const double value = density.at(v);
    ASSERT_TRUE(value >= 0 && value <= 300);
    if (value == 100 * labels.at(v)) ++pure[static_cast<std::size_t>(labels.at(v))];
    else ++between;
  }
  for (const std::size_t count : pure) EXPECT_GT(count, 1000U);
  EXPECT_LT(between, labels.tuple_count() / 8);
}

TEST(Phantom, RefusesShapesThatDoNotFit) {
  EXPECT_THROW((void)generate_phantom({.wall = 0.3}), UsageError);
  EXPECT_THROW((void)generate_phantom({.tube = 0.2}), UsageError);
  EXPECT_THROW((void)generate_phantom({.radius = 0.4}), UsageError);
  EXPECT_THROW((void)generate_phantom({.radius = std::nan("")}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
