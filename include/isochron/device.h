// The CUDA device, and arrays and tables in its memory. This header needs no CUDA; in a build without it no device is
// ever found.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "isochron/error.h"

namespace isochron::cuda {

// ---- The CUDA device: whether there is one, and its memory. This header needs no CUDA; in a build without it no
// device is ever found.

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

// ---- An array in device memory. Copies between host and device are explicit.

/// Owns `size` values of a plain type on the device.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "only bytes travel between host and device");

 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : data_(static_cast<T*>(allocate(size * sizeof(T)))), size_(size) {}
  explicit DeviceArray(std::span<const T> host) : DeviceArray(host.size()) { upload_from(host); }
  ~DeviceArray() { release(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  /// Precondition: as many values as the array has, or fewer (the first ones are set).
  void upload_from(std::span<const T> host) {
    assert(host.size() <= size_);
    upload(data_, host.data(), host.size() * sizeof(T));
  }
  void download_to(std::span<T> host) const {
    assert(host.size() <= size_);
    download(host.data(), data_, host.size() * sizeof(T));
  }
  void clear() { fill_bytes(data_, 0, bytes()); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// ---- Tables of numbers in device memory that belong to someone else, and copies of them as kernels want them. This
// header needs no CUDA.

enum class NumberType { int32, int64, uint32, float32, float64 };

constexpr std::size_t bytes_of(NumberType type) {
  return type == NumberType::int64 || type == NumberType::float64 ? 8 : 4;
}

/// Rows of numbers in device memory. The rows of an image have three indices, of which the first runs fastest where
/// they are numbered. Strides are in bytes and may be negative.
struct DeviceTable {
  const void* data = nullptr;
  NumberType type = NumberType::float64;
  std::size_t shape[3]{0, 1, 1};
  std::ptrdiff_t strides[3]{};
  std::size_t columns = 1;
  std::ptrdiff_t column_stride = 0;

  [[nodiscard]] std::size_t rows() const { return shape[0] * shape[1] * shape[2]; }
};

/// A table whose rows lie one behind the other.
inline DeviceTable packed_table(const void* data, NumberType type, std::size_t rows, std::size_t columns) {
  const auto size = static_cast<std::ptrdiff_t>(bytes_of(type));
  return {data, type, {rows, 1, 1}, {static_cast<std::ptrdiff_t>(columns) * size, 0, 0}, columns, size};
}

/// The device in whose memory it is. Throws InputError when it is no device's, DeviceError when there is no device.
int device_of(const void* memory);

/// Waits until everything is done that was given to a stream (a cudaStream_t; 1 and 2 are CUDA's own for the default
/// streams).
void wait_for_stream(std::uintptr_t stream);

/// In place of a column: zeros.
inline constexpr int zero_column = -1;
inline constexpr std::size_t max_picked_columns = 9;

/// Writes some columns of all rows, one row behind the other, to device memory. As ids, numbers that are no 32-bit ids
/// become the largest one, and numbers with a fraction are not taken (InputError).
void copy_columns(const DeviceTable& table, std::span<const int> columns, double* result);
void copy_columns(const DeviceTable& table, std::span<const int> columns, float* result);
void copy_columns(const DeviceTable& table, std::span<const int> columns, std::uint32_t* result);

/// Copies some items, of 4-byte words, to another place in device memory; both lists of items are there, the ids are
/// not.
void gather_items(const void* items, std::size_t words_per_item, std::span<const std::uint32_t> ids, void* result);

/// Some values of an array in device memory, on the host.
template <class T>
std::vector<T> fetch_some(const T* values, std::span<const std::uint32_t> ids) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  std::vector<T> result(ids.size());
  DeviceArray<T> some(ids.size());
  gather_items(values, sizeof(T) / sizeof(std::uint32_t), ids, some.data());
  some.download_to(result);
  return result;
}

/// All of them.
template <class T>
std::vector<T> fetch_all(const DeviceArray<T>& values) {
  std::vector<T> result(values.size());
  values.download_to(result);
  return result;
}

}  // namespace isochron::cuda
