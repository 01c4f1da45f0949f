// The cotangent energy between two particles (Meyer, Georgel, Whitaker 2005; paper 002, equations 1 to 4), and one
// particle's move by it. For host and device.
//
// A size h is the length of an edge. Distances are scaled by 2 cos(π/6) min(h_i, h_j), so the first ring of a hexagonal
// lattice of spacing h lies at 1/√3 and its second ring at 1, where the energy, its slope and its curvature end.
#pragma once

#include <cmath>

#include "isochron/surface/particles/particle.h"
#include "isochron/types.h"

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

// ---- Pairs: how far the energy goes and what weighs a pair, as `add_pull` and `add_energy` need it.

/// Of our scheme: every pair is weighted with its size min(h_i, h_j), which makes the force depend on the scaled
/// distance alone, so that particles are not pushed towards larger sizes where the scaled spacing is even.
struct SizeWeighted {
  static constexpr double reach = energy_reach;  ///< in sizes
  template <class T>
  ISOCHRON_HD static constexpr T weight(T pair_size) {
    return pair_size;
  }
  /// The weight over the reach of a pair.
  template <class T>
  ISOCHRON_HD static constexpr T per_reach(T /*pair_reach*/) {
    return T(1 / energy_reach);
  }
};

// ---- One particle's move: a damped Newton step of the energy in the tangent plane, put back on the surface. The
// caller finds the neighbours and sums over them; rules say how it is damped and when it counts.

/// Two unit vectors that span the plane across a unit normal (Duff and others 2017).
template <class T>
struct TangentPlane {
  Vec3<T> u, v;
  ISOCHRON_HD explicit TangentPlane(Vec3<T> n) {
    const T sign = n.z >= 0 ? T(1) : T(-1);
    const T a = -1 / (sign + n.z), b = n.x * n.y * a;
    u = {1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    v = {b, sign + n.y * n.y * a, -n.y};
  }
};

/// Sums over a particle's neighbours. `plain` is its energy. All else is of the energy that a step lowers, the weighted
/// one.
template <class T>
struct Pull {
  T plain = 0, energy = 0;
  T slope[2] = {0, 0};
  T bend[3] = {0, 0, 0};  ///< of the Hessian: uu, uv, vv
  T stiffness = 0;        ///< of the pairs along their own lines: the scale that damping is measured in

  ISOCHRON_HD Pull& operator+=(const Pull& other) {
    plain += other.plain;
    energy += other.energy;
    for (int a = 0; a < 2; ++a) slope[a] += other.slope[a];
    for (int a = 0; a < 3; ++a) bend[a] += other.bend[a];
    stiffness += other.stiffness;
    return *this;
  }
};

/// Coincident particles push each other finitely.
template <class T>
inline constexpr T min_distance = T(1e-3);

/// Two particles that are near enough for their energy to count.
template <class T>
struct NearPair {
  Vec3<T> apart;
  T size, reach, length;  ///< of the pair
  T d;                    ///< the scaled distance
};

/// Gives the pair; false when it is too far apart.
template <class Pairs, class T>
ISOCHRON_HD inline bool find_pair(Vec3<T> position, T size, const Particle<T>& neighbour, NearPair<T>& pair) {
  pair.apart = position - neighbour.position;
  pair.size = size < neighbour.size ? size : neighbour.size;
  pair.reach = T(Pairs::reach) * pair.size;
  const T squared = dot(pair.apart, pair.apart);
  if (!(squared < pair.reach * pair.reach)) return false;
  pair.length = std::sqrt(squared);
  pair.d = pair.length / pair.reach;
  if (pair.d < min_distance<T>) pair.d = min_distance<T>;
  return true;
}

/// Adds what a neighbour does to a particle of size `size` at `position`.
template <class Pairs = SizeWeighted, class T>
ISOCHRON_HD inline void add_pull(Pull<T>& sum, Vec3<T> position, T size, const TangentPlane<T>& plane,
                                 const Particle<T>& neighbour) {
  NearPair<T> near;
  if (!find_pair<Pairs>(position, size, neighbour, near)) return;
  const PairEnergy<T> pair = pair_energy(near.d);
  const T per_length = near.length > 0 ? 1 / near.length : T(0);
  const T u = dot(near.apart, plane.u) * per_length, v = dot(near.apart, plane.v) * per_length;
  sum.plain += pair.value;
  sum.energy += Pairs::weight(near.size) * pair.value;
  const T per_reach = Pairs::per_reach(near.reach);
  sum.slope[0] += per_reach * pair.first * u;
  sum.slope[1] += per_reach * pair.first * v;
  const T scale = per_reach / near.reach;
  const T across = scale * pair.first / near.d, along = scale * pair.second - across;
  sum.bend[0] += along * u * u + across;
  sum.bend[1] += along * u * v;
  sum.bend[2] += along * v * v + across;
  sum.stiffness += scale * pair.second;
}

/// The weighted energy alone, and the plain one.
template <class T>
struct Energies {
  T plain = 0, weighted = 0;
  ISOCHRON_HD Energies& operator+=(const Energies& other) {
    plain += other.plain;
    weighted += other.weighted;
    return *this;
  }
};

template <class Pairs = SizeWeighted, class T>
ISOCHRON_HD inline void add_energy(Energies<T>& sum, Vec3<T> position, T size, const Particle<T>& neighbour) {
  NearPair<T> near;
  if (!find_pair<Pairs>(position, size, neighbour, near)) return;
  const T value = half_turn_cotangent(near.d) - T(1.5707963267948966) * (1 - near.d);
  sum.plain += value;
  sum.weighted += Pairs::weight(near.size) * value;
}

/// −(H + λ s I)⁻¹ g, or false when that matrix is not positive definite.
template <class T>
ISOCHRON_HD inline bool damped_step(const Pull<T>& pull, T lambda, T* step) {
  const T damping = lambda * pull.stiffness;
  const T a = pull.bend[0] + damping, b = pull.bend[1], c = pull.bend[2] + damping;
  const T determinant = a * c - b * b;
  if (!(a > 0 && determinant > T(1e-6) * a * c)) return false;
  step[0] = (b * pull.slope[1] - c * pull.slope[0]) / determinant;
  step[1] = (b * pull.slope[0] - a * pull.slope[1]) / determinant;
  return true;
}

/// The rules of a step in our scheme, the same for all particles.
template <class T>
struct StepRules {
  using Pairs = SizeWeighted;
  T lambda_step = 10;  ///< factor up after a step that does not help, down after one that does
  T largest_lambda = T(1e4);
  T smallest_lambda = T(1e-3);
  T stretch = T(1.7);    ///< steps go this much farther: over-relaxation, which halves the sweeps needed
  T rest = T(3e-3);      ///< a shorter step, in sizes, is not tried
  T flatness = T(0.02);  ///< a correction to the surface below this, in sizes, is the last

  ISOCHRON_HD bool damped(const Pull<T>& pull, T lambda, T* step) const { return damped_step(pull, lambda, step); }
  /// The size that a particle is tried with at another place.
  template <class Fields>
  ISOCHRON_HD T size_at(const Particle<T>& from, const Fields& /*fields*/, Vec3<T> /*there*/) const {
    return from.size;
  }
  /// Not on a part of the surface that faces another way.
  ISOCHRON_HD bool may_land(const Particle<T>& from, Vec3<T> normal) const { return dot(normal, from.normal) > 0; }
};

template <class T>
struct Step {
  Particle<T> particle;
  T energy = 0;                   ///< plain, where the particle was
  T moved = 0;                    ///< in sizes
  int energies = 0, splines = 0;  ///< evaluations
};

/// Moves a particle by at most `room` to where its energy is lower: damping grows by `lambda_step` until a step helps,
/// and the particle stays, with the damping it had, when none does. `neighbours.sum<S>(add)` calls `add(sum, particle)`
/// for every neighbour and returns the whole sum.
template <class T, class Fields, class Neighbours, class Rules>
ISOCHRON_HD Step<T> step_particle(const Particle<T>& from, const Fields& fields, const Neighbours& neighbours, T room,
                                  const Rules& rules) {
  using Pairs = typename Rules::Pairs;
  const TangentPlane<T> plane(from.normal);
  const Pull<T> pull = neighbours.template sum<Pull<T>>([&](Pull<T>& sum, const Particle<T>& neighbour) {
    add_pull<Pairs>(sum, from.position, from.size, plane, neighbour);
  });
  Step<T> result{from, pull.plain, 0, 1, 0};
  for (T lambda = from.lambda; lambda <= rules.largest_lambda; lambda *= rules.lambda_step) {
    T step[2];
    if (!rules.damped(pull, lambda, step)) continue;
    const T length = std::sqrt(step[0] * step[0] + step[1] * step[1]);
    const T scale = rules.stretch * length > room ? room / length : rules.stretch;
    if (!(scale * length > rules.rest * from.size)) return result;
    const Vec3<T> there = from.position + (scale * step[0]) * plane.u + (scale * step[1]) * plane.v;
    const Projection<T> landed = fields.put(there, room, rules.flatness * from.size, 4);
    result.splines += landed.evaluations;
    if (!landed.reached || !rules.may_land(from, landed.normal)) continue;
    const T size = rules.size_at(from, fields, landed.position);
    const Energies<T> now = neighbours.template sum<Energies<T>>([&](Energies<T>& sum, const Particle<T>& neighbour) {
      add_energy<Pairs>(sum, landed.position, size, neighbour);
    });
    ++result.energies;
    if (!(now.weighted < pull.energy)) continue;
    result.particle = {landed.position, fields.sizes.size(landed.position), landed.normal, lambda / rules.lambda_step};
    if (result.particle.lambda < rules.smallest_lambda) result.particle.lambda = rules.smallest_lambda;
    result.moved = norm(landed.position - from.position) / from.size;
    return result;
  }
  return result;
}

}  // namespace isochron
