// Stands in for the device in a build without CUDA: there is none.
#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"

namespace isochron::cuda {

std::optional<Device> find_device(NoDevice& why) {
  why.reason =
      "this build has no GPU code (it was made without CUDA); build with -DISOCHRON_WITH_CUDA=ON, or solve with "
      "--backend threads";
  return std::nullopt;
}

int current_device() { return -1; }

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
void fill_bytes(void*, int, std::size_t) {}

}  // namespace isochron::cuda
