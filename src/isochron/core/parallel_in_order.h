// Results that several threads make, handed over one at a time and in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "isochron/core/parallel.h"

namespace isochron {

/// The team behind `parallel_in_order`. The caller's thread leads: it hands over what is ready and makes results
/// itself while nothing is.
template <class Result, class Make>
class OrderedTeam {
 public:
  OrderedTeam(int threads, std::size_t count, const Make& make)
      : threads_(std::max(1, threads)), count_(count), make_(make), places_(2 * static_cast<std::size_t>(threads_)) {}

  template <class Take>
  void run(const Take& take) {
    parallel_region(threads_, [&](int thread, int) {
      if (thread == 0) lead(take);
      else help();
    });
  }

 private:
  /// A result, or why there is none.
  struct Outcome {
    Result result{};
    std::exception_ptr error;
  };

  template <class Take>
  void lead(const Take& take) {
    try {
      for (std::size_t i = 0; i < count_; ++i) {
        Outcome outcome = wait_for(i);
        if (outcome.error) std::rethrow_exception(outcome.error);
        take(i, std::move(outcome.result));
      }
    } catch (...) {
      stop();
      throw;
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [&] { return stop_ || started_ == count_ || may_start(); });
      if (stop_ || started_ == count_) return;
      make_next(lock);
      ready_.notify_one();
    }
  }

  /// Takes result i out. Whoever waits for it is sure that another thread makes it: otherwise there was one to start.
  Outcome wait_for(std::size_t i) {
    std::unique_lock lock(mutex_);
    std::optional<Outcome>& place = places_[i % places_.size()];
    while (!place) {
      if (may_start()) make_next(lock);
      else ready_.wait(lock);
    }
    Outcome outcome = std::move(*place);
    place.reset();
    ++taken_;
    lock.unlock();
    room_.notify_one();
    return outcome;
  }

  [[nodiscard]] bool may_start() const { return started_ < count_ && started_ < taken_ + places_.size(); }

  /// `lock` is held before and after, not meanwhile.
  void make_next(std::unique_lock<std::mutex>& lock) {
    const std::size_t i = started_++;
    lock.unlock();
    Outcome outcome;
    try {
      outcome.result = make_(i, stop_);
    } catch (...) {
      outcome.error = std::current_exception();
    }
    lock.lock();
    places_[i % places_.size()] = std::move(outcome);
    if (started_ == count_) room_.notify_all();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_all();
  }

  int threads_;
  std::size_t count_;
  const Make& make_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::atomic<bool> stop_{false};
  std::size_t started_ = 0, taken_ = 0;
  std::vector<std::optional<Outcome>> places_;  ///< of result i: i modulo their number
};

/// Makes the results 0 … count−1 with `make(i, stop)` on `threads` threads and gives each to `take(i, result)`, in
/// order and on the caller's thread. At most two a thread are being made or wait. The error of the first result that
/// failed, or what `take` throws, ends it and is rethrown unchanged when all threads have stopped; `stop` is set by
/// then, so that a long `make` may end (with any exception).
template <class Result, class Make, class Take>
void parallel_in_order(int threads, std::size_t count, const Make& make, const Take& take) {
  OrderedTeam<Result, Make>(threads, count, make).run(take);
}

}  // namespace isochron
