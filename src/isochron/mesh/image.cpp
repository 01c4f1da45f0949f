#include "isochron/image.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {
namespace {

double volume(const std::array<Vec3d, 3>& axes) { return dot(axes[0], cross(axes[1], axes[2])); }

/// Whether the square of a finite step's length is lost.
bool out_of_range(const Vec3d& step) {
  const double largest = std::max({std::abs(step.x), std::abs(step.y), std::abs(step.z)});
  return largest > 0 && is_finite(step) && !(largest > 1e-150 && largest < 1e150);
}

}  // namespace

Vec3d ImageGrid::index_of(const Vec3d& position) const {
  const Vec3d p = position - origin;
  const double all = volume(axes);
  return {dot(p, cross(axes[1], axes[2])) / all, dot(p, cross(axes[2], axes[0])) / all,
          dot(p, cross(axes[0], axes[1])) / all};
}

std::optional<VertexId> ImageGrid::voxel_at(const Vec3d& position) const {
  const Vec3d at = index_of(position);
  std::array<std::uint32_t, 3> nearest{};
  for (int d = 0; d < 3; ++d) {
    const double last = shape[static_cast<std::size_t>(d)] - 1.0;
    if (!(at[d] >= -0.5 && at[d] <= last + 0.5)) return std::nullopt;
    nearest[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(std::clamp(std::round(at[d]), 0.0, last));
  }
  return voxel(nearest[0], nearest[1], nearest[2]);
}

void check_grid(const ImageGrid& grid, const std::string& what) {
  const auto& [nx, ny, nz] = grid.shape;
  if (nx == 0 || ny == 0 || nz == 0)
    throw InputError(fmt::format("{} has no voxels (shape {} x {} x {}); give another image", what, nx, ny, nz));
  const double voxels = static_cast<double>(nx) * ny * nz;
  if (voxels >= VertexId::invalid_value)
    throw InputError(fmt::format("{} has too many voxels ({:.0f}, at most {} can be numbered); cut or coarsen it", what,
                                 voxels, VertexId::invalid_value - 1));
  for (const Vec3d& axis : grid.axes)
    if (out_of_range(axis))
      throw InputError(fmt::format(
          "{} has voxels too large or too small to compute with (a step is {:g},{:g},{:g}); change the unit", what,
          axis.x, axis.y, axis.z));
  const bool usable = is_finite(grid.origin) && std::all_of(grid.axes.begin(), grid.axes.end(), is_finite<double>);
  const double box = grid.spacing(0) * grid.spacing(1) * grid.spacing(2);
  if (!usable || !(std::abs(volume(grid.axes)) > 1e-6 * box))
    throw InputError(
        fmt::format("{} has no usable affine (its axes are not finite or not independent); set its orientation with "
                    "the tool that made it",
                    what));
}

bool same_voxels(const ImageGrid& a, const ImageGrid& b, double tolerance) {
  if (a.shape != b.shape) return false;
  const auto far = [&](int d) { return a.shape[static_cast<std::size_t>(d)] - 1.0; };
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d index{(corner & 1) != 0 ? far(0) : 0, (corner & 2) != 0 ? far(1) : 0, (corner & 4) != 0 ? far(2) : 0};
    const Vec3d off = a.index_of(b.position(index)) - index;
    if (!(std::abs(off.x) < tolerance && std::abs(off.y) < tolerance && std::abs(off.z) < tolerance)) return false;
  }
  return true;
}

SymTensor3d metric_per_voxel(const ImageGrid& grid, const SymTensor3d& m) {
  const auto& [x, y, z] = grid.axes;
  return {product(m, x, x), product(m, x, y), product(m, x, z), product(m, y, y), product(m, y, z), product(m, z, z)};
}

}  // namespace isochron
