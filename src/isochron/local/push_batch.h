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
  static constexpr int capacity = 64;
  alignas(64) T ub[capacity], uc[capacity];
  alignas(64) T lxb[capacity], lxc[capacity], lbc[capacity], lxt[capacity], lbt[capacity], lct[capacity];
  alignas(64) T time[capacity];
  alignas(64) T thin[capacity];  ///< above 0 where the face is too thin for this form: take `any_push_time` there
};

namespace detail {

/// The last lanes of a vector are computed even when they are not used.
constexpr int whole_vectors(int count) { return (count + 7) & ~7; }

/// edge_time without branches: outside [0,1], and without a stationary point, the better end holds the minimum. `xt`
/// and `bt` are the plain lengths of the edges to the target.
template <class T>
inline T edge_time_lane(T ux, T ub, T lxb, T lxt, T lbt, T xt, T bt) {
  const T delta = ub - ux;
  const T room = lxb - delta * delta;
  const T lead = lxt - lbt;
  const T inverse = T(1) / (lxb * room);
  const T foot = T(0.5) * (lxb - std::fabs(lead));
  const T height = smaller(lbt, lxt) - foot * foot * (room * inverse);
  const T k = std::sqrt(larger(height, T(0)) * room * (room * inverse));
  const T along = T(0.5) * (lxb + lead) * (room * inverse);
  const T lambda = along - delta * k * (lxb * inverse);
  const T ends = smaller(ub + bt, ux + xt);
  const T inside = ux + along * delta + k;
  // Written as products of comparisons with one result, so that NaN lanes fall to the ends.
  return ((room > T(0)) & (lambda >= T(0)) & (lambda <= T(1))) ? inside : ends;
}

}  // namespace detail

/// Fills `batch.time` for the first `count` lanes as `push_time` would: what uses x only, +inf where the minimum lies
/// on the edge (b, c) alone.
template <class T>
inline void solve_faces(FaceBatch<T>& batch, T ux, int count) {
  using detail::larger;
  using detail::smaller;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const int lanes = detail::whole_vectors(count);
#pragma omp simd
  for (int i = 0; i < lanes; ++i) {
    const T f11 = batch.lxb[i], f22 = batch.lxc[i];
    const T f12 = T(0.5) * (f11 + f22 - batch.lbc[i]);
    const T det = f11 * f22 - f12 * f12;
    const T d1 = batch.ub[i] - ux, d2 = batch.uc[i] - ux;
    const T ad1 = f22 * d1 - f12 * d2, ad2 = f11 * d2 - f12 * d1;
    const T room = det - (d1 * ad1 + d2 * ad2);
    const T lxt = batch.lxt[i];
    const T g1 = T(0.5) * (f11 + lxt - batch.lbt[i]), g2 = T(0.5) * (f22 + lxt - batch.lct[i]);
    const T ag1 = f22 * g1 - f12 * g2, ag2 = f11 * g2 - f12 * g1;
    const T volume = larger(lxt * det - (g1 * ag1 + g2 * ag2), T(0));
    const T k = std::sqrt(volume) * std::sqrt(larger(room, T(0)));
    const T w1 = ag1 * room - k * ad1, w2 = ag2 * room - k * ad2, w3 = det * room - w1 - w2;
    const T face = ux + (d1 * ag1 + d2 * ag2 + k) / det;

    const T xt = std::sqrt(lxt);
    const T via_b = detail::edge_time_lane(ux, batch.ub[i], f11, lxt, batch.lbt[i], xt, std::sqrt(batch.lbt[i]));
    const T via_c = detail::edge_time_lane(ux, batch.uc[i], f22, lxt, batch.lct[i], xt, std::sqrt(batch.lct[i]));
    // The edges stand in for a negative weight of the corner they leave out, and for both when there is no stationary
    // point.
    const bool exists = room > T(0);
    const T without_b = (exists & (!(w1 < T(0)))) ? inf : via_c;
    const T without_c = (exists & (!(w2 < T(0)))) ? inf : via_b;
    const bool inside = exists & (w1 >= T(0)) & (w2 >= T(0)) & (w3 >= T(0));
    batch.time[i] = inside ? face : smaller(without_b, without_c);
    batch.thin[i] = det > T(1.0 / 16) * (f11 * f22) ? T(0) : T(1);
  }
}

}  // namespace isochron
