// Time-band ordered label correcting, pushing through elements: vertices wait in
// buckets of time, first in first out inside a bucket, and each push offers its elements' other corners a better time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/common/state.h"

namespace isochron {

/// Whether acute corners ignore times beyond the current band. They may when every vertex with a time starts in the
/// queue: then each of those will push for itself.
enum class Horizon { band, none };

/// Tuning of the banded schedule: data, chosen by measurement (bench/NOTES.md).
struct BandTuning {
  double width;           ///< of a bucket, in mean edge travel times
  std::uint32_t buckets;  ///< in the ring, a power of two; later times wait in its last one
  Horizon horizon = Horizon::band;
};

/// Which bucket a time belongs to, given the current one and the ring's size.
template <class T>
struct BandScale {
  /// No front needs more buckets; onsets that far apart share this one, first in first out, which is right in any order
  /// and only costs pushes. Bucket numbers stay exact in T.
  static constexpr std::uint32_t last_of_all = std::is_same_v<T, float> ? 1U << 22 : 1U << 26;

  T width;
  T inverse_width;
  std::uint32_t buckets;

  [[nodiscard]] std::uint32_t place(T time, std::uint32_t current) const {
    const std::uint32_t last = std::min(current + buckets - 1, last_of_all);
    const T scaled = std::clamp(time * inverse_width, T(0), static_cast<T>(last));
    return std::max(static_cast<std::uint32_t>(scaled), current);
  }
  /// The end of a bucket, a little late so that no vertex of the bucket lies beyond it by rounding.
  [[nodiscard]] T horizon(std::uint32_t bucket) const {
    if (bucket >= last_of_all) return std::numeric_limits<T>::infinity();
    return static_cast<T>(bucket + 1) * width * (T(1) + T(8) * std::numeric_limits<T>::epsilon());
  }
};

template <class T>
BandScale<T> band_scale(BandTuning tuning, T mean_edge) {
  const T width = static_cast<T>(tuning.width) * mean_edge;
  return {width, T(1) / width, tuning.buckets};
}

/// How many vertices before its turn each part of what a push reads is asked for.
struct PrepareAhead {
  static constexpr std::size_t near = 3, far = 8, farthest = 16;
};

/// Prepares the vertices that come up in a list of those to be pushed from, ahead of place i.
template <class Relax>
void prepare_ahead(const Relax& relax, std::span<const std::uint32_t> list, std::size_t i) {
  if (i + PrepareAhead::farthest < list.size()) relax.prepare_farthest(list[i + PrepareAhead::farthest]);
  if (i + PrepareAhead::far < list.size()) relax.prepare_far(list[i + PrepareAhead::far]);
  if (i + PrepareAhead::near < list.size()) relax.prepare_near(list[i + PrepareAhead::near]);
}
/// Where a list is begun at place i: those that nothing has prepared yet.
template <class Relax>
void prepare_first(const Relax& relax, std::span<const std::uint32_t> list, std::size_t i) {
  const auto until = [&](std::size_t count) { return std::min(i + count, list.size()); };
  for (std::size_t k = i; k < until(PrepareAhead::farthest); ++k) relax.prepare_farthest(list[k]);
  for (std::size_t k = i; k < until(PrepareAhead::far); ++k) relax.prepare_far(list[k]);
  for (std::size_t k = i; k < until(PrepareAhead::near); ++k) relax.prepare_near(list[k]);
}

/// A ring of time buckets over vertices. An entry counts only while `slot[v]` names its bucket; others are stale.
template <class T>
class BucketRing {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;

  BucketRing(std::size_t vertex_count, BandScale<T> scale)
      : scale_(scale), ring_(scale.buckets), slot_(vertex_count, none) {}

  [[nodiscard]] bool waiting(std::uint32_t v) const { return slot_[v] != none; }

  /// Queues v in the bucket of its time, or in the current one if that is past.
  void add(std::uint32_t v, T time) {
    const std::uint32_t bucket = scale_.place(time, current_);
    if (slot_[v] == bucket) return;
    slot_[v] = bucket;
    ring_[bucket & (ring_.size() - 1)].push_back(v);
    ++entries_;
  }

  /// Calls `process(v, horizon)` for queued vertices in bucket order until none is left. Between buckets, and now and
  /// then in large ones, `go_on(emptied)` hears whether the bucket is empty, and may end it by returning false.
  template <class Relax, class Process, class GoOn>
  void drain(const Relax& relax, Process&& process, GoOn&& go_on) {
    while (entries_ > 0) {
      if (!bucket(current_).empty()) {
        const bool emptied = drain_some(relax, max_at_once, process);
        if (!go_on(emptied)) return;
        if (!emptied) continue;
      }
      ++current_;
    }
  }

  /// The same for at most so many entries of the current bucket; true when the bucket is empty then.
  template <class Relax, class Process>
  bool drain_some(const Relax& relax, std::size_t max_entries, Process&& process) {
    std::vector<std::uint32_t>& list = bucket(current_);
    const T horizon = scale_.horizon(current_);
    std::size_t i = taken_;
    for (; i < list.size() && i - taken_ < max_entries; ++i) {  // the list grows while it is read
      prepare_ahead(relax, list, i);
      const std::uint32_t v = list[i];
      if (slot_[v] != current_) continue;
      slot_[v] = none;
      // Parked in the ring's last bucket? The last of all takes any time.
      if (const T time = relax.times().load(v); time >= horizon && horizon < std::numeric_limits<T>::infinity()) {
        add(v, time);
        continue;
      }
      process(v, horizon);
    }
    taken_ = i;
    const bool emptied = i == list.size();
    if (emptied || 2 * i > list.size()) {  // what was taken goes, but is not moved about each time
      entries_ -= i;
      list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i));
      taken_ = 0;
    }
    return emptied;
  }

  /// The same for a bucket after the current one: at most so many entries from its place `from` on. Returns the first
  /// place that was not looked at.
  template <class Relax, class Process>
  std::size_t take_ahead(const Relax& relax, std::uint32_t number, std::size_t from, std::size_t max_entries,
                         Process&& process) {
    const std::vector<std::uint32_t>& list = bucket(number);
    const T horizon = scale_.horizon(number);
    for (const std::size_t end = from + max_entries; from < std::min(end, list.size()); ++from) {
      prepare_ahead(relax, list, from);
      const std::uint32_t v = list[from];
      if (slot_[v] != number || relax.times().load(v) >= horizon) continue;
      slot_[v] = none;  // the entry stays, a stale one
      process(v, horizon);
    }
    return from;
  }

  /// The first bucket from the current one on that has entries, stale ones too; `none` when there is none.
  [[nodiscard]] std::uint32_t first_bucket() const {
    if (entries_ == 0) return none;
    std::uint32_t first = current_;
    while (ring_[first & (ring_.size() - 1)].empty()) ++first;
    return first;
  }
  /// Makes a bucket the current one; those before it must be empty.
  void move_to(std::uint32_t bucket) { current_ = bucket; }
  /// The entries of the current bucket, and whether one still counts.
  [[nodiscard]] std::span<const std::uint32_t> current_entries() const { return ring_[current_ & (ring_.size() - 1)]; }
  [[nodiscard]] bool waits_in_current(std::uint32_t v) const { return slot_[v] == current_; }
  [[nodiscard]] std::uint32_t current() const { return current_; }

 private:
  static constexpr std::size_t max_at_once = 0x10000;

  std::vector<std::uint32_t>& bucket(std::uint32_t number) { return ring_[number & (ring_.size() - 1)]; }

  BandScale<T> scale_;
  std::uint32_t current_ = 0;
  std::size_t entries_ = 0;
  std::size_t taken_ = 0;  ///< entries of the current bucket that were processed and are still in it
  std::vector<std::vector<std::uint32_t>> ring_;
  BigVector<std::uint32_t> slot_;
};

/// A vertex that still waits takes any gain for free; one that was processed only what is worth repeating it. True when
/// the time was lowered.
template <class Relax, class T>
bool lower_as_queued(const Relax& relax, const SolveState<T>& state, const BucketRing<T>& ring, std::uint32_t target,
                     T candidate) {
  return ring.waiting(target) ? relax.times().lower(target, candidate, T(0))
                              : lower_countably(relax, state, target, candidate);
}

/// Pushes from x and queues what gains by it. Returns the number of local solves.
template <class Relax, class T>
std::uint64_t push_and_queue(const Relax& relax, const SolveState<T>& state, BucketRing<T>& ring, std::uint32_t x,
                             T horizon) {
  return relax.push(x, horizon, [&](std::uint32_t target, T candidate) {
    if (lower_as_queued(relax, state, ring, target, candidate)) ring.add(target, candidate);
  });
}

/// Runs to the fixed point on the calling thread, or gives up (`SolveState::gives_up_after`). Bitwise repeatable.
template <class Relax>
void banded_serial(const Relax& relax, SolveState<typename Relax::Scalar>& state, BandTuning tuning) {
  using T = typename Relax::Scalar;
  const auto& problem = relax.problem();
  BucketRing<T> ring(problem.vertex_count, band_scale(tuning, problem.mean_edge));
  for (const std::uint32_t v : state.seeds) ring.add(v, state.time[v]);
  std::uint64_t solves = 0, updates = 0, rounds = 0;
  ring.drain(
      relax,
      [&](std::uint32_t x, T horizon) {
        ++updates;
        const T reach = tuning.horizon == Horizon::band ? horizon : std::numeric_limits<T>::infinity();
        solves += push_and_queue(relax, state, ring, x, reach);
      },
      [&](bool emptied) {
        if (!emptied && state.progress.cancelled()) throw Cancelled();
        if (emptied && (++rounds & 15U) == 0)
          state.progress.update(
              std::min(1.0, static_cast<double>(updates) / static_cast<double>(problem.vertex_count)));
        return !state.gives_up_after(updates);
      });
  state.counters.local_solves += solves;
  state.counters.vertex_updates += updates;
  state.counters.rounds += rounds;
  if (state.progress.report) state.progress.report(1.0);
}

}  // namespace isochron
