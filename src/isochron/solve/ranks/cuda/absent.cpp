// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/solve/ranks/cuda/device_grid_part.h"
#include "isochron/solve/ranks/cuda/device_part.h"

namespace isochron::ranks {

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

template std::unique_ptr<DevicePart<float>> make_device_part(const SimplexProblem<float, 3>&, std::uint32_t,
                                                             const Halo&);
template std::unique_ptr<DevicePart<float>> make_device_part(const SimplexProblem<float, 4>&, std::uint32_t,
                                                             const Halo&);
template std::unique_ptr<DevicePart<double>> make_device_part(const SimplexProblem<double, 3>&, std::uint32_t,
                                                              const Halo&);
template std::unique_ptr<DevicePart<double>> make_device_part(const SimplexProblem<double, 4>&, std::uint32_t,
                                                              const Halo&);

#define ISOCHRON_INSTANTIATE(problem)                                                                         \
  template std::unique_ptr<DevicePart<float>> make_device_grid_part(const problem<float, 2>&, const Halo&);   \
  template std::unique_ptr<DevicePart<float>> make_device_grid_part(const problem<float, 3>&, const Halo&);   \
  template std::unique_ptr<DevicePart<double>> make_device_grid_part(const problem<double, 2>&, const Halo&); \
  template std::unique_ptr<DevicePart<double>> make_device_grid_part(const problem<double, 3>&, const Halo&);
ISOCHRON_INSTANTIATE(AxisProblem)
ISOCHRON_INSTANTIATE(OffsetProblem)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::ranks
