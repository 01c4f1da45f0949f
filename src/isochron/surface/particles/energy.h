// The cotangent energy between two particles (Meyer, Georgel, Whitaker 2005; paper 002, equations 1 to 4). For host and
// device.
//
// A size h is the length of an edge. Distances are scaled by 2 cos(π/6) min(h_i, h_j), so the first ring of a hexagonal
// lattice of spacing h lies at 1/√3 and its second ring at 1, where the energy, its slope and its curvature end.
#pragma once

#include "isochron/core/host_device.h"

namespace isochron {

/// 2 cos(π/6): how many sizes away the energy ends.
inline constexpr double energy_reach = 1.7320508075688772;

/// What a particle has in a planar hexagonal lattice of its size: six neighbours, 6 (cot a + a − π/2) with a = π/(2√3).
inline constexpr double ideal_energy = 0.7108259081922572;

/// Particles on the unit of area in that lattice, for size 1: 2/√3.
inline constexpr double ideal_density = 1.1547005383792515;

/// cot(π d/2) for 0 < d ≤ 1, to 1e-9 of itself: its zero at 1 and its poles at 0 and 2 are taken out, and what is left
/// is a polynomial in d² (fitted at Chebyshev points).
template <class T>
ISOCHRON_HD constexpr T half_turn_cotangent(T d) {
  const T u = d * d;
  const T smooth = T(0.6366197717910028) -
                   u * (T(0.046133917692411985) +
                        u * (T(0.0013630254442872746) + u * (T(6.943538950741284e-05) + u * T(4.770121429870222e-06))));
  return (1 - u) * smooth / (d * (1 - u / 4));
}

/// The energy of a pair and its derivatives by the scaled distance.
template <class T>
struct PairEnergy {
  T value, first, second;
};

/// For a scaled distance 0 < d ≤ 1; beyond it all three are 0. With c = cot(π d/2): c + π d/2 − π/2, −(π/2) c² and
/// (π²/2) c (1 + c²).
template <class T>
ISOCHRON_HD constexpr PairEnergy<T> pair_energy(T d) {
  constexpr T quarter = T(1.5707963267948966);  // π/2
  const T c = half_turn_cotangent(d);
  return {c - quarter * (1 - d), -quarter * c * c, 2 * quarter * quarter * c * (1 + c * c)};
}

}  // namespace isochron
