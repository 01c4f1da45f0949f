// Which gains count on the device. For .cu files only.
#pragma once

#include <limits>

#include <cuda_runtime.h>

#include "isochron/solve/common/state.h"

namespace isochron::cuda {

/// True when `found` is so much earlier than `now` that it counts.
template <class T>
__device__ bool counts(T found, T now, T tolerance, T edge) {
  const T least = now < std::numeric_limits<T>::infinity() ? countable_gain(tolerance, edge, now) : T(0);
  return found < now - least;
}

}  // namespace isochron::cuda
