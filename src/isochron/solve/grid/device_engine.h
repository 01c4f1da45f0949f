// The solver of images on the GPU: between sources and results on the host and the times on the device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isochron/solve/arrival.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/device_data.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/grid_solver.h"

namespace isochron {

/// Keeps the stencils in device memory between solves; the host only sends seeds and gets times. Times of the
/// adaptive scheme, or first-order ones of paper 004's Godunov scheme.
class GridDeviceEngine {
 public:
  virtual ~GridDeviceEngine() = default;
  /// Solves for each set of seeds, as many at once as the memory allows. Labels are found on the host.
  virtual void solve(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take) = 0;
  /// Leaves the times on the device.
  virtual DeviceArrival solve_on_device(const std::vector<Seed>& seeds) = 0;
  /// Other speeds, for what `make_speed_engine` has made; its problem is theirs already.
  virtual void set_scale(cuda::DeviceArray<float>&& scale) = 0;
  /// The fixed-point check of times per voxel, on the device.
  virtual Residual residual(std::span<const double> times, const std::vector<Seed>& seeds) = 0;
};

/// The grid and the problem must outlive it; `options` have a tolerance. Throws DeviceError when there is no device or
/// its memory does not do.
template <class Problem>
std::unique_ptr<GridDeviceEngine> make_grid_device_engine(const ImageGrid& grid, const Problem& problem,
                                                          const GridOptions& options, int threads);

/// The same for speeds whose scales are on the device; see `SpeedStencils`. The problem needs its scales only for the
/// labels of several sources.
template <class T, int Dim>
std::unique_ptr<GridDeviceEngine> make_speed_engine(const ImageGrid& grid, const AxisProblem<T, Dim>& problem,
                                                    cuda::DeviceArray<float>&& scale, const GridOptions& options,
                                                    int threads);

/// For each cell of the box: its voxel, or `cuda::nobody` where none may be entered.
std::vector<std::uint32_t> voxels_of_cells(const GridCells& cells);

}  // namespace isochron
