#include "isochron/solve/common/device_arrays.h"

#include <fmt/format.h>

#include "isochron/core/error.h"

namespace isochron {

int device_holding(const cuda::DeviceTable& table, int expected) {
  if (table.rows() == 0) return expected;
  const int device = cuda::device_of(table.data);
  if (expected >= 0 && device != expected)
    throw InputError(
        fmt::format("arrays are on different GPUs ({} and {}); copy them to the same one", expected, device));
  return device;
}

int device_holding(const AnyMetric& metric, int expected) {
  if (const auto* speed = std::get_if<DeviceSpeed>(&metric)) return device_holding(speed->speed, expected);
  if (const auto* tensor = std::get_if<DeviceTensor>(&metric)) return device_holding(tensor->tensor, expected);
  if (const auto* fiber = std::get_if<DeviceFiber>(&metric))
    return device_holding(fiber->sheet, device_holding(fiber->fiber, expected));
  return expected;
}

void check_device_options(const SolveOptions& options) {
  if (options.backend != Backend::automatic && options.backend != Backend::cuda)
    throw UsageError(fmt::format("arrays in the memory of a GPU are not solved with back end {}; leave it out",
                                 name_of(options.backend)));
  if (options.method != Method::automatic && options.method != Method::push)
    throw UsageError(
        fmt::format("arrays in the memory of a GPU are not solved with method {} (push does it); leave it out",
                    name_of(options.method)));
  if (options.source_init == SourceInit::factored)
    throw UsageError("factored sources are solved on the CPU, not with arrays in the memory of a GPU; use ball");
  if (options.weights == Keep::yes)
    throw UsageError("upwind weights are found on the CPU, not with arrays in the memory of a GPU; leave them out");
}

}  // namespace isochron
