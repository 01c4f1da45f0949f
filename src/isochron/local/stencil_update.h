// The local updates on grids: times of neighbours in, a time out. For host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "isochron/types.h"

namespace isochron {

namespace stencil {

template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE void order_pair(T& a, T& weight_a, T& b, T& weight_b) {
  const bool swap = b < a;
  const T low = swap ? b : a, low_weight = swap ? weight_b : weight_a;
  b = swap ? a : b;
  weight_b = swap ? weight_a : weight_b;
  a = low;
  weight_a = low_weight;
}

template <int N, class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE void order_terms(T (&m)[N], T (&w)[N], int a, int b) {
  order_pair(m[a], w[a], m[b], w[b]);
}

/// Sorts by `m`; networks, because they have no branches to guess.
template <int N, class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE void sort_terms(T (&m)[N], T (&w)[N]) {
  static_assert(N == 2 || N == 3 || N == 6);
  if constexpr (N == 2) {
    order_terms(m, w, 0, 1);
  } else if constexpr (N == 3) {
    order_terms(m, w, 0, 1), order_terms(m, w, 1, 2), order_terms(m, w, 0, 1);
  } else {
    order_terms(m, w, 0, 5), order_terms(m, w, 1, 3), order_terms(m, w, 2, 4);
    order_terms(m, w, 1, 2), order_terms(m, w, 3, 4);
    order_terms(m, w, 0, 3), order_terms(m, w, 2, 5);
    order_terms(m, w, 0, 1), order_terms(m, w, 2, 3), order_terms(m, w, 4, 5);
    order_terms(m, w, 1, 2), order_terms(m, w, 3, 4);
  }
}

}  // namespace stencil

/// The least u with Σ weight_i max(0, u − m_i)² = 1: the monotone upwind discretisation of ∇uᵀ D ∇u = 1 for
/// D = Σ weight_i e_i e_iᵀ, with m_i the earlier of the two neighbours along e_i (+inf where there is none). It depends
/// only on those m_i that are earlier than u. Weights ≥ 0; where one is 0, m_i must be +inf. +inf when all m_i are.
/// Both arrays are used up.
template <int N, class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T upwind_time(T (&m)[N], T (&weight)[N]) {
  stencil::sort_terms(m, weight);
  const T first = m[0];
  if (!(first < std::numeric_limits<T>::infinity())) return first;
  // With d = u − first the sum over the terms so far is (s0 d − 2 s1) d + s2; a later term takes part when the sum is
  // still below 1 at its own time.
  T s0 = weight[0], s1 = 0, s2 = 0;
  for (int i = 1; i < N; ++i) {
    const T d = m[i] - first;
    if (!((s0 * d - 2 * s1) * d + s2 < T(1))) break;
    s0 += weight[i];
    s1 += weight[i] * d;
    s2 += weight[i] * d * d;
  }
  const T square = s1 * s1 - s0 * (s2 - T(1));
  return first + (s1 + std::sqrt(square > T(0) ? square : T(0))) / s0;
}

/// An offset between voxels in 32 bits: 11, 11 and 10 for x, y and z.
struct PackedOffset {
  static constexpr std::int32_t max_xy = 1023, max_z = 511;
  std::uint32_t bits = 0;

  ISOCHRON_HD static constexpr bool fits(const Vec3i& e) {
    return e.x >= -max_xy && e.x <= max_xy && e.y >= -max_xy && e.y <= max_xy && e.z >= -max_z && e.z <= max_z;
  }
  ISOCHRON_HD static constexpr PackedOffset of(const Vec3i& e) {
    return {(static_cast<std::uint32_t>(e.x) & 0x7ffU) | (static_cast<std::uint32_t>(e.y) & 0x7ffU) << 11U |
            static_cast<std::uint32_t>(e.z) << 22U};
  }
  [[nodiscard]] ISOCHRON_HD constexpr Vec3i offset() const {
    return {static_cast<std::int32_t>(bits << 21U) >> 21, static_cast<std::int32_t>(bits << 10U) >> 21,
            static_cast<std::int32_t>(bits) >> 22};
  }
  friend constexpr bool operator==(PackedOffset, PackedOffset) = default;
};

}  // namespace isochron
