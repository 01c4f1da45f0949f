// Numbers that decide when a solve has converged and in which precision it can be done.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace isochron {

constexpr double default_tolerance(bool single) { return single ? 1e-5 : 1e-6; }

/// The residual may be this many tolerances: gains below one are dropped, and a vertex can collect a few of them.
inline constexpr double residual_tolerances = 10;

/// Products of five squared lengths must stay within the exponents of single precision. Edge travel times in internal
/// units.
constexpr bool fits_single(double shortest, double longest) { return shortest > 3e-4 && longest < 3e3; }

/// The same of double precision.
constexpr bool fits_double(double shortest, double longest) { return shortest > 1e-28 && longest < 1e28; }

/// An update through an element is exact to the rounding of its longest edge. Where an edge is so much longer than
/// others of its element, and than those of the mesh, the times of neighbours that have nothing to do with it would be
/// wrong by more than a tolerance.
constexpr bool spoils_neighbours(double shortest, double longest, double usual) {
  return longest > 1e12 * shortest && longest > 1e10 * usual;
}

/// Relaxing first in, first out settles the vertices one step further from the seeds with each pass over those that
/// wait, so as many passes as there are vertices are enough. Paths across a domain are far shorter than that: some
/// times √N steps, also in the plane. The thousand is for corners that depend on each other and settle step by step, to
/// the tolerance. A solve that has not ended after that many passes never will.
inline std::uint64_t max_passes(std::uint64_t vertices) {
  return 1000 + std::min(vertices, static_cast<std::uint64_t>(8 * std::sqrt(static_cast<double>(vertices))));
}
/// Of single vertices; schedules that do more give up.
inline std::uint64_t max_updates(std::uint64_t vertices) { return (vertices + 1) * max_passes(vertices); }

}  // namespace isochron
