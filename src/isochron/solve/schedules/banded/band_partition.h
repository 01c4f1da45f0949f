// Load balancing between two bands: the entries of a bucket are partitioned among the threads by vertex number, in
// proportion to the threads' speeds. Numbers run along a space-filling curve, so each thread gets a compact region,
// about the one it had before. Without this, what a thread has queued while it helped others lies scattered between
// their entries, and stays so from band to band.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "isochron/solve/schedules/banded/thread_team.h"

namespace isochron {

/// Where parts begin whose sizes are in proportion to `speeds`, estimated from samples of what is partitioned: the
/// first number of each part but the first, ascending. There is at least one sample and one speed.
inline void partition_bounds(std::span<const std::uint32_t> samples, std::span<const double> speeds,
                             std::vector<std::uint32_t>& bounds) {
  // A bucket sort by the leading bits; inside a bucket only the place where a part begins is searched for.
  constexpr int bits = 8;
  const auto [min, max] = std::minmax_element(samples.begin(), samples.end());
  const std::uint32_t smallest = *min;
  const int shift = std::max(0, static_cast<int>(std::bit_width(*max - smallest)) - bits);
  std::array<std::size_t, (1U << bits) + 1> ends{};  // of buckets; the first one is before all
  for (const std::uint32_t v : samples) ++ends[((v - smallest) >> shift) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::uint32_t> sorted(samples.size());
  std::array<std::size_t, (1U << bits) + 1> next = ends;
  for (const std::uint32_t v : samples) sorted[next[(v - smallest) >> shift]++] = v;

  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const auto at = [&](std::size_t i) { return sorted.begin() + static_cast<std::ptrdiff_t>(i); };
  double before = 0;
  bounds.clear();
  for (const double speed : speeds.first(speeds.size() - 1)) {
    before += speed;
    const auto wanted = static_cast<std::size_t>(static_cast<double>(sorted.size()) * (before / all));
    const std::size_t place = std::min(wanted, sorted.size() - 1);
    const auto end = std::upper_bound(ends.begin(), ends.end(), place);
    std::nth_element(at(*(end - 1)), at(place), at(*end));
    bounds.push_back(sorted[place]);
  }
}

/// How much a thread has done in how long: cores that share resources with another process may take twice as long as
/// others.
struct ThreadPace {
  double updates = 0, seconds = 0;
  /// Weights what was before by `kept`.
  void add(const ThreadPace& next, double kept = 1) {
    updates = kept * updates + next.updates;
    seconds = kept * seconds + next.seconds;
  }
};

/// Updates per second of each thread. A thread of which little is known counts as fast as the mean.
inline void thread_speeds(std::span<const ThreadPace> paces, std::vector<double>& speeds) {
  constexpr double little = 1e-3;  // seconds
  ThreadPace all;
  for (const ThreadPace& pace : paces) all.add(pace);
  const double mean = all.updates > 0 && all.seconds > 0 ? all.updates / all.seconds : 1;
  speeds.clear();
  for (const ThreadPace& pace : paces) speeds.push_back((pace.updates + mean * little) / (pace.seconds + little));
}

/// What is done to a bucket before its entries are processed.
struct PartitionPlan {
  enum class Kind : std::uint8_t {
    none,           ///< each thread keeps what it has queued
    kept_samples,   ///< by the samples that were taken after the phase before
    fresh_samples,  ///< by samples that are taken now, at the cost of one more barrier
  };
  Kind kind = Kind::none;
  std::size_t stride = 0;  ///< every so many-th entry is a sample; 0: there are no samples

  /// Entries for each thread that are worth a partition, and samples for each thread.
  static constexpr std::size_t min_entries = 64, samples_each = 64;

  /// For a bucket that has so many entries. Samples that were taken with `stride` may serve if the bucket `follows` the
  /// last one and there are about as many as there should be: fronts grow little from band to band, but sources may set
  /// in anywhere.
  [[nodiscard]] PartitionPlan next(std::size_t threads, std::size_t entries, bool follows) const {
    if (entries < min_entries * threads) return {};
    const std::size_t samples = samples_each * threads;
    const bool useful = follows && entries < 4 * samples * stride && 4 * entries > samples * stride;
    return {useful ? Kind::kept_samples : Kind::fresh_samples, std::max<std::size_t>(1, entries / samples)};
  }
};

/// Moves the entries of one bucket, of which each thread has a list, to the threads they belong to. A thread may
/// process what it keeps of its own list as soon as it has called `split`; the rest follows by `gather`, without a
/// barrier.
class BandPartition {
 public:
  using List = std::vector<std::uint32_t>;

  explicit BandPartition(std::size_t threads) : members_(threads) {
    for (Member& member : members_) member.leaving.resize(threads);
  }

  /// Keeps samples of the thread's entries for the next `split`. Between two barriers.
  void take_samples(std::size_t thread, std::span<const std::uint32_t> entries, std::size_t stride) {
    List& samples = members_[thread].samples;
    samples.clear();
    const std::size_t max_samples = 4 * PartitionPlan::samples_each * members_.size();
    if (stride == 0 || entries.size() / stride > max_samples) return;  // the plan will ask for fresh ones
    for (std::size_t i = 0; i < entries.size(); i += stride) samples.push_back(entries[i]);
  }

  /// Leaves those entries in the thread's list that are in its own part. All threads call it, and find the same parts.
  void split(std::size_t thread, List& entries) {
    Member& own = members_[thread];
    const SetAtExit finished(own.has_split);
    own.all_samples.clear();
    own.paces.clear();
    for (const Member& member : members_) {
      own.all_samples.insert(own.all_samples.end(), member.samples.begin(), member.samples.end());
      own.paces.push_back(member.pace);
    }
    for (List& list : own.leaving) list.clear();
    if (own.all_samples.empty()) return;
    thread_speeds(own.paces, own.speeds);
    partition_bounds(own.all_samples, own.speeds, own.bounds);
    const std::uint64_t first = thread > 0 ? own.bounds[thread - 1] : 0;
    const std::uint64_t last = thread < own.bounds.size() ? own.bounds[thread] : std::uint64_t{1} << 32U;
    std::size_t kept = 0;
    for (const std::uint32_t v : entries) {
      if (v >= first && v < last) {
        entries[kept++] = v;
        continue;
      }
      const auto next = std::upper_bound(own.bounds.begin(), own.bounds.end(), v);
      own.leaving[static_cast<std::size_t>(next - own.bounds.begin())].push_back(v);
    }
    entries.resize(kept);
  }

  /// Waits until the list of `of` is split.
  void wait_for_split(std::size_t of, ThreadTeam& team, std::size_t thread) const {
    team.wait_for(members_[of].has_split, thread);
  }

  /// The entries of the part of `of` that were in other threads' lists. They are put together by the first thread that
  /// asks: that one, or one that has nothing else to do.
  std::span<const std::uint32_t> gather(std::size_t of, ThreadTeam& team, std::size_t thread) {
    Member& to = members_[of];
    if (to.has_all.load(std::memory_order_acquire)) return to.received;
    if (to.is_gathered.exchange(true, std::memory_order_relaxed)) {
      team.wait_for(to.has_all, thread);
      return to.received;
    }
    const SetAtExit finished(to.has_all);
    for (const Member& from : members_) {
      team.wait_for(from.has_split, thread);
      to.received.insert(to.received.end(), from.leaving[of].begin(), from.leaving[of].end());
    }
    return to.received;
  }

  /// Makes the thread ready for the next bucket. After the barrier that ends the phase.
  void reset(std::size_t thread, const ThreadPace& of_phase) {
    Member& own = members_[thread];
    own.received.clear();
    for (auto* flag : {&own.has_split, &own.is_gathered, &own.has_all}) flag->store(false, std::memory_order_relaxed);
    constexpr double kept = 0.95;
    own.pace.add(of_phase, kept);
  }

 private:
  /// Sets a flag that others wait for, also where an exception is thrown before.
  class SetAtExit {
   public:
    explicit SetAtExit(std::atomic<bool>& flag) : flag_(flag) {}
    SetAtExit(const SetAtExit&) = delete;
    SetAtExit& operator=(const SetAtExit&) = delete;
    ~SetAtExit() {
      flag_.store(true, std::memory_order_release);
      flag_.notify_all();
    }

   private:
    std::atomic<bool>& flag_;
  };
  struct alignas(128) Member {
    /// Its list has only what it keeps; a thread has begun to put together what it receives; that is done.
    std::atomic<bool> has_split = false, is_gathered = false, has_all = false;
    /// From here on what the thread itself writes (but `received`); others look at it once a phase at most.
    alignas(128) List samples, all_samples;
    ThreadPace pace;
    std::vector<ThreadPace> paces;  ///< of all threads
    std::vector<double> speeds;     ///< of all threads
    List bounds;                    ///< the first vertex of each part but the first
    std::vector<List> leaving;      ///< by thread: entries of its list that are in that one's part
    List received;                  ///< entries of its part that were in other lists
  };

  std::vector<Member> members_;
};

}  // namespace isochron
