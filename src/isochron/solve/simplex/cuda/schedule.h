// Schedules on a CUDA device that work on a problem prepared by the host: the papers' schemes.
#pragma once

#include <memory>

#include "isochron/solve/common/state.h"
#include "isochron/solve/options.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::cuda {

/// A prepared problem in device memory. Solving again uploads nothing but the times.
template <class T, int Corners>
class DeviceSchedule {
 public:
  virtual ~DeviceSchedule() = default;
  /// Brings `state.time` to the fixed point. Throws RuntimeError when the device fails.
  virtual void run(SolveState<T>& state) = 0;
};

/// Each copies what a solve needs to the device. Throws RuntimeError when there is no device or its memory is too
/// small, UsageError when an option cannot be met.
template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>& problem,
                                                           const SimplexMesh<Corners>& mesh,
                                                           const PaperOptions& options);
template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>& problem,
                                                             const SimplexMesh<Corners>& mesh,
                                                             const PaperOptions& options);
template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_domain_decomposition(const SimplexProblem<T, Corners>& problem,
                                                                      const SimplexMesh<Corners>& mesh,
                                                                      const PaperOptions& options);

}  // namespace isochron::cuda
