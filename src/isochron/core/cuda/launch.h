// Starts kernels and reports what is wrong with the start. For .cu files only.
#pragma once

#include <cstddef>
#include <type_traits>

#include "isochron/core/cuda/check.h"

namespace isochron::cuda {

/// Nothing is started for no blocks.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), std::size_t blocks, int threads, std::size_t shared_bytes,
            const std::type_identity_t<Parameters>&... arguments) {
  if (blocks == 0) return;
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared_bytes>>>(arguments...);
  check(cudaGetLastError(), "starting a kernel");
}

/// Threads of a block of `launch_for`.
inline constexpr int launch_threads = 256;

/// One thread for each of `count` things; the kernel leaves out the threads beyond.
template <class... Parameters>
void launch_for(std::size_t count, void (*kernel)(Parameters...),
                const std::type_identity_t<Parameters>&... arguments) {
  launch(kernel, (count + launch_threads - 1) / launch_threads, launch_threads, 0, arguments...);
}

/// Of all threads of a kernel that `launch_for` started.
__device__ inline std::size_t thread_number() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

}  // namespace isochron::cuda
