#include "isochron/types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/random.h"
#include "support/random_frame.h"

namespace isochron {
namespace TEST_FILE {

using test::random_unit;
using test::RandomFrame;

/// Orthonormal, descending, and each pair satisfies M v = λ v to `tolerance` of the largest eigenvalue.
void expect_eigen_system(const SymTensor3d& m, const EigenSystem3<double>& e, double tolerance = 1e-14) {
  const double size = std::max(std::abs(e.values.x), std::abs(e.values.z));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(norm(e.vectors[i]), 1, 1e-14);
    EXPECT_NEAR(dot(e.vectors[i], e.vectors[(i + 1) % 3]), 0, 1e-14);
    EXPECT_LE(norm(m * e.vectors[i] - e.values[i] * e.vectors[i]), tolerance * size);
  }
  EXPECT_GE(e.values.x, e.values.y);
  EXPECT_GE(e.values.y, e.values.z);
}

TEST(Eigen3, SolvesRandomTensors) {
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    SymTensor3d m;
    for (double* c : {&m.xx, &m.xy, &m.xz, &m.yy, &m.yz, &m.zz}) *c = random.normal();
    const auto e = eigen_system(m);
    expect_eigen_system(m, e);
    EXPECT_NEAR(e.values.x + e.values.y + e.values.z, m.xx + m.yy + m.zz, 1e-13);
    EXPECT_NEAR(e.values.x * e.values.y * e.values.z, determinant(m), 1e-12);
  }
}

TEST(Eigen3, FindsTheGivenValuesAndDirections) {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    const RandomFrame frame(random);
    const Vec3d values{3, 1, -0.5};
    const auto e = eigen_system(tensor_of_eigen(values, frame.axis));
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(e.values[i], values[i], 1e-14);
      EXPECT_NEAR(std::abs(dot(e.vectors[i], frame.axis[i])), 1, 1e-14);
    }
  }
}

TEST(Eigen3, StandsEqualEigenvalues) {
  Random random(5);
  for (const Vec3d values : {Vec3d{1, 1, 1}, Vec3d{2, 2, 1}, Vec3d{2, 1, 1}, Vec3d{1, 1 - 1e-15, 1e-3}}) {
    for (int trial = 0; trial < 200; ++trial) {
      const RandomFrame frame(random);
      const SymTensor3d m = tensor_of_eigen(values, frame.axis);
      const auto e = eigen_system(m);
      expect_eigen_system(m, e);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(e.values[i], values[i], 1e-14);
    }
  }
  const auto same = eigen_system(SymTensor3d::identity(7));
  EXPECT_EQ(same.values, (Vec3d{7, 7, 7}));
  EXPECT_EQ(eigen_system(SymTensor3d{}).values, (Vec3d{0, 0, 0}));
}

TEST(Eigen3, KeepsSmallValuesBesideLargeOnes) {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const RandomFrame frame(random);
    const Vec3d values{1, 1e-4, 1e-8};
    const SymTensor3d m = tensor_of_eigen(values, frame.axis);
    const auto e = eigen_system(m);
    expect_eigen_system(m, e);
    EXPECT_NEAR(e.values.z / values.z, 1, 1e-7);  // what the rounding of m's own entries leaves
    EXPECT_NEAR(std::abs(dot(e.vectors[2], frame.axis[2])), 1, 1e-12);
  }
  // Entries that are small together keep every digit: the tensor is a diagonal one times a well conditioned one.
  const SymTensor3d graded{1, 1e-5, 0, 4e-8, 1e-14, 1e-16};
  const auto e = eigen_system(graded);
  EXPECT_NEAR(e.values.x * e.values.y * e.values.z / determinant(graded), 1, 1e-13);
}

TEST(Eigen3, SizeDoesNotMatter) {
  Random random(7);
  const RandomFrame frame(random);
  for (const double scale : {1e-200, 1e-9, 1.0, 1e200}) {
    const auto e = eigen_system(tensor_of_eigen(scale * Vec3d{3, 2, 1}, frame.axis));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(e.values[i] / scale, 3 - i, 1e-14);
  }
}

TEST(Eigen3, PermutedAxesPermuteTheVectors) {
  const SymTensor3d m{4, 0.5, -1, 2, 0.25, 1};
  const auto e = eigen_system(m);
  std::array<int, 3> order{0, 1, 2};
  do {
    const auto at = [&](int i, int j) {
      Vec3d a, b;
      a[order[static_cast<std::size_t>(i)]] = 1;
      b[order[static_cast<std::size_t>(j)]] = 1;
      return product(m, a, b);
    };
    const auto turned = eigen_system(SymTensor3d{at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)});
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(turned.values[k], e.values[k], 1e-14);
      Vec3d back;
      for (int i = 0; i < 3; ++i) back[order[static_cast<std::size_t>(i)]] = turned.vectors[k][i];
      EXPECT_NEAR(std::abs(dot(back, e.vectors[k])), 1, 1e-14);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Eigen3, WorksInSinglePrecision) {
  Random random(8);
  const RandomFrame frame(random);
  const SymTensor3d m = tensor_of_eigen(Vec3d{5, 2, 1}, frame.axis);
  const auto f = [](double value) { return static_cast<float>(value); };
  const auto e = eigen_system(SymTensor3f{f(m.xx), f(m.xy), f(m.xz), f(m.yy), f(m.yz), f(m.zz)});
  EXPECT_NEAR(e.values.x, 5, 5e-6);
  EXPECT_NEAR(e.values.y, 2, 5e-6);
  EXPECT_NEAR(e.values.z, 1, 5e-6);
}

TEST(Eigen3, NotFiniteComesBackNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const SymTensor3d& m : {SymTensor3d{nan, 0, 0, 1, 0, 1}, SymTensor3d{1, nan, 0, 1, 0, 1},
                               SymTensor3d{nan, nan, nan, nan, nan, nan}, SymTensor3d{1, 0, 0, inf, 0, 1}}) {
    const Vec3d values = eigen_system(m).values;
    EXPECT_FALSE(std::isfinite(values.x + values.y + values.z));
  }
}

TEST(MapEigenvalues, PowersOfATensor) {
  Random random(9);
  for (int trial = 0; trial < 100; ++trial) {
    const RandomFrame frame(random);
    const SymTensor3d m = tensor_of_eigen(Vec3d{4, 2, 0.5}, frame.axis);
    const SymTensor3d root = map_eigenvalues(m, [](double x) { return std::sqrt(x); });
    const SymTensor3d flipped = map_eigenvalues(m, [](double x) { return 1 / x; });
    const SymTensor3d exact = inverse(m);
    const Vec3d v = random_unit(random);
    EXPECT_LT(norm(root * (root * v) - m * v), 1e-13);
    EXPECT_LT(norm(flipped * v - exact * v), 1e-13);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
