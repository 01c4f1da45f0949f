// Lets few of many reports through.
#pragma once

#include "isochron/core/timer.h"

namespace isochron::viewer {

/// Passes one report every tenth of a second, and none in the first: what is done by then needs none.
class Throttle {
 public:
  [[nodiscard]] bool passes() {
    if (since_.seconds() < interval) return false;
    since_.restart();
    return true;
  }

 private:
  static constexpr double interval = 0.1;
  Timer since_;
};

}  // namespace isochron::viewer
