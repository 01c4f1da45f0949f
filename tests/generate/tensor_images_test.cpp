#include "isochron/generate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "isochron/error.h"
#include "isochron/types.h"

namespace isochron {
namespace TEST_FILE {

SymTensor3d tensor_at(const Image& image, VertexId voxel) {
  const DataArray& array = image.data.all().front();
  std::array<double, 6> t{};
  for (int c = 0; c < 6; ++c) t[static_cast<std::size_t>(c)] = array.at(voxel.index(), c);
  return tensor_of(t, *image.tensor_order);
}

TEST(DiagonalTensors, IsExampleOne) {
  const Image image = generate_diagonal_tensors({});
  EXPECT_EQ(image.grid.shape, (std::array<std::uint32_t, 3>{64, 64, 64}));
  EXPECT_EQ(image.data.all()[0].tuple_count(), 64U * 64 * 64);
  for (const std::size_t voxel : {0U, 12345U, 262143U}) {
    const auto e = eigen_system(tensor_at(image, VertexId(voxel)));
    EXPECT_NEAR(e.values.x, 2.8, 1e-6);
    EXPECT_NEAR(e.values.y, 0.1, 1e-6);
    EXPECT_NEAR(e.values.z, 0.1, 1e-6);
    EXPECT_NEAR(std::abs(dot(e.vectors[0], Vec3d{1, 1, 1})), std::sqrt(3), 1e-6);
  }
  EXPECT_THROW((void)generate_diagonal_tensors({.coupling = 1}), UsageError);
  EXPECT_THROW((void)generate_diagonal_tensors({.size = {{1, 64, 64}, 1}}), UsageError);
  EXPECT_THROW((void)generate_diagonal_tensors({.size = {{64, 64, 64}, 0}}), UsageError);
}

/// The nearest of many points on the centre line.
struct Nearest {
  double t = 0;
  double distance = 1e300;
};
Nearest nearest_on_helix(const HelixTensorsOptions& options, const Vec3d& p) {
  Nearest best;
  constexpr int steps = 1000;
  for (int i = 0; i <= steps; ++i) {
    const double t = i / static_cast<double>(steps), distance = norm(p - helix_point(options, t));
    if (distance < best.distance) best = {t, distance};
  }
  return best;
}

TEST(HelixTensors, FollowTheCentreLineInsideTheTube) {
  const HelixTensorsOptions options{.size = {{20, 20, 16}, 1.5}, .turns = 1.5};
  const Image image = generate_helix_tensors(options);
  const double tube = helix_tube_radius(options);
  std::size_t inside = 0;
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v) {
    const auto nearest = nearest_on_helix(options, image.grid.position(VertexId(v)));
    const auto e = eigen_system(tensor_at(image, VertexId(v)));
    if (nearest.distance < tube - 1e-3) {
      ++inside;
      EXPECT_NEAR(e.values.x, 1, 1e-6);
      EXPECT_NEAR(e.values.y, 1e-4, 1e-6);
      EXPECT_NEAR(e.values.z, 1e-4, 1e-6);
      EXPECT_GT(std::abs(dot(e.vectors[0], helix_tangent(options, nearest.t))), 1 - 1e-4);
    } else if (nearest.distance > tube + 1e-3) {
      EXPECT_EQ(e.values.x, e.values.z);
      EXPECT_NEAR(e.values.x, 1e-4, 1e-9);
    }
  }
  // A tube has the volume of its length times its section.
  const double across = 2 * std::numbers::pi * 1.5 * 0.3 * 28.5, up = 22.5;
  const double volume = std::numbers::pi * tube * tube * std::hypot(across, up);
  EXPECT_NEAR(static_cast<double>(inside) * 1.5 * 1.5 * 1.5 / volume, 1, 0.1);
}

TEST(HelixTensors, CentreLineAndTangentBelongTogether) {
  const HelixTensorsOptions options{.turns = 3};
  EXPECT_EQ(helix_point(options, 0).z, 0);
  EXPECT_EQ(helix_point(options, 1).z, 63);
  for (const double t : {0.0, 0.3, 0.77, 1.0}) {
    const Vec3d step = helix_point(options, t + 1e-6) - helix_point(options, t - 1e-6);
    EXPECT_NEAR(dot(step / norm(step), helix_tangent(options, t)), 1, 1e-9);
    EXPECT_NEAR(std::hypot(helix_point(options, t).x - 31.5, helix_point(options, t).y - 31.5), 0.3 * 63, 1e-12);
  }
  EXPECT_THROW((void)generate_helix_tensors({.radius = 0.45, .tube = 0.1}), UsageError);
  EXPECT_THROW((void)generate_helix_tensors({.turns = 0}), UsageError);
  EXPECT_THROW((void)generate_helix_tensors({.size = {{8, 8, 1}, 1}}), UsageError);
}

TEST(CrossingFibers, BundlesCrossAtTheAngle) {
  const CrossingFibersOptions options{.size = {{41, 41, 11}, 2}, .angle = 50};
  const Image image = generate_crossing_fibers(options);
  const auto& mask = image.data.require("mask", "image");
  const auto& fa = image.data.require("fa", "image");
  // Well out on the first bundle, on the second, in the middle, and beside.
  const double half = 25 * std::numbers::pi / 180;
  const Vec3d middle{40, 40, 10}, first{std::cos(half), std::sin(half), 0}, second{std::cos(half), -std::sin(half), 0};
  const VertexId on_first = *image.grid.voxel_at(middle + 32.0 * first);
  const VertexId on_second = *image.grid.voxel_at(middle - 32.0 * second);
  const VertexId crossing = *image.grid.voxel_at(middle), beside = *image.grid.voxel_at({40, 76, 10});
  for (const auto& [voxel, direction] : {std::pair{on_first, first}, std::pair{on_second, second}}) {
    const auto e = eigen_system(tensor_at(image, voxel));
    EXPECT_NEAR(e.values.x, 1.7e-3, 1e-9);
    EXPECT_NEAR(e.values.y, 0.2e-3, 1e-9);
    EXPECT_NEAR(std::abs(dot(e.vectors[0], direction)), 1, 1e-6);
    EXPECT_EQ(mask.at(voxel.index()), 1);
  }
  const auto e = eigen_system(tensor_at(image, crossing));
  EXPECT_NEAR(e.values.x, 0.2e-3 + 1.5e-3 * std::cos(half) * std::cos(half), 1e-9);
  EXPECT_NEAR(e.values.y, 0.2e-3 + 1.5e-3 * std::sin(half) * std::sin(half), 1e-9);
  EXPECT_NEAR(e.values.z, 0.2e-3, 1e-9);
  EXPECT_EQ(mask.at(crossing.index()), 1);
  EXPECT_EQ(mask.at(beside.index()), 0);
  EXPECT_NEAR(fa.at(beside.index()), 0, 1e-6);
  EXPECT_NEAR(fa.at(on_first.index()), fractional_anisotropy(SymTensor3d::diagonal(1.7, 0.2, 0.2)), 1e-6);
  EXPECT_LT(fa.at(crossing.index()), fa.at(on_first.index()));
}

TEST(CrossingFibers, NoiseRepeatsWithItsSeed) {
  const CrossingFibersOptions options{.size = {{9, 9, 3}, 1}, .noise = 0.02};
  CrossingFibersOptions other = options;
  other.seed = 2;
  const auto values = [](const CrossingFibersOptions& o) { return generate_crossing_fibers(o).data.all()[0].values; };
  EXPECT_EQ(values(options), values(options));
  EXPECT_NE(values(options), values(other));
  EXPECT_THROW((void)generate_crossing_fibers({.angle = 0}), UsageError);
  EXPECT_THROW((void)generate_crossing_fibers({.along = -1}), UsageError);
  EXPECT_THROW((void)generate_crossing_fibers({.noise = 1}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
