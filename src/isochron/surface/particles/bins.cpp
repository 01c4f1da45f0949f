#include "isochron/surface/particles/bins.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "isochron/core/parallel.h"

namespace isochron {

ParticleBox particle_box(std::span<const Particle<double>> particles) {
  ParticleBox box{particles[0].position, particles[0].position, particles[0].size, particles[0].size};
  for (const Particle<double>& particle : particles) {
    box.smallest = std::min(box.smallest, particle.size);
    box.largest = std::max(box.largest, particle.size);
    for (int a = 0; a < 3; ++a) {
      box.low[a] = std::min(box.low[a], particle.position[a]);
      box.high[a] = std::max(box.high[a], particle.position[a]);
    }
  }
  return box;
}

BinFrame::BinFrame(const ParticleBox& box, BinKind kind, double reach)
    : low_(box.low), smallest_(kind == BinKind::uniform ? box.largest : box.smallest), reach_(reach) {
  level_count_ = std::min(std::ilogb(box.largest / smallest_) + 1, BinPlace::levels);
  // A level's particles are smaller than twice its smallest size. A little wider, so that rounding loses nobody.
  narrowest_ = (1 + 1e-5) * reach * (level_count_ == 1 ? box.largest : 2 * smallest_);
  // No more cells along an axis than a key has room for: in a box too large for that, bins are wider than they need be.
  const Vec3d sides = box.high - box.low;
  narrowest_ = std::max(narrowest_, std::max({sides.x, sides.y, sides.z}) / ((1 << BinPlace::cell_bits) - 2));
}

int bin_table_bits(std::size_t bins) { return std::countr_zero(std::bit_ceil(2 * bins + 2)); }

Bins::Bins(std::span<const std::uint64_t> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto at = static_cast<std::uint32_t>(i);
    if (i == 0 || keys[i] != keys[i - 1]) bins_.push_back({keys[i], at, at});
    bins_.back().end = at + 1;
  }
  bits_ = bin_table_bits(bins_.size());
  slots_.assign(std::size_t{1} << bits_, BinTable::empty);
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    std::uint32_t at = table().first_slot(bins_[b].key);
    while (slots_[at] != BinTable::empty) at = table().next_slot(at);
    slots_[at] = static_cast<std::uint32_t>(b);
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
