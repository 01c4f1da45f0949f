#include "isochron/solve/simplex/cuda/device_metric.h"

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"

namespace isochron::cuda {
namespace {

__global__ void check_tensors(MetricView metric, std::size_t count, unsigned* bad) {
  const std::size_t e = thread_number();
  if (e < count && !metric.usable(e)) *bad = 1;
}

}  // namespace

DeviceMetric::DeviceMetric(const Metric& metric, std::size_t elements) {
  check_metric_form(metric, elements, "the metric");
  view_.kind = static_cast<int>(metric.kind().index());
  if (const auto* uniform = std::get_if<UniformMetric>(&metric.kind())) view_.uniform = uniform->tensor;
  if (const auto* speeds = std::get_if<SpeedMetric>(&metric.kind())) view_.speed = sent(speed_, speeds->speed);
  if (const auto* tensors = std::get_if<TensorMetric>(&metric.kind())) view_.tensor = sent(tensor_, tensors->tensor);
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind())) {
    view_.fiber = sent(fiber_, fibers->fiber);
    view_.sheet = sent(sheet_, fibers->sheet);
    view_.region = sent(region_, fibers->region);
    view_.velocities = sent(velocities_, fibers->velocities);
  }
  DeviceValue<unsigned> bad;
  launch_for(elements, check_tensors, view_, elements, bad.data());
  if (bad.read() != 0) check_metric(metric, elements, "the metric");  // says which
}

}  // namespace isochron::cuda
