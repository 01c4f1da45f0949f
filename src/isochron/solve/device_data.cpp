#include "isochron/domain.h"

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

int device_holding(const cuda::DeviceTable& table, int expected) {
  if (table.rows() == 0) return expected;
  const int device = cuda::device_of(table.data);
  if (expected >= 0 && device != expected)
    throw InputError(
        fmt::format("arrays are on different GPUs ({} and {}); copy them to the same one", expected, device));
  return device;
}

int device_holding(const DeviceMesh& mesh, int expected) {
  return device_holding(mesh.elements, device_holding(mesh.points, expected));
}

int device_holding(const AnyMetric& metric, int expected) {
  if (const auto* speed = std::get_if<DeviceSpeed>(&metric)) return device_holding(speed->speed, expected);
  if (const auto* tensor = std::get_if<DeviceTensor>(&metric)) return device_holding(tensor->tensor, expected);
  if (const auto* fiber = std::get_if<DeviceFiber>(&metric))
    return device_holding(fiber->sheet, device_holding(fiber->fiber, expected));
  return expected;
}

}  // namespace isochron
