#include "isochron/solve/common/seed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace isochron {
namespace {

using Key = std::array<double, 5>;

struct HashKey {
  std::size_t operator()(const Key& key) const {
    std::size_t result = 0;
    for (const double number : key) result = result * 1000003 + std::hash<double>()(number);
    return result;
  }
};
using Keys = std::unordered_set<Key, HashKey>;

}  // namespace

void drop_repeated(std::vector<PlacedSource>& placed) {
  if (placed.size() < 2) return;
  Keys seen;
  std::erase_if(placed, [&](const PlacedSource& source) {  // two vertices may be at one place, on either side of a slit
    const Vec3d& p = source.position;
    return !seen.insert({p.x, p.y, p.z, source.time, static_cast<double>(source.vertex.value)}).second;
  });
}

std::size_t count_distinct(const Sources& sources) {
  Keys vertices, points;
  for (const auto& [vertex, time] : sources.vertices) vertices.insert({static_cast<double>(vertex.value), time});
  for (const auto& [p, time] : sources.points) points.insert({p.x, p.y, p.z, time});
  return vertices.size() + points.size();
}

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
