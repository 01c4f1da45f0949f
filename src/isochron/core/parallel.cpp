#include "isochron/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace isochron {

int hardware_threads() {
#if defined(_OPENMP)
  return std::max(1, omp_get_num_procs());
#else
  return 1;
#endif
}

namespace {
std::atomic<int> most_usual_threads{0};
}

int usual_threads() {
  const int most = most_usual_threads;
  return most > 0 ? most : hardware_threads();
}

void limit_usual_threads(int threads) { most_usual_threads = threads; }

void run_region([[maybe_unused]] int threads, void (*call)(const void* body, int thread, int threads),
                const void* body) {
#if defined(_OPENMP)
  if (threads > 1) {
    std::exception_ptr error;
#pragma omp parallel num_threads(threads)
    {
      try {
        call(body, omp_get_thread_num(), omp_get_num_threads());
      } catch (...) {
#pragma omp critical(isochron_parallel_error)
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
#endif
  call(body, 0, 1);
}

}  // namespace isochron
