// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/cuda/speed_scale.h"

namespace isochron::cuda {

template <class Problem>
std::unique_ptr<DeviceGrid<typename Problem::Scalar>> make_device_grid(const Problem&, int, int) {
  require_device();
  return nullptr;
}

#define ISOCHRON_INSTANTIATE(problem)                                                                 \
  template std::unique_ptr<DeviceGrid<float>> make_device_grid(const problem<float, 2>&, int, int);   \
  template std::unique_ptr<DeviceGrid<float>> make_device_grid(const problem<float, 3>&, int, int);   \
  template std::unique_ptr<DeviceGrid<double>> make_device_grid(const problem<double, 2>&, int, int); \
  template std::unique_ptr<DeviceGrid<double>> make_device_grid(const problem<double, 3>&, int, int);
ISOCHRON_INSTANTIATE(AxisProblem)
ISOCHRON_INSTANTIATE(OffsetProblem)
#undef ISOCHRON_INSTANTIATE

template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_speed_grid(const AxisProblem<T, Dim>&, DeviceArray<float>&&, int) {
  require_device();
  return nullptr;
}
template std::unique_ptr<DeviceGrid<float>> make_speed_grid(const AxisProblem<float, 2>&, DeviceArray<float>&&, int);
template std::unique_ptr<DeviceGrid<float>> make_speed_grid(const AxisProblem<float, 3>&, DeviceArray<float>&&, int);
template std::unique_ptr<DeviceGrid<double>> make_speed_grid(const AxisProblem<double, 2>&, DeviceArray<float>&&, int);
template std::unique_ptr<DeviceGrid<double>> make_speed_grid(const AxisProblem<double, 3>&, DeviceArray<float>&&, int);

SpeedSums add_up_speeds(const double*, const DeviceArray<std::uint32_t>&) {
  require_device();
  return {};
}
bool write_scales(const double*, const DeviceArray<std::uint32_t>&, double, DeviceArray<float>&) {
  require_device();
  return false;
}

}  // namespace isochron::cuda
