#include "isochron/local/stencil_update.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Σ weight max(0, u − m)².
template <int N>
double sum_at(double u, const double (&m)[N], const double (&weight)[N]) {
  double sum = 0;
  for (int i = 0; i < N; ++i)
    if (m[i] < u) sum += weight[i] * (u - m[i]) * (u - m[i]);
  return sum;
}

template <int N>
void solves_its_equation(std::uint64_t seed) {
  Random random(seed);
  for (int sample = 0; sample < 20000; ++sample) {
    double m[N], weight[N];
    for (int i = 0; i < N; ++i) {
      const bool there = i == 0 || random.uniform(0, 1) > 0.3;
      m[i] = there ? random.uniform(0, 3) : inf;
      weight[i] = std::pow(10.0, random.uniform(-3, 2));
    }
    double used_m[N], used_weight[N];
    std::copy(std::begin(m), std::end(m), std::begin(used_m));
    std::copy(std::begin(weight), std::end(weight), std::begin(used_weight));
    const double u = upwind_time(used_m, used_weight);
    ASSERT_NEAR(sum_at(u, m, weight), 1, 1e-9);
    // Monotone: a later neighbour never makes the update earlier.
    const int moved = sample % N;
    std::copy(std::begin(m), std::end(m), std::begin(used_m));
    std::copy(std::begin(weight), std::end(weight), std::begin(used_weight));
    used_m[moved] += 0.01;
    ASSERT_GE(upwind_time(used_m, used_weight), u - 1e-12);
  }
}

TEST(StencilUpdate, SolvesItsEquationWithTwoTerms) { solves_its_equation<2>(1); }
TEST(StencilUpdate, SolvesItsEquationWithThreeTerms) { solves_its_equation<3>(2); }
TEST(StencilUpdate, SolvesItsEquationWithSixTerms) { solves_its_equation<6>(3); }

TEST(StencilUpdate, NothingArrivesFromNowhere) {
  double m[3] = {inf, inf, inf}, weight[3] = {1, 1, 1};
  EXPECT_EQ(upwind_time(m, weight), inf);
}

TEST(StencilUpdate, OneNeighbourIsOneStep) {
  double m[6] = {inf, inf, 2, inf, inf, inf}, weight[6] = {1, 1, 4, 1, 1, 1};
  EXPECT_DOUBLE_EQ(upwind_time(m, weight), 2.5);
}

TEST(PackedOffset, KeepsItsWholeRange) {
  for (const int x : {-1023, -1, 0, 1, 1023})
    for (const int y : {-1023, -17, 0, 1023})
      for (const int z : {-511, -1, 0, 3, 511}) {
        const Vec3i e{x, y, z};
        ASSERT_TRUE(PackedOffset::fits(e));
        ASSERT_EQ(PackedOffset::of(e).offset(), e);
      }
  EXPECT_FALSE(PackedOffset::fits({1024, 0, 0}));
  EXPECT_FALSE(PackedOffset::fits({0, -1024, 0}));
  EXPECT_FALSE(PackedOffset::fits({0, 0, 512}));
}

}  // namespace TEST_FILE
}  // namespace isochron
