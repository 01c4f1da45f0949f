#include "isochron/surface/field/frame.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

LatticeFrame frame_of(const ImageGrid& grid, const std::string& what) {
  check_grid(grid, what);
  constexpr double square = 2e-3;  // affines are stored in single precision, and rounded by many tools
  LatticeFrame frame{grid.origin, {}};
  for (int a = 0; a < 3; ++a) frame.axis[a] = grid.axes[a] / grid.spacing(a);
  for (int a = 0; a < 3; ++a) {
    const double cosine = dot(frame.axis[a], frame.axis[(a + 1) % 3]);
    if (std::abs(cosine) > square)
      throw InputError(
          fmt::format("{} has sheared axes (two of them meet at {:.1f} degrees); resample it to orthogonal axes", what,
                      std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi));
  }
  // The rest of the rounding goes, so that lengths are the same in both frames.
  frame.axis[1] = frame.axis[1] - dot(frame.axis[0], frame.axis[1]) * frame.axis[0];
  frame.axis[1] = frame.axis[1] / norm(frame.axis[1]);
  const Vec3d third = cross(frame.axis[0], frame.axis[1]);
  frame.axis[2] = dot(third, frame.axis[2]) < 0 ? -third : third;
  return frame;
}

LatticeFrame checked_frame(const ImageGrid& grid, std::size_t values) {
  const LatticeFrame frame = frame_of(grid, "the image");
  const auto& [nx, ny, nz] = grid.shape;
  if (nx < 2 || ny < 2 || nz < 2)
    throw InputError(fmt::format(
        "the image is flat ({} x {} x {} voxels), so nothing in it has a surface; give a volume", nx, ny, nz));
  if (values != grid.voxel_count())
    throw InputError(fmt::format("{} values for {} voxels; give one per voxel", values, grid.voxel_count()));
  return frame;
}

}  // namespace isochron
