// The push update of simplex_update.h for many targets at once, without branches, so that the compiler uses the vector
// unit. Each lane is one local solve; lanes do not influence one another.
#pragma once

#include <cmath>
#include <cstdint>

#include "isochron/local/simplex_update.h"

namespace isochron {

/// Targets reached through faces (x, b, c): inputs and results of up to `capacity` solves that share the source vertex
/// x.
template <class T>
struct FaceBatch {
  static constexpr int capacity = 144;  ///< whole vectors of any width, and three for each of 48 elements
  alignas(64) T ub[capacity], uc[capacity];
  alignas(64) T lxb[capacity], lxc[capacity], lbc[capacity], lxt[capacity], lbt[capacity], lct[capacity];
  alignas(64) T time[capacity];
  alignas(64) T thin[capacity];  ///< above 0 where the face is too thin for this form: take `any_push_time` there
};

namespace detail {

/// The last lanes of a vector are computed even when they are not used.
constexpr int whole_vectors(int count) { return (count + 7) & ~7; }

/// What it takes from x to the target, as a fraction: several are compared by products, and one is divided.
template <class T>
struct Delay {
  T over, under;
};
template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE Delay<T> choose(bool first, const Delay<T>& a, const Delay<T>& b) {
  return {first ? a.over : b.over, first ? a.under : b.under};
}

/// √(a b) of volumes and areas: by one root where the product is in range.
template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T root_of_product(T a, T b) {
  if constexpr (sizeof(T) == sizeof(double)) return std::sqrt(a * b);
  else return std::sqrt(a) * std::sqrt(b);
}

/// edge_time along (x, b) without branches, but for an arrival from b alone: outside [0,1], and without a stationary
/// point, the end x. `delta` is b's time after x's, `g` the product of the edges to b and to the target, and `xt` the
/// plain length to that.
template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE Delay<T> edge_delay_lane(T delta, T g, T lxb, T lxt, T lbt, T xt) {
  const T room = lxb - delta * delta;
  const T foot = T(0.5) * (lxb - std::fabs(lxt - lbt));
  const T height = larger(smaller(lbt, lxt) * lxb - foot * foot, T(0));  // squared, times lxb
  const T k = std::sqrt(height * room);
  const T weight = g * room - delta * k;
  // Written as products of comparisons with one result, so that NaN lanes fall to the end.
  const bool inside = (room > T(0)) & (weight >= T(0)) & (weight <= lxb * room);
  return choose<T>(inside, {delta * g + k, lxb}, {xt, T(1)});
}

/// push_time without branches for a face that is not too thin: what uses x only, +inf where the minimum lies on the
/// edge (b, c) alone. `thin` tells whether the face was: then take `any_push_time`.
template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T push_time_lane(T ux, T ub, T uc, T lxb, T lxc, T lbc, T lxt, T lbt, T lct,
                                                    bool& thin) {
  const T f12 = T(0.5) * (lxb + lxc - lbc);
  const T det = lxb * lxc - f12 * f12;
  const T d1 = ub - ux, d2 = uc - ux;
  const T ad1 = lxc * d1 - f12 * d2, ad2 = lxb * d2 - f12 * d1;
  const T room = det - (d1 * ad1 + d2 * ad2);
  const T g1 = T(0.5) * (lxb + lxt - lbt), g2 = T(0.5) * (lxc + lxt - lct);
  const T ag1 = lxc * g1 - f12 * g2, ag2 = lxb * g2 - f12 * g1;
  const T volume = larger(lxt * det - (g1 * ag1 + g2 * ag2), T(0));
  const T k = root_of_product(volume, larger(room, T(0)));
  const T w1 = ag1 * room - k * ad1, w2 = ag2 * room - k * ad2, w3 = det * room - w1 - w2;

  // The edges stand in for a negative weight of the corner they leave out, and for both when there is no stationary
  // point.
  const T xt = std::sqrt(lxt);
  const bool exists = room > T(0);
  Delay<T> without_b = edge_delay_lane(d2, g2, lxc, lxt, lct, xt),
           without_c = edge_delay_lane(d1, g1, lxb, lxt, lbt, xt);
  without_b.over += (exists & (w1 >= T(0))) ? infinity<T>() : T(0);
  without_c.over += (exists & (w2 >= T(0))) ? infinity<T>() : T(0);
  const bool inside = exists & (w1 >= T(0)) & (w2 >= T(0)) & (w3 >= T(0));
  thin = det <= T(1.0 / 16) * (lxb * lxc);
  const Delay<T> edge =
      choose(without_b.over * without_c.under < without_c.over * without_b.under, without_b, without_c);
  const Delay<T> delay = choose<T>(inside, {d1 * ag1 + d2 * ag2 + k, det}, edge);
  return ux + delay.over / delay.under;
}

}  // namespace detail

/// Fills `batch.time` for the first `count` lanes as `push_time` would, but for arrivals from b or c alone. Inlined, so
/// that it is compiled for the vectors of its caller.
template <class T>
ISOCHRON_ALWAYS_INLINE void solve_faces(FaceBatch<T>& batch, T ux, int count) {
  const int lanes = detail::whole_vectors(count);
#pragma omp simd
  for (int i = 0; i < lanes; ++i) {
    bool thin;
    batch.time[i] = detail::push_time_lane(ux, batch.ub[i], batch.uc[i], batch.lxb[i], batch.lxc[i], batch.lbc[i],
                                           batch.lxt[i], batch.lbt[i], batch.lct[i], thin);
    batch.thin[i] = thin ? T(1) : T(0);
  }
}

}  // namespace isochron
