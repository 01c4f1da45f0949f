// A particle on the surface F = 0, and how it is put there. For host and device.
#pragma once

#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"
#include "isochron/types.h"

namespace isochron {

/// Whether a particle stays where it is.
template <class T>
ISOCHRON_HD bool is_fixed(const Particle<T>& particle) {
  return !(dot(particle.normal, particle.normal) > 0);
}

template <class T>
struct Projection {
  Vec3<T> position;
  Vec3<T> normal;
  bool reached = false;  ///< the last correction was below the tolerance
  int evaluations = 0;   ///< of the spline
};

/// Newton's method along the gradient to F = 0 (paper 002, equation 5), at most `most` corrections of at most `size`;
/// it ends when one is below `tolerance`. `distance.slope(p)` is F with its gradient.
template <class T, class Distance>
ISOCHRON_HD Projection<T> project(const Distance& distance, Vec3<T> position, T size, T tolerance, int most) {
  Projection<T> result{position, {}, false, 0};
  while (result.evaluations < most && !result.reached) {
    const Jet<T> jet = distance.slope(result.position);
    ++result.evaluations;
    const T squared = dot(jet.gradient, jet.gradient);
    if (!(squared > T(1e-12))) return result;  // the middle of the object, or far outside
    const T per_length = 1 / std::sqrt(squared);
    result.normal = per_length * jet.gradient;
    T correction = jet.value * per_length;
    result.reached = std::abs(correction) < tolerance;
    correction = correction > size ? size : (correction < -size ? -size : correction);
    result.position -= correction * result.normal;
  }
  return result;
}

/// The fields that particles live in. Others can take its place in `step_particle` and `Relaxation`.
template <class T>
struct SurfaceFields {
  SplineView<T> distance;
  SizeView<T> sizes;

  [[nodiscard]] ISOCHRON_HD Projection<T> put(Vec3<T> position, T size, T tolerance, int most) const {
    return project(distance, position, size, tolerance, most);
  }
  /// Whether particles may go near there.
  [[nodiscard]] ISOCHRON_HD constexpr bool holds(Vec3<T> /*position*/) const { return true; }
};

/// Whether two particles lie on the same sheet of the surface: the chord between them runs along the surface (on an arc
/// of a circle it is perpendicular to the sum of the normals), and their normals are not opposed: at most 120° apart,
/// so that particles see each other over a ridge that the sizes do not resolve. Without this the two sides of a thin
/// wall, or two walls that nearly touch, would push each other's particles around. Symmetric to the last bit.
template <class T>
ISOCHRON_HD bool same_sheet(const Particle<T>& a, const Particle<T>& b) {
  if (!(dot(a.normal, b.normal) > T(-0.5))) return false;
  const Vec3<T> sum = a.normal + b.normal, chord = a.position - b.position;
  const T along = dot(sum, chord);
  return 2 * along * along <= dot(sum, sum) * dot(chord, chord);
}

}  // namespace isochron
