// How much later than a vertex its neighbours are, when their times come through it: pushes that cannot gain are left
// out by it.
#pragma once

#include <limits>

#include "isochron/local/simplex_update.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// A lower bound of (arrival at t) − (time of x), for arrivals that use x, in the element with these corners. The ray
/// reaches t within the cone of the edges from x, b and c, and the time along it grows from x to t by the product of
/// its direction with the edge (x, t): that is least at an edge of the cone, or between b and c where both turn away;
/// then, and where there is no angle, it is −inf here. Takes squared lengths, and 1 over the plain ones from b and c to
/// t; the result allows for rounding.
template <class T>
ISOCHRON_ALWAYS_INLINE T least_lead(T xt, T bt, T ct, T xb, T xc, T bc, T over_b, T over_c) {
  constexpr T rounding = T(4) * std::numeric_limits<T>::epsilon();
  const auto product = [](T p, T q, T pq) { return (T(0.5) - rounding) * (p + q) - (T(0.5) + rounding) * pq; };
  const T along_b = product(xt, bt, xb) * over_b, along_c = product(xt, ct, xc) * over_c;
  // Of the angle between b and c, from below and from above, to err to the safe side: where both are beyond 0, the
  // least is between them.
  const T low = product(bt, ct, bc) * (over_b * over_c), high = -product(bc, T(0), bt + ct) * (over_b * over_c);
  const auto turned = [&](T along) { return (along < T(0) ? low : high) * along; };
  const T beyond_b = turned(along_c) - along_b, beyond_c = turned(along_b) - along_c;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const bool known = along_b + along_c < inf && !(detail::smaller(beyond_b, beyond_c) > T(0));
  return known ? detail::smaller(along_b, along_c) : -inf;
}

/// Fills the leads of a vertex, whose longest edge has this squared length.
void fill_leads(SimplexProblem<float, 4>& problem, std::size_t v, float longest);
void fill_leads(SimplexProblem<double, 4>& problem, std::size_t v, double longest);

}  // namespace isochron
