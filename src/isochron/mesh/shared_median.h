// The median of numbers that several processes have.
#pragma once

#include <optional>
#include <span>

#include "isochron/mesh/exchange.h"

namespace isochron {

/// All processes together: the number that is in the middle of all their positive finite numbers, when these are sorted
/// (the upper one of two); none when there are none.
std::optional<double> shared_median(Exchange& exchange, std::span<const double> own);

}  // namespace isochron
