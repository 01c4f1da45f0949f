// Places where smaller or larger triangles are asked for by hand.
#pragma once

#include <span>

#include "isochron/core/vec.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/field/spline.h"

namespace isochron {

/// Multiplies sizes by `factor` at `center`, less and less so up to `radius`: by 1 + (factor − 1)(1 − (d/radius)²)².
struct SizeBrush {
  Vec3d center;       ///< in the world
  double radius = 0;  ///< a length of the world
  double factor = 1;  ///< 0.5: edges half as long, four times as many triangles

  static constexpr double smallest_factor = 0.05, largest_factor = 20;
};

/// Throws UsageError for a radius that is not positive or a factor out of range.
void check_brushes(std::span<const SizeBrush> brushes);

/// Applies brushes one after another (together no more than one may do alone), then makes sizes grow by at most `delta`
/// per length.
void apply_brushes(std::span<const SizeBrush> brushes, const LatticeFrame& frame, double delta, SizeField& sizes);

}  // namespace isochron
