// Arrival times on images whose speeds may lie in device memory and whose times stay there; see device_solver.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "isochron/solve/device_data.h"
#include "isochron/solve/grid_solver.h"

namespace isochron {

/// As `GridSolver`, on the GPU alone (scheme adaptive). Speeds on orthogonal axes are prepared on the device, and only
/// those around the sources are copied to the host. Other metrics are prepared on the host, to which they are copied
/// (`Arrival::notes` says so), and so are the labels of several sources. The rows of a table are voxels in the order of
/// `ImageGrid::voxel`. Arrays, streams and threads as with `DeviceSolver`.
class DeviceGridSolver {
 public:
  /// Keeps nothing of what it is given. `mask` as in `GridDomain`. Throws as `GridSolver` and `DeviceSolver` do.
  DeviceGridSolver(const ImageGrid& grid, const AnyMetric& metric, std::span<const std::uint8_t> mask,
                   GridOptions options = {});
  ~DeviceGridSolver();
  DeviceGridSolver(DeviceGridSolver&&) noexcept;
  DeviceGridSolver& operator=(DeviceGridSolver&&) noexcept;

  /// As `GridSolver::solve`.
  DeviceArrival solve(const Sources& sources);

  /// Takes another metric on the same image and mask. When it is refused, the one before stays.
  void set_metric(const AnyMetric& metric);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace isochron
