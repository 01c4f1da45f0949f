// Reports of how far work is, of which few are sent.
#pragma once

#include <functional>

#include "apps/viewer/server/scene.h"
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

/// While one lives, what the solvers of a scene report is sent to the client. They keep `place` for all their solves.
class Reporting {
 public:
  using Report = std::function<void(double)>;
  Reporting(Report& place, const Notify& notify, const char* stage) : place_(place) {
    place_ = [this, &notify, stage](double fraction) {
      if (throttle_.passes()) notify("progress", {{"stage", stage}, {"fraction", fraction}});
    };
  }
  ~Reporting() { place_ = nullptr; }
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;

 private:
  Report& place_;
  Throttle throttle_;
};

}  // namespace isochron::viewer
