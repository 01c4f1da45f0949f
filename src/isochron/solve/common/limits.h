// Numbers that decide when a solve has converged and in which precision it can be done.
#pragma once

namespace isochron {

constexpr double default_tolerance(bool single) { return single ? 1e-5 : 1e-6; }

/// The residual may be this many tolerances: gains below one are dropped, and a vertex can collect a few of them.
inline constexpr double residual_tolerances = 10;

/// Products of five squared lengths must stay within the exponents of single precision. Edge travel times in internal
/// units.
constexpr bool fits_single(double shortest, double longest) { return shortest > 3e-4 && longest < 3e3; }

}  // namespace isochron
