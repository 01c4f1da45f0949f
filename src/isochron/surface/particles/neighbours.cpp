#include "isochron/surface/particles/neighbours.h"

#include <algorithm>
#include <bit>
#include <numeric>
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
  // A level's particles are smaller than twice its smallest size. A little wider, so that rounding loses no neighbour.
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

NeighbourLists::NeighbourLists(const BinFrame& frame, const Bins& bins, std::span<const Particle<double>> particles,
                               int threads) {
  const std::size_t count = particles.size();
  threads = granted_threads(threads);
  offsets_.assign(count + 1, 0);
  std::vector<std::vector<std::uint32_t>> parts(static_cast<std::size_t>(threads));
  const auto begin_of = [&](int thread) { return count * static_cast<std::size_t>(thread) / parts.size(); };
  parallel_region(threads, [&](int thread, int) {
    std::vector<std::uint32_t>& part = parts[static_cast<std::size_t>(thread)];
    part.reserve((begin_of(thread + 1) - begin_of(thread)) * 20);
    for (std::size_t i = begin_of(thread); i < begin_of(thread + 1); ++i) {
      find_neighbours(frame, bins.table(), particles.data(), particles[i], static_cast<std::uint32_t>(i),
                      [&](std::uint32_t j) { part.push_back(j); });
      offsets_[i + 1] = part.size();
    }
  });
  std::uint64_t before = 0;
  for (int thread = 0; thread < threads; ++thread) {
    for (std::size_t i = begin_of(thread); i < begin_of(thread + 1); ++i) offsets_[i + 1] += before;
    before += parts[static_cast<std::size_t>(thread)].size();
  }
  entries_.resize(before);
  parallel_region(threads, [&](int thread, int) {
    const auto& part = parts[static_cast<std::size_t>(thread)];
    std::copy(part.begin(), part.end(), entries_.begin() + static_cast<std::ptrdiff_t>(offsets_[begin_of(thread)]));
  });
}

std::array<std::vector<std::uint32_t>, bin_colours> bins_by_colour(const Bins& bins) {
  std::array<std::vector<std::uint32_t>, bin_colours> result;
  for (std::size_t b = 0; b < bins.all().size(); ++b)
    result[bin_colour(bins.all()[b].key)].push_back(static_cast<std::uint32_t>(b));
  return result;
}

Waves waves_of_bins(const Bins& bins) {
  Waves result;
  for (const auto& wave : bins_by_colour(bins)) {
    if (wave.empty()) continue;
    result.waves.push_back(static_cast<std::uint32_t>(result.tasks.size()));
    for (const std::uint32_t b : wave) {
      result.tasks.push_back(static_cast<std::uint32_t>(result.order.size()));
      for (std::uint32_t i = bins.all()[b].begin; i < bins.all()[b].end; ++i) result.order.push_back(i);
    }
  }
  result.waves.push_back(static_cast<std::uint32_t>(result.tasks.size()));
  result.tasks.push_back(static_cast<std::uint32_t>(result.order.size()));
  return result;
}

Waves waves_by_colour(const NeighbourLists& lists) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  const std::size_t count = lists.particle_count();
  std::vector<std::uint32_t> colour(count, none), taken_by, sizes;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint32_t j : lists.of(i)) {
      if (colour[j] != none) taken_by[colour[j]] = static_cast<std::uint32_t>(i);
    }
    std::uint32_t free = 0;
    while (free < taken_by.size() && taken_by[free] == i) ++free;
    if (free == taken_by.size()) {
      taken_by.push_back(none);
      sizes.push_back(0);
    }
    colour[i] = free;
    ++sizes[free];
  }
  // Tasks of some particles each: enough to share among threads, too many to be worth more.
  constexpr std::uint32_t task_size = 64;
  Waves result;
  std::vector<std::uint32_t> next(sizes.size(), 0);
  std::exclusive_scan(sizes.begin(), sizes.end(), next.begin(), std::uint32_t{0});
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    result.waves.push_back(static_cast<std::uint32_t>(result.tasks.size()));
    for (std::uint32_t at = 0; at < sizes[c]; at += task_size) result.tasks.push_back(next[c] + at);
  }
  result.waves.push_back(static_cast<std::uint32_t>(result.tasks.size()));
  result.tasks.push_back(static_cast<std::uint32_t>(count));
  result.order.resize(count);
  for (std::size_t i = 0; i < count; ++i) result.order[next[colour[i]]++] = static_cast<std::uint32_t>(i);
  return result;
}

}  // namespace isochron
