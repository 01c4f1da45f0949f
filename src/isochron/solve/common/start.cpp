#include "isochron/solve/common/start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/solve/common/limits.h"

namespace isochron {

namespace {

template <class T>
void check_onsets(double first, double last, double unit) {
  if (!std::isfinite(unit)) return;
  const auto refuse = [&](const char* precision, const Message& advice) {
    throw InputError(
        fmt::format("onset times from {:g} to {:g} leave no digits for the travel times of edges, about {:.1g} "
                    "({} precision has {}); ",
                    first, last, unit, precision, precision == std::string_view("double") ? 15 : 6) +
        advice);
  };
  // Inside, times are counted from the first one on; outside, they are doubles.
  if (hides_edge_times(std::max({std::abs(first), std::abs(last), last - first}), unit,
                       std::numeric_limits<double>::epsilon()))
    refuse("double", "count the times from nearer 0");
  if (hides_edge_times(last - first, unit, std::numeric_limits<T>::epsilon()))
    refuse("single", "give times in the same unit, or use " + Setting{Option::precision, "double"});
}

}  // namespace

template <class T>
StartSeeds make_start_seeds(std::span<const Seed> seeds, double unit) {
  StartSeeds start;
  start.base = std::numeric_limits<double>::infinity();
  double last = -start.base;
  for (const Seed& seed : seeds) {
    start.base = std::min(start.base, seed.time);
    if (std::isfinite(seed.time)) last = std::max(last, seed.time);
  }
  if (std::isfinite(start.base)) check_onsets<T>(start.base, last, unit);
  // In ascending order no vertex comes twice, and hundreds of thousands are not looked up.
  const bool ascending = std::adjacent_find(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) {
                           return a.vertex.value >= b.vertex.value;
                         }) == seeds.end();
  std::unordered_map<std::uint64_t, std::size_t> place;
  start.seeds.reserve(seeds.size());
  if (!ascending) place.reserve(seeds.size());
  for (const Seed& seed : seeds) {
    const T time = static_cast<T>((seed.time - start.base) / unit);
    if (ascending) {
      start.seeds.push_back({seed.vertex, time, seed.source});
      continue;
    }
    const auto [found, fresh] = place.try_emplace(seed.vertex.value, start.seeds.size());
    if (fresh) start.seeds.push_back({seed.vertex, time, seed.source});
    else if (Seed& known = start.seeds[found->second]; time < known.time) known = {seed.vertex, time, seed.source};
  }
  return start;
}

std::string precision_note(double shortest, double longest) {
  return fmt::format(
      "precision raised to double: edge travel times span {:.1e} to {:.1e}, more than single precision can hold",
      shortest, longest);
}

template StartSeeds make_start_seeds<float>(std::span<const Seed>, double);
template StartSeeds make_start_seeds<double>(std::span<const Seed>, double);

}  // namespace isochron
