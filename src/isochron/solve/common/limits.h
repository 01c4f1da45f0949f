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

/// What no element of a mesh with these edge travel times can break: those rules need not be asked for each.
constexpr bool ordinary_edge_times(double shortest, double longest) {
  return fits_double(shortest, longest) && !spoils_neighbours(shortest, longest, 0);
}

/// Numbers of this size are so coarse (`epsilon`, of 1) that less than two digits of an edge's travel time are left.
constexpr bool hides_edge_times(double size, double edge, double epsilon) { return size * epsilon > 0.01 * edge; }

/// How much work a solve can be.
struct ProblemSize {
  std::uint64_t vertices = 0;
  double contrast = 1;  ///< longest over shortest edge travel time of a mesh; 1 on images, whose updates are causal
};

/// Relaxing first in, first out settles the vertices one step further from the seeds with each pass over those that
/// wait. Paths across a domain are some times √N steps long; along a longer one, a winding corridor, few vertices wait
/// in each pass. Behind obtuse corners vertices depend on each other: what two of them are wrong by shrinks by a factor
/// of about 1 − 1/(2 contrast) each time round, to the last digit in some eighty contrasts. This is the work of few
/// vertices: the passes are such that a hundred of them can do it, up to a contrast of 1e5. Solves that end need far
/// less, and others should not take hours to say that they do not.
inline std::uint64_t max_passes(const ProblemSize& size) {
  const auto vertices = static_cast<double>(size.vertices);
  const auto across = static_cast<std::uint64_t>(8 * std::sqrt(vertices));
  const double slow = 80 * std::clamp(size.contrast, 1.0, 1e5) / std::max(1.0, vertices / 100);
  return 1000 + std::min(size.vertices, across) + static_cast<std::uint64_t>(slow);
}
/// Of passes over all vertices, each of which takes a winding path on by a step at least.
inline std::uint64_t max_sweeps(const ProblemSize& size) { return max_passes(size) + size.vertices; }
/// Of rounds on a device: where travel times differ much, each has only the earliest vertex go on, some of them several
/// times.
inline std::uint32_t max_rounds(const ProblemSize& size) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(8 * max_sweeps(size), 0x7ffffff0U));
}
/// Of single vertices; schedules that do more give up.
inline std::uint64_t max_updates(const ProblemSize& size) { return (size.vertices + 1) * max_passes(size); }

}  // namespace isochron
