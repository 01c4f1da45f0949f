// The local updates: times at the corners of one face and the element's squared metric lengths in, the earliest arrival
// at the opposite corner and its barycentric weights out. Pure functions for host and device.
//
// All lengths are squared lengths in the travel-time metric M; times may be +inf (that corner then drops out). The
// `*_update` functions accept any scale; the `detail` ones multiply four of them and so expect them within about 1e±8
// of 1 in single precision, which the prepared problem guarantees by one global scaling.
#pragma once

#include <cmath>
#include <limits>

#include "isochron/types.h"

// The host calls the code for thin faces apart from the innermost loop; the device has one path, where a rare exchange
// of registers is cheaper than a second copy of the code.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define ISOCHRON_COLD [[gnu::cold, gnu::noinline]]
#else
#define ISOCHRON_COLD inline
#endif

namespace isochron {

/// The earliest arrival through an edge with its weights on the two ends.
template <class T>
struct EdgeCandidate {
  T time;
  T weight[2];
};

/// The earliest arrival through a triangular face with its weights on the three corners.
template <class T>
struct FaceCandidate {
  T time;
  T weight[3];
};

/// Squared metric lengths of a tetrahedron seen from its target x: the face 1,2,3 and the three edges to x.
template <class T>
struct TetLengths {
  T l12, l13, l23, l1x, l2x, l3x;
};

/// Squared metric lengths of a triangle seen from its target x: the edge 1,2 and the two edges to x.
template <class T>
struct TriangleLengths {
  T l12, l1x, l2x;
};

namespace detail {

template <class T>
ISOCHRON_HD constexpr T infinity() {
  return std::numeric_limits<T>::infinity();
}

template <class T>
ISOCHRON_HD constexpr T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
ISOCHRON_HD constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}

template <class T>
ISOCHRON_HD constexpr void exchange(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

/// Projection form in one dimension: minimum over λ in [0,1] of λ·ua + (1−λ)·ub + |x − (λ·a + (1−λ)·b)|. Written so
/// that NaN from infinite times falls to the ends. `lambda` is the weight of a.
template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T edge_time(T ua, T ub, T lab, T lax, T lbx, T& lambda) {
  const T delta = ua - ub;
  const T room = lab - delta * delta;
  if (room > T(0)) {
    // The height is taken from the nearer end: on needles the far one loses it in rounding.
    const T lead = lbx - lax;
    const T g = T(0.5) * (lab + lead);
    const T foot = T(0.5) * (lab - std::fabs(lead));
    const T inverse = T(1) / (lab * room);
    const T height = smaller(lax, lbx) - foot * foot * (room * inverse);
    const T k = height > T(0) ? std::sqrt(height * room * (room * inverse)) : T(0);
    const T along = g * (room * inverse);
    lambda = along - delta * k * (lab * inverse);
    if (lambda >= T(0) && lambda <= T(1)) return ub + along * delta + k;
    if (lambda > T(1)) {
      lambda = T(1);
      return ua + std::sqrt(lax);
    }
    lambda = T(0);
    return ub + std::sqrt(lbx);
  }
  // |δ| ≥ |ab|: no stationary point, the earlier end wins (also when one time is infinite).
  if (ua < ub) {
    lambda = T(1);
    return ua + std::sqrt(lax);
  }
  lambda = T(0);
  return ub + std::sqrt(lbx);
}

/// The stationary point over the whole plane of a face, before its weights are judged.
template <class T>
struct FaceSolution {
  T time;        ///< only meaningful when inside
  T w1, w2, w3;  ///< weights times a common positive factor `scale`
  T scale;
  bool exists;
  bool inexact = false;  ///< the weights are: an edge may be better, whatever their signs

  [[nodiscard]] ISOCHRON_HD bool inside() const { return exists && w1 >= T(0) && w2 >= T(0) && w3 >= T(0); }
};

/// The Gram matrix of a face at its corner 3.
template <class T>
struct FaceGram {
  T f11, f12, f22, det;

  ISOCHRON_HD FaceGram(T l12, T l13, T l23)
      : f11(l13), f12(T(0.5) * (l13 + l23 - l12)), f22(l23), det(f11 * f22 - f12 * f12) {}
  /// From a stored product instead of the third length.
  ISOCHRON_HD static FaceGram with_product(T l13, T l23, T product) { return {l13 + l23 - T(2) * product, l13, l23}; }
  /// Rounding costs about eps / sin² of the angle at the corner that a face is solved from; here this is too much.
  [[nodiscard]] ISOCHRON_HD bool thin() const { return !(det > T(1.0 / 16) * (f11 * f22)); }
  /// A target as near as a face is wide, beside one that is t times as long as wide, has its height to eps t⁴: the
  /// weights of a solution are then not to be trusted.
  [[nodiscard]] ISOCHRON_HD bool inexact() const {
    const T product = f11 * f22;
    return !(det * det > T(1e4) * std::numeric_limits<T>::epsilon() * product * product);
  }
  /// The determinant is lost in rounding.
  [[nodiscard]] ISOCHRON_HD bool flat() const {
    return !(det > std::numeric_limits<T>::epsilon() * T(4) * (f11 * f22));
  }
};

/// Everything is scaled by det F so that one division suffices, and the weights do not wait for it:
///   A = adj F, S = δᵀAδ, H = |r|² det F − gᵀAg (the squared volume form, the same for every corner of the element),
///   k = √H √(det F − S), u = u3 + (δᵀAg + k)/det F, λ = (A g (det F − S) − k A δ) / (det F (det F − S)).
/// Two roots, because H (det F − S) is the fifth power of a squared length and leaves the range of a float first.
template <class T>
ISOCHRON_HD inline FaceSolution<T> face_solution_from_products(T u1, T u2, T u3, const FaceGram<T>& f, T g1, T g2,
                                                               T l3x) {
  FaceSolution<T> s;
  const T d1 = u1 - u3;
  const T d2 = u2 - u3;
  const T ad1 = f.f22 * d1 - f.f12 * d2;
  const T ad2 = f.f11 * d2 - f.f12 * d1;
  const T room = f.det - (d1 * ad1 + d2 * ad2);
  s.exists = room > T(0);
  const T ag1 = f.f22 * g1 - f.f12 * g2;
  const T ag2 = f.f11 * g2 - f.f12 * g1;
  const T volume = l3x * f.det - (g1 * ag1 + g2 * ag2);
  const T k = volume > T(0) ? std::sqrt(volume) * std::sqrt(room) : T(0);
  s.w1 = ag1 * room - k * ad1;
  s.w2 = ag2 * room - k * ad2;
  s.scale = f.det * room;
  s.w3 = s.scale - s.w1 - s.w2;
  s.time = u3 + (d1 * ag1 + d2 * ag2 + k) / f.det;
  return s;
}

/// The same with the products g taken from the lengths.
template <class T>
ISOCHRON_HD inline FaceSolution<T> face_solution(T u1, T u2, T u3, const FaceGram<T>& f, T l1x, T l2x, T l3x) {
  return face_solution_from_products(u1, u2, u3, f, T(0.5) * (f.f11 + l3x - l1x), T(0.5) * (f.f22 + l3x - l2x), l3x);
}

/// Solves a thin face again by paths through it, which cannot be too early. Its stationary point is moved by rounding
/// most along the longest edge (1,2): the minimum is found on the parallel to that edge through the point. Where the
/// weights are inexact it is found among such parallels.
template <class T>
struct ThinFace {
  T u1, u2, u3, l12, l13, l23, l1x, l2x, l3x;

  /// The earliest arrival from the parallel to the longest edge where corner 3 has this weight.
  ISOCHRON_HD T time_from(T weight, T& lambda) const {
    const T rest = T(1) - weight;
    return edge_time(u3 + rest * (u1 - u3), u3 + rest * (u2 - u3), rest * rest * l12,
                     larger(weight * l3x + rest * (l1x - weight * l13), T(0)),
                     larger(weight * l3x + rest * (l2x - weight * l23), T(0)), lambda);
  }
  /// By the golden section: the time is a convex function of the weight. The steps leave 1/2000 of the face's width.
  ISOCHRON_HD T best_weight() const {
    constexpr T golden = T(0.6180339887498949);
    T low = T(0), high = T(1), lambda;
    T left = T(1) - golden, right = golden;
    T time_left = time_from(left, lambda), time_right = time_from(right, lambda);
    for (int step = 0; step < 16; ++step) {
      if (time_left < time_right) {
        high = right;
        right = left;
        time_right = time_left;
        left = high - golden * (high - low);
        time_left = time_from(left, lambda);
      } else {
        low = left;
        left = right;
        time_left = time_right;
        right = low + golden * (high - low);
        time_right = time_from(right, lambda);
      }
    }
    return time_left < time_right ? left : right;
  }
  ISOCHRON_HD void refine(FaceSolution<T>& s) const {
    s.w3 = s.inexact ? best_weight() : smaller(larger(s.w3 / s.scale, T(0)), T(1));
    s.scale = T(1);
    T lambda;
    s.time = time_from(s.w3, lambda);
    s.w1 = lambda * (T(1) - s.w3);
    s.w2 = (T(1) - lambda) * (T(1) - s.w3);
    s.exists = s.time < infinity<T>();
  }
};

/// The solution of any face: a thin one is solved from its widest angle, opposite its longest edge, which is worth
/// orders of magnitude on needles and in strong anisotropy.
template <class T>
ISOCHRON_HD ISOCHRON_COLD FaceSolution<T> any_face_solution(T u1, T u2, T u3, T l12, T l13, T l23, T l1x, T l2x,
                                                            T l3x) {
  FaceGram<T> f(l12, l13, l23);
  const bool thin = f.thin();
  bool from_1 = false;
  bool from_2 = false;
  if (thin) {
    from_1 = l23 > l12 && l23 > l13;
    from_2 = l13 > l12 && !from_1;
    if (from_1) {
      exchange(u1, u3);
      exchange(l12, l23);
      exchange(l1x, l3x);
    } else if (from_2) {
      exchange(u2, u3);
      exchange(l12, l13);
      exchange(l2x, l3x);
    }
    f = FaceGram<T>(l12, l13, l23);
  }
  FaceSolution<T> s = face_solution(u1, u2, u3, f, l1x, l2x, l3x);
  s.inexact = f.inexact();
  if (s.inexact || (thin && s.inside())) ThinFace<T>{u1, u2, u3, l12, l13, l23, l1x, l2x, l3x}.refine(s);
  if (from_1) exchange(s.w1, s.w3);
  if (from_2) exchange(s.w2, s.w3);
  return s;
}

/// What a push from x takes from the solution over the face (b, c, x), in this order.
template <class T>
ISOCHRON_HD inline T judge_push(const FaceSolution<T>& s, T ux, T ub, T uc, T lxb, T lxc, T lxt, T lbt, T lct) {
  T lambda;
  T best = s.inside() ? s.time : infinity<T>();
  const bool any = !s.exists || s.inexact;
  if (any || s.w1 < T(0)) best = smaller(edge_time(uc, ux, lxc, lct, lxt, lambda), best);
  if (any || s.w2 < T(0)) best = smaller(edge_time(ub, ux, lxb, lbt, lxt, lambda), best);
  return best;
}

template <class T>
ISOCHRON_HD ISOCHRON_COLD T any_push_time(T ux, T ub, T uc, T lxb, T lxc, T lbc, T lxt, T lbt, T lct) {
  return judge_push(any_face_solution(ub, uc, ux, lbc, lxb, lxc, lbt, lct, lxt), ux, ub, uc, lxb, lxc, lxt, lbt, lct);
}

/// The earliest arrival at t through the face (x, b, c) of those that use x; +inf when the minimum does not touch x. It
/// is enough for pushing from x: what the edge (b, c) alone can give is pushed by b and c. `ux` must be finite.
template <class T>
ISOCHRON_HD inline T push_time(T ux, T ub, T uc, T lxb, T lxc, T lbc, T lxt, T lbt, T lct) {
#if !defined(__CUDA_ARCH__)
  const FaceGram<T> f(lbc, lxb, lxc);
  if (!f.thin()) [[likely]]
    return judge_push(face_solution(ub, uc, ux, f, lbt, lct, lxt), ux, ub, uc, lxb, lxc, lxt, lbt, lct);
#endif
  return any_push_time(ux, ub, uc, lxb, lxc, lbc, lxt, lbt, lct);
}

template <class T>
ISOCHRON_HD inline void keep_edge(FaceCandidate<T>& best, T ua, T ub, T lab, T lax, T lbx, int a, int b) {
  T lambda;
  const T time = edge_time(ua, ub, lab, lax, lbx, lambda);
  if (!(time < best.time)) return;
  best.time = time;
  best.weight[0] = best.weight[1] = best.weight[2] = T(0);
  best.weight[a] = lambda;
  best.weight[b] = T(1) - lambda;
}

/// As `tet_update`, for lengths of ordinary size.
template <class T>
ISOCHRON_HD inline FaceCandidate<T> tet_update_scaled(T u1, T u2, T u3, const TetLengths<T>& l) {
#if defined(__CUDA_ARCH__)
  const FaceSolution<T> s = any_face_solution(u1, u2, u3, l.l12, l.l13, l.l23, l.l1x, l.l2x, l.l3x);
#else
  const FaceGram<T> f(l.l12, l.l13, l.l23);
  const FaceSolution<T> s = f.thin() ? any_face_solution(u1, u2, u3, l.l12, l.l13, l.l23, l.l1x, l.l2x, l.l3x)
                                     : face_solution(u1, u2, u3, f, l.l1x, l.l2x, l.l3x);
#endif
  FaceCandidate<T> best{infinity<T>(), {T(0), T(0), T(0)}};
  if (s.inside()) {
    const T inverse = T(1) / s.scale;
    best.time = s.time;
    best.weight[0] = s.w1 * inverse;
    best.weight[1] = s.w2 * inverse;
    best.weight[2] = s.w3 * inverse;
    if (!s.inexact) return best;
  }
  // Only an edge opposite a negative weight can hold the minimum; any of them when there is no stationary point, or
  // when the weights are not to be trusted.
  const bool any = !s.exists || s.inexact;
  if (any || s.w1 < T(0)) keep_edge(best, u2, u3, l.l23, l.l2x, l.l3x, 1, 2);
  if (any || s.w2 < T(0)) keep_edge(best, u1, u3, l.l13, l.l1x, l.l3x, 0, 2);
  if (any || s.w3 < T(0)) keep_edge(best, u1, u2, l.l12, l.l1x, l.l2x, 0, 1);
  return best;
}

/// As `triangle_update`, for lengths of ordinary size.
template <class T>
ISOCHRON_HD inline EdgeCandidate<T> triangle_update_scaled(T u1, T u2, const TriangleLengths<T>& l) {
  EdgeCandidate<T> c;
  c.time = edge_time(u1, u2, l.l12, l.l1x, l.l2x, c.weight[0]);
  c.weight[1] = T(1) - c.weight[0];
  return c;
}

}  // namespace detail

/// The earliest arrival at x through the face 1,2,3 of a tetrahedron with metric lengths `l`, all of one constant
/// metric. Times may be +inf; when all are, so is the result. Accurate to rounding for any common scale of the lengths.
template <class T>
ISOCHRON_HD inline FaceCandidate<T> tet_update(T u1, T u2, T u3, const TetLengths<T>& l) {
  using detail::larger;
  const T base = detail::smaller(u1, detail::smaller(u2, u3));
  if (!(base < detail::infinity<T>())) return {detail::infinity<T>(), {T(0), T(0), T(0)}};
  const T unit = larger(larger(larger(l.l12, l.l13), larger(l.l23, l.l1x)), larger(l.l2x, l.l3x));
  const T s = T(1) / unit;
  const T root = std::sqrt(unit);
  const T r = T(1) / root;
  const TetLengths<T> scaled{l.l12 * s, l.l13 * s, l.l23 * s, l.l1x * s, l.l2x * s, l.l3x * s};
  FaceCandidate<T> c = detail::tet_update_scaled((u1 - base) * r, (u2 - base) * r, (u3 - base) * r, scaled);
  c.time = base + c.time * root;
  return c;
}

/// The earliest arrival at x through the edge 1,2 of a triangle with metric lengths `l`; see `tet_update`.
template <class T>
ISOCHRON_HD inline EdgeCandidate<T> triangle_update(T u1, T u2, const TriangleLengths<T>& l) {
  const T base = detail::smaller(u1, u2);
  if (!(base < detail::infinity<T>())) return {detail::infinity<T>(), {T(0), T(0)}};
  const T unit = detail::larger(l.l12, detail::larger(l.l1x, l.l2x));
  const T s = T(1) / unit;
  const T root = std::sqrt(unit);
  const T r = T(1) / root;
  EdgeCandidate<T> c = detail::triangle_update_scaled((u1 - base) * r, (u2 - base) * r,
                                                      TriangleLengths<T>{l.l12 * s, l.l1x * s, l.l2x * s});
  c.time = base + c.time * root;
  return c;
}

}  // namespace isochron
