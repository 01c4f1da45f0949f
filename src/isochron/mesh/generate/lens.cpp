#include "isochron/mesh/generate/lens.h"

#include <algorithm>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/generate/check.h"

namespace isochron {

RegionModel generate_lens(const LensOptions& options) {
  require_positive("extent", options.extent);
  require_positive("radius", options.radius);
  require_positive("refractive index", options.refractive_index);
  if (!(options.thickness > 0 && options.thickness < std::min(1.0, 2 * options.radius)))
    throw UsageError(
        fmt::format("the lens cannot be {} thick (it would be empty, or larger than its spheres or the cube); choose "
                    "more than 0 and less than {:g}",
                    options.thickness, std::min(1.0, 2 * options.radius)));
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
