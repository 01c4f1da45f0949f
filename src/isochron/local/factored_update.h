// The local updates with additive factoring: near a point source the arrival time u
// has a kink that linear interpolation on a face misses, so only the smooth rest τ = u − T0 is interpolated. The
// distance T0(x) = |x − s| in the metric at the source is known. The candidate is the minimum over the weights λ of the
// face of
//
//   f(λ) = T0(x_λ) + Σ λ_i τ_i + |t − x_λ|,   x_λ = Σ λ_i x_i,
//
// a convex function. Pure functions for host and device, as in simplex_update.h and with the same demands on lengths.
#pragma once

#include <initializer_list>

#include "isochron/local/simplex_update.h"
#include "isochron/types.h"

namespace isochron {

/// A corner of the face. `position` is relative to the source, in coordinates where the metric at the source is the
/// identity (so T0 is its length) and in the same unit as the times; tau = u − T0 may be +inf (the corner drops out).
template <class T>
struct FactoredCorner {
  Vec3<T> position;
  T tau;
};

/// What the caller already knows and accepts.
template <class T>
struct FactoredGoal {
  T limit;  ///< only times below this are of interest: others may come out as +inf, with less work
  T slack;  ///< the time returned is at most this above the minimum (or what rounding leaves), and mostly far less
};

namespace detail {

/// A point of the face with f, the two norms in it, and their derivatives by the weights of all corners but the last,
/// which makes up the sum.
template <class T, int N>
struct FactoredPoint {
  T weight[N];
  T time;
  T inverse_source, source_slope[N - 1];  ///< 1/T0 (0 where it vanishes) and the slopes of T0
  T inverse_path, path_slope[N - 1];      ///< the same of |t − x|
  T slope[N];                             ///< of f; 0 for the last corner
};

/// The face as f sees it: edges from the last corner in the source's frame, their products in the element's metric.
template <class T, int N>
struct FactoredFace {
  static constexpr int D = N - 1;
  Vec3<T> edge[D];
  Vec3<T> last;
  T tau_step[D];
  T tau_last;
  T gram[D][D];
  T foot[D];  ///< products of the edges with the vector from the last corner to the target
  T reach;    ///< squared length of that vector

  ISOCHRON_HD void evaluate(FactoredPoint<T, N>& at) const {
    Vec3<T> x = last;
    T linear = tau_last;
    T square = reach;
    for (int k = 0; k < D; ++k) {
      T pull = -foot[k];
      for (int j = 0; j < D; ++j) pull += gram[k][j] * at.weight[j];
      x += at.weight[k] * edge[k];
      linear += at.weight[k] * tau_step[k];
      square += at.weight[k] * (pull - foot[k]);
      at.path_slope[k] = pull;
    }
    const T source_time = norm(x);
    const T path_time = square > T(0) ? std::sqrt(square) : T(0);
    at.time = source_time + linear + path_time;
    // Where a norm vanishes 0 is one of its slopes: the bounds below stay true.
    at.inverse_source = source_time > T(0) ? T(1) / source_time : T(0);
    at.inverse_path = path_time > T(0) ? T(1) / path_time : T(0);
    for (int k = 0; k < D; ++k) {
      at.source_slope[k] = dot(x, edge[k]) * at.inverse_source;
      at.path_slope[k] *= at.inverse_path;
      at.slope[k] = at.source_slope[k] + at.path_slope[k] + tau_step[k];
    }
    at.slope[D] = T(0);
  }

  /// Weights of the point of the face nearest to the source (in its metric) or to the target (in the element's).
  ISOCHRON_HD void nearest(bool to_source, T (&weight)[N]) const {
    T g[D][D], b[D];
    for (int k = 0; k < D; ++k) {
      b[k] = to_source ? -dot(edge[k], last) : foot[k];
      for (int j = 0; j < D; ++j) g[k][j] = to_source ? dot(edge[k], edge[j]) : gram[k][j];
    }
    const T c = to_source ? dot(last, last) : reach;
    if constexpr (N == 2) {
      const auto e = triangle_update_scaled(T(0), T(0), {g[0][0], c + g[0][0] - 2 * b[0], c});
      for (int k = 0; k < N; ++k) weight[k] = e.weight[k];
    } else {
      const auto f = tet_update_scaled(
          T(0), T(0), T(0),
          {g[0][0] + g[1][1] - 2 * g[0][1], g[0][0], g[1][1], c + g[0][0] - 2 * b[0], c + g[1][1] - 2 * b[1], c});
      for (int k = 0; k < N; ++k) weight[k] = larger(f.weight[k], T(0));
    }
  }

  /// The second derivative of f along the edges k and j: (G − g gᵀ)/|·| for each norm.
  ISOCHRON_HD T curvature(const FactoredPoint<T, N>& at, int k, int j) const {
    return (dot(edge[k], edge[j]) - at.source_slope[k] * at.source_slope[j]) * at.inverse_source +
           (gram[k][j] - at.path_slope[k] * at.path_slope[j]) * at.inverse_path;
  }
};

/// The corners between which weight is best moved.
struct FactoredPair {
  int to, from;
};

/// A convex function lies above its tangent plane, whose minimum over the face is at a corner: f is at most
/// Σ λ_i g_i − min g_i above its minimum. (The pair is that corner and the one with weight and the steepest slope.)
template <class T, int N>
ISOCHRON_HD inline T factored_gap(const FactoredPoint<T, N>& at, FactoredPair& pair) {
  T mean = T(0);
  pair = {0, -1};
  for (int k = 0; k < N; ++k) {
    mean += at.weight[k] * at.slope[k];
    if (at.slope[k] < at.slope[pair.to]) pair.to = k;
    if (at.weight[k] > T(0) && (pair.from < 0 || at.slope[k] > at.slope[pair.from])) pair.from = k;
  }
  return mean - at.slope[pair.to];
}

/// Newton's step in the plane of the face; false when the Hessian is singular or the step leaves the face at once.
template <class T>
ISOCHRON_HD inline bool factored_newton(const FactoredFace<T, 3>& face, const FactoredPoint<T, 3>& at, T (&step)[3]) {
  const T h11 = face.curvature(at, 0, 0), h12 = face.curvature(at, 0, 1), h22 = face.curvature(at, 1, 1);
  const T det = h11 * h22 - h12 * h12;
  if (!(det > T(64) * std::numeric_limits<T>::epsilon() * h11 * h22)) return false;
  const T inverse = T(1) / det;
  step[0] = (h12 * at.slope[1] - h22 * at.slope[0]) * inverse;
  step[1] = (h12 * at.slope[0] - h11 * at.slope[1]) * inverse;
  step[2] = -step[0] - step[1];
  for (int k = 0; k < 3; ++k)
    if (!(at.weight[k] > T(0)) && step[k] < T(0)) return false;
  return true;
}

/// Newton's step along the edge direction of the pair. On an edge that is the search along this edge; on an edge or in
/// a corner that is not the place of the minimum it is the way out.
template <class T, int N>
ISOCHRON_HD inline void factored_exchange(const FactoredFace<T, N>& face, const FactoredPoint<T, N>& at,
                                          FactoredPair pair, T (&step)[N]) {
  T curvature = T(0);
  for (int k = 0; k < N; ++k) step[k] = k == pair.to ? T(1) : (k == pair.from ? T(-1) : T(0));
  for (int k = 0; k < N - 1; ++k)
    for (int j = 0; j < N - 1; ++j) curvature += step[k] * step[j] * face.curvature(at, k, j);
  const T slope = at.slope[pair.from] - at.slope[pair.to];
  const T most = at.weight[pair.from];
  const T length = slope < curvature * most ? slope / curvature : most;
  for (int k = 0; k < N; ++k) step[k] *= length;
}

/// Gains of f below this share of it are not to be told from rounding.
template <class T>
ISOCHRON_HD constexpr T factored_rounding() {
  return T(4) * std::numeric_limits<T>::epsilon();
}

/// How much f would fall along `step` if its slope stayed the same.
template <class T, int N>
ISOCHRON_HD inline T factored_gain(const FactoredPoint<T, N>& at, const T (&step)[N]) {
  T gain = T(0);
  for (int k = 0; k < N - 1; ++k) gain -= at.slope[k] * step[k];
  return gain;
}

/// Goes along `step`, at most to the rim of the face, and less far until f falls; false when it does not.
template <class T, int N>
ISOCHRON_HD inline bool factored_advance(const FactoredFace<T, N>& face, FactoredPoint<T, N>& at, const T (&step)[N]) {
  constexpr T nothing = T(8) * std::numeric_limits<T>::epsilon();  // weights that are only rounding
  T share = T(1);
  int rim = -1;
  for (int k = 0; k < N; ++k)
    if (step[k] < T(0) && at.weight[k] + share * step[k] <= T(0)) {
      share = at.weight[k] / -step[k];
      rim = k;
    }
  FactoredPoint<T, N> next;
  for (int attempt = 0; attempt < 6; ++attempt) {
    T rest = T(1);
    for (int k = 0; k < N - 1; ++k) {
      const T w = at.weight[k] + share * step[k];
      next.weight[k] = k == rim || w < nothing ? T(0) : w;
      rest -= next.weight[k];
    }
    next.weight[N - 1] = rim == N - 1 || rest < nothing ? T(0) : rest;
    face.evaluate(next);
    // A weight of next to nothing may be dropped for nothing.
    if (next.time < at.time || (rim >= 0 && next.time <= at.time + factored_rounding<T>() * std::fabs(at.time))) {
      at = next;
      return true;
    }
    share *= T(0.25);
    rim = -1;
  }
  return false;
}

enum class FactoredEnd {
  found,   ///< within the slack of the minimum
  beyond,  ///< the minimum is not below the limit
  stuck    ///< f falls no further by these steps: the minimum is at or near a kink, or rounding rules
};

/// Minimises f from `at.weight` on; `floor` is a lower bound of f.
template <class T, int N>
ISOCHRON_HD inline FactoredEnd factored_descent(const FactoredFace<T, N>& face, FactoredPoint<T, N>& at, T floor,
                                                const FactoredGoal<T>& goal) {
  constexpr int max_steps = 16;
  face.evaluate(at);
  for (int i = 0; i < max_steps; ++i) {
    if (at.time - floor <= goal.slack) return FactoredEnd::found;
    FactoredPair pair;
    const T gap = factored_gap(at, pair);
    if (gap <= goal.slack) return FactoredEnd::found;
    if (at.time - gap >= goal.limit) return FactoredEnd::beyond;
    T step[N];
    bool in_face = false;
    if constexpr (N == 3) in_face = factored_newton(face, at, step);
    if (!in_face) factored_exchange(face, at, pair, step);
    const bool empties = !in_face && !(at.weight[pair.from] + step[pair.from] > T(0));
    // Steps with no gain to show end the search, but not in a kink, where large slopes remain.
    const T noise = factored_rounding<T>() * std::fabs(at.time);
    if (!empties && factored_gain(at, step) <= noise && gap * gap * at.inverse_path <= T(64) * noise)
      return FactoredEnd::found;
    if (factored_advance(face, at, step)) continue;
    if (!in_face) return FactoredEnd::stuck;
    factored_exchange(face, at, pair, step);
    if (!factored_advance(face, at, step)) return FactoredEnd::stuck;
  }
  return FactoredEnd::stuck;
}

/// The direction in which f falls fastest from the source, if that lies in the face: with G the slopes of f without T0
/// and E the products of edges in the source's metric it is along −E⁻¹G. f does fall there when |G| > 1 in that metric.
template <class T, int N>
ISOCHRON_HD inline void factored_escape(const FactoredFace<T, N>& face, const FactoredPoint<T, N>& at, T (&step)[N]) {
  T g[N - 1];
  for (int k = 0; k < N - 1; ++k) g[k] = at.path_slope[k] + face.tau_step[k];
  const T e11 = dot(face.edge[0], face.edge[0]);
  if constexpr (N == 2) {
    step[0] = -g[0] / e11;
    step[1] = -step[0];
  } else {
    const T e12 = dot(face.edge[0], face.edge[1]), e22 = dot(face.edge[1], face.edge[1]);
    const T scale = T(1) / (e11 * e22);
    step[0] = (e12 * g[1] - e22 * g[0]) * scale;
    step[1] = (e12 * g[0] - e11 * g[1]) * scale;
    step[2] = -step[0] - step[1];
  }
}

/// f has a kink where the source or the target lies in the face, and bends sharply where one is near. Newton's steps
/// get stuck there or do not get there. So those places are tried, and from the source the way out of its kink.
template <class T, int N>
ISOCHRON_HD ISOCHRON_COLD void factored_restart(const FactoredFace<T, N>& face, FactoredPoint<T, N>& best, T floor,
                                                const FactoredGoal<T>& goal) {
  for (const bool at_source : {true, false}) {
    FactoredPoint<T, N> at;
    face.nearest(at_source, at.weight);
    face.evaluate(at);
    T step[N];
    factored_escape(face, at, step);
    if (at_source && factored_advance(face, at, step)) factored_descent(face, at, floor, goal);
    if (!at_source) factored_descent(face, at, floor, goal);
    if (at.time < best.time) best = at;
  }
}

/// Minimises f from `at.weight` on; its time is +inf when it does not come below the limit.
template <class T, int N>
ISOCHRON_HD inline FactoredEnd factored_minimum(const FactoredFace<T, N>& face, FactoredPoint<T, N>& at, T floor,
                                                const FactoredGoal<T>& goal) {
  const FactoredEnd end = factored_descent(face, at, floor, goal);
  if (end == FactoredEnd::beyond) at.time = infinity<T>();
  if (end == FactoredEnd::stuck) factored_restart(face, at, floor, goal);
  return end;
}

/// The direction from the source to the target, of length 1 (or 0 when the target is the source).
template <class T>
ISOCHRON_HD inline Vec3<T> direction_to(Vec3<T> target) {
  const T length = norm(target);
  return length > T(0) ? target / length : Vec3<T>{};
}

/// T0(x) = |p| ≥ n·p for every n with |n| ≤ 1. With these times n·p_i + τ_i at the corners, linear in between, the
/// plain update gives a lower bound of f over the face. n is the direction to the target: in a constant medium the
/// bound is then the exact time, and where it is attained is the place where the straight ray crosses the face.
template <class T>
ISOCHRON_HD inline T linear_time(Vec3<T> n, const FactoredCorner<T>& c) {
  return dot(n, c.position) + c.tau;
}

template <class T>
ISOCHRON_HD inline EdgeCandidate<T> factored_edge(Vec3<T> n, const FactoredCorner<T>& a, const FactoredCorner<T>& b,
                                                  const TriangleLengths<T>& l, const FactoredGoal<T>& goal) {
  const T va = linear_time(n, a), vb = linear_time(n, b);
  EdgeCandidate<T> bound = triangle_update_scaled(va, vb, l);
  if (!(bound.time < goal.limit)) return {infinity<T>(), {T(0), T(0)}};
  if (!(va < infinity<T>()) || !(vb < infinity<T>())) {
    bound.time = va < vb ? norm(a.position) + a.tau + std::sqrt(l.l1x) : norm(b.position) + b.tau + std::sqrt(l.l2x);
    return bound;
  }
  FactoredFace<T, 2> face;
  face.edge[0] = a.position - b.position;
  face.last = b.position;
  face.tau_step[0] = a.tau - b.tau;
  face.tau_last = b.tau;
  face.gram[0][0] = l.l12;
  face.foot[0] = T(0.5) * (l.l12 + l.l2x - l.l1x);
  face.reach = l.l2x;
  FactoredPoint<T, 2> at;
  at.weight[0] = bound.weight[0];
  at.weight[1] = bound.weight[1];
  factored_minimum(face, at, bound.time, goal);
  return {at.time, {at.weight[0], at.weight[1]}};
}

/// The face of a tetrahedron with the direction to its target.
template <class T>
struct FactoredTet {
  Vec3<T> n;
  const FactoredCorner<T>&a, &b, &c;
  const TetLengths<T>& l;

  /// Keeps the better of `best` and the candidate of the edge opposite the corner.
  ISOCHRON_HD void keep_edge(int opposite, const FactoredGoal<T>& goal, FaceCandidate<T>& best) const {
    const EdgeCandidate<T> e = opposite == 2   ? factored_edge(n, a, b, {l.l12, l.l1x, l.l2x}, goal)
                               : opposite == 1 ? factored_edge(n, a, c, {l.l13, l.l1x, l.l3x}, goal)
                                               : factored_edge(n, b, c, {l.l23, l.l2x, l.l3x}, goal);
    if (!(e.time < best.time)) return;
    best.time = e.time;
    best.weight[opposite] = T(0);
    best.weight[opposite == 0 ? 1 : 0] = e.weight[0];
    best.weight[opposite == 2 ? 1 : 2] = e.weight[1];
  }

  [[nodiscard]] ISOCHRON_HD FactoredFace<T, 3> face() const {
    FactoredFace<T, 3> f;
    f.edge[0] = a.position - c.position;
    f.edge[1] = b.position - c.position;
    f.last = c.position;
    f.tau_step[0] = a.tau - c.tau;
    f.tau_step[1] = b.tau - c.tau;
    f.tau_last = c.tau;
    f.gram[0][0] = l.l13;
    f.gram[1][1] = l.l23;
    f.gram[0][1] = f.gram[1][0] = T(0.5) * (l.l13 + l.l23 - l.l12);
    f.foot[0] = T(0.5) * (l.l13 + l.l3x - l.l1x);
    f.foot[1] = T(0.5) * (l.l23 + l.l3x - l.l2x);
    f.reach = l.l3x;
    return f;
  }
};

}  // namespace detail

/// The earliest arrival at `target` (a position as in `FactoredCorner`) through the edge a, b of a triangle whose
/// element metric gives the lengths `l`.
template <class T>
ISOCHRON_HD inline EdgeCandidate<T> factored_triangle_update(Vec3<T> target, const FactoredCorner<T>& a,
                                                             const FactoredCorner<T>& b, const TriangleLengths<T>& l,
                                                             const FactoredGoal<T>& goal) {
  return detail::factored_edge(detail::direction_to(target), a, b, l, goal);
}

/// The earliest arrival at `target` through the face a, b, c of a tetrahedron; see `factored_triangle_update`.
template <class T>
ISOCHRON_HD inline FaceCandidate<T> factored_tet_update(Vec3<T> target, const FactoredCorner<T>& a,
                                                        const FactoredCorner<T>& b, const FactoredCorner<T>& c,
                                                        const TetLengths<T>& l, const FactoredGoal<T>& goal) {
  constexpr T inf = detail::infinity<T>();
  const detail::FactoredTet<T> tet{detail::direction_to(target), a, b, c, l};
  const T va = detail::linear_time(tet.n, a), vb = detail::linear_time(tet.n, b), vc = detail::linear_time(tet.n, c);
  FaceCandidate<T> best{inf, {T(0), T(0), T(0)}};
  if (!(va < inf) || !(vb < inf) || !(vc < inf)) {
    tet.keep_edge(!(vc < inf) ? 2 : (!(vb < inf) ? 1 : 0), goal, best);
    return best;
  }
  const FaceCandidate<T> bound = detail::tet_update_scaled(va, vb, vc, l);
  if (!(bound.time < goal.limit)) return best;
  detail::FactoredPoint<T, 3> at;
  for (int k = 0; k < 3; ++k) at.weight[k] = detail::larger(bound.weight[k], T(0));
  const detail::FactoredEnd end = detail::factored_minimum(tet.face(), at, bound.time, goal);
  best.time = at.time;
  for (int k = 0; k < 3; ++k) best.weight[k] = at.weight[k];
  if (end == detail::FactoredEnd::stuck)
    for (int k = 0; k < 3; ++k) tet.keep_edge(k, goal, best);
  return best;
}

}  // namespace isochron
