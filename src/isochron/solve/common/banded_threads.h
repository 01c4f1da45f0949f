// The banded schedule on many threads: all threads push from the vertices of one bucket at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "isochron/solve/common/banded.h"

namespace isochron {

/// One solve shared by a team. Each thread queues into its own bins; a phase is one pass over all threads' bins of the
/// current bucket, and what is queued for the same bucket meanwhile waits for the next phase. One barrier a phase:
/// behind it every thread reads the same sizes and so takes the same decision.
template <class Relax>
class BandedTeam {
  using T = typename Relax::Scalar;
  static constexpr std::uint32_t none = 0xffffffffU;
  static constexpr std::size_t smallest_chunk = 8, largest_chunk = 64;  ///< vertices taken at a time
  static constexpr std::size_t worth_a_phase = 32;                      ///< vertices a thread

 public:
  BandedTeam(const Relax& relax, SolveState<T>& state, BandTuning tuning, int threads)
      : relax_(relax),
        state_(state),
        scale_(band_scale(tuning, relax.problem().mean_edge)),
        horizon_(tuning.horizon),
        slot_(relax.problem().vertex_count, none),
        workers_(static_cast<std::size_t>(granted_threads(threads))),
        barrier_(static_cast<int>(workers_.size())) {
    for (Worker& worker : workers_) worker.ring.resize(tuning.buckets);
    std::size_t next = 0;
    for (const std::uint32_t v : state.seeds) queue(workers_[next++ % workers_.size()], v, state.time[v], false);
  }

  void run() {
    const auto wanted = static_cast<int>(workers_.size());
    int granted = wanted;
    parallel_region(wanted, [&](int thread, int team) {
      if (team == wanted) work(workers_[thread], thread);  // with fewer, the barrier would wait for ever
      else if (thread == 0) granted = team;
    });
    if (granted != wanted)
      throw RuntimeError("the system took threads away (" + std::to_string(granted) + " of " + std::to_string(wanted) +
                         " are left); ask for fewer (--threads), or unset OMP_DYNAMIC");
    if (error_) std::rethrow_exception(error_);
    for (const Worker& worker : workers_) state_.counters.local_solves += worker.solves;
    state_.counters.vertex_updates += total_updates();
    state_.counters.rounds += phases_;
    if (state_.progress.report) state_.progress.report(1.0);
  }

 private:
  struct alignas(128) Worker {
    alignas(128) std::array<std::atomic<std::size_t>, 3> cursor{};  ///< into its bins, by phase; others help
    std::vector<std::vector<std::uint32_t>> ring;
    std::array<std::vector<std::uint32_t>, 2> again;  ///< queued for the bucket being processed, by phase parity
    std::uint64_t solves = 0;
    std::atomic<std::uint64_t> updates{0};  ///< written by its thread, read by the one that reports
  };
  /// The bins a phase reads: the bucket's own at first, then the re-queued ones.
  struct Phase {
    std::uint32_t bucket = 0;
    bool first = true;
    unsigned parity = 0;
  };

  std::vector<std::uint32_t>& bin(Worker& worker, const Phase& phase) {
    return phase.first ? worker.ring[phase.bucket & (scale_.buckets - 1)] : worker.again[phase.parity];
  }

  void queue(Worker& worker, std::uint32_t v, T time, bool running, const Phase& phase = {}) {
    const std::uint32_t bucket = scale_.place(time, phase.bucket);
    const std::atomic_ref<std::uint32_t> slot(slot_[v]);
    if (running && bucket == phase.bucket) {
      // Released after the time was lowered: a thread that takes the entry over in this phase sees that time.
      if (slot.exchange(bucket, std::memory_order_release) != bucket) worker.again[phase.parity ^ 1U].push_back(v);
      return;
    }
    // Nobody takes entries of a later bucket before the next barrier. Two threads may both queue v: the entry that its
    // slot does not name is stale, and if that was the earlier one, v is late, which costs pushes and nothing else.
    if (slot.load(std::memory_order_relaxed) == bucket) return;
    slot.store(bucket, std::memory_order_relaxed);
    worker.ring[bucket & (scale_.buckets - 1)].push_back(v);
  }

  void work(Worker& own, int thread) {
    Phase phase;
    std::uint64_t index = 0;
    if (!next_bucket(phase)) return;
    barrier_.arrive_and_wait();
    while (true) {
      try {
        process(own, phase, index);
        if (thread == 0) housekeeping();
      } catch (...) {
        stop_after(index);
      }
      barrier_.arrive_and_wait();
      if (stopped(index)) return;
      bin(own, phase).clear();  // nobody reads it any more: the next phase looks at other bins
      const Phase done = phase;
      phase.first = false;
      phase.parity = done.parity ^ 1U;
      ++index;
      if (total(phase) <= worth_a_phase * workers_.size()) {
        // All threads must have looked before anyone queues again, and the clearing above must be seen.
        barrier_.arrive_and_wait();
        try {
          postpone(own, phase);
        } catch (...) {
          stop_after(index);
        }
        phase.first = true;
        ++phase.bucket;
        barrier_.arrive_and_wait();
        if (stopped(index) || !next_bucket(phase)) return;
        barrier_.arrive_and_wait();
      }
    }
  }

  /// Keeps the exception in flight and ends the team after a phase. The phase is named because a quick thread may be in
  /// the next one, and fail there, before a slow one has looked: all must leave at the same barrier.
  void stop_after(std::uint64_t index) {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::current_exception();
    if (index < last_phase_.load(std::memory_order_relaxed)) last_phase_.store(index, std::memory_order_relaxed);
  }
  [[nodiscard]] bool stopped(std::uint64_t index) const { return last_phase_.load(std::memory_order_relaxed) <= index; }

  /// Moves what is left of a bucket to the next one: too little to keep the team busy for a phase. Those vertices are a
  /// little late then, which costs a few pushes more; nothing is lost, since they are processed with a later horizon.
  void postpone(Worker& own, const Phase& phase) {
    std::vector<std::uint32_t>& left = own.again[phase.parity];
    for (const std::uint32_t v : left) {
      std::uint32_t expected = phase.bucket;
      if (std::atomic_ref<std::uint32_t>(slot_[v]).compare_exchange_strong(expected, phase.bucket + 1,
                                                                           std::memory_order_relaxed))
        own.ring[(phase.bucket + 1) & (scale_.buckets - 1)].push_back(v);
    }
    left.clear();
  }

  std::size_t total(const Phase& phase) {
    std::size_t sum = 0;
    for (Worker& worker : workers_) sum += bin(worker, phase).size();
    return sum;
  }

  /// Moves on to the next bucket that holds anything; false when there is none.
  bool next_bucket(Phase& phase) {
    for (std::uint32_t step = 0; step < scale_.buckets; ++step, ++phase.bucket)
      if (total(phase) > 0) return true;
    return false;
  }

  /// Each thread takes what it queued itself first: those vertices and their neighbours are in its own cache. Then it
  /// helps the others.
  void process(Worker& own, const Phase& phase, std::uint64_t index) {
    const T horizon = scale_.horizon(phase.bucket);
    const std::size_t slot = index % own.cursor.size();
    own.cursor[(index + 1) % own.cursor.size()].store(0, std::memory_order_relaxed);  // nobody uses it in this phase
    const auto first = static_cast<std::size_t>(&own - workers_.data());
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      Worker& worker = workers_[(first + k) % workers_.size()];
      const std::vector<std::uint32_t>& entries = bin(worker, phase);
      std::atomic<std::size_t>& cursor = worker.cursor[slot];
      const std::size_t chunk = std::clamp(entries.size() / 8, smallest_chunk, largest_chunk);
      while (cursor.load(std::memory_order_relaxed) < entries.size()) {
        const std::size_t begin = cursor.fetch_add(chunk, std::memory_order_relaxed);
        const std::size_t end = std::min(begin + chunk, entries.size());
        for (std::size_t i = begin; i < end; ++i) {
          prepare_ahead(relax_, entries, i);
          visit(own, entries[i], horizon, phase);
        }
      }
    }
  }

  void visit(Worker& own, std::uint32_t x, T horizon, const Phase& phase) {
    std::uint32_t expected = phase.bucket;
    // Clearing the slot before reading times: whoever lowers x after this queues it again.
    if (!std::atomic_ref<std::uint32_t>(slot_[x]).compare_exchange_strong(expected, none, std::memory_order_acquire))
      return;
    const T time = relax_.times().load(x);
    if (time >= horizon && horizon < std::numeric_limits<T>::infinity()) {  // was parked in the ring's last bucket
      queue(own, x, time, true, phase);
      return;
    }
    own.updates.store(own.updates.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const T reach = horizon_ == Horizon::band ? horizon : std::numeric_limits<T>::infinity();
    own.solves += relax_.push(x, reach, [&](std::uint32_t target, T candidate) {
      const bool waiting = std::atomic_ref<std::uint32_t>(slot_[target]).load(std::memory_order_relaxed) != none;
      const bool lowered =
          waiting ? relax_.times().lower(target, candidate, T(0)) : lower_countably(relax_, state_, target, candidate);
      if (lowered) queue(own, target, candidate, true, phase);
    });
  }

  /// Thread 0, while the others may still process: reports, honours cancellation.
  void housekeeping() {
    ++phases_;
    if (state_.progress.cancelled()) throw Cancelled();
    if (state_.progress.report && (phases_ & 15U) == 0)
      state_.progress.report(
          std::min(1.0, static_cast<double>(total_updates()) / static_cast<double>(relax_.problem().vertex_count)));
  }

  [[nodiscard]] std::uint64_t total_updates() const {
    std::uint64_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.updates.load(std::memory_order_relaxed);
    return sum;
  }

  const Relax& relax_;
  SolveState<T>& state_;
  BandScale<T> scale_;
  Horizon horizon_;
  BigVector<std::uint32_t> slot_;
  std::vector<Worker> workers_;
  SpinBarrier barrier_;
  std::uint64_t phases_ = 0;
  std::atomic<std::uint64_t> last_phase_{std::numeric_limits<std::uint64_t>::max()};
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace isochron
