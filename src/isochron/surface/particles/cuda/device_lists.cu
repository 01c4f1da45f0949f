#include "isochron/surface/particles/cuda/device_lists.h"

#include <algorithm>
#include <bit>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/relax_loop.h"

namespace isochron::cuda {
namespace {

constexpr unsigned all_lanes = 0xffffffffU;

// Sizes as integers: positive ones order as their bits do, and negative ones and NaN lie above.
struct SizeRange {
  std::uint32_t not_smallest, largest;  // the complement, so that both start as 0
};

__global__ void find_sizes(const Particle<float>* particles, std::uint32_t count, SizeRange* range) {
  const std::size_t i = thread_number();
  const std::uint32_t bits = __float_as_uint(particles[i < count ? i : 0].size);
  const std::uint32_t smallest = __reduce_min_sync(all_lanes, bits), largest = __reduce_max_sync(all_lanes, bits);
  if (threadIdx.x % 32 != 0) return;
  atomicMax(&range->not_smallest, ~smallest);
  atomicMax(&range->largest, largest);
}

__global__ void make_keys(const Particle<float>* particles, std::uint32_t count, BinFrame frame, std::uint64_t* keys,
                          std::uint32_t* low, std::uint32_t* order) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  keys[i] = frame.place(particles[i]).key();
  low[i] = static_cast<std::uint32_t>(keys[i]);
  order[i] = static_cast<std::uint32_t>(i);
}

__global__ void take_high_words(const std::uint64_t* keys, const std::uint32_t* order, std::uint32_t count,
                                std::uint32_t* high) {
  const std::size_t i = thread_number();
  if (i < count) high[i] = static_cast<std::uint32_t>(keys[order[i]] >> 32);
}

__global__ void gather(const Particle<float>* particles, const DeviceRecord* records, const std::uint64_t* keys,
                       const std::uint32_t* order, std::uint32_t count, Particle<float>* to_particles,
                       DeviceRecord* to_records, std::uint64_t* to_keys) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t from = order[i];
  to_particles[i] = particles[from];
  DeviceRecord record = records[from];
  record.anchor = particles[from].position;
  to_records[i] = record;
  to_keys[i] = keys[from];
}

// 1 where a run of equal keys begins, seen along `order` if there is one.
__global__ void mark_heads(const std::uint64_t* keys, const std::uint32_t* order, std::uint32_t count,
                           std::uint32_t* heads) {
  const std::size_t i = thread_number();
  if (i > count) return;
  const auto key = [&](std::size_t at) { return keys[order != nullptr ? order[at] : at]; };
  heads[i] = i < count && (i == 0 || key(i) != key(i - 1)) ? 1 : 0;
}

// `numbers` counts the heads before each particle; a particle is one when the next has a higher number.
__global__ void make_bins(const std::uint64_t* keys, const std::uint32_t* numbers, std::uint32_t count, Bin* bins) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const bool head = numbers[i + 1] != numbers[i];
  const std::uint32_t bin = head ? numbers[i] : numbers[i] - 1;
  if (head) {
    bins[bin].key = keys[i];
    bins[bin].begin = static_cast<std::uint32_t>(i);
  }
  if (i + 1 == count || keys[i + 1] != keys[i]) bins[bin].end = static_cast<std::uint32_t>(i + 1);
}

__global__ void enter_bins(BinTable table, std::uint32_t count, std::uint32_t* slots) {
  const std::size_t bin = thread_number();
  if (bin >= count) return;
  std::uint32_t at = table.first_slot(table.bins[bin].key);
  while (atomicCAS(slots + at, BinTable::empty, static_cast<std::uint32_t>(bin)) != BinTable::empty) {
    at = table.next_slot(at);
  }
}

__global__ void count_neighbours(BinFrame frame, BinTable table, const Particle<float>* particles, std::uint32_t count,
                                 std::uint32_t* counts) {
  const std::size_t i = thread_number();
  if (i > count) return;
  std::uint32_t found = 0;
  if (i < count) {
    find_neighbours(frame, table, particles, particles[i], static_cast<std::uint32_t>(i),
                    [&](std::uint32_t) { ++found; });
  }
  counts[i] = found;
}

__global__ void write_neighbours(BinFrame frame, BinTable table, const Particle<float>* particles, std::uint32_t count,
                                 const std::uint32_t* offsets, std::uint32_t* entries) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  std::uint32_t at = offsets[i];
  find_neighbours(frame, table, particles, particles[i], static_cast<std::uint32_t>(i),
                  [&](std::uint32_t j) { entries[at++] = j; });
}

__global__ void colour_by_bin(const std::uint64_t* keys, std::uint32_t count, std::uint32_t* colours,
                              std::uint32_t* order) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  colours[i] = bin_colour(keys[i]);
  order[i] = static_cast<std::uint32_t>(i);
}

// Where the runs of equal bins begin in the order, and the end.
__global__ void make_tasks(const std::uint32_t* numbers, std::uint32_t count, std::uint32_t* tasks) {
  const std::size_t i = thread_number();
  if (i > count) return;
  if (i == count || numbers[i + 1] != numbers[i]) tasks[numbers[i]] = static_cast<std::uint32_t>(i);
}

__global__ void pick(const std::uint32_t* values, std::uint32_t* places, std::uint32_t count) {
  const std::size_t i = thread_number();
  if (i < count) places[i] = values[places[i]];
}

constexpr std::uint32_t colour_count = 64, no_colour = colour_count;

__device__ std::uint32_t scramble(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

// A free colour, one of the lowest few, for each particle without colour.
__global__ void choose_colours(const std::uint32_t* offsets, const std::uint32_t* entries, std::uint32_t count,
                               std::uint32_t round, const std::uint32_t* colours, std::uint32_t* choices) {
  constexpr std::uint32_t few = 8;
  const std::size_t i = thread_number();
  if (i >= count) return;
  choices[i] = no_colour;
  if (colours[i] != no_colour) return;
  std::uint64_t free = ~std::uint64_t{0};
  for (std::uint32_t at = offsets[i]; at < offsets[i + 1]; ++at) {
    const std::uint32_t colour = colours[entries[at]];
    if (colour != no_colour) free &= ~(std::uint64_t{1} << colour);
  }
  for (std::uint32_t skip = scramble(static_cast<std::uint32_t>(i) * 64 + round) % few; skip > 0; --skip) {
    if ((free & (free - 1)) != 0) free &= free - 1;
  }
  if (free != 0) choices[i] = static_cast<std::uint32_t>(__ffsll(static_cast<long long>(free)) - 1);
}

// Reads choices alone, so that it does not matter who writes first.
__global__ void keep_colours(const std::uint32_t* offsets, const std::uint32_t* entries, std::uint32_t count,
                             const std::uint32_t* choices, std::uint32_t* colours) {
  const std::size_t i = thread_number();
  if (i >= count || choices[i] == no_colour) return;
  const std::uint32_t rank = scramble(static_cast<std::uint32_t>(i));
  for (std::uint32_t at = offsets[i]; at < offsets[i + 1]; ++at) {
    const std::uint32_t j = entries[at];
    if (choices[j] == choices[i] && scramble(j) > rank) return;
  }
  colours[i] = choices[i];
}

__global__ void start_colours(std::uint32_t count, std::uint32_t* colours, std::uint32_t* order) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  colours[i] = no_colour;
  order[i] = static_cast<std::uint32_t>(i);
}

void make_frame(const DeviceParticles& particles, Vec3d corner, BinKind kind, double reach, DeviceBins& bins) {
  DeviceValue<SizeRange> found;
  launch_for(particles.count(), find_sizes, particles.particles.data(), particles.count(), found.data());
  const SizeRange range = found.read();
  const float smallest = std::bit_cast<float>(~range.not_smallest), largest = std::bit_cast<float>(range.largest);
  if (!(smallest > 0 && largest >= smallest && largest < unvisited)) refuse_size();
  bins.largest_size = largest;
  bins.frame = BinFrame({{0, 0, 0}, corner, smallest, largest}, kind, reach);
}

std::vector<std::uint32_t> downloaded(const DeviceArray<std::uint32_t>& array) {
  std::vector<std::uint32_t> values(array.size());
  array.download_to(values);
  return values;
}

}  // namespace

DeviceBins sort_into_bins(DeviceParticles& particles, Vec3d corner, BinKind kind, double reach) {
  const std::uint32_t count = particles.count();
  DeviceBins result;
  make_frame(particles, corner, kind, reach, result);
  DeviceArray<std::uint64_t> keys(count);
  DeviceArray<std::uint32_t> words(count), order(count);
  launch_for(count, make_keys, particles.particles.data(), count, result.frame, keys.data(), words.data(),
             order.data());
  // By the low word, then by the high one: equal ones keep their order.
  constexpr std::uint32_t largest_word = ~std::uint32_t{0};
  sort_by_key(words, order, largest_word);
  launch_for(count, take_high_words, keys.data(), order.data(), count, words.data());
  sort_by_key(words, order, largest_word);
  DeviceParticles sorted{DeviceArray<Particle<float>>(count), DeviceArray<DeviceRecord>(count)};
  result.keys = DeviceArray<std::uint64_t>(count);
  launch_for(count, gather, particles.particles.data(), particles.records.data(), keys.data(), order.data(), count,
             sorted.particles.data(), sorted.records.data(), result.keys.data());
  particles = std::move(sorted);

  DeviceArray<std::uint32_t> numbers(std::size_t{count} + 1);
  launch_for(numbers.size(), mark_heads, result.keys.data(), nullptr, count, numbers.data());
  exclusive_sum(numbers);
  const std::uint32_t bins = last_of(numbers);
  result.bins = DeviceArray<Bin>(bins);
  launch_for(count, make_bins, result.keys.data(), numbers.data(), count, result.bins.data());
  result.bits = bin_table_bits(bins);
  result.slots = DeviceArray<std::uint32_t>(std::size_t{1} << result.bits);
  fill_bytes(result.slots.data(), 0xff, result.slots.bytes());
  launch_for(bins, enter_bins, result.table(), bins, result.slots.data());
  return result;
}

DeviceLists list_neighbours(const DeviceParticles& particles, const DeviceBins& bins) {
  const std::uint32_t count = particles.count();
  DeviceLists lists;
  lists.offsets = DeviceArray<std::uint32_t>(std::size_t{count} + 1);
  launch_for(lists.offsets.size(), count_neighbours, bins.frame, bins.table(), particles.particles.data(), count,
             lists.offsets.data());
  exclusive_sum(lists.offsets);
  lists.entries = DeviceArray<std::uint32_t>(last_of(lists.offsets));
  launch_for(count, write_neighbours, bins.frame, bins.table(), particles.particles.data(), count, lists.offsets.data(),
             lists.entries.data());
  return lists;
}

DeviceWaves waves_of_bins(const DeviceBins& bins) {
  constexpr std::uint32_t bin_colours = 27;
  const auto count = static_cast<std::uint32_t>(bins.keys.size());
  DeviceWaves waves;
  DeviceArray<std::uint32_t> colours(count), numbers(std::size_t{count} + 1);
  waves.order = DeviceArray<std::uint32_t>(count);
  launch_for(count, colour_by_bin, bins.keys.data(), count, colours.data(), waves.order.data());
  sort_by_key(colours, waves.order, bin_colours - 1);
  launch_for(numbers.size(), mark_heads, bins.keys.data(), waves.order.data(), count, numbers.data());
  exclusive_sum(numbers);
  waves.tasks = DeviceArray<std::uint32_t>(std::size_t{last_of(numbers)} + 1);
  launch_for(numbers.size(), make_tasks, numbers.data(), count, waves.tasks.data());
  DeviceArray<std::uint32_t> first = group_offsets(colours, bin_colours);
  launch_for(first.size(), pick, numbers.data(), first.data(), static_cast<std::uint32_t>(first.size()));
  waves.first = downloaded(first);
  return waves;
}

DeviceWaves waves_by_colour(const DeviceLists& lists) {
  constexpr std::uint32_t rounds = 16;
  const auto count = static_cast<std::uint32_t>(lists.offsets.size() - 1);
  DeviceWaves waves;
  DeviceArray<std::uint32_t> colours(count), choices(count);
  waves.order = DeviceArray<std::uint32_t>(count);
  launch_for(count, start_colours, count, colours.data(), waves.order.data());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    launch_for(count, choose_colours, lists.offsets.data(), lists.entries.data(), count, round, colours.data(),
               choices.data());
    launch_for(count, keep_colours, lists.offsets.data(), lists.entries.data(), count, choices.data(), colours.data());
  }
  sort_by_key(colours, waves.order, no_colour);
  waves.first = downloaded(group_offsets(colours, colour_count));
  return waves;
}

}  // namespace isochron::cuda
