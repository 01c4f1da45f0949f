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
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T edge_time_lane(T ux, T ub, T lxb, T lxt, T lbt, T xt, T bt) {
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
  const T k = std::sqrt(volume) * std::sqrt(larger(room, T(0)));
  const T w1 = ag1 * room - k * ad1, w2 = ag2 * room - k * ad2, w3 = det * room - w1 - w2;
  const T face = ux + (d1 * ag1 + d2 * ag2 + k) / det;

  const T xt = std::sqrt(lxt);
  const T via_b = edge_time_lane(ux, ub, lxb, lxt, lbt, xt, std::sqrt(lbt));
  const T via_c = edge_time_lane(ux, uc, lxc, lxt, lct, xt, std::sqrt(lct));
  // The edges stand in for a negative weight of the corner they leave out, and for both when there is no stationary
  // point.
  const bool exists = room > T(0);
  const T without_b = (exists & (!(w1 < T(0)))) ? infinity<T>() : via_c;
  const T without_c = (exists & (!(w2 < T(0)))) ? infinity<T>() : via_b;
  const bool inside = exists & (w1 >= T(0)) & (w2 >= T(0)) & (w3 >= T(0));
  thin = !(det > T(1.0 / 16) * (lxb * lxc));
  return inside ? face : smaller(without_b, without_c);
}

}  // namespace detail

/// Fills `batch.time` for the first `count` lanes as `push_time` would, with the widest vectors that the processor has.
/// Processors that multiply and add in one step may round the last digit differently.
void solve_faces(FaceBatch<float>& batch, float ux, int count);
void solve_faces(FaceBatch<double>& batch, double ux, int count);

}  // namespace isochron
