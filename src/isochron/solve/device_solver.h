// Arrival times on meshes whose arrays may lie in device memory and whose times stay there: for loops of which all
// other steps run on the GPU too.
#pragma once

#include <memory>
#include <variant>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/solve/device_data.h"
#include "isochron/solve/options.h"
#include "isochron/solve/sources.h"

namespace isochron {

/// As `Solver`, on the GPU alone (method push): nothing passes through the host but the sources and the elements around
/// them. Sources that are not vertices (points, a level set) are placed on the host, to which the mesh is then copied
/// once and the metric once each time it changes.
///
/// Arrays that are given are copied before a call returns, and may change afterwards. They are read on CUDA's (legacy)
/// default stream: whoever writes them on another stream that does not wait for it calls `cuda::wait_for_stream` first.
/// Everything happens on the device that holds the mesh, or on the current one when the host does. Not for use by two
/// threads at a time.
template <int Corners>
class DeviceSolver {
 public:
  /// Throws InputError as `Solver` does and for arrays of other shapes or on several devices, UsageError for options
  /// that only the CPU has, DeviceError.
  DeviceSolver(const DeviceMesh& mesh, const AnyMetric& metric, SolveOptions options = {});
  DeviceSolver(const SimplexMesh<Corners>& mesh, const AnyMetric& metric, SolveOptions options = {});
  ~DeviceSolver();
  DeviceSolver(DeviceSolver&&) noexcept;
  DeviceSolver& operator=(DeviceSolver&&) noexcept;

  /// As `Solver::solve`; upwind weights are not there.
  DeviceArrival solve(const Sources& sources);

  /// Takes another metric on the same mesh. When it is refused, the one before stays.
  void set_metric(const AnyMetric& metric);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace isochron
