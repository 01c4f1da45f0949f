// The CUDA device: whether there is one, and its memory. This header needs no CUDA; in a build without it no device is
// ever found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "isochron/core/message.h"

namespace isochron::cuda {

struct Device {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
};

/// Why no device can be used, with advice.
struct NoDevice {
  Message reason;
};

/// The device that this process uses, when it can run our kernels. Otherwise `why` says what is missing: a driver, a
/// device, code for this kind of device, or a device that has not failed in this process before.
std::optional<Device> find_device(NoDevice& why);

/// The reason when the device's compute capability is not supported.
std::optional<NoDevice> too_old(const Device& device);

/// Throws DeviceError with the reason when there is no device.
Device require_device();

/// The number of the device that this thread's calls go to; −1 when there is none.
int current_device();

/// How many there are, whether they can run our kernels or not.
int device_count();

/// Has this thread's calls go to one device, and back to where they went before at its end. Nothing for −1. Throws
/// DeviceError when there is no such device.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  [[maybe_unused]] int before_ = -1;
};

/// Bytes of device memory that are free now. Throws DeviceError when there is no device.
std::size_t free_bytes();

/// Throws DeviceError with the bytes needed and free when `bytes` more do not fit; `what` names what they are for.
/// Nothing is allocated.
void require_memory(std::size_t bytes, std::string_view what);

/// What is said where there is too little memory, with advice.
Message memory_shortage(std::size_t needed, std::size_t free, std::string_view what);

/// Memory on the device. Throws DeviceError with the bytes wanted and free when they do not fit.
void* allocate(std::size_t bytes);
/// Takes null too. Says nothing when the device has failed: whatever failed has been reported, and a failed device
/// gives its memory back when the process ends.
void release(void* memory) noexcept;
void upload(void* device, const void* host, std::size_t bytes);
void download(void* host, const void* device, std::size_t bytes);
/// Until everything that was started on the default stream is done.
void wait();
void copy_on_device(void* to, const void* from, std::size_t bytes);
void fill_bytes(void* device, int byte, std::size_t bytes);

}  // namespace isochron::cuda
