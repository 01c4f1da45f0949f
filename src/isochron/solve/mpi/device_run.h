// A rank's share of a solve on its GPU.
#pragma once

#include "isochron/solve/mpi/device_local.h"
#include "isochron/solve/mpi/rank_engine.h"

namespace isochron::mpi {

/// All ranks together, each with its part on the current device: goes through the bands until none has anything left to
/// do; `state` gets the times.
template <class T>
RankWork run_on_device(Transport& transport, const Halo& halo, DevicePart<T>& part, SolveState<T>& state,
                       const BandTuning& tuning, T mean_edge, Pace pace, const Progress& progress,
                       double expected_updates) {
  DeviceLocal<T> local(part, state, halo, device_scale(tuning, mean_edge));
  RankWork work = run_bands(transport, halo, static_cast<LocalSolver<T>&>(local), pace, progress, expected_updates);
  part.times(state.time);
  return work;
}

}  // namespace isochron::mpi
