#include "isochron/surface/particles/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "isochron/surface/particles/neighbours.h"

namespace isochron {
namespace TEST_FILE {

TEST(Energy, IsTheCotangent) {
  for (double d = 0.002; d < 1; d += 0.001) {
    const double y = d * std::numbers::pi / 2, c = 1 / std::tan(y), scale = 1 + c;
    const PairEnergy<double> pair = pair_energy(d);
    EXPECT_NEAR(pair.value, c + y - std::numbers::pi / 2, 2e-9 * scale) << d;
    EXPECT_NEAR(pair.first, std::numbers::pi / 2 * (1 - 1 / (std::sin(y) * std::sin(y))), 4e-9 * scale * scale) << d;
    EXPECT_NEAR(pair_energy(static_cast<float>(d)).value, pair.value, 1e-6 * scale) << d;
  }
}

TEST(Energy, DerivativesFitTheValues) {
  for (double d = 0.05; d < 0.999; d += 0.013) {
    const double e = 1e-4 * d;
    const auto less = pair_energy(d - e), here = pair_energy(d), more = pair_energy(d + e);
    EXPECT_NEAR((more.value - less.value) / (2 * e), here.first, 1e-5 * (1 - here.first));
    EXPECT_NEAR((more.first - less.first) / (2 * e), here.second, 1e-5 * (1 + here.second));
  }
}

TEST(Energy, EndsSmoothlyAtOne) {
  const auto end = pair_energy(1.0);
  EXPECT_NEAR(end.value, 0, 1e-15);
  EXPECT_NEAR(end.first, 0, 1e-15);
  EXPECT_NEAR(end.second, 0, 1e-15);
}

// A hexagonal lattice in the plane z = 0 without its origin.
std::vector<Particle<double>> hexagons(double spacing, double size) {
  std::vector<Particle<double>> all;
  for (int i = -4; i <= 4; ++i) {
    for (int j = -4; j <= 4; ++j) {
      if (i == 0 && j == 0) continue;
      all.push_back({{spacing * (i + 0.5 * j), spacing * std::sqrt(0.75) * j, 0}, size, {0, 0, 1}, 1});
    }
  }
  return all;
}

Pull<double> pull_at(Vec3d position, const std::vector<Particle<double>>& others, double size) {
  Pull<double> pull;
  const TangentPlane<double> plane(Vec3d{0, 0, 1});
  for (const auto& other : others) add_pull(pull, position, size, plane, other);
  return pull;
}

TEST(Energy, OfAHexagonalLatticeIsIdeal) {
  const double a = std::numbers::pi / (2 * std::sqrt(3.0));
  EXPECT_NEAR(ideal_energy, 6 * (1 / std::tan(a) + a - std::numbers::pi / 2), 1e-14);
  for (const double size : {1.0, 0.3}) {
    const auto others = hexagons(size, size);
    const Pull<double> pull = pull_at({0, 0, 0}, others, size);
    EXPECT_NEAR(pull.plain, ideal_energy, 1e-8);
    EXPECT_NEAR(pull.energy, size * ideal_energy, 1e-8);
    // No force, and a minimum: the Hessian is a positive multiple of the identity.
    EXPECT_NEAR(std::hypot(pull.slope[0], pull.slope[1]), 0, 1e-12);
    EXPECT_GT(pull.bend[0], 0);
    EXPECT_NEAR(pull.bend[0], pull.bend[2], 1e-8 * pull.bend[0]);
    EXPECT_NEAR(pull.bend[1], 0, 1e-8 * pull.bend[0]);
    // Exactly the first ring counts.
    EXPECT_NEAR(pull_at({0, 0, 0}, hexagons(1.001 * size, size), size).plain,
                6 * pair_energy(1.001 / energy_reach).value, 1e-12);
  }
}

TEST(Energy, PullHasTheDerivativesOfTheWeightedEnergy) {
  auto others = hexagons(0.8, 1);
  for (std::size_t i = 0; i < others.size(); ++i) others[i].size = 0.9 + 0.02 * static_cast<double>(i % 7);
  const TangentPlane<double> plane(Vec3d{0, 0, 1});
  const Vec3d at{0.11, -0.07, 0};
  const double e = 1e-5;
  const Pull<double> here = pull_at(at, others, 1);
  const Vec3d along[2] = {plane.u, plane.v};
  for (int a = 0; a < 2; ++a) {
    const Pull<double> less = pull_at(at - e * along[a], others, 1), more = pull_at(at + e * along[a], others, 1);
    EXPECT_NEAR((more.energy - less.energy) / (2 * e), here.slope[a], 1e-5);
    EXPECT_NEAR((more.slope[a] - less.slope[a]) / (2 * e), here.bend[2 * a], 1e-4);
    EXPECT_NEAR((more.slope[1 - a] - less.slope[1 - a]) / (2 * e), here.bend[1], 1e-4);
  }
}

TEST(Step, NewtonFindsTheMiddleOfAHexagonAndThenRests) {
  const Lattice lattice{{8, 8, 8}, {1, 1, 1}};
  std::vector<float> flat(lattice.point_count());
  for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = static_cast<float>(i / 64) - 3.0F;  // F = z − 3
  const SplineField field(lattice, flat);
  const SizeField sizes{lattice, std::vector<float>(lattice.point_count(), 1)};
  auto others = hexagons(1, 1);
  for (auto& other : others) other.position += Vec3d{3, 3, 3};
  std::vector<std::uint32_t> list(others.size());
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::uint32_t>(i);
  Particle<double> particle{{3.2, 2.9, 3}, 1, {0, 0, 1}, 0.1};
  const SurfaceFields<double> fields{field.view(), sizes.view()};
  StepRules<double> rules;
  rules.stretch = 1;
  double energy = 1e9;
  Step<double> step;
  for (int k = 0; k < 6; ++k) {
    step = step_particle(particle, fields, ListedNeighbours{others.data(), list}, 0.25, rules);
    EXPECT_LE(step.energy, energy);
    EXPECT_LE(step.moved, 0.2501);
    energy = step.energy;
    particle = step.particle;
  }
  EXPECT_NEAR(norm(particle.position - Vec3d{3, 3, 3}), 0, 3e-3);
  EXPECT_EQ(step.moved, 0);
}

}  // namespace TEST_FILE
}  // namespace isochron
