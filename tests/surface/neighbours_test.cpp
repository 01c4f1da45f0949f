#include "isochron/surface/particles/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

constexpr double reach = 2.2;

// Particles strewn over two sheets close to each other, with sizes that run over `octaves` doublings.
std::vector<Particle<double>> strewn(int count, double octaves) {
  Random random(3);
  std::vector<Particle<double>> particles;
  for (int i = 0; i < count; ++i) {
    const Vec3d p{random.uniform(0, 60), random.uniform(-30, 30), random.uniform(9, 11)};
    particles.push_back({p, 1.5 * std::exp2(octaves * (p.x / 60 - 0.5)), {0, 0, i % 3 == 0 ? -1.0 : 1.0}, 1});
  }
  return particles;
}

struct Prepared {
  std::vector<Particle<double>> particles;
  Bins bins;
  NeighbourLists lists;
};

Prepared prepared(const std::vector<Particle<double>>& particles, BinKind kind, int threads) {
  const BinFrame frame(particle_box(particles), kind, reach);
  const BinOrder sorted = bin_order(frame, particles, threads);
  Prepared result;
  for (const std::uint32_t i : sorted.order) result.particles.push_back(particles[i]);
  result.bins = Bins(sorted.keys);
  result.lists = NeighbourLists(frame, result.bins, result.particles, threads);
  return result;
}

class EachBinKind : public ::testing::TestWithParam<std::tuple<BinKind, double, int>> {};
INSTANTIATE_TEST_SUITE_P(, EachBinKind,
                         ::testing::Combine(::testing::Values(BinKind::uniform, BinKind::adaptive),
                                            ::testing::Values(0.0, 1.0, 5.0), ::testing::Values(1, 3)));

TEST_P(EachBinKind, FindsAllNeighboursOnce) {
  const auto [kind, octaves, threads] = GetParam();
  const Prepared all = prepared(strewn(700, octaves), kind, threads);
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < all.particles.size(); ++i) {
    const auto list = all.lists.of(i);
    const std::set<std::uint32_t> found(list.begin(), list.end());
    EXPECT_EQ(found.size(), list.size());
    std::set<std::uint32_t> expected;
    for (std::size_t j = 0; j < all.particles.size(); ++j) {
      const Particle<double>&a = all.particles[i], &b = all.particles[j];
      if (j != i && norm(a.position - b.position) < reach * std::min(a.size, b.size) && same_sheet(a, b)) {
        expected.insert(static_cast<std::uint32_t>(j));
      }
    }
    EXPECT_EQ(found, expected);
    pairs += found.size();
  }
  EXPECT_GT(pairs, all.particles.size());
}

TEST_P(EachBinKind, NeighboursNeverMoveTogether) {
  const auto [kind, octaves, threads] = GetParam();
  const Prepared all = prepared(strewn(2000, octaves), kind, threads);
  const Waves waves = kind == BinKind::uniform ? waves_of_bins(all.bins) : waves_by_colour(all.lists);
  const std::size_t count = all.particles.size();
  ASSERT_EQ(waves.order.size(), count);
  std::vector<std::size_t> wave_of(count, count), task_of(count, count);
  for (std::size_t w = 0; w < waves.wave_count(); ++w) {
    for (std::uint32_t t = waves.waves[w]; t < waves.waves[w + 1]; ++t) {
      for (std::uint32_t at = waves.tasks[t]; at < waves.tasks[t + 1]; ++at) {
        EXPECT_EQ(wave_of[waves.order[at]], count);
        wave_of[waves.order[at]] = w;
        task_of[waves.order[at]] = t;
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_LT(wave_of[i], count);
    for (const std::uint32_t j : all.lists.of(i)) {
      // A colour has none; a bin moves its own particles one after another.
      EXPECT_TRUE(wave_of[i] != wave_of[j] || (kind == BinKind::uniform && task_of[i] == task_of[j]));
    }
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
