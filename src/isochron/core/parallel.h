// The one place that knows how work is spread over threads (OpenMP, or serially without it).
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace isochron {

/// Cores this process may use.
inline int hardware_threads() {
#if defined(_OPENMP)
  return std::max(1, omp_get_num_procs());
#else
  return 1;
#endif
}

/// Calls `body(thread, threads)` once on each of `threads` threads and waits; the first exception is rethrown here.
template <class Body>
void parallel_region(int threads, Body&& body) {
#if defined(_OPENMP)
  if (threads > 1) {
    std::exception_ptr error;
#pragma omp parallel num_threads(threads)
    {
      try {
        body(omp_get_thread_num(), omp_get_num_threads());
      } catch (...) {
#pragma omp critical(isochron_parallel_error)
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
#endif
  body(0, 1);
}

/// Calls `body(begin, end)` on contiguous parts of [0, count), one part a thread. Small counts run on the caller.
template <class Body>
void parallel_chunks(int threads, std::size_t count, Body&& body) {
  constexpr std::size_t worth_a_thread = 4096;
  threads = static_cast<int>(std::min<std::size_t>(threads, 1 + count / worth_a_thread));
  parallel_region(threads, [&](int thread, int team) {
    body(count * thread / team, count * (thread + 1) / team);
  });
}

/// Calls `body(i)` for every i in [0, count).
template <class Body>
void parallel_for(int threads, std::size_t count, Body&& body) {
  parallel_chunks(threads, count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace isochron
