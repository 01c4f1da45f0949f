#include "isochron/surface/triangulate/label_field.h"

#include <algorithm>

namespace isochron {

Vec3d SplineLabels::project(Vec3d p) const {
  const double spacing =
      1 / std::max({view_.lattice.per_spacing.x, view_.lattice.per_spacing.y, view_.lattice.per_spacing.z});
  for (int step = 0; step < 12; ++step) {
    const Jet<double> at = view_.slope(p);
    const double steepness = dot(at.gradient, at.gradient);
    if (std::abs(at.value) < 1e-7 * spacing || !(steepness > 1e-12)) break;
    Vec3d move = (-at.value / steepness) * at.gradient;
    // Where the field is flat, Newton's step is wild: at most a voxel.
    const double length = norm(move);
    if (length > spacing) move = (spacing / length) * move;
    p += move;
  }
  return p;
}

Vec3d SplineLabels::normal(Vec3d p) const {
  const Vec3d g = view_.slope(p).gradient;
  const double length = norm(g);
  return length > 0 ? g / length : Vec3d{0, 0, 1};
}

}  // namespace isochron
