// The one place that knows how work is spread over threads (OpenMP, or serially without it).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>

namespace isochron {

/// A hint to the core that this thread only waits for another.
inline void relax_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A barrier for teams that synchronise every few microseconds: it spins, offers the core to others when the wait gets
/// long (more threads than cores), and sleeps when it gets longer still, so that the threads waited for find a core.
/// What happens before arriving is visible to all after waiting.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : threads_(threads) {}

  void arrive_and_wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
      if (spins < patience) relax_core();
      else if (spins < patience + offers) std::this_thread::yield();
      else round_.wait(round, std::memory_order_acquire);
    }
  }

  /// How many wait now: a guess, others come and go.
  [[nodiscard]] int waiting() const { return arrived_.load(std::memory_order_relaxed); }

 private:
  static constexpr int patience = 4000, offers = 256;
  int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

/// Cores this process may use.
int hardware_threads();

/// How many threads work gets that nobody gave a number of threads (reading, writing, making metrics): those of the
/// machine, unless they are limited, for the whole process. 0: no limit.
int usual_threads();
void limit_usual_threads(int threads);

/// Calls `call(body, thread, threads)` once on each of `threads` threads and waits; the first exception is rethrown
/// here. A function of its own, so that the body of a region is compiled once and not also for one thread.
void run_region(int threads, void (*call)(const void* body, int thread, int threads), const void* body);

/// Calls `body(thread, threads)` once on each of `threads` threads and waits; the first exception is rethrown here.
template <class Body>
void parallel_region(int threads, Body&& body) {
  using Called = std::remove_reference_t<Body>;
  run_region(
      threads,
      [](const void* called, int thread, int team) {
        (*const_cast<Called*>(static_cast<const Called*>(called)))(thread, team);
      },
      std::addressof(body));
}

/// How many threads a region of that many really gets: fewer where the system limits them (OMP_THREAD_LIMIT, a build
/// without OpenMP). What waits for a fixed number of threads must ask this first.
inline int granted_threads(int wanted) {
  int granted = 1;
  parallel_region(wanted, [&](int thread, int team) {
    if (thread == 0) granted = team;
  });
  return granted;
}

/// Calls `body(begin, end)` on contiguous parts of [0, count), one part a thread. Small counts run on the caller.
template <class Body>
void parallel_chunks(int threads, std::size_t count, Body&& body) {
  constexpr std::size_t worth_a_thread = 4096;
  threads = static_cast<int>(std::min<std::size_t>(threads, 1 + count / worth_a_thread));
  parallel_region(threads, [&](int thread, int team) { body(count * thread / team, count * (thread + 1) / team); });
}

/// Calls `body(i)` for every i in [0, count), each time the next one for the thread that is free. The exception of the
/// smallest i is rethrown; what comes after it may be left out.
template <class Body>
void parallel_tasks(int threads, std::size_t count, Body&& body) {
  std::atomic<std::size_t> next{0}, failed{count};
  std::exception_ptr error;
  std::mutex mutex;
  threads = static_cast<int>(std::min<std::size_t>(threads, count));
  parallel_region(threads, [&](int, int) {
    for (std::size_t i = next++; i < failed; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i > failed) continue;
        failed = i;
        error = std::current_exception();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

/// The smallest i in [0, count) for which `is(i)` is true; `count` when there is none.
template <class Is>
std::size_t parallel_find(int threads, std::size_t count, Is&& is) {
  std::atomic<std::size_t> found{count};
  parallel_chunks(threads, count, [&](std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end && !is(i)) ++i;
    if (i == end) return;
    std::size_t smallest = found;
    while (i < smallest && !found.compare_exchange_weak(smallest, i)) {
    }
  });
  return found;
}

/// Calls `body(i)` for every i in [0, count).
template <class Body>
void parallel_for(int threads, std::size_t count, Body&& body) {
  parallel_chunks(threads, count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace isochron
