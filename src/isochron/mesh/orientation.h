// On which side of a plane or line a point lies, with the right sign whatever the rounding (J. R. Shewchuk, Adaptive
// precision floating-point arithmetic and fast robust geometric predicates, 1997).
#pragma once

#include "isochron/types.h"

namespace isochron {

/// The sign (−1, 0, 1) of the volume of the tetrahedron a b c d: positive when (b−a)×(c−a)
/// points to d's side of the triangle a b c. Exact while products of three coordinates neither overflow nor underflow
/// (sizes between about 1e-90 and 1e90).
int orientation(Vec3d a, Vec3d b, Vec3d c, Vec3d d);

/// The sign of the area of the triangle (ax, ay) (bx, by) (cx, cy), positive when counter-clockwise. Exact likewise.
int orientation(double ax, double ay, double bx, double by, double cx, double cy);

}  // namespace isochron
