// PNG files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "isochron/draw/color_map.h"

namespace isochron::bench {

/// The bytes of a PNG file of so many pixels a row, the upper row first.
std::string png_of(std::span<const Color> pixels, std::size_t width);

}  // namespace isochron::bench
