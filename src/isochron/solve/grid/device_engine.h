// The solver of images on the GPU: between sources and results on the host and the times on the device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isochron/solve/device_engine.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/plan.h"

namespace isochron {

/// Times of the adaptive scheme, or first-order ones of paper 004's Godunov scheme. Labels are found on the host.
class GridDeviceEngine : public DeviceEngine {
 public:
  /// Other speeds, for what `make_speed_engine` has made; its problem is theirs already.
  virtual void set_scale(cuda::DeviceArray<float>&& scale) = 0;
};

/// The grid and the problem must outlive it.
template <class Problem>
std::unique_ptr<GridDeviceEngine> make_grid_device_engine(const ImageGrid& grid, const Problem& problem,
                                                          const Plan& plan, const SolveOptions& options);

/// The same for speeds whose scales are on the device; see `SpeedStencils`. The problem needs its scales only for the
/// labels of several sources.
template <class T, int Dim>
std::unique_ptr<GridDeviceEngine> make_speed_engine(const ImageGrid& grid, const AxisProblem<T, Dim>& problem,
                                                    cuda::DeviceArray<float>&& scale, const Plan& plan,
                                                    const SolveOptions& options);

/// For each cell of the box: its voxel, or `cuda::nobody` where none may be entered.
std::vector<std::uint32_t> voxels_of_cells(const GridCells& cells);

}  // namespace isochron
