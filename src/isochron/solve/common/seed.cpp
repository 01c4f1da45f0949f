#include "isochron/solve/common/seed.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace isochron {

BallCount count_balls(std::span<const Seed> seeds) {
  std::unordered_map<std::int32_t, bool> has_ball;
  for (const Seed& seed : seeds)
    if (seed.kind != SeedKind::level_set) has_ball[seed.source] |= seed.kind != SeedKind::own;
  const auto balls = std::count_if(has_ball.begin(), has_ball.end(), [](const auto& source) { return source.second; });
  return {has_ball.size(), static_cast<std::size_t>(balls)};
}

double ball_share(std::size_t sources, std::size_t vertex_count) {
  const double together = std::max(1e5, 0.25 * static_cast<double>(vertex_count));
  return together / static_cast<double>(std::max<std::size_t>(1, sources));
}

int limited_rings(int ball_rings, std::size_t sources, std::size_t vertex_count, int dim) {
  const double side = std::pow(ball_share(sources, vertex_count), 1.0 / dim);
  return std::min(ball_rings, static_cast<int>(std::max(0.0, (side - 1) / 2)));
}

}  // namespace isochron
