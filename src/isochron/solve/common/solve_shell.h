// What the solvers of meshes and of images do around a single solve: whose GPU it is, who solves what in a batch, and
// in which order results come.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/core/progress.h"
#include "isochron/solve/arrival.h"
#include "isochron/solve/common/batch_progress.h"
#include "isochron/solve/options.h"
#include "isochron/solve/source_set.h"
#include "isochron/solve/sources.h"

namespace isochron {

inline int wanted_threads(const SolveOptions& options) {
  return options.threads > 0 ? options.threads : hardware_threads();
}

/// Does `work` on one GPU (−1: there is none), whichever the caller has come to use since. When that fails with a
/// DeviceError, `retreat(error)` makes ready for the CPU and the work is done again; or it rethrows.
template <class Work, class Retreat>
void on_device_or_cpu(int gpu, Work&& work, Retreat&& retreat) {
  try {
    const cuda::OnDevice here(gpu);
    work();
    return;
  } catch (const DeviceError& error) {
    retreat(error);
  }
  work();
}

/// Gives results to their taker and knows how many it has, so that a second try goes on behind them.
class HandOver {
 public:
  explicit HandOver(const TakeArrival& take) : take_(take) {}
  /// Results come in order. The taker may go to another GPU than ours; we do not.
  void operator()(int gpu, std::size_t set, Arrival&& arrival) {
    const cuda::OnDevice still_here(gpu);
    take_(set, std::move(arrival));
    ++done_;
  }
  [[nodiscard]] std::size_t done() const { return done_; }

 private:
  const TakeArrival& take_;
  std::size_t done_ = 0;
};

/// Who does one solve, and whom it reports to.
struct Crew {
  int threads = 1;
  Progress progress;
};

/// How the threads of the CPU are used for several solves.
struct BatchPlan {
  int at_once = 1;  ///< solves side by side, each on one thread; 1: one after the other, each on `threads`
  int threads = 1;
};

/// Solves to do side by side. `threads` is what the schedule of one solve alone would use; `wanted`, what there is.
inline int solves_at_once(std::size_t sets, int threads, int wanted) {
  const auto most = static_cast<std::size_t>(wanted);
  return threads > 1 && sets < most ? 1 : static_cast<int>(std::clamp<std::size_t>(sets, 1, most));
}

/// Solves the sets from `first` on with `solve_one(sources, crew)`, and gives each result to `take`, in order. An
/// InputError names its set.
template <class SolveOne, class Take>
void solve_batch(std::span<const Sources> sets, std::size_t first, const BatchPlan& plan, const Progress& whole,
                 const SolveOne& solve_one, const Take& take) {
  const std::size_t count = sets.size() - first;
  BatchProgress progress(whole, count);
  const auto crew = [&](std::size_t i, const std::atomic<bool>& stop) {
    Crew result{plan.at_once > 1 ? 1 : plan.threads, {{}, whole.cancel}};
    if (plan.at_once == 1) {
      result.progress.report = [&progress, i](double fraction) { progress.show(static_cast<double>(i) + fraction); };
    } else {
      result.progress.report = [&stop](double) {
        if (stop) throw Cancelled();
      };
    }
    return result;
  };
  parallel_in_order<Arrival>(
      plan.at_once, count,
      [&](std::size_t i, const std::atomic<bool>& stop) {
        if (i > 0 && whole.cancelled()) throw Cancelled();
        const std::size_t set = first + i;
        return for_source_set(set, sets.size(), [&] { return solve_one(sets[set], crew(i, stop)); });
      },
      [&](std::size_t i, Arrival&& arrival) {
        if (plan.at_once > 1) arrival.backend = Backend::threads, arrival.threads = plan.at_once;
        take(first + i, std::move(arrival));
        progress.show(static_cast<double>(i + 1));
      });
}

}  // namespace isochron
