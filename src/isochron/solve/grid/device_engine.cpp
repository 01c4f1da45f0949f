#include "isochron/solve/grid/device_engine.h"

namespace isochron {

template <class Problem>
std::unique_ptr<GridDeviceEngine> make_grid_device_engine(const ImageGrid& grid, const Problem& problem,
                                                          const Plan& plan, const SolveOptions& options) {
  return std::make_unique<GridDeviceEngineOf<Problem>>(
      grid, problem, cuda::make_device_grid(problem, plan.order, plan.batch_threads), plan, options);
}

template <class T, int Dim>
std::unique_ptr<GridDeviceEngine> make_speed_engine(const ImageGrid& grid, const AxisProblem<T, Dim>& problem,
                                                    cuda::DeviceArray<float>&& scale, const Plan& plan,
                                                    const SolveOptions& options) {
  return std::make_unique<GridDeviceEngineOf<AxisProblem<T, Dim>>>(
      grid, problem, cuda::make_speed_grid(problem, std::move(scale), plan.order), plan, options);
}

std::vector<std::uint32_t> voxels_of_cells(const GridCells& cells) {
  std::vector<std::uint32_t> voxels(cells.box.cell_count, cuda::nobody);
  for (const std::uint32_t cell : cells.list) voxels[cell] = cells.box.voxel(cells.box.index(cell)).value;
  return voxels;
}

#define ISOCHRON_INSTANTIATE_SPEED(T, dim)                      \
  template std::unique_ptr<GridDeviceEngine> make_speed_engine( \
      const ImageGrid&, const AxisProblem<T, dim>&, cuda::DeviceArray<float>&&, const Plan&, const SolveOptions&);
ISOCHRON_INSTANTIATE_SPEED(float, 2)
ISOCHRON_INSTANTIATE_SPEED(float, 3)
ISOCHRON_INSTANTIATE_SPEED(double, 2)
ISOCHRON_INSTANTIATE_SPEED(double, 3)
#undef ISOCHRON_INSTANTIATE_SPEED

#define ISOCHRON_INSTANTIATE(problem, T, dim)                                                                  \
  template std::unique_ptr<GridDeviceEngine> make_grid_device_engine(const ImageGrid&, const problem<T, dim>&, \
                                                                     const Plan&, const SolveOptions&);
ISOCHRON_INSTANTIATE(AxisProblem, float, 2)
ISOCHRON_INSTANTIATE(AxisProblem, float, 3)
ISOCHRON_INSTANTIATE(AxisProblem, double, 2)
ISOCHRON_INSTANTIATE(AxisProblem, double, 3)
ISOCHRON_INSTANTIATE(OffsetProblem, float, 2)
ISOCHRON_INSTANTIATE(OffsetProblem, float, 3)
ISOCHRON_INSTANTIATE(OffsetProblem, double, 2)
ISOCHRON_INSTANTIATE(OffsetProblem, double, 3)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
