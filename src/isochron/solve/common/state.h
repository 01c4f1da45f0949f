// What a schedule changes: the times and its own counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/core/big_vector.h"
#include "isochron/progress.h"
#include "isochron/solve/common/limits.h"
#include "isochron/types.h"

namespace isochron {

/// Shared by schedules; internal numbering and units. `seeds` are the vertices that have a time at the start.
template <class T>
struct SolveState {
  BigVector<T> time;
  std::vector<std::uint32_t> seeds;
  T tolerance = 0;  ///< of the local edge travel time
  Counters counters;
  Progress progress;
  bool converged = true;
  double transfer_seconds = 0;        ///< of what a schedule took: copies to and from a device
  double contrast = 1;                ///< as in `ProblemSize`
  std::uint32_t limit_of_rounds = 0;  ///< on a device; 0: as many as theory says (`max_rounds`)

  /// Whether a schedule that has updated so many vertices gives up. The times are not converged then.
  bool gives_up_after(std::uint64_t updates) {
    if (updates > max_updates({time.size(), contrast})) converged = false;
    return !converged;
  }
  /// The same for rounds on a device.
  bool gives_up_after_rounds(std::uint64_t rounds) {
    if (rounds > most_rounds()) converged = false;
    return !converged;
  }
  [[nodiscard]] std::uint32_t most_rounds() const {
    return limit_of_rounds > 0 ? limit_of_rounds : max_rounds({time.size(), contrast});
  }
};

/// The smallest gain that counts at a vertex with that time: tolerance times its edge travel time, or a few ulp of the
/// time itself.
template <class T>
ISOCHRON_HD inline T countable_gain(T tolerance, T edge, T time) {
  constexpr T ulps = T(4) * std::numeric_limits<T>::epsilon();
  const T by_edge = tolerance * edge;
  const T by_time = ulps * time;
  return by_edge > by_time ? by_edge : by_time;
}

/// Access to times that only one thread touches.
template <class T>
struct PlainTimes {
  T* data;
  [[nodiscard]] T load(std::uint32_t v) const { return data[v]; }
  /// Lowers the time when `candidate` gains more than `least` of it; true when it did.
  bool lower(std::uint32_t v, T candidate, T least) const {
    if (!(candidate < data[v] - least)) return false;
    data[v] = candidate;
    return true;
  }
};

// The one switch for reads of times that other threads may lower at this moment. 1: relaxed atomic loads, which are
// free of data races by the letter of the standard. 0: volatile loads beside atomic writes, which the standard calls a
// race, though a load of an aligned float or double is one instruction and gives the old value or the new one. GCC
// brings atomic loads of floating-point numbers through an integer register, which costs some percent of a solve
// (bench/NOTES.md); Clang does not. The CMake option ISOCHRON_ATOMIC_TIME_READS sets it to 1, as do other compilers
// than GCC and the thread sanitizer.
#if !defined(ISOCHRON_ATOMIC_TIME_READS)
#if defined(__GNUC__) && !defined(__clang__) && __SIZEOF_POINTER__ == 8 && !defined(__SANITIZE_THREAD__)
#define ISOCHRON_ATOMIC_TIME_READS 0
#else
#define ISOCHRON_ATOMIC_TIME_READS 1
#endif
#endif

template <class T>
ISOCHRON_ALWAYS_INLINE T load_shared(T* time) {
#if ISOCHRON_ATOMIC_TIME_READS
  return std::atomic_ref<T>(*time).load(std::memory_order_relaxed);
#else
  return *static_cast<const volatile T*>(time);
#endif
}

/// Access to times that many threads lower at once. Relaxed order is enough: times only fall, and whoever lowers one
/// queues the vertex, so a stale read is repaired when that vertex is processed.
template <class T>
struct SharedTimes {
  T* data;
  [[nodiscard]] T load(std::uint32_t v) const { return load_shared(data + v); }
  bool lower(std::uint32_t v, T candidate, T least) const {
    std::atomic_ref<T> cell(data[v]);
    T old = cell.load(std::memory_order_relaxed);
    do {
      if (!(candidate < old - least)) return false;
    } while (!cell.compare_exchange_weak(old, candidate, std::memory_order_relaxed));
    return true;
  }
};

/// Every vertex may be pushed to.
struct AllTargets {
  static constexpr bool holds(std::uint32_t) { return true; }
  static constexpr std::uint32_t end() { return std::numeric_limits<std::uint32_t>::max(); }
};

/// Lowers v's time when the gain counts; true when it did.
template <class Relax, class T>
bool lower_countably(const Relax& relax, const SolveState<T>& state, std::uint32_t v, T candidate) {
  const T now = relax.times().load(v);
  const bool first = !(now < std::numeric_limits<T>::infinity());  // nothing to compare the gain with
  return relax.times().lower(v, candidate,
                             first ? T(0) : countable_gain(state.tolerance, relax.problem().edge[v], now));
}

}  // namespace isochron
