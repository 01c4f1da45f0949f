// Long loops that end early when the caller of the work should stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"

namespace isochron {

/// While one is there, the loops below that this thread starts look at its flag. Without a flag (null) the one of the
/// scope around it stays.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag) : outer_(current()) {
    if (flag != nullptr) current() = flag;
  }
  ~StopScope() { current() = outer_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static const std::atomic<bool>*& current() {
    thread_local const std::atomic<bool>* flag = nullptr;
    return flag;
  }

 private:
  const std::atomic<bool>* outer_;
};

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

}  // namespace isochron
