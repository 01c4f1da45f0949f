// Stands in for the device in a build without CUDA: there is none.
#include "isochron/device.h"
#include "isochron/error.h"

namespace isochron::cuda {

std::optional<Device> find_device(NoDevice& why) {
  why.reason = "this build has no GPU code (it was made without CUDA)" + Message(Advice()) +
               "build with -DISOCHRON_WITH_CUDA=ON, or solve with " + Setting{Option::backend, "threads"};
  return std::nullopt;
}

int current_device() { return -1; }

int device_count() { return 0; }

OnDevice::OnDevice(int device) {
  if (device >= 0) require_device();
}
OnDevice::~OnDevice() = default;

std::size_t free_bytes() {
  require_device();
  return 0;
}

void* allocate(std::size_t bytes) {
  if (bytes > 0) require_device();
  return nullptr;
}

void release(void*) noexcept {}
void upload(void*, const void*, std::size_t) {}
void download(void*, const void*, std::size_t) {}
void wait() {}
void copy_on_device(void*, const void*, std::size_t) {}
void fill_bytes(void*, int, std::size_t) {}

int device_of(const void*) {
  require_device();
  return -1;
}
void wait_for_stream(std::uintptr_t) { require_device(); }
void copy_columns(const DeviceTable&, std::span<const int>, double*) { require_device(); }
void copy_columns(const DeviceTable&, std::span<const int>, float*) { require_device(); }
void copy_columns(const DeviceTable&, std::span<const int>, std::uint32_t*) { require_device(); }
void gather_items(const void*, std::size_t, std::span<const std::uint32_t>, void*) { require_device(); }

}  // namespace isochron::cuda
