// A method made ready for a mesh that the host prepared: what the engine runs in place of time bands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isochron/options.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

template <class T, int Corners>
class MeshSchedule {
 public:
  virtual ~MeshSchedule() = default;
  /// Brings `state.time` to the fixed point, on at most `threads` threads, and adds to `notes` what a user should know.
  /// On the CPU several threads may call it at once, each with its own state; on the GPU solving again uploads nothing
  /// but the times. Throws Cancelled, and DeviceError when the device fails.
  virtual void run(SolveState<T>& state, int threads, std::vector<std::string>& notes) = 0;
};

namespace cuda {

/// Paper 001's compacted list of active vertices. Copies what a solve needs to the device. Throws DeviceError when
/// there is no device or its memory is too small, UsageError for products or coordinates of triangles, and for
/// coordinates where there are virtual elements.
template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>& problem,
                                                           const SimplexMesh<Corners>& mesh, const Metric& metric,
                                                           ElementStorage storage);

}  // namespace cuda
}  // namespace isochron
