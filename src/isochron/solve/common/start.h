// From seeds to what a schedule starts with: each vertex once, times from zero on in internal units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/common/state.h"

namespace isochron {

/// Times are counted from the earliest seed on. Throws InputError when they are so large, or in a T so far apart, that
/// travel times, `unit` for about an edge, would be lost beside them.
template <class T>
StartSeeds make_start_seeds(std::span<const Seed> seeds, double unit);

/// The source of all seeds, where there is only one; −1 else.
inline std::int32_t only_source(std::span<const Seed> seeds) {
  const bool one =
      std::all_of(seeds.begin(), seeds.end(), [&](const Seed& seed) { return seed.source == seeds.front().source; });
  return one ? seeds.front().source : -1;
}

/// The state before a schedule runs, and what is needed to read its result.
template <class T>
struct Start {
  SolveState<T> state;
  BigVector<T> first;                ///< of a second-order solve: the first-order times
  std::vector<std::uint8_t> pinned;  ///< per vertex: starts with a time
  std::vector<std::int32_t> label;   ///< per vertex: the source of a seed, −1 elsewhere
  std::vector<SeedTime<T>> seeds;    ///< as they were before the schedule ran
  double base = 0;                   ///< user's time that is 0 inside
};

/// For a problem of that many vertices; `internal(vertex)` is its number of a user's vertex.
template <class T, class Internal>
Start<T> make_start(std::size_t vertices, const StartSeeds& seeds, double tolerance, const Internal& internal) {
  Start<T> start;
  start.state.time.assign(vertices, std::numeric_limits<T>::infinity());
  start.state.tolerance = static_cast<T>(tolerance);
  start.pinned.assign(vertices, 0);
  start.label.assign(vertices, -1);
  start.base = seeds.base;
  for (const Seed& seed : seeds.seeds) {
    const std::uint32_t v = internal(seed.vertex);
    start.state.seeds.push_back(v);
    start.pinned[v] = 1;
    start.state.time[v] = static_cast<T>(seed.time);
    start.label[v] = seed.source;
    start.seeds.push_back({v, start.state.time[v]});
  }
  return start;
}

/// What the user is told when the edges' travel times do not fit single precision.
std::string precision_note(double shortest, double longest);

}  // namespace isochron
