// The queue of a team of threads: as `BucketRing`, with lists of its own for each thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/schedules/banded/banded.h"

namespace isochron {

/// Which bucket a phase processes. Vertices that are queued for the same bucket meanwhile are repeats: they are listed
/// apart, for the next phase.
struct BucketPhase {
  std::uint32_t bucket = 0;
  std::uint32_t ring_begin = 0;  ///< the same, or while a bucket is processed ahead, the last one that was not
  unsigned parity = 0;           ///< which of two lists of repeats is read; the other one is written
  bool ahead = false;            ///< the bucket is processed before its turn; its list stays as it is
};

/// Vertices that wait to be processed. `slot[v]` names the earliest bucket that v waits in; entries that it does not
/// name are stale. While a phase runs, each thread adds to its own lists only, and lists that are read do not change.
template <class T>
class TeamQueue {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;
  using List = std::vector<std::uint32_t>;

  TeamQueue(std::size_t vertex_count, BandScale<T> scale, std::size_t threads)
      : scale_(scale), slot_(vertex_count), lanes_(threads) {
    parallel_chunks(static_cast<int>(threads), slot_.size(), [&](std::size_t begin, std::size_t end) {
      std::fill(slot_.begin() + static_cast<std::ptrdiff_t>(begin), slot_.begin() + static_cast<std::ptrdiff_t>(end),
                none);
    });
    for (Lane& lane : lanes_) lane.ring.resize(scale.buckets);
  }

  [[nodiscard]] const BandScale<T>& scale() const { return scale_; }
  [[nodiscard]] List& bin(std::size_t thread, std::uint32_t bucket) {
    return lanes_[thread].ring[bucket & (scale_.buckets - 1)];
  }
  [[nodiscard]] const List& bin(std::size_t thread, std::uint32_t bucket) const {
    return lanes_[thread].ring[bucket & (scale_.buckets - 1)];
  }
  /// Those that a phase reads (`parity`), or writes (`parity ^ 1`).
  [[nodiscard]] List& repeats(std::size_t thread, unsigned parity) { return lanes_[thread].repeats[parity]; }
  [[nodiscard]] const List& repeats(std::size_t thread, unsigned parity) const {
    return lanes_[thread].repeats[parity];
  }

  /// Before the first phase.
  void add_first(std::size_t thread, std::uint32_t v, T time) {
    const std::uint32_t bucket = scale_.place(time, 0);
    if (slot_[v] == bucket) return;
    slot_[v] = bucket;
    bin(thread, bucket).push_back(v);
  }
  /// Between two phases; `phase` is the last one, with the parity of the next.
  void add_between(std::size_t thread, std::uint32_t v, T time, const BucketPhase& phase) {
    place(thread, v, time, phase, lanes_[thread].repeats[phase.parity]);
  }
  /// While a phase runs.
  void add(std::size_t thread, std::uint32_t v, T time, const BucketPhase& phase) {
    Lane& lane = lanes_[thread];
    place(thread, v, time, phase, phase.ahead ? lane.repeats_ahead : lane.repeats[phase.parity ^ 1U]);
  }

  /// Takes v out of the queue if it waits in this bucket or an earlier one; false when the entry is stale. After this,
  /// a thread that lowers v's time queues v again; the time is to be read after this.
  bool claim(std::uint32_t v, std::uint32_t bucket) {
    const std::atomic_ref<std::uint32_t> slot(slot_[v]);
    std::uint32_t waits_in = slot.load(std::memory_order_relaxed);
    do {
      if (waits_in > bucket) return false;
    } while (!slot.compare_exchange_weak(waits_in, none, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }
  [[nodiscard]] bool waits(std::uint32_t v) {
    return std::atomic_ref<std::uint32_t>(slot_[v]).load(std::memory_order_relaxed) != none;
  }

  /// Empties the thread's lists that a phase has read. After the barrier that ends it.
  void clear_processed(std::size_t thread, const BucketPhase& phase, bool with_bin) {
    lanes_[thread].repeats[phase.parity].clear();
    if (with_bin) bin(thread, phase.bucket).clear();
  }
  /// After a phase ahead: its repeats wait in the bucket that they belong to.
  void keep_repeats_ahead(std::size_t thread, const BucketPhase& phase) {
    List& repeats = lanes_[thread].repeats_ahead;
    List& later = bin(thread, phase.bucket);
    later.insert(later.end(), repeats.begin(), repeats.end());
    repeats.clear();
  }

  // Between two phases, over all threads' lists, stale entries too.
  [[nodiscard]] std::size_t repeat_count(unsigned parity) const {
    std::size_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.repeats[parity].size();
    return sum;
  }
  [[nodiscard]] std::size_t entry_count(std::uint32_t bucket) const {
    std::size_t sum = 0;
    for (std::size_t thread = 0; thread < lanes_.size(); ++thread) sum += bin(thread, bucket).size();
    return sum;
  }
  /// The first bucket of [begin, end) that has entries; `none` when there is none.
  [[nodiscard]] std::uint32_t first_bucket(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t bucket = begin; bucket < end; ++bucket)
      for (std::size_t thread = 0; thread < lanes_.size(); ++thread)
        if (!bin(thread, bucket).empty()) return bucket;
    return none;
  }
  /// Calls `use(v)` for the entries of a list that wait in this bucket or an earlier one.
  template <class Use>
  void each_waiting(std::span<const std::uint32_t> list, std::uint32_t bucket, Use&& use) const {
    for (const std::uint32_t v : list)
      if (slot_[v] <= bucket) use(v);
  }

 private:
  struct alignas(128) Lane {
    std::vector<List> ring;
    std::array<List, 2> repeats;
    List repeats_ahead;
  };

  void place(std::size_t thread, std::uint32_t v, T time, const BucketPhase& phase, List& repeats) {
    const std::uint32_t last = phase.ring_begin + scale_.buckets - 1;
    const std::uint32_t bucket = std::min(scale_.place(time, phase.bucket), last);
    const std::atomic_ref<std::uint32_t> slot(slot_[v]);
    if (bucket == phase.bucket) {
      // Released after the time was lowered: a thread that claims v in this phase sees that time.
      std::uint32_t waits_in = slot.load(std::memory_order_relaxed);
      if (!phase.ahead) waits_in = slot.exchange(bucket, std::memory_order_release);
      else  // an entry that comes up before this bucket has to be named as long as it is there
        while (!slot.compare_exchange_weak(waits_in, std::min(waits_in, bucket), std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
      if (waits_in > bucket) repeats.push_back(v);
      return;
    }
    // No thread claims entries of a later bucket before the next barrier. Two threads may both queue v: the entry that
    // its slot does not name is stale, and if that was the earlier one, v is late, which costs pushes and nothing else.
    if (slot.load(std::memory_order_relaxed) == bucket) return;
    slot.store(bucket, std::memory_order_relaxed);
    bin(thread, bucket).push_back(v);
  }

  BandScale<T> scale_;
  BigVector<std::uint32_t> slot_;
  std::vector<Lane> lanes_;
};

}  // namespace isochron
