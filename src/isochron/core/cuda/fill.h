// Setting all values of an array on the device. For .cu files only.
#pragma once

#include <cstddef>

#include "isochron/core/cuda/launch.h"
#include "isochron/device.h"

namespace isochron::cuda {

template <class T>
__global__ void fill_with(T* values, std::size_t count, T value) {
  const std::size_t i = thread_number();
  if (i < count) values[i] = value;
}

/// The first `count` values.
template <class T>
void fill(DeviceArray<T>& values, std::size_t count, T value) {
  launch_for(count, fill_with<T>, values.data(), count, value);
}

}  // namespace isochron::cuda
