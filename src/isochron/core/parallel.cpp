#include "isochron/core/parallel.h"

#include <algorithm>
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
