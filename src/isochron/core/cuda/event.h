// The time between two points of the device's work. For .cu files only.
#pragma once

#include "isochron/core/cuda/check.h"

namespace isochron::cuda {

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "taking the time"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { check(cudaEventRecord(event_), "taking the time"); }
  /// Waits for this event; `what` names the work before it.
  [[nodiscard]] double seconds_since(const Event& begin, const char* what) const {
    check(cudaEventSynchronize(event_), what);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "taking the time");
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t event_{};
};

}  // namespace isochron::cuda
