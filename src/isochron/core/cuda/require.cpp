// What is demanded of a device. Needs no CUDA, so that a build without it says the same.
#include "isochron/device.h"
#include "isochron/error.h"

namespace isochron::cuda {
namespace {

constexpr int oldest_major = 8;  // cooperative kernels and atomics as the schedules use them are tested from there on

std::string in_mebibytes(std::size_t bytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return std::to_string(bytes / mebibyte + (bytes % mebibyte > 0 ? 1 : 0)) + " MiB";
}

}  // namespace

std::optional<NoDevice> too_old(const Device& device) {
  if (device.major >= oldest_major) return std::nullopt;
  return NoDevice{device.name + " is too old (compute capability " + std::to_string(device.major) + "." +
                  std::to_string(device.minor) + ", " + std::to_string(oldest_major) + ".0 is needed)" + Advice() +
                  "solve with " + Setting{Option::backend, "threads"}};
}

Device require_device() {
  NoDevice why;
  auto device = find_device(why);
  if (!device) throw DeviceError(why.reason);
  return *device;
}

Message memory_shortage(std::size_t needed, std::size_t free, std::string_view what) {
  return "the GPU's memory is too small for " + std::string(what) + " (" + in_mebibytes(needed) + " needed, " +
         in_mebibytes(free) + " free)" + Advice() + "use a smaller mesh, or solve with " +
         Setting{Option::backend, "threads"};
}

void require_memory(std::size_t bytes, std::string_view what) {
  const std::size_t free = free_bytes();
  if (bytes > free) throw DeviceError(memory_shortage(bytes, free, what));
}

}  // namespace isochron::cuda
