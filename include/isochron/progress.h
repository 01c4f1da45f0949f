// How long work reports where it stands and learns that it should stop.
#pragma once

#include <atomic>
#include <functional>

#include "isochron/error.h"

namespace isochron {

/// Passed by reference into long work. `report` may be empty; it is called from one thread, a few hundred times at
/// most.
struct Progress {
  std::function<void(double fraction)> report;
  const std::atomic<bool>* cancel = nullptr;

  [[nodiscard]] bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
  void update(double fraction) const {
    if (cancelled()) throw Cancelled();
    if (report) report(fraction);
  }
};

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

}  // namespace isochron
