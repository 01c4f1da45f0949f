#include "isochron/mesh/orientation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

using Points = std::array<Vec3d, 4>;

int orientation_of(const Points& p) { return orientation(p[0], p[1], p[2], p[3]); }

__extension__ using Wide = __int128;

int sign_by_integers(const Points& p) {
  std::array<std::array<Wide, 3>, 3> row;
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < 3; ++i) row[r][i] = static_cast<Wide>(p[r + 1][i]) - static_cast<Wide>(p[0][i]);
  Wide sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum += row[0][i] * (row[1][j] * row[2][k] - row[1][k] * row[2][j]);
  }
  return sum > 0 ? 1 : (sum < 0 ? -1 : 0);
}

TEST(Orientation, Signs) {
  EXPECT_EQ(orientation({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}), 1);
  EXPECT_EQ(orientation({0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}), -1);
  EXPECT_EQ(orientation({0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {7, 8, 0}), 0);
  EXPECT_EQ(orientation(0, 0, 1, 0, 0, 1), 1);
  EXPECT_EQ(orientation(0, 0, 0, 1, 1, 0), -1);
  EXPECT_EQ(orientation(0.1, 0.1, 0.3, 0.3, 0.7, 0.7), 0);
}

TEST(Orientation, IsExactOnLargeIntegers) {
  Random random(11);
  const auto number = [&] { return static_cast<double>(random.below(1ULL << 30)); };
  int zeros = 0;
  for (int round = 0; round < 5000; ++round) {
    Points p;
    for (int k = 0; k < 3; ++k) p[k] = {number(), number(), number()};
    // In the plane of the others, or one step off it.
    const auto i = static_cast<double>(random.below(100)), j = static_cast<double>(random.below(100));
    p[3] = p[0] + i * (p[1] - p[0]) + j * (p[2] - p[0]);
    p[3][static_cast<int>(random.below(3))] += static_cast<double>(random.below(3)) - 1;
    const int expected = sign_by_integers(p);
    zeros += expected == 0 ? 1 : 0;
    ASSERT_EQ(orientation_of(p), expected);
  }
  EXPECT_GT(zeros, 1000);
}

TEST(Orientation, IsExactWhereDifferencesAreRounded) {
  // Points of the plane z = x + y of very different sizes; the sum is exact in each, but not the differences.
  Random random(12);
  for (int round = 0; round < 2000; ++round) {
    Points p;
    for (Vec3d& q : p) {
      const double scale = std::ldexp(1.0, 20 - static_cast<int>(random.below(60)));
      q.x = static_cast<double>(random.below(1 << 20)) * scale;
      q.y = static_cast<double>(random.below(1 << 20)) * scale;
      q.z = q.x + q.y;
    }
    std::array<int, 4> order{0, 1, 2, 3};
    ASSERT_EQ(orientation_of(p), 0);
    for (Vec3d& q : p) q.x = std::nextafter(q.x, random.uniform(-1, 1) * std::numeric_limits<double>::max());
    const int expected = orientation_of(p);
    while (std::next_permutation(order.begin(), order.end())) {
      int swaps = 0;
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) swaps += order[j] > order[i] ? 1 : 0;
      ASSERT_EQ(orientation(p[order[0]], p[order[1]], p[order[2]], p[order[3]]), swaps % 2 == 0 ? expected : -expected);
    }
    // A step up along z from the plane.
    for (Vec3d& q : p) q.x = q.z - q.y;
    const int flat = orientation(p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y);
    if (orientation_of(p) != 0) continue;  // x was rounded
    p[3].z = std::nextafter(p[3].z, std::numeric_limits<double>::infinity());
    ASSERT_EQ(orientation_of(p), flat);
  }
}

TEST(Orientation, InThePlane) {
  Random random(13);
  for (int round = 0; round < 2000; ++round) {
    // Points of the line y = 3x, of very different sizes.
    std::array<double, 3> x;
    for (double& value : x)
      value = static_cast<double>(random.below(1 << 20)) * std::ldexp(1.0, 10 - static_cast<int>(random.below(50)));
    ASSERT_EQ(orientation(x[0], 3 * x[0], x[1], 3 * x[1], x[2], 3 * x[2]), 0);
    const double above = std::nextafter(3 * x[2], std::numeric_limits<double>::infinity());
    ASSERT_EQ(orientation(x[0], 3 * x[0], x[1], 3 * x[1], x[2], above), (x[1] > x[0]) - (x[1] < x[0]));
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
