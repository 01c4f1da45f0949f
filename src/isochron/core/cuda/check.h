// Turns CUDA's error codes into exceptions. For .cu files only.
#pragma once

#include <string>

#include <cuda_runtime.h>

#include "isochron/error.h"

namespace isochron::cuda {

/// Throws DeviceError with CUDA's own name and words unless `code` is success; `what` names what was tried. An error
/// that passes is cleared, so that the next call does not report it again; a fault in a kernel stays until the process
/// ends, and only the CPU can solve after it.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  throw DeviceError(std::string("the GPU failed at ") + what + " (" + cudaGetErrorName(code) + ": " +
                    cudaGetErrorString(code) + ")" + Advice() + "start the program again, or solve with " +
                    Setting{Option::backend, "threads"});
}

}  // namespace isochron::cuda
