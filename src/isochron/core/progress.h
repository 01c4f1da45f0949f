// How long work reports where it stands and learns that it should stop.
#pragma once

#include <atomic>
#include <functional>

#include "isochron/core/error.h"

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

}  // namespace isochron
