// How much later than a vertex its neighbours are, when their times come through it: pushes that cannot gain are left
// out by it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// A lower bound of (arrival at t) − (time of x), for arrivals that use x, in the element with these corners. The ray
/// reaches t within the cone of the edges from x, b and c, and the time along it grows from x to t by the product of
/// its direction with the edge (x, t): that is least at an edge of the cone, or between b and c where both turn away.
/// Takes squared lengths; the result allows for their rounding.
template <class T>
T least_lead(T xt, T bt, T ct, T xb, T xc, T bc) {
  constexpr T rounding = T(4) * std::numeric_limits<T>::epsilon();
  const auto product = [](T p, T q, T pq) { return T(0.5) * (p + q - pq) - rounding * (p + q + pq); };
  const T b = std::sqrt(bt), c = std::sqrt(ct);
  const T along_b = product(xt, bt, xb) / b, along_c = product(xt, ct, xc) / c;
  const T least = std::min(along_b, along_c);
  if (least >= T(0)) return least;
  const T cosine = product(bt, ct, bc) / (b * c);
  const bool between = cosine * along_c > along_b && cosine * along_b > along_c;
  return between ? -std::sqrt(xt) : least;  // no ray takes longer backwards than the edge
}

/// The same for all corners of a record as x sees it, in steps of 1 / `steps`, rounded down. A corner that is acute
/// counts as such to rounding: nothing earlier than x comes through x.
template <class T>
Leads leads_from(const ElementRecord<T, 4>& record, int x, T steps) {
  Leads leads{};
  for (int k = 1; k < 4; ++k) {
    const int t = (x + k) & 3, b = (x + k % 3 + 1) & 3, c = (x + (k + 1) % 3 + 1) & 3;
    const auto& l = record.length;
    const T lead = least_lead(l[edge_index(x, t)], l[edge_index(b, t)], l[edge_index(c, t)], l[edge_index(x, b)],
                              l[edge_index(x, c)], l[edge_index(b, c)]);
    const T whole = std::floor(lead * steps - T(0.01));
    const T low = record.acute(t) ? T(0) : T(-Leads::most);
    leads.of_corner[t] = static_cast<std::int8_t>(whole > low ? std::min(whole, T(Leads::most)) : low);  // NaN: low
  }
  return leads;
}

}  // namespace isochron
