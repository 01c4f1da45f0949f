#include "isochron/solve/cuda/device_metric.h"

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"

namespace isochron::cuda {
namespace {

__global__ void check_tensors(MetricView metric, std::size_t count, unsigned* bad) {
  const std::size_t e = thread_number();
  if (e < count && !metric.usable(e)) *bad = 1;
}

}  // namespace

bool usable_everywhere(const DeviceMetric& metric) {
  DeviceValue<unsigned> bad;
  launch_for(metric.element_count(), check_tensors, metric.view(), metric.element_count(), bad.data());
  return bad.read() == 0;
}

}  // namespace isochron::cuda
