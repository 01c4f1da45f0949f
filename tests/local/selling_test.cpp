#include "isochron/local/selling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

Vec3d real(const Vec3i& v) { return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)}; }

template <int Count>
SymTensor3d sum_of(const SellingTerms<Count>& terms) {
  SymTensor3d sum{};
  for (int k = 0; k < Count; ++k) sum = sum + SymTensor3d::outer(real(terms.offset[k]), terms.weight[k]);
  return sum;
}

double largest_difference(const SymTensor3d& a, const SymTensor3d& b) {
  return std::max({std::abs(a.xx - b.xx), std::abs(a.xy - b.xy), std::abs(a.xz - b.xz), std::abs(a.yy - b.yy),
                   std::abs(a.yz - b.yz), std::abs(a.zz - b.zz)});
}

Vec3d random_direction(Random& random) {
  for (;;) {
    const Vec3d v{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    if (const double length = norm(v); length > 0.1 && length < 1) return v / length;
  }
}

/// Eigenvalues 1 … 1/condition on random axes.
SymTensor3d random_tensor(Random& random, double condition) {
  const Vec3d a = random_direction(random);
  const Vec3d across = cross(a, random_direction(random));
  const Vec3d b = across / norm(across), c = cross(a, b);
  const double middle = std::pow(condition, -random.uniform(0, 1));
  return SymTensor3d::outer(a) + SymTensor3d::outer(b, middle) + SymTensor3d::outer(c, 1 / condition);
}

TEST(Selling, LeavesDiagonalTensorsOnTheAxes) {
  const SellingTerms<6> terms = selling_terms(SymTensor3d::diagonal(2, 3, 5));
  int used = 0;
  for (int k = 0; k < 6; ++k) {
    if (terms.weight[k] == 0) continue;
    ++used;
    EXPECT_EQ(std::abs(terms.offset[k].x) + std::abs(terms.offset[k].y) + std::abs(terms.offset[k].z), 1);
  }
  EXPECT_EQ(used, 3);
  EXPECT_EQ(sum_of(terms), SymTensor3d::diagonal(2, 3, 5));
}

TEST(Selling, RebuildsATensorByHand) {
  // Example 1 of paper 004: D = 0.9·(1,1,1)(1,1,1)ᵀ + 0.1·identity, which is its own decomposition.
  const SellingTerms<6> terms = selling_terms({1, 0.9, 0.9, 1, 0.9, 1});
  double along = 0;
  for (int k = 0; k < 6; ++k)
    if (terms.offset[k] == Vec3i{1, 1, 1} || terms.offset[k] == Vec3i{-1, -1, -1}) along = terms.weight[k];
  EXPECT_NEAR(along, 0.9, 1e-14);
}

TEST(Selling, RebuildsRandomTensorsWithWeightsNotNegative) {
  Random random(11);
  for (int sample = 0; sample < 100000; ++sample) {
    const double condition = std::pow(10.0, random.uniform(0, 8));
    const SymTensor3d d = random_tensor(random, condition);
    const SellingTerms<6> terms = selling_terms(d);
    for (int k = 0; k < 6; ++k) ASSERT_GE(terms.weight[k], 0);
    // Offsets are about as long as the ratio of the semi-axes, and their squares carry the rounding.
    ASSERT_LT(largest_difference(sum_of(terms), d), 1e-10) << "condition " << condition << ", sample " << sample;
  }
}

TEST(Selling, TermsAsSmallAsRoundingAreLeftOut) {
  const double rounding = 1e-15 * (1.0 + 1.0 + 1.0);
  for (const double factor : {-2.0, -1.0, 1.0, 2.0}) {
    const SellingTerms<6> terms = selling_terms({1, factor * rounding, 0, 1, 0, 1});
    const auto used = std::count_if(std::begin(terms.weight), std::end(terms.weight), [](double w) { return w > 0; });
    EXPECT_EQ(used, std::abs(factor) > 1 ? 4 : 3) << factor;
  }
}

TEST(Selling, FlatDiagonalTensorsNeedNoThirdTerm) {
  const SellingTerms<3> terms = selling_terms_flat(2, 0, 5);
  double sum = 0;
  for (const double weight : terms.weight) sum += weight;
  EXPECT_EQ(sum, 7);
  EXPECT_LT(largest_difference(sum_of(terms), SymTensor3d::diagonal(2, 5, 0)), 1e-15);
}

TEST(Selling, RebuildsRandomFlatTensors) {
  Random random(12);
  for (int sample = 0; sample < 20000; ++sample) {
    const double ratio = std::pow(10.0, random.uniform(0, 8)), angle = random.uniform(0, 7);
    const Vec3d a{std::cos(angle), std::sin(angle), 0}, b{-a.y, a.x, 0};
    const SymTensor3d d = SymTensor3d::outer(a) + SymTensor3d::outer(b, 1 / ratio);
    const SellingTerms<3> terms = selling_terms_flat(d.xx, d.xy, d.yy);
    for (int k = 0; k < 3; ++k) {
      ASSERT_GE(terms.weight[k], 0);
      ASSERT_EQ(terms.offset[k].z, 0);
    }
    ASSERT_LT(largest_difference(sum_of(terms), d), 1e-10) << "ratio " << ratio << ", angle " << angle;
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
