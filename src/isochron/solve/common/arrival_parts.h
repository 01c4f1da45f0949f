// Results that are put together from several solves.
#pragma once

#include <cstddef>
#include <exception>

#include "isochron/arrival.h"

namespace isochron {

/// The worse of both, in each check, measured by what counts as passed there.
void take_worse(const Residual& part, Residual& residual);

/// Takes over what is earlier in `part`; counts and worst residuals add up.
void take_earlier(Arrival&& part, Arrival& arrival);

/// Counts what was reached, and when the last.
void summarise(Arrival& arrival);

/// Factoring does not suit the metric of the domain: the sources get balls instead.
struct FactoringFailed : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "factoring does not suit this metric"; }
};

/// Factoring solves once per source: throws UsageError when that would be too often.
void check_factored_count(std::size_t sources);

}  // namespace isochron
