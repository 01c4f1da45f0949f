// Turns CUDA's error codes into exceptions. For .cu files only.
#pragma once

#include <string>

#include <cuda_runtime.h>

#include "isochron/core/error.h"

namespace isochron::cuda {

/// Throws RuntimeError unless `code` is success; `what` names what was tried.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  throw RuntimeError(std::string("the GPU failed at ") + what + " (" + cudaGetErrorString(code) +
                     "); try again, or solve with --backend threads");
}

}  // namespace isochron::cuda
