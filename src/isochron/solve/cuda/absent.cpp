// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/solve/cuda/device_metric.h"
#include "isochron/solve/cuda/user_values.h"

namespace isochron::cuda {

bool usable_everywhere(const DeviceMetric&) {
  require_device();
  return false;
}

template <class T>
void to_user_times(const T*, const std::uint32_t*, std::size_t, double, double, DeviceArray<double>&) {
  require_device();
}
template void to_user_times(const float*, const std::uint32_t*, std::size_t, double, double, DeviceArray<double>&);
template void to_user_times(const double*, const std::uint32_t*, std::size_t, double, double, DeviceArray<double>&);

void fill_times(DeviceArray<double>&, double) { require_device(); }
void label_reached(const DeviceArray<double>&, std::int32_t, DeviceArray<std::int32_t>&) { require_device(); }
void summarise(const DeviceArray<double>&, Arrival&) { require_device(); }

}  // namespace isochron::cuda
