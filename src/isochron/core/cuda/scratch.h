// Memory for CUB's algorithms. For .cu files only.
#pragma once

#include <algorithm>
#include <cstddef>

#include "isochron/core/cuda/check.h"
#include "isochron/device.h"

namespace isochron::cuda {

/// CUB's functions are called twice: for the size of their scratch memory, and with it.
template <class Call>
void with_scratch(const char* what, Call&& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  DeviceArray<std::byte> scratch(std::max<std::size_t>(bytes, 1));
  check(call(static_cast<void*>(scratch.data()), bytes), what);
}

}  // namespace isochron::cuda
