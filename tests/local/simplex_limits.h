// How much of an element's longest edge the local updates may be off, by family. Good shapes cost a few ulp. Where the
// target is nearly in the face, the height is the root of a difference lost in rounding of the lengths themselves, so
// no method does better than a part of √eps.
#pragma once

#include <cmath>
#include <limits>

#include "simplex_samples.h"

namespace isochron::test {

struct Limits {
  double usual;  ///< 99 of 100 samples
  double worst;
};

template <class T>
Limits limits(Family family) {
  const double eps = std::numeric_limits<T>::epsilon();
  const double root = std::sqrt(eps);
  switch (family) {
    case Family::obtuse: return {12 * eps, 200 * eps};
    case Family::needle_100:
    case Family::needle_1000: return {6 * eps, 8e3 * eps};
    case Family::sliver: return {0.3 * root, 2 * root};
    case Family::flat: return {1 * root, 2 * root};
    case Family::ratio_10: return {6 * eps, 30 * eps};
    case Family::ratio_100: return {10 * eps, 200 * eps};
    case Family::ratio_1e4: return {60 * eps, 2e4 * eps};
    default: return {4 * eps, 8 * eps};
  }
}

}  // namespace isochron::test
