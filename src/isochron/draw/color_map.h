// Isochron's colour map (dark violet over blue and green to light yellow), and directions as colours.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "isochron/types.h"

namespace isochron {

using Color = std::array<std::uint8_t, 3>;

/// `count` colours from low to high values. The path is drawn in the perceptual space OKLab with lightness rising all
/// the way and steps of equal visible size, from blue to yellow, the axis that colour-blind people see, so the map also
/// works in grey.
std::vector<Color> color_map(int count);

/// For values that are not finite: places the front did not reach.
constexpr Color unreached_color{176, 176, 180};

/// The usual colours of fibre directions (red is left to right, green back to front, blue up and down): |x|, |y| and
/// |z| of a unit vector times `brightness` (0 to 1).
inline Color direction_color(const Vec3d& direction, double brightness = 1) {
  Color color{};
  for (int a = 0; a < 3; ++a) {
    const double part = std::clamp(brightness * std::abs(direction[a]), 0.0, 1.0);  // NaN stays NaN
    color[static_cast<std::size_t>(a)] = static_cast<std::uint8_t>(part > 0 ? std::lround(255 * part) : 0);
  }
  return color;
}

}  // namespace isochron
