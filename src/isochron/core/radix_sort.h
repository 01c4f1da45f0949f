// Sorting ids by whole numbers, on several threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"

namespace isochron {

template <class Key>
struct KeyedId {
  Key key;
  std::uint32_t id;
};

/// Stable radix sort by the lowest `bits` bits of the keys.
template <class Key>
void radix_sort(BigVector<KeyedId<Key>>& entries, int bits, int threads) {
  constexpr int digit_bits = 12;
  constexpr std::size_t digits = 1U << digit_bits;
  BigVector<KeyedId<Key>> other(entries.size());
  const int team = granted_threads(static_cast<int>(std::min<std::size_t>(threads, 1 + entries.size() / 65536)));
  std::vector<std::array<std::uint32_t, digits>> places(team);
  const auto part = [&](int thread) { return entries.size() * thread / team; };
  const StoppableLoop loop;
  for (int shift = 0; shift < bits; shift += digit_bits) {
    parallel_region(team, [&](int thread, int) {
      places[thread].fill(0);
      loop(part(thread), part(thread + 1),
           [&](std::size_t i) { ++places[thread][(entries[i].key >> shift) & (digits - 1)]; });
    });
    std::uint32_t total = 0;
    for (std::size_t digit = 0; digit < digits; ++digit)
      for (auto& counts : places) total += std::exchange(counts[digit], total);
    parallel_region(team, [&](int thread, int) {
      loop(part(thread), part(thread + 1),
           [&](std::size_t i) { other[places[thread][(entries[i].key >> shift) & (digits - 1)]++] = entries[i]; });
    });
    entries.swap(other);
  }
}

}  // namespace isochron
