#include "isochron/surface/field/spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

TEST(Spline, TakesTheValuesAtThePoints) {
  const Lattice lattice{{7, 2, 9}, {0.5, 2, 1.25}};
  const auto values = sampled(lattice, [](Vec3d p) { return std::sin(3 * p.x) + p.y * p.z; });
  for (const int threads : {1, 3}) {
    const SplineField field(lattice, values, threads);
    for (int k = 0; k < 9; ++k) {
      for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 7; ++i) {
          EXPECT_NEAR(field.view().value(lattice.position(i, j, k)), values[lattice.index(i, j, k)], 3e-5);
        }
      }
    }
  }
}

TEST(Spline, DerivativesOfAQuadraticAreExactAwayFromTheBorder) {
  const Lattice lattice{{40, 40, 40}, {0.25, 0.5, 1}};
  const auto values = sampled(lattice, [](Vec3d p) {
    return 0.01 * p.x * p.x - 0.02 * p.x * p.y + 0.005 * p.z * p.z + 0.03 * p.y * p.z + p.x - 2 * p.z;
  });
  const SplineField field(lattice, values);
  const Vec3d p{5.03, 9.71, 19.4};
  const Jet<double> jet = field.view().jet(p);
  EXPECT_NEAR(jet.gradient.x, 0.02 * p.x - 0.02 * p.y + 1, 1e-4);
  EXPECT_NEAR(jet.gradient.y, -0.02 * p.x + 0.03 * p.z, 1e-4);
  EXPECT_NEAR(jet.gradient.z, 0.01 * p.z + 0.03 * p.y - 2, 1e-4);
  EXPECT_NEAR(jet.hessian.xx, 0.02, 1e-3);
  EXPECT_NEAR(jet.hessian.xy, -0.02, 1e-3);
  EXPECT_NEAR(jet.hessian.xz, 0, 1e-3);
  EXPECT_NEAR(jet.hessian.yy, 0, 1e-3);
  EXPECT_NEAR(jet.hessian.yz, 0.03, 1e-3);
  EXPECT_NEAR(jet.hessian.zz, 0.01, 1e-3);
  const Jet<double> slope = field.view().slope(p);
  EXPECT_NEAR(slope.value, field.view().value(p), 1e-12);
  EXPECT_NEAR(norm(slope.gradient - jet.gradient), 0, 1e-12);
}

TEST(Spline, OutsideCountsAsTheNearestInside) {
  const Lattice lattice{{4, 4, 4}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return p.x + 10 * p.y + 100 * p.z; }));
  EXPECT_NEAR(field.view().value({-5, 9, 1}), 130, 1e-3);
}

TEST(Sizes, AreTrilinear) {
  const Lattice lattice{{3, 4, 5}, {1, 2, 0.5}};
  const SizeField sizes{lattice, sampled(lattice, [](Vec3d p) { return 1 + p.x * p.y * p.z; })};
  EXPECT_NEAR(sizes.view().size({1.5, 3, 0.75}), 1 + 1.5 * 3 * 0.75, 1e-5);
}

}  // namespace TEST_FILE
}  // namespace isochron
