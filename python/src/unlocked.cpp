#include "python/src/unlocked.h"

#include <pthread.h>

#include <atomic>

namespace isochron::python {
namespace {

std::atomic<bool> in_a_fork{false};

}  // namespace

bool forked() {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { in_a_fork = true; });
  return watched == 0 && in_a_fork;
}

}  // namespace isochron::python
