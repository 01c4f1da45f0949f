#include "isochron/types.h"

#include <gtest/gtest.h>

#include <limits>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

SymTensor3d random_spd(Random& random) {
  SymTensor3d m = SymTensor3d::identity(0.1);
  for (int i = 0; i < 3; ++i) {
    const double x = random.normal(), y = random.normal(), z = random.normal();
    m = m + SymTensor3d::outer({x, y, z});
  }
  return m;
}

TEST(Vec3, IndexesAndCombines) {
  Vec3d v{1, 2, 3};
  v[1] = 5;
  EXPECT_EQ(v, (Vec3d{1, 5, 3}));
  EXPECT_EQ(v - Vec3d({1, 1, 1}) + 2.0 * Vec3d({1, 0, 0}), (Vec3d{2, 4, 2}));
  EXPECT_EQ(-v / 2.0, (Vec3d{-0.5, -2.5, -1.5}));
  EXPECT_EQ(dot(v, v), 35);
  EXPECT_EQ(norm(Vec3d{3, 0, 4}), 5);
}

TEST(Vec3, CrossIsOrthogonalAndRightHanded) {
  EXPECT_EQ(cross(Vec3d{1, 0, 0}, Vec3d{0, 1, 0}), (Vec3d{0, 0, 1}));
  const Vec3d a{1, 2, 3}, b{-2, 0.5, 7};
  EXPECT_NEAR(dot(cross(a, b), a), 0, 1e-12);
  EXPECT_NEAR(dot(cross(a, b), b), 0, 1e-12);
}

TEST(SymTensor3, InverseTimesTensorIsIdentity) {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const SymTensor3d m = random_spd(random);
    const SymTensor3d inv = inverse(m);
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d unit;
      unit[axis] = 1;
      EXPECT_LT(norm(inv * (m * unit) - unit), 1e-9);
    }
    EXPECT_NEAR(determinant(m) * determinant(inv), 1, 1e-9);
  }
}

TEST(SymTensor3, ProductsMatchTheMatrix) {
  const SymTensor3d m{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(m * Vec3d({1, 0, 0}), (Vec3d{1, 2, 3}));
  EXPECT_EQ(m * Vec3d({0, 1, 0}), (Vec3d{2, 4, 5}));
  EXPECT_EQ(m * Vec3d({0, 0, 1}), (Vec3d{3, 5, 6}));
  const Vec3d a{1, -1, 2}, b{0, 3, 1};
  EXPECT_EQ(product(m, a, b), product(m, b, a));
  EXPECT_EQ(squared_length(SymTensor3d::outer(a, 2), b), 2 * dot(a, b) * dot(a, b));
  EXPECT_EQ(squared_length(SymTensor3d::diagonal(1, 4, 9), Vec3d{1, 1, 1}), 14);
}

TEST(SymTensor3, TellsPositiveDefiniteAtAnyScale) {
  Random random(2);
  for (const double scale : {1e-30, 1.0, 1e30}) {
    EXPECT_TRUE(positive_definite(scale * random_spd(random)));
    EXPECT_FALSE(positive_definite(-scale * random_spd(random)));
    EXPECT_FALSE(positive_definite(scale * SymTensor3d{1, 2, 0, 1, 0, 1}));
    EXPECT_FALSE(positive_definite(scale * SymTensor3d::outer({1, 2, 3})));
  }
  EXPECT_TRUE(positive_definite(SymTensor3d::diagonal(1, 1, 1e-6)));
  EXPECT_FALSE(positive_definite(SymTensor3d{}));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(positive_definite(SymTensor3d{1, nan, 0, 1, 0, 1}));
  EXPECT_FALSE(positive_definite(SymTensor3d::identity(infinity)));
}

TEST(Ids, StartInvalidAndOrder) {
  EXPECT_FALSE(VertexId().valid());
  EXPECT_TRUE(VertexId(0).valid());
  EXPECT_LT(VertexId(3), VertexId(4));
  EXPECT_LT(VertexId(3), VertexId());
  EXPECT_EQ(std::hash<VertexId>()(VertexId(7)), 7U);
}

}  // namespace TEST_FILE
}  // namespace isochron
