// Directions as colours: red is left to right, green back to front, blue up and down.
#pragma once

#include <algorithm>
#include <cmath>

#include "isochron/core/vec.h"
#include "isochron/draw/color_map.h"

namespace isochron {

/// The usual colours of fibre directions: |x|, |y| and |z| of a unit vector times `brightness` (0 to 1).
inline Color direction_color(const Vec3d& direction, double brightness = 1) {
  Color color{};
  for (int a = 0; a < 3; ++a) {
    const double part = std::clamp(brightness * std::abs(direction[a]), 0.0, 1.0);  // NaN stays NaN
    color[static_cast<std::size_t>(a)] = static_cast<std::uint8_t>(part > 0 ? std::lround(255 * part) : 0);
  }
  return color;
}

}  // namespace isochron
