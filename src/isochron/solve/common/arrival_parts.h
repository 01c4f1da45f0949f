// Results that are put together from several solves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/solve/common/seed.h"

namespace isochron {

/// The worse of both, in each check, measured by what counts as passed there.
void take_worse(const Residual& part, Residual& residual);

/// Takes over what is earlier in `part`; counts and worst residuals add up.
void take_earlier(Arrival&& part, Arrival& arrival);

/// Counts what was reached, and when the last.
void summarise(Arrival& arrival);

/// How many times are not the same.
std::size_t count_changed(std::span<const double> before, std::span<const double> after);

/// Notes how the sources were treated.
void describe_sources(SourceInit init, std::span<const Seed> seeds, Arrival& arrival);

/// What becomes of a source when others take the place of all of them.
struct SourceFate {
  std::int32_t now = -1;  ///< the same place and time among those after it
  bool lost = true;       ///< nothing starts at its place any more, or it starts later
};
std::vector<SourceFate> fates_of_sources(const Sources& before, const Sources& after);

/// Whether more than a share of the vertices have their times from lost sources, as far as their sources are known.
bool mostly_lost(const Arrival& before, std::span<const SourceFate> fates, double share);

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
