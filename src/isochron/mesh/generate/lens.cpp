#include "isochron/mesh/generate/lens.h"

#include <algorithm>

#include <fmt/format.h>

#include "isochron/core/error.h"

namespace isochron {

RegionModel generate_lens(const LensOptions& options) {
  if (!(options.extent > 0) || !(options.radius > 0 && options.refractive_index > 0))
    throw UsageError(fmt::format("extent {}, radius {} and refractive index {} must be positive", options.extent,
                                 options.radius, options.refractive_index));
  if (!(options.thickness > 0 && options.thickness < std::min(1.0, 2 * options.radius)))
    throw UsageError(fmt::format("lens thickness {} must be positive and below both 1 and twice the radius {}",
                                 options.thickness, options.radius));
  const double size = options.extent, radius = options.radius * size;
  const double offset = radius - options.thickness * size / 2;
  const Vec3d center{size / 2, size / 2, size / 2}, aside{offset, 0, 0};
  const auto level = [=](const Vec3d& p) {
    return std::max(norm(p - (center - aside)), norm(p - (center + aside))) - radius;
  };
  CubeOptions box{.nx = options.n, .ny = options.n, .nz = options.n, .jitter = options.jitter, .seed = options.seed};
  box.extent = {size, size, size};
  return generate_region_model(box, {.outside = 1, .inside = 1 / options.refractive_index}, level);
}

}  // namespace isochron
