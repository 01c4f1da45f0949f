// Long loops that end early when the caller of the work should stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/progress.h"

namespace isochron {

/// A loop that throws Cancelled soon after the flag is set. Made by the thread that has the scope; all threads of its
/// team may call it, but none that others wait for at a barrier.
class StoppableLoop {
 public:
  /// Calls `body(i)` for every i in [begin, end).
  template <class Body>
  void operator()(std::size_t begin, std::size_t end, Body&& body) const {
    constexpr std::size_t between_looks = 4096;
    while (begin < end) {
      if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Cancelled();
      const std::size_t next = begin + std::min(between_looks, end - begin);
      for (; begin < next; ++begin) body(begin);
    }
  }

 private:
  const std::atomic<bool>* flag_ = StopScope::current();
};

/// `parallel_for` as such a loop.
template <class Body>
void stoppable_for(int threads, std::size_t count, Body&& body) {
  const StoppableLoop loop;
  parallel_chunks(threads, count, [&](std::size_t begin, std::size_t end) { loop(begin, end, body); });
}

/// How many of some items are wrong, and the first of those.
struct Faults {
  std::size_t count = 0;
  std::size_t first = 0;
};

/// Calls `faults_of(i)` for every i in [0, count): how many faults that item has, or whether it has one.
template <class FaultsOf>
Faults count_faults(int threads, std::size_t count, FaultsOf&& faults_of) {
  Faults all{0, count};
  std::mutex mutex;
  const StoppableLoop loop;
  parallel_chunks(threads, count, [&](std::size_t begin, std::size_t end) {
    Faults here{0, end};
    loop(begin, end, [&](std::size_t i) {
      const auto faults = static_cast<std::size_t>(faults_of(i));
      if (faults > 0 && here.count == 0) here.first = i;
      here.count += faults;
    });
    const std::lock_guard lock(mutex);
    all.count += here.count;
    if (here.count > 0) all.first = std::min(all.first, here.first);
  });
  return all;
}

}  // namespace isochron
