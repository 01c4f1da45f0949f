// Times what the device does. For .cu files only.
#pragma once

#include "isochron/core/cuda/check.h"

namespace isochron::cuda {

/// Runs from its making to `seconds`, on the device's own clock.
class Stopwatch {
 public:
  Stopwatch() { check(cudaEventRecord(begin_.get()), "taking the time"); }
  /// Waits for the device; `what` names what it was doing.
  [[nodiscard]] double seconds(const char* what) const {
    check(cudaEventRecord(end_.get()), "taking the time");
    check(cudaEventSynchronize(end_.get()), what);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "taking the time");
    return 1e-3 * milliseconds;
  }

 private:
  class Event {
   public:
    Event() { check(cudaEventCreate(&event_), "taking the time"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    [[nodiscard]] cudaEvent_t get() const { return event_; }

   private:
    cudaEvent_t event_{};
  };
  Event begin_, end_;
};

}  // namespace isochron::cuda
