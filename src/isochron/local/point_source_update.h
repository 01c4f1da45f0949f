// Local updates near a point source. There the front is close to a sphere in the metric, which the plain updates of
// simplex_update.h take for a plane over each face: their times are late by a large share of an edge in the first
// rings. Here the point is placed where the corners' times say it is, behind the face, and the arrival is the straight
// path from it. Where the metric is constant this is exact. Only times and lengths are needed, so that it works on
// curved surfaces, which it unfolds, and where the metric turns slowly.
#pragma once

#include <cmath>

#include "isochron/local/simplex_update.h"

namespace isochron {
namespace detail {

/// The squared height of a point over a line or plane, as a difference of squared lengths that add up to `of`. A point
/// in the line or plane has height 0, and rounding must not make it none: what is below 0 by rounding alone is 0.
template <class T>
ISOCHRON_HD inline T squared_height(T difference, T of) {
  const T rounding = sizeof(T) == sizeof(double) ? T(1e-9) : T(1e-4);
  return difference < T(0) && difference >= -rounding * of ? T(0) : difference;
}

/// A point beside the line through a and b.
template <class T>
struct BesideLine {
  T along;   ///< of its foot, from b on, in lengths of the edge
  T height;  ///< squared; below 0 when no point has these distances

  ISOCHRON_HD BesideLine(T squared_to_a, T squared_to_b, T lab)
      : along((squared_to_b + lab - squared_to_a) / (T(2) * lab)),
        height(squared_height(squared_to_b - along * along * lab, squared_to_b + lab)) {}
};

/// The share of the distance from the source's foot to the target's at which the straight line between them crosses, by
/// their heights over the line or plane.
template <class T>
ISOCHRON_HD inline T crossing_share(T source_height, T target_height) {
  const T both = source_height + target_height;
  return both > T(0) ? source_height / both : T(0.5);
}

}  // namespace detail

/// The earliest arrival from a point source through some vertices, with where it crosses them.
template <class T>
struct PointSourceCandidate {
  T time;
  T weight[3];   ///< of the place on the face
  T share = -1;  ///< of the way from the source to the target that is before the face; −1 of a plain update
};

namespace detail {

template <class T>
ISOCHRON_HD inline PointSourceCandidate<T> plain_edge(T ua, T ub, T lab, T lax, T lbx) {
  T lambda;
  const T time = edge_time(ua, ub, lab, lax, lbx, lambda);
  return {time, {lambda, T(1) - lambda, T(0)}};
}

template <class T>
ISOCHRON_HD inline PointSourceCandidate<T> point_source_edge(T ua, T ub, T lab, T lax, T lbx, T limit) {
  if (!(ua < infinity<T>()) || !(ub < infinity<T>())) return plain_edge(ua, ub, lab, lax, lbx);
  const BesideLine<T> source(ua * ua, ub * ub, lab), target(lax, lbx, lab);
  if (!(source.height >= T(0))) return plain_edge(ua, ub, lab, lax, lbx);
  const T below = std::sqrt(source.height), above = std::sqrt(larger(target.height, T(0)));
  const T across = target.along - source.along;
  const T straight = across * across * lab + (below + above) * (below + above);  // squared; no path is shorter
  if (straight >= limit * limit) return {infinity<T>(), {}};
  const T share = crossing_share(below, above);
  const T at = source.along + across * share;
  if (at >= T(0) && at <= T(1)) return {std::sqrt(straight), {at, T(1) - at, T(0)}, share};
  if (at > T(1)) return {ua + std::sqrt(lax), {T(1), T(0), T(0)}};
  return {ub + std::sqrt(lbx), {T(0), T(1), T(0)}};
}

}  // namespace detail

/// The arrival at x through the edge 1,2 of a triangle, of a front that started at a point at time 0. Falls back to the
/// plain update where the times are those of no point. Times may be +inf; what is not below `limit` may be given as
/// +inf.
template <class T>
ISOCHRON_HD inline PointSourceCandidate<T> point_source_triangle_update(T u1, T u2, const TriangleLengths<T>& l,
                                                                        T limit = detail::infinity<T>()) {
  return detail::point_source_edge(u1, u2, l.l12, l.l1x, l.l2x, limit);
}

/// The arrival at x through the face 1,2,3 of a tetrahedron; see `point_source_triangle_update`.
template <class T>
ISOCHRON_HD inline PointSourceCandidate<T> point_source_tet_update(T u1, T u2, T u3, const TetLengths<T>& l,
                                                                   T limit = detail::infinity<T>()) {
  using Candidate = PointSourceCandidate<T>;
  // Only an edge opposite a negative weight can hold the minimum.
  const auto by_edges = [&](bool without_1, bool without_2, bool without_3) {
    Candidate best{detail::infinity<T>(), {}};
    const auto keep = [&best](const Candidate& edge, int a, int b) {
      if (!(edge.time < best.time)) return;
      best = {edge.time, {}, edge.share};
      best.weight[a] = edge.weight[0];
      best.weight[b] = edge.weight[1];
    };
    if (without_3) keep(detail::point_source_edge(u1, u2, l.l12, l.l1x, l.l2x, limit), 0, 1);
    if (without_2) keep(detail::point_source_edge(u1, u3, l.l13, l.l1x, l.l3x, limit), 0, 2);
    if (without_1) keep(detail::point_source_edge(u2, u3, l.l23, l.l2x, l.l3x, limit), 1, 2);
    return best;
  };
  const detail::FaceGram<T> f(l.l12, l.l13, l.l23);
  if (!(u1 < detail::infinity<T>()) || !(u2 < detail::infinity<T>()) || !(u3 < detail::infinity<T>()) || f.flat())
    return by_edges(true, true, true);
  // Feet in the plane of the face, as weights of corners 1 and 2, from the products with the edges to them.
  struct Foot {
    T first, second, height;
  };
  const T inverse = T(1) / f.det;
  const auto foot = [&](T squared_to_1, T squared_to_2, T squared_to_3) {
    const T g1 = T(0.5) * (f.f11 + squared_to_3 - squared_to_1), g2 = T(0.5) * (f.f22 + squared_to_3 - squared_to_2);
    const T first = (f.f22 * g1 - f.f12 * g2) * inverse, second = (f.f11 * g2 - f.f12 * g1) * inverse;
    const T height = squared_to_3 - first * g1 - second * g2;
    return Foot{first, second, detail::squared_height(height, squared_to_3 + f.f11 + f.f22)};
  };
  const Foot source = foot(u1 * u1, u2 * u2, u3 * u3), target = foot(l.l1x, l.l2x, l.l3x);
  if (!(source.height >= T(0))) {
    const FaceCandidate<T> plain = tet_update(u1, u2, u3, l);
    return {plain.time, {plain.weight[0], plain.weight[1], plain.weight[2]}};
  }
  const T below = std::sqrt(source.height), above = std::sqrt(detail::larger(target.height, T(0)));
  const T d1 = target.first - source.first, d2 = target.second - source.second;
  const T straight =  // squared; no path is shorter
      f.f11 * d1 * d1 + T(2) * f.f12 * d1 * d2 + f.f22 * d2 * d2 + (below + above) * (below + above);
  if (straight >= limit * limit) return {detail::infinity<T>(), {}};
  const T share = detail::crossing_share(below, above);
  const T w1 = source.first + d1 * share, w2 = source.second + d2 * share, w3 = T(1) - w1 - w2;
  if (w1 >= T(0) && w2 >= T(0) && w3 >= T(0)) return {std::sqrt(straight), {w1, w2, w3}, share};
  return by_edges(!(w1 >= T(0)), !(w2 >= T(0)), !(w3 >= T(0)));
}

}  // namespace isochron
