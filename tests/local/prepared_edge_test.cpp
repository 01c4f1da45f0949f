// The prepared triangle update against the one it is made from.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isochron/core/random.h"
#include "isochron/local/prepared_edge.h"

namespace isochron {
namespace TEST_FILE {

template <class T>
class PreparedEdgeTest : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(PreparedEdgeTest, Precisions);

template <class T>
T plain_time(T ua, T ub, T lab, T lax, T lbx) {
  T lambda;
  return detail::edge_time(ua, ub, lab, lax, lbx, lambda);
}

TYPED_TEST(PreparedEdgeTest, IsTheUpdateItIsMadeFrom) {
  using T = TypeParam;
  Random random(7);
  const T near = 40 * std::numeric_limits<T>::epsilon();
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    // Sharp, wide and right angles; height at least a tenth, so that the roots are well conditioned.
    const double foot = random.uniform(-1.5, 2.5), height = random.uniform(0.1, 2), side = random.uniform(0.5, 1.5);
    const T lab = T(side * side), lax = T((foot - side) * (foot - side) + height * height),
            lbx = T(foot * foot + height * height);
    const T ub = T(random.uniform(0, 3)), ua = ub + T(random.uniform(-1.2, 1.2));
    const T expected = plain_time(ua, ub, lab, lax, lbx);
    const T got = PreparedEdge<T>::from_lengths(lab, lax, lbx).time(ua, ub);
    ASSERT_NEAR(got, expected, near * 8) << foot << ' ' << height << ' ' << ua << ' ' << ub;
    const T ends = std::min(ua + std::sqrt(lax), ub + std::sqrt(lbx));
    inside += got < ends - T(1e-3) ? 1 : 0;
  }
  EXPECT_GT(inside, 2000);
}

TYPED_TEST(PreparedEdgeTest, WeightsAreThoseOfTheUpdate) {
  using T = TypeParam;
  Random random(8);
  const T near = 400 * std::numeric_limits<T>::epsilon();
  for (int i = 0; i < 2000; ++i) {
    const double foot = random.uniform(-1.5, 2.5), height = random.uniform(0.1, 2);
    const T lab = 1, lax = T((foot - 1) * (foot - 1) + height * height), lbx = T(foot * foot + height * height);
    const T ub = T(random.uniform(0, 3)), ua = ub + T(random.uniform(-1.2, 1.2));
    T lambda;
    const T expected = detail::edge_time(ua, ub, lab, lax, lbx, lambda);
    const EdgeCandidate<T> got = PreparedEdge<T>::from_lengths(lab, lax, lbx).candidate(ua, ub);
    ASSERT_NEAR(got.time, expected, near);
    ASSERT_NEAR(got.weight[0] + got.weight[1], 1, near);
    // Where the two are nearly an edge apart the weight hangs on the last bits of the times.
    if (lab - (ua - ub) * (ua - ub) > T(0.05)) {
      ASSERT_NEAR(got.weight[0], lambda, 40 * near) << foot << ' ' << height << ' ' << ua << ' ' << ub;
    }
  }
}

TYPED_TEST(PreparedEdgeTest, UnreachedEndsDropOut) {
  using T = TypeParam;
  constexpr T never = std::numeric_limits<T>::infinity();
  const auto edge = PreparedEdge<T>::from_lengths(1, 4, 2);
  EXPECT_EQ(edge.time(never, never), never);
  EXPECT_EQ(edge.time(1, never), T(3));
  EXPECT_EQ(edge.time(never, 1), T(1) + std::sqrt(T(2)));
  EXPECT_EQ(PreparedEdge<T>{}.time(never, never), never);
}

TYPED_TEST(PreparedEdgeTest, EdgesWithoutLengthOrHeight) {
  using T = TypeParam;
  const auto point = PreparedEdge<T>::from_lengths(0, 4, 4);
  EXPECT_EQ(point.time(1, 2), T(3));
  EXPECT_EQ(point.time(2, 2), T(4));
  // x on the line through a and b: between them, and beyond a.
  EXPECT_EQ(PreparedEdge<T>::from_lengths(4, 1, 1).time(5, 5), T(5));
  EXPECT_EQ(PreparedEdge<T>::from_lengths(1, 1, 4).time(5, 5), T(6));
  // Times exactly an edge apart leave no room: the earlier end.
  EXPECT_EQ(PreparedEdge<T>::from_lengths(1, 1, 2).time(0, 1), T(1));
}

}  // namespace TEST_FILE
}  // namespace isochron
