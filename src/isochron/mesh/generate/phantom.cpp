#include "isochron/mesh/generate/phantom.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "isochron/core/error.h"
#include "isochron/dist/image_part.h"
#include "isochron/mesh/generate/check.h"

namespace isochron {
namespace {

constexpr double elongation = 1.4;

/// About how far p is from an ellipsoid around the origin, negative inside: exact to first order at its surface.
double ellipsoid_distance(const Vec3d& p, double across, double along) {
  const Vec3d unit{p.x / across, p.y / across, p.z / along};
  const double slope = norm(Vec3d{unit.x / across, unit.y / across, unit.z / along});
  return slope > 0 ? (dot(unit, unit) - 1) / (2 * slope) : -across;
}

double ring_distance(const Vec3d& p, double radius, double tube) {
  return std::hypot(std::hypot(p.x, p.y) - radius, p.z) - tube;
}

/// The part of a voxel at this distance from a surface that lies inside.
double share_inside(double distance, double voxel) { return std::clamp(0.5 - distance / voxel, 0.0, 1.0); }

void check(const PhantomOptions& options) {
  require_positive("radius", options.radius);
  require_positive("wall", options.wall);
  require_positive("tube", options.tube);
  if (!(options.wall < options.radius))
    throw UsageError("the phantom's wall is thicker than its radius (nothing would be inside); make it thinner");
  if (!(options.tube / 2 < options.wall))
    throw UsageError("the phantom's ring reaches through the wall; make the tube thinner or the wall thicker");
  if (!(std::max(elongation * options.radius, options.radius + 1.5 * options.tube) < 0.5))
    throw UsageError("the phantom is larger than the image; choose a smaller radius (0.28 fits)");
}

}  // namespace

Image generate_phantom(const PhantomOptions& options) { return generate_phantom_part(options, {}).image; }

ImagePart generate_phantom_part(const PhantomOptions& options, const PartChoice& choice) {
  check(options);
  const ImageGrid grid = image_grid(options.size);
  ImagePart part = empty_image_part(grid, choice);
  const auto& n = options.size.n;
  const double voxel = options.size.spacing;
  const double side = (std::min({n[0], n[1], n[2]}) - 1) * voxel;
  const Vec3d middle = 0.5 * voxel * Vec3d{n[0] - 1.0, n[1] - 1.0, n[2] - 1.0};
  const double outer = options.radius * side, inner = (options.radius - options.wall) * side;
  const double along_inner = elongation * outer - options.wall * side, tube = options.tube * side;

  const std::size_t count = part.image.grid.voxel_count();
  std::vector<std::uint8_t> labels(count, 0);
  std::vector<float> density(count, 0);
  for_own_voxels(part, choice, [&](std::size_t v, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
    const Vec3d p = grid.position(grid.voxel(i, j, k)) - middle;
    // Later ones lie over earlier ones.
    const std::array<double, 3> distances{ellipsoid_distance(p, outer, elongation * outer),
                                          ellipsoid_distance(p, inner, along_inner),
                                          ring_distance(p, outer + tube / 2, tube)};
    double value = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      if (distances[m] < 0) labels[v] = static_cast<std::uint8_t>(m + 1);
      value += share_inside(distances[m], voxel) * (100.0 * static_cast<double>(m + 1) - value);
    }
    density[v] = static_cast<float>(value);
  });
  part.image.data.set({"label", 1, std::move(labels)});
  part.image.data.set({"density", 1, std::move(density)});
  return part;
}

}  // namespace isochron
