// Solves of the adaptive scheme, of first or second order, with or without a factored source.
#pragma once

#include "isochron/solve/grid/grid_start.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/schedules/banded/banded.h"
#include "isochron/solve/schedules/banded/withdraw.h"

namespace isochron {

/// The source that is factored out.
struct FactoredSource {
  Vec3d index;         ///< in voxels
  SymTensor3d metric;  ///< there, in voxels
  double time = 0;
};

struct AdaptiveRun {
  int order = 1;
  int threads = 1;
  double band_width = 0;                     ///< in mean shortest steps; 0: tuned
  const FactoredSource* factored = nullptr;  ///< double precision only
};

/// Of the bands, with the width that is asked for (0: tuned).
inline BandTuning adaptive_tuning(double band_width) {
  constexpr std::uint32_t buckets = 1024;
  return {band_width > 0 ? band_width : 1.0, buckets, Horizon::none};
}

/// Times from the seeds: to the first-order fixed point, by time bands of cells that push to those that read them;
/// then, for order 2, one pass as `grid/second_order.h` says.
template <class Problem>
void solve_adaptive(const Problem& problem, Start<typename Problem::Scalar>& start, const AdaptiveRun& run);

/// First-order times after a change, from those before it. False when nearly all would be solved again: `start` is of
/// no use then.
template <class Problem>
bool update_adaptive(const Problem& problem, Start<typename Problem::Scalar>& start,
                     const ChangedStart<typename Problem::Scalar>& changed, const AdaptiveRun& run);

/// The fixed-point check of such times, those of first order included.
template <class Problem>
Residual check_adaptive(const Problem& problem, const Start<typename Problem::Scalar>& start, const AdaptiveRun& run,
                        double limit);

}  // namespace isochron
