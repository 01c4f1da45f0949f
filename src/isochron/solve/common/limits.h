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

/// How much work a solve can be.
struct ProblemSize {
  std::uint64_t vertices = 0;
  double contrast = 1;  ///< longest over shortest edge travel time where corners may be obtuse, else 1
};

/// Relaxing first in, first out settles the vertices one step further from the seeds with each pass over those that
/// wait, so as many passes as there are vertices are enough. Paths across a domain are far shorter than that: some
/// times √N steps, also in the plane. Behind obtuse corners vertices depend on each other: what they are wrong by
/// shrinks with each pass by a factor of at least 1 − 1/contrast, to the last digit in some forty contrasts. A solve
/// that has not ended after that many passes never will.
inline std::uint64_t max_passes(const ProblemSize& size) {
  const auto across = static_cast<std::uint64_t>(8 * std::sqrt(static_cast<double>(size.vertices)));
  const double contrast = std::clamp(size.contrast, 1.0, 1e6);
  return 1000 + std::min(size.vertices, across) + static_cast<std::uint64_t>(40 * contrast);
}
/// Of single vertices; schedules that do more give up.
inline std::uint64_t max_updates(const ProblemSize& size) { return (size.vertices + 1) * max_passes(size); }

}  // namespace isochron
