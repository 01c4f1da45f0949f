// A leader and its workers, who do one phase after the other between barriers.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"

namespace isochron {

/// The threads of one solve, 0 being the leader. Knows nothing of what a phase does: it has the barrier, the exceptions
/// and how long each thread has worked and waited.
class ThreadTeam {
 public:
  /// Fewer threads than asked for where the system limits them.
  explicit ThreadTeam(int threads)
      : clocks_(static_cast<std::size_t>(granted_threads(threads))), barrier_(static_cast<int>(clocks_.size())) {}

  [[nodiscard]] std::size_t size() const { return clocks_.size(); }

  /// Calls `lead()` on the calling thread and `phase(thread)` on each other thread whenever the leader has passed a
  /// barrier to begin a phase, until `lead` returns. Rethrows what `lead` has thrown or `guarded` has kept.
  template <class Lead, class Phase>
  void run(Lead&& lead, Phase&& phase) {
    const auto wanted = static_cast<int>(size());
    int granted = wanted;
    std::exception_ptr failed;
    ends_ = false;
    parallel_region(wanted, [&](int thread, int team) {
      if (team != wanted) {  // with fewer, the barrier would wait for ever
        if (thread == 0) granted = team;
      } else if (thread > 0) {
        for (const auto self = static_cast<std::size_t>(thread); begins_phase(self);) phase(self);
      } else {
        try {
          lead();
        } catch (...) {
          failed = std::current_exception();
        }
        ends_ = true;
        barrier(0);
      }
    });
    if (failed) std::rethrow_exception(failed);
    rethrow_pending();
    if (granted != wanted)
      throw RuntimeError("the system took threads away (" + std::to_string(granted) + " of " + std::to_string(wanted) +
                         " are left); ask for fewer (" + Setting{Option::threads} + "), or unset OMP_DYNAMIC");
  }

  /// Waits until all threads are here. What happened before is visible to all afterwards.
  void barrier(std::size_t thread) {
    const Timer timer;
    barrier_.arrive_and_wait();
    Clock& clock = clocks_[thread];
    clock.waited += timer.seconds();
    clock.since_barrier.restart();
    clock.blocked = 0;
  }
  /// Whether a quarter of the team waits at the barrier. An estimate: it may change at once.
  [[nodiscard]] bool is_waited_for() const { return 4 * static_cast<std::size_t>(barrier_.waiting()) >= size(); }

  /// Waits for a flag that another thread sets before the next barrier.
  void wait_for(const std::atomic<bool>& flag, std::size_t thread) {
    if (flag.load(std::memory_order_acquire)) return;
    const Timer timer;
    flag.wait(false, std::memory_order_acquire);
    clocks_[thread].waited += timer.seconds();
    clocks_[thread].blocked += timer.seconds();
  }

  /// Others wait for this thread at the barrier, so exceptions are kept until the phase has ended.
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow_pending() {
    const std::lock_guard lock(error_mutex_);  // other threads may still be at work
    if (error_) std::rethrow_exception(error_);
  }

  /// Since the last barrier, without what it waited for flags.
  [[nodiscard]] double working_seconds(std::size_t thread) const {
    return clocks_[thread].since_barrier.seconds() - clocks_[thread].blocked;
  }
  /// Mean over the threads, from the start on. Between phases.
  [[nodiscard]] double waited_seconds() const {
    double sum = 0;
    for (const Clock& clock : clocks_) sum += clock.waited;
    return sum / static_cast<double>(size());
  }

 private:
  struct alignas(128) Clock {
    Timer since_barrier;
    double waited = 0;   ///< seconds
    double blocked = 0;  ///< of them, since the barrier
  };

  bool begins_phase(std::size_t thread) {
    barrier(thread);
    return !ends_;
  }

  std::vector<Clock> clocks_;
  SpinBarrier barrier_;
  bool ends_ = false;  ///< written by the leader before a barrier
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace isochron
