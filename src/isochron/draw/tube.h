// Tubes around paths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/draw/shaded_mesh.h"

namespace isochron {

struct TubeOptions {
  double radius = 1;  ///< to the corners of the cross-section, in the unit of the coordinates
  int sides = 12;     ///< corners of the cross-section
};

struct Tube : ShadedMesh {
  std::vector<std::uint32_t> point_of;  ///< of each vertex: the point of the path that it lies at
};

/// A tube around a polyline, closed by half balls. Between two points it is a prism; its corners go on from one piece
/// to the next without turning about the path (parallel transport, so the frame is the rotation-minimising one), and
/// meet in the plane that halves the angle. Points that coincide with the one before are left out; a path of one place
/// gives a ball, one without points nothing. Throws UsageError for a radius that is not positive, fewer than three
/// sides, or points that are not finite.
Tube make_tube(std::span<const Vec3d> path, const TubeOptions& options = {});

}  // namespace isochron
