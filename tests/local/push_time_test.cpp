// Pushing: what the three corners of a face push to the target is together what the full update finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/local/simplex_update.h"
#include "local/simplex_limits.h"
#include "local/simplex_reference.h"
#include "local/simplex_samples.h"

namespace isochron {
namespace TEST_FILE {

using test::Family;
using test::Reference;
using test::Sampler;
using test::TetSample;

template <class T>
struct Pushed {
  std::array<T, 3> each;  ///< +inf from an unreached corner, which never pushes
  T best;
};

template <class T>
Pushed<T> push_all(const std::array<T, 3>& u, const TetLengths<T>& l) {
  using detail::push_time;
  constexpr T never = std::numeric_limits<T>::infinity();
  Pushed<T> p;
  p.each[0] = u[0] < never ? push_time(u[0], u[1], u[2], l.l12, l.l13, l.l23, l.l1x, l.l2x, l.l3x) : never;
  p.each[1] = u[1] < never ? push_time(u[1], u[2], u[0], l.l23, l.l12, l.l13, l.l2x, l.l3x, l.l1x) : never;
  p.each[2] = u[2] < never ? push_time(u[2], u[0], u[1], l.l13, l.l23, l.l12, l.l3x, l.l1x, l.l2x) : never;
  p.best = *std::min_element(p.each.begin(), p.each.end());
  return p;
}

template <class T>
class PushTime : public testing::Test {};
using Precisions = testing::Types<float, double>;
struct PrecisionNames {
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == 4 ? "Float" : "Double";
  }
};
TYPED_TEST_SUITE(PushTime, Precisions, PrecisionNames);

TYPED_TEST(PushTime, TogetherPushesAreTheFullUpdate) {
  using T = TypeParam;
  for (const Family family : test::all_families) {
    SCOPED_TRACE(test::name(family));
    Sampler sampler(31);
    const test::Limits limits = test::limits<T>(family);
    int unusual = 0;
    for (int i = 0; i < 5000; ++i) {
      const TetSample s = sampler.next<4>(family);
      const std::array<T, 3> u{T(s.times[0]), T(s.times[1]), T(s.times[2])};
      const TetLengths<T> l = test::lengths<T>(s);
      const double difference =
          std::abs(static_cast<double>(push_all(u, l).best - tet_update(u[0], u[1], u[2], l).time)) / s.longest_edge();
      ASSERT_LE(difference, 2 * limits.worst);
      unusual += difference > 2 * limits.usual;
    }
    EXPECT_LE(unusual, 50);
  }
}

TYPED_TEST(PushTime, NoPushIsBelowTheMinimum) {
  using T = TypeParam;
  for (const Family family : test::all_families) {
    SCOPED_TRACE(test::name(family));
    Sampler sampler(32);
    for (int i = 0; i < 2000; ++i) {
      const TetSample s = sampler.next<4>(family);
      const std::array<T, 3> u{T(s.times[0]), T(s.times[1]), T(s.times[2])};
      const auto minimum = static_cast<double>(Reference<4>(s, u).minimum());
      for (const T time : push_all(u, test::lengths<T>(s)).each)
        ASSERT_GE(time, minimum - test::limits<T>(family).worst * s.longest_edge());
    }
  }
}

TYPED_TEST(PushTime, WorksOverThePromisedRangeOfLengths) {
  using T = TypeParam;
  Sampler sampler(33);
  for (int i = 0; i < 5000; ++i) {
    TetSample s = sampler.next<4>(i % 2 == 0 ? Family::well_shaped : Family::kuhn);
    const double factor = std::pow(10.0, sampler.random().uniform(-4, 4));
    for (Vec3d& p : s.points) p = factor * p;
    for (double& u : s.times) u *= factor;
    const std::array<T, 3> u{T(s.times[0]), T(s.times[1]), T(s.times[2])};
    const auto minimum = static_cast<double>(Reference<4>(s, u).minimum());
    ASSERT_NEAR(push_all(u, test::lengths<T>(s)).best, minimum,
                16 * std::numeric_limits<T>::epsilon() * s.longest_edge())
        << "edges of " << factor;
  }
}

TYPED_TEST(PushTime, AnEdgeIsPushedByItsEndsAlone) {
  using T = TypeParam;
  // The front leaves the edge 2,3 away from corner 1, which is late: 1 has nothing to push.
  const TetLengths<T> l{1, 1, 1, 1, 1, 1};
  const auto late = push_all<T>({T(0.6), T(0), T(0)}, l);
  EXPECT_EQ(late.each[0], std::numeric_limits<T>::infinity());
  EXPECT_NEAR(late.best, std::sqrt(0.75), 4 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(PushTime, UnreachedNeighboursLeaveTheStraightPath) {
  using T = TypeParam;
  constexpr T never = std::numeric_limits<T>::infinity();
  const TetLengths<T> l{1, 1, 1, 1, 1, 1};
  EXPECT_EQ(push_all<T>({T(2), never, never}, l).best, T(3));
  EXPECT_EQ(push_all<T>({never, T(2), never}, l).best, T(3));
  EXPECT_NEAR(push_all<T>({T(2), never, T(2)}, l).best, 2 + std::sqrt(0.75), 8 * std::numeric_limits<T>::epsilon());
}

}  // namespace TEST_FILE
}  // namespace isochron
