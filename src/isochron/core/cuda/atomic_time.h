// Times that many threads lower at once. They are not negative, so their bits order as they do. For .cu files only.
#pragma once

#include <cuda_runtime.h>

namespace isochron::cuda {

/// A time as an integer that atomics take.
template <class T>
struct TimeBits;
template <>
struct TimeBits<float> {
  using Type = int;
  __device__ static Type of(float time) { return __float_as_int(time); }
  __device__ static float back(Type bits) { return __int_as_float(bits); }
};
template <>
struct TimeBits<double> {
  using Type = long long;
  __device__ static Type of(double time) { return __double_as_longlong(time); }
  __device__ static double back(Type bits) { return __longlong_as_double(bits); }
};

/// Lowers a time unless it is lower already.
template <class T>
__device__ void lower_to(T* place, T time) {
  atomicMin(reinterpret_cast<typename TimeBits<T>::Type*>(place), TimeBits<T>::of(time));
}

}  // namespace isochron::cuda
