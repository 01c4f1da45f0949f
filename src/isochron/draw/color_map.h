// Isochron's colour map: dark violet over blue and green to light yellow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace isochron {

using Color = std::array<std::uint8_t, 3>;

/// `count` colours from low to high values. The path is drawn in the perceptual space OKLab with lightness rising all
/// the way and steps of equal visible size, from blue to yellow, the axis that colour-blind people see, so the map also
/// works in grey.
std::vector<Color> color_map(int count);

/// For values that are not finite: places the front did not reach.
constexpr Color unreached_color{176, 176, 180};

}  // namespace isochron
