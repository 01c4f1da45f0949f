// The banded schedule on many threads: all threads push from the vertices of one bucket at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "isochron/solve/simplex/banded.h"

namespace isochron {

/// One solve shared by a team. Each thread queues into its own bins; a phase is one pass over all threads' bins of the
/// current bucket, and what is queued for the same bucket meanwhile waits for the next phase. One barrier a phase:
/// behind it every thread reads the same sizes and so takes the same decision.
template <class Relax>
class BandedTeam {
  using T = typename Relax::Scalar;
  static constexpr std::uint32_t none = 0xffffffffU;
  static constexpr std::size_t chunk = 48;
  static constexpr std::size_t worth_a_phase = 32;  ///< vertices a thread

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
    parallel_region(static_cast<int>(workers_.size()), [&](int thread, int) { work(workers_[thread], thread); });
    if (error_) std::rethrow_exception(error_);
    for (const Worker& worker : workers_) state_.counters.local_solves += worker.solves;
    state_.counters.vertex_updates += total_updates();
    state_.counters.rounds += phases_;
    if (state_.progress.report) state_.progress.report(1.0);
  }

 private:
  struct alignas(128) Worker {
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
    // Released after the time was lowered: a thread that takes the entry over sees that time.
    if (std::atomic_ref<std::uint32_t>(slot_[v]).exchange(bucket, std::memory_order_acq_rel) == bucket) return;
    if (running && bucket == phase.bucket) worker.again[phase.parity ^ 1U].push_back(v);
    else worker.ring[bucket & (scale_.buckets - 1)].push_back(v);
  }

  void work(Worker& own, int thread) {
    Phase phase;
    std::uint64_t index = 0;
    if (!next_bucket(phase)) return;
    barrier_.arrive_and_wait();
    while (true) {
      try {
        process(own, phase, index);
      } catch (...) {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::current_exception();
        stop_.store(true, std::memory_order_relaxed);
      }
      if (thread == 0) housekeeping(index);
      barrier_.arrive_and_wait();
      if (stop_.load(std::memory_order_relaxed)) return;
      bin(own, phase).clear();  // nobody reads it any more: the next phase looks at other bins
      const Phase done = phase;
      phase.first = false;
      phase.parity = done.parity ^ 1U;
      ++index;
      if (total(phase) <= worth_a_phase * workers_.size()) {
        // All threads must have looked before anyone queues again, and the clearing above must be seen.
        barrier_.arrive_and_wait();
        postpone(own, phase);
        phase.first = true;
        ++phase.bucket;
        barrier_.arrive_and_wait();
        if (!next_bucket(phase)) return;
        barrier_.arrive_and_wait();
      }
    }
  }

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

  void process(Worker& own, const Phase& phase, std::uint64_t index) {
    const T horizon = scale_.horizon(phase.bucket);
    std::atomic<std::size_t>& cursor = cursors_[index % cursors_.size()];
    const std::size_t count = total(phase);
    for (std::size_t begin = cursor.fetch_add(chunk); begin < count; begin = cursor.fetch_add(chunk)) {
      std::size_t from = begin, left = std::min(chunk, count - begin);
      for (Worker& worker : workers_) {
        const std::vector<std::uint32_t>& entries = bin(worker, phase);
        for (; from < entries.size() && left > 0; ++from, --left) {
          prepare_ahead(relax_, entries, from);
          visit(own, entries[from], horizon, phase);
        }
        if (left == 0) break;
        from -= entries.size();
      }
    }
  }

  void visit(Worker& own, std::uint32_t x, T horizon, const Phase& phase) {
    std::uint32_t expected = phase.bucket;
    // Clearing the slot before reading times: whoever lowers x after this queues it again.
    if (!std::atomic_ref<std::uint32_t>(slot_[x]).compare_exchange_strong(expected, none, std::memory_order_acq_rel))
      return;
    const T time = relax_.times().load(x);
    if (time >= horizon) {  // was parked in the ring's last bucket
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

  /// Thread 0, while the others may still process: resets a cursor nobody uses now, reports, honours cancellation.
  void housekeeping(std::uint64_t index) {
    cursors_[(index + 1) % cursors_.size()].store(0, std::memory_order_relaxed);
    ++phases_;
    if (state_.progress.cancelled()) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::make_exception_ptr(Cancelled());
      stop_.store(true, std::memory_order_relaxed);
    } else if (state_.progress.report && (phases_ & 15U) == 0) {
      state_.progress.report(
          std::min(1.0, static_cast<double>(total_updates()) / static_cast<double>(relax_.problem().vertex_count)));
    }
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
  std::array<std::atomic<std::size_t>, 3> cursors_{};
  std::uint64_t phases_ = 0;
  std::atomic<bool> stop_{false};
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace isochron
