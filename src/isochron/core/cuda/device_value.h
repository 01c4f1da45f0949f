// One value in device memory, for what kernels count or find. This header needs no CUDA.
#pragma once

#include <span>

#include "isochron/device.h"

namespace isochron::cuda {

/// Starts with all its bytes zero.
template <class T>
class DeviceValue {
 public:
  DeviceValue() { array_.clear(); }
  [[nodiscard]] T* data() { return array_.data(); }
  /// Waits for the kernels that were started.
  [[nodiscard]] T read() const {
    T value{};
    array_.download_to(std::span<T>(&value, 1));
    return value;
  }

 private:
  DeviceArray<T> array_{1};
};

/// The last value of an array: the sum of all after `exclusive_sum` of one with a zero at its end.
template <class T>
T last_of(const DeviceArray<T>& array) {
  T value{};
  download(&value, array.data() + array.size() - 1, sizeof value);
  return value;
}

}  // namespace isochron::cuda
