// An array in device memory. Copies between host and device are explicit.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "isochron/core/cuda/device.h"

namespace isochron::cuda {

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

}  // namespace isochron::cuda
