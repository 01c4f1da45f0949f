#include "isochron/generate/check.h"

#include <cmath>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

void require_positive(std::string_view name, double value) {
  if (!(value > 0 && std::isfinite(value)))
    throw UsageError(fmt::format("the {} cannot be {} (it must be above 0); give a positive number", name, value));
}

void require_share(std::string_view name, double value) {
  if (!(value >= 0 && value <= 1))
    throw UsageError(fmt::format("the {} cannot be {} (it is a share); choose 0 to 1", name, value));
}

void require_jitter(double jitter) {
  if (!(jitter >= 0 && jitter < 0.5))
    throw UsageError(fmt::format(
        "the jitter cannot be {} (half a cell would let vertices pass one another); choose at least 0 and below 0.5",
        jitter));
}

}  // namespace isochron
