// The CUDA device: whether there is one, and its memory. This header needs no CUDA; in a build without it no device is
// ever found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace isochron::cuda {

struct Device {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
};

/// Why no device can be used: problem (why); what to do.
struct NoDevice {
  std::string reason;
};

/// The device that this process uses. Otherwise `why` says what is missing.
std::optional<Device> find_device(NoDevice& why);

/// Throws RuntimeError with the reason when there is no device.
Device require_device();

/// Bytes of device memory that are free now.
std::size_t free_bytes();

/// Memory on the device. Throws RuntimeError with the bytes wanted and free when they do not fit.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
void upload(void* device, const void* host, std::size_t bytes);
void download(void* host, const void* device, std::size_t bytes);
void fill_bytes(void* device, int byte, std::size_t bytes);

}  // namespace isochron::cuda
