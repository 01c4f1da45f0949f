// The worst vertex of a residual pass on the device: its difference in the high bits of a word, its number in the low
// ones. For .cu files only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <cuda_runtime.h>

#include "isochron/arrival.h"

namespace isochron::cuda {

/// Keeps the worse of the one so far and vertex v, which has one time and should have another. See
/// `counted_difference`.
template <class T>
__device__ void report_difference(T now, T wanted, T edge, std::size_t v, unsigned long long* worst) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  float difference = __int_as_float(0x7f800000);
  if (now < inf && wanted < inf) {
    const double rounding = 8.0 * std::numeric_limits<T>::epsilon() * static_cast<double>(now);
    const double exact =
        (fabs(static_cast<double>(now) - static_cast<double>(wanted)) - rounding) / static_cast<double>(edge);
    if (exact <= 0) return;
    if (!isnan(exact)) difference = __double2float_ru(exact);
  }
  const unsigned long long packed = static_cast<unsigned long long>(__float_as_uint(difference)) << 32 | v;
  if (packed > *worst) atomicMax(worst, packed);
}

/// What was found; `worst_vertex` is numbered as on the device.
inline Residual found_residual(unsigned long long packed, double limit) {
  Residual result;
  result.limit = limit;
  if (packed == 0) return result;
  result.worst = std::bit_cast<float>(static_cast<std::uint32_t>(packed >> 32));
  result.worst_vertex = VertexId(static_cast<std::uint32_t>(packed & 0xffffffffU));
  return result;
}

}  // namespace isochron::cuda
