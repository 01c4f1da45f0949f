#include "isochron/solve/common/start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

template <class T>
StartSeeds make_start_seeds(std::span<const Seed> seeds, double unit) {
  StartSeeds start;
  start.base = std::numeric_limits<double>::infinity();
  for (const Seed& seed : seeds) start.base = std::min(start.base, seed.time);
  // In ascending order no vertex comes twice, and hundreds of thousands are not looked up.
  const bool ascending = std::adjacent_find(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) {
                           return a.vertex.value >= b.vertex.value;
                         }) == seeds.end();
  std::unordered_map<std::uint64_t, std::size_t> place;
  start.seeds.reserve(seeds.size());
  if (!ascending) place.reserve(seeds.size());
  for (const Seed& seed : seeds) {
    const T time = static_cast<T>((seed.time - start.base) / unit);
    if (!std::isfinite(time) && std::isfinite(seed.time) && std::isfinite(unit))
      throw InputError(
          fmt::format("onset time {} is too far after the first one, {} (edges take about {:.1g}); give times in the "
                      "same unit, or use ",
                      seed.time, start.base, unit) +
          Setting{Option::precision, "double"});
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
