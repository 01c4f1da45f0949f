// One progress for several solves.
#pragma once

#include <cstddef>

#include "isochron/core/progress.h"

namespace isochron {

/// Shows how far several solves are together, on the thread that asked for them.
class BatchProgress {
 public:
  BatchProgress(const Progress& whole, std::size_t solves) : whole_(whole), solves_(static_cast<double>(solves)) {}

  void show(double solves_done) {
    const int step = static_cast<int>(steps * solves_done / solves_);
    if (!whole_.report || step == shown_) return;
    shown_ = step;
    whole_.report(solves_done / solves_);
  }

 private:
  static constexpr int steps = 200;
  const Progress& whole_;
  double solves_;
  int shown_ = -1;
};

}  // namespace isochron
