#include "isochron/core/random.h"

#include <gtest/gtest.h>

#include <array>

namespace isochron {
namespace TEST_FILE {

TEST(Random, IsSplitMix64) {
  // The first outputs for seed 1234567, as published with the generator.
  Random random(1234567);
  EXPECT_EQ(random.bits(), 6457827717110365317ULL);
  EXPECT_EQ(random.bits(), 3203168211198807973ULL);
  EXPECT_EQ(random.bits(), 9817491932198370423ULL);
}

TEST(Random, SkippingIsDrawing) {
  Random drawn(42), skipped(42);
  for (int i = 0; i < 1000; ++i) drawn.bits();
  skipped.skip(1000);
  EXPECT_EQ(drawn.bits(), skipped.bits());
}

TEST(Random, UniformHasItsMoments) {
  Random random(3);
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double x = random.uniform(-1, 3);
    ASSERT_GE(x, -1);
    ASSERT_LT(x, 3);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 1, 0.02);
  EXPECT_NEAR(squares / count - mean * mean, 16.0 / 12, 0.02);
}

TEST(Random, NormalHasItsMoments) {
  Random random(4);
  double sum = 0, squares = 0, fourth = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
  EXPECT_NEAR(fourth / count, 3, 0.2);
}

TEST(Random, BelowStaysBelow) {
  Random random(5);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace TEST_FILE
}  // namespace isochron
