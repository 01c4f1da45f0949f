// Makes a traced path on an image a quicker one.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "isochron/trace/grid_field.h"

namespace isochron {

/// The points of a path, as indices, and when the front passes them.
struct GridTrail {
  std::vector<Vec3d> points;
  std::vector<double> times;
  void add(const Vec3d& point, double time) {
    points.push_back(point);
    times.push_back(time);
  }
};

/// The voxels that an end of a path may move in; empty for an end that stays where it is.
using EndRegion = std::unordered_set<std::uint32_t>;

/// Replaces a trail of two points or more by a quicker one near it, if there is one. Regions hold the ends of the trail
/// and do not overlap.
void shorten_trail(const GridField& field, const EndRegion& start, const EndRegion& finish, GridTrail& trail);

/// Along the points.
double travel_time(const GridField& field, const std::vector<Vec3d>& points);

}  // namespace isochron
