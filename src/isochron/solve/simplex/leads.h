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
/// then it is less than any number of use here. Takes squared lengths, and 1 over the plain ones from b and c to t; the
/// result allows for rounding.
template <class T>
ISOCHRON_HD ISOCHRON_ALWAYS_INLINE T min_lead(T xt, T bt, T ct, T xb, T xc, T bc, T over_b, T over_c) {
  constexpr T rounding = T(4) * std::numeric_limits<T>::epsilon();
  constexpr T less = T(0.5) - rounding, more = T(0.5) + rounding;
  const T along_b = (less * (xt + bt) - more * xb) * over_b, along_c = (less * (xt + ct) - more * xc) * over_c;
  // Of the angle between b and c, from below and from above, to err to the safe side.
  const T over_bc = over_b * over_c, sum = bt + ct;
  const T low = (less * sum - more * bc) * over_bc, high = (more * sum - less * bc) * over_bc;
  const auto turned = [&](T along) { return (along < T(0) ? low : high) * along; };
  const int between = static_cast<int>(turned(along_c) > along_b) & static_cast<int>(turned(along_b) > along_c);
  return detail::smaller(along_b, along_c) - (between != 0 ? std::numeric_limits<T>::max() : T(0));
}

/// Fills the leads of a vertex, whose longest edge has this squared length.
void fill_leads(SimplexProblem<float, 4>& problem, std::size_t v, float longest);
void fill_leads(SimplexProblem<double, 4>& problem, std::size_t v, double longest);

}  // namespace isochron
