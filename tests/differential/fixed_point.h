// The times that a solver should find, by plain means: a queue ordered by time, all candidates of a vertex, no
// shortcuts. It shares no update with the library: see `FaceMinimum` and the notes in fixed_point.cpp.
#pragma once

#include <optional>
#include <vector>

#include "differential/cases.h"

namespace isochron::test {

/// How far times may be from the fixed point. Every answer that passes the residual check has |u − update(u)| within
/// `share` of the local edge time at each vertex, and its updates are exact to rounding in numbers of this epsilon.
struct Exactness {
  double share = 0;
  double epsilon = 0;
};

/// The fixed point of a case, and what may be wrong with times that are found in another way.
struct FixedPoint {
  std::vector<double> times;

  /// By how much the times of a good answer may be too late and too early at each vertex: the local errors, carried
  /// from vertex to vertex by the weights with which the times depend on each other. Behind obtuse corners, where
  /// vertices depend on each other both ways, that can be far more than the local ones.
  struct Bounds {
    std::vector<double> late, early;
  };
  [[nodiscard]] Bounds bounds(const Exactness& exactness) const;

  /// One way in which a vertex depends on others, near the fixed point.
  struct Dependence {
    std::uint32_t vertex;
    double gap;              ///< how much later than the vertex's time it would be
    double rounding;         ///< of its time, times the root of the epsilon
    double linear_rounding;  ///< likewise, times the epsilon
    double fixed_rounding;   ///< likewise, whatever the epsilon
    std::uint32_t first, count;
  };
  struct Share {
    std::uint32_t vertex;
    double weight;
  };
  std::vector<Dependence> dependences;  ///< seeds first, then in the order of the vertices' times
  std::vector<Share> shares;
  std::vector<double> edge;  ///< local edge time of each vertex
  double base = 0;           ///< the first onset
};

/// None where there is none of first order to be found (other schemes, factored sources), or not in reasonable time.
/// Throws what the solver should throw for sources that cannot be placed.
std::optional<FixedPoint> find_fixed_point(const Case& problem);

}  // namespace isochron::test
