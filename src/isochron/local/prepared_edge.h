// The triangle update for those who solve the same triangle many times: what does not depend on the times is worked out
// once.
#pragma once

#include <cmath>

#include "isochron/local/simplex_update.h"
#include "isochron/types.h"

namespace isochron {

/// A triangle seen from its target x, with the edge a,b opposite. `time` is `detail::edge_time` with its division and
/// all roots but one taken out. Lengths are expected as in `detail`.
template <class T>
struct PreparedEdge {
  T base;            ///< squared length of the edge a,b
  T foot;            ///< where x stands over the edge: the weight of a at its foot
  T height;          ///< squared height of x over the edge, over `base`
  T from_a, from_b;  ///< travel times to x from the ends

  /// With an edge without length it is the earlier end that counts: `base` = 0 leaves no room between the times.
  ISOCHRON_HD static PreparedEdge from_lengths(double lab, double lax, double lbx) {
    PreparedEdge edge{static_cast<T>(lab), 0, 0, static_cast<T>(std::sqrt(lax)), static_cast<T>(std::sqrt(lbx))};
    if (!(lab > 0)) return edge;
    // The height is taken from the nearer end: on needles the far one loses it in rounding.
    const double foot = 0.5 * (lab - std::fabs(lbx - lax));
    const double height = detail::smaller(lax, lbx) - foot * (foot / lab);
    edge.foot = static_cast<T>(0.5 * (lab + lbx - lax) / lab);
    edge.height = height > 0 ? static_cast<T>(height / lab) : T(0);
    return edge;
  }

  /// The earliest arrival at x.
  [[nodiscard]] ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T time(T ua, T ub) const { return solve(ua, ub).time; }

  /// The same with the weights of the two ends.
  [[nodiscard]] ISOCHRON_HD EdgeCandidate<T> candidate(T ua, T ub) const {
    const Solution s = solve(ua, ub);
    if (s.inside) return {s.time, {s.weight / s.room, T(1) - s.weight / s.room}};
    const bool by_a = ua + from_a < ub + from_b;
    return {s.time, {T(by_a ? 1 : 0), T(by_a ? 0 : 1)}};
  }

 private:
  struct Solution {
    T time, weight, room;
    bool inside;
  };

  /// With room = |ab|² − δ² and k = √(height · room) the weight of a is foot − δk / room, here multiplied by room. No
  /// stationary point (room negative or NaN, from times too far apart or infinite) makes the comparisons false; then,
  /// and when it lies outside, one of the ends is the earliest.
  [[nodiscard]] ISOCHRON_HD ISOCHRON_ALWAYS_INLINE Solution solve(T ua, T ub) const {
    const T delta = ua - ub;
    const T room = base - delta * delta;
    const T k = std::sqrt(height * room);
    const T weight = foot * room - delta * k;
    const T ends = detail::smaller(ua + from_a, ub + from_b);
    const bool inside = room > T(0) && weight >= T(0) && weight <= room;
    return {inside ? ub + foot * delta + k : ends, weight, room, inside};
  }
};

}  // namespace isochron
