// Which seeds keep their times at second order. For host and device.
#pragma once

#include "isochron/types.h"

namespace isochron {

/// Whether a seed's first-order time is still its own. Another source must have come earlier by more than this share of
/// the cell's shortest step: gains as small as tolerances and rounding do not count, or second order would replace an
/// exact time.
template <class T>
ISOCHRON_HD constexpr bool keeps_its_time(T own, T first, T shortest_step) {
  return !(first < own - T(1e-4) * shortest_step);
}

}  // namespace isochron
