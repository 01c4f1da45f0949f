// In a build without CUDA asking for the GPU says so.
#include "isochron/core/cuda/device.h"
#include "isochron/solve/mpi/cuda/device_grid_part.h"
#include "isochron/solve/mpi/cuda/device_part.h"

namespace isochron::mpi {

template <class T, int Corners>
std::unique_ptr<DevicePart<T>> make_device_part(const SimplexProblem<T, Corners>&, std::uint32_t, const Halo&) {
  cuda::require_device();
  return nullptr;
}

template <class Problem>
std::unique_ptr<DevicePart<typename Problem::Scalar>> make_device_grid_part(const Problem&, const Halo&) {
  cuda::require_device();
  return nullptr;
}

#define ISOCHRON_INSTANTIATE(T)                                                                                      \
  template std::unique_ptr<DevicePart<T>> make_device_part(const SimplexProblem<T, 3>&, std::uint32_t, const Halo&); \
  template std::unique_ptr<DevicePart<T>> make_device_part(const SimplexProblem<T, 4>&, std::uint32_t, const Halo&); \
  template std::unique_ptr<DevicePart<T>> make_device_grid_part(const AxisProblem<T, 2>&, const Halo&);              \
  template std::unique_ptr<DevicePart<T>> make_device_grid_part(const AxisProblem<T, 3>&, const Halo&);              \
  template std::unique_ptr<DevicePart<T>> make_device_grid_part(const OffsetProblem<T, 2>&, const Halo&);            \
  template std::unique_ptr<DevicePart<T>> make_device_grid_part(const OffsetProblem<T, 3>&, const Halo&);
ISOCHRON_INSTANTIATE(float)
ISOCHRON_INSTANTIATE(double)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::mpi
