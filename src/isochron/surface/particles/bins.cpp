#include "isochron/surface/particles/bins.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "isochron/core/parallel.h"

namespace isochron {

BinFrame::BinFrame(std::span<const Particle<double>> particles, BinKind kind, double reach) : reach_(reach) {
  Vec3d high = low_ = particles[0].position;
  double largest = smallest_ = particles[0].size;
  for (const Particle<double>& particle : particles) {
    smallest_ = std::min(smallest_, particle.size);
    largest = std::max(largest, particle.size);
    for (int a = 0; a < 3; ++a) {
      low_[a] = std::min(low_[a], particle.position[a]);
      high[a] = std::max(high[a], particle.position[a]);
    }
  }
  if (kind == BinKind::uniform) smallest_ = largest;
  level_count_ = std::min(std::ilogb(largest / smallest_) + 1, BinPlace::levels);
  // A level's particles are smaller than twice its smallest size.
  narrowest_ = reach * (level_count_ == 1 ? largest : 2 * smallest_);
  // No more cells along an axis than a key has room for: in a box too large for that, bins are wider than they need be.
  const Vec3d box = high - low_;
  const double longest = std::max({box.x, box.y, box.z});
  narrowest_ = std::max(narrowest_, longest / ((1 << BinPlace::cell_bits) - 2));
}

Bins::Bins(std::span<const std::uint64_t> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto at = static_cast<std::uint32_t>(i);
    if (i == 0 || keys[i] != keys[i - 1]) bins_.push_back({keys[i], at, at});
    bins_.back().end = at + 1;
  }
  const std::size_t slots = std::bit_ceil(2 * bins_.size() + 2);
  shift_ = 64 - std::countr_zero(slots);
  table_.assign(slots, empty);
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    std::size_t at = slot(bins_[b].key);
    while (table_[at] != empty) at = (at + 1) & (slots - 1);
    table_[at] = static_cast<std::uint32_t>(b);
  }
}

BinOrder bin_order(const BinFrame& frame, std::span<const Particle<double>> particles, int threads) {
  const std::size_t count = particles.size();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed(count);
  parallel_for(threads, count, [&](std::size_t i) {
    keyed[i] = {frame.place(particles[i]).key(), static_cast<std::uint32_t>(i)};
  });
  std::sort(keyed.begin(), keyed.end());
  BinOrder result;
  result.order.resize(count);
  result.keys.resize(count);
  for (std::size_t i = 0; i < count; ++i) std::tie(result.keys[i], result.order[i]) = keyed[i];
  return result;
}

}  // namespace isochron
