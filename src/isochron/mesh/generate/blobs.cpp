#include "isochron/mesh/generate/blobs.h"

#include <cmath>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/random.h"
#include "isochron/mesh/generate/check.h"

namespace isochron {

RegionModel generate_blobs(const BlobsOptions& options) {
  require_positive("extent", options.extent);
  if (options.blobs < 1 || options.blobs > 1000)
    throw UsageError(
        fmt::format("{} blobs cannot be placed (none, or too many to tell apart); choose 1 to 1000", options.blobs));
  struct Ball {
    Vec3d center;
    double radius;
  };
  Random random(options.seed);
  // The balls' radii shrink with their number, so that they fill about the same part of the cube.
  const double size = options.extent / std::cbrt(static_cast<double>(options.blobs));
  std::vector<Ball> balls;
  for (std::size_t i = 0; i < options.blobs; ++i) {
    const Vec3d center{random.uniform(0.1, 0.9), random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)};
    balls.push_back({options.extent * center, size * random.uniform(0.25, 0.5)});
  }
  // −log of the sum of bells grows about like a distance outwards, which the bells themselves do not.
  const auto level = [&](const Vec3d& p) {
    double sum = 1e-30;
    for (const Ball& ball : balls) {
      const Vec3d r = (p - ball.center) / ball.radius;
      sum += std::exp(-dot(r, r));
    }
    return size * (-0.7 - std::log(sum));
  };
  CubeOptions box{.nx = options.n, .ny = options.n, .nz = options.n, .jitter = options.jitter, .seed = options.seed};
  box.extent = {options.extent, options.extent, options.extent};
  return generate_region_model(box, {.outside = options.speed_outside, .inside = options.speed_inside}, level);
}

}  // namespace isochron
