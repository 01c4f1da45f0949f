// Several solves, one after the other or side by side.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include "isochron/arrival.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/progress.h"
#include "isochron/solve/source_set.h"
#include "isochron/sources.h"

namespace isochron {

/// What one of several solves may use, and whom it reports to.
struct SolveResources {
  int threads = 1;
  Progress progress;
};

/// One progress for several solves, shown on the thread that asked for them.
class BatchProgress {
 public:
  BatchProgress(const Progress& whole, std::size_t solves) : whole_(whole), solves_(static_cast<double>(solves)) {}

  void show(double solves_done) {
    constexpr int steps = 200;
    const int step = static_cast<int>(steps * solves_done / solves_);
    if (!whole_.report || step == shown_) return;
    shown_ = step;
    whole_.report(solves_done / solves_);
  }

 private:
  const Progress& whole_;
  double solves_;
  int shown_ = -1;
};

/// Solves to do side by side. `threads` is what one solve alone would use; `available`, what there is.
inline int solves_at_once(std::size_t sets, int threads, int available) {
  const auto limit = static_cast<std::size_t>(available);
  return threads > 1 && sets < limit ? 1 : static_cast<int>(std::clamp<std::size_t>(sets, 1, limit));
}

/// Solves the sets from `first` on with `solve_one(sources, resources)`, `at_once` side by side on one thread each, or
/// one after the other on `threads`. Gives each result to `take`, in order. An InputError names its set.
template <class SolveOne, class Take>
void solve_batch(std::span<const Sources> sets, std::size_t first, int at_once, int threads, const Progress& whole,
                 const SolveOne& solve_one, const Take& take) {
  const std::size_t count = sets.size() - first;
  BatchProgress progress(whole, count);
  const auto resources = [&](std::size_t i, const std::atomic<bool>& stop) {
    SolveResources result{at_once > 1 ? 1 : threads, {{}, whole.cancel}};
    if (at_once == 1) {
      result.progress.report = [&progress, i](double fraction) { progress.show(static_cast<double>(i) + fraction); };
    } else {
      result.progress.report = [&stop](double) {
        if (stop) throw Cancelled();
      };
    }
    return result;
  };
  parallel_in_order<Arrival>(
      at_once, count,
      [&](std::size_t i, const std::atomic<bool>& stop) {
        if (i > 0 && whole.cancelled()) throw Cancelled();
        const std::size_t set = first + i;
        return for_source_set(set, sets.size(), [&] { return solve_one(sets[set], resources(i, stop)); });
      },
      [&](std::size_t i, Arrival&& arrival) {
        if (at_once > 1) arrival.backend = Backend::threads, arrival.threads = at_once;
        take(first + i, std::move(arrival));
        progress.show(static_cast<double>(i + 1));
      });
}

}  // namespace isochron
