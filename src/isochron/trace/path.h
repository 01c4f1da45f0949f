// A ray or geodesic traced back from a point to the source that reaches it first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isochron/core/vec.h"

namespace isochron {

enum class Shorten { no, yes };

struct PathOptions {
  /// Whether the traced way is made a shortest one among those near it: the characteristics of times that are exact to
  /// first order wander about an edge, the shortest way does not.
  Shorten shorten = Shorten::yes;
};

enum class PathEnd {
  source,   ///< where the front started
  minimum,  ///< a place that nothing earlier is near, but no source: the times do not fit the sources
  unended   ///< tracing gave up after very many steps
};

/// From the start (first) to the source (last), as a polyline in world coordinates.
struct Path {
  std::vector<Vec3d> points;
  std::vector<double> times;  ///< when the front passes each point; strictly decreasing
  double length = 0;          ///< in the unit of the coordinates
  double travel_time = 0;     ///< along the path, by the metric: about times.front() − times.back()
  std::int32_t source = -1;   ///< index into Sources, as in `Arrival::source`
  PathEnd end = PathEnd::source;
  std::string why{};        ///< where it did not end at a source: the reason, one line
  std::size_t bridges = 0;  ///< gaps crossed where the interpolated times have a minimum of their own
};

}  // namespace isochron
