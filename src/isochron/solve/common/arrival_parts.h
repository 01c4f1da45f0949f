// Results that are put together from several solves.
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include "isochron/arrival.h"
#include "isochron/solve/common/seed.h"

namespace isochron {

/// The worse of both, in each check, measured by what counts as passed there.
void take_worse(const Residual& part, Residual& residual);

/// Takes over what is earlier in `part`; counts and worst residuals add up.
void take_earlier(Arrival&& part, Arrival& arrival);

/// Counts what was reached, and when the last.
void summarise(Arrival& arrival);

/// Notes how the sources were treated.
void describe_sources(SourceInit init, std::span<const Seed> seeds, Arrival& arrival);

/// Factoring does not suit the metric of the domain, or there are too many sources: they get balls instead.
class FactoringFailed : public std::exception {
 public:
  explicit FactoringFailed(const char* why = "the metric changes too much for factoring") : why_(why) {}
  [[nodiscard]] const char* what() const noexcept override { return why_; }

 private:
  const char* why_;
};

/// Factoring solves once per source: throws FactoringFailed when that would be too often.
void check_factored_count(std::size_t sources);

}  // namespace isochron
