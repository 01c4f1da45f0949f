#include "isochron/image.h"

#include <cmath>

#include "isochron/types.h"

namespace isochron {

FrameAxes frame_axes(const ImageGrid& grid, TensorFrame frame) {
  FrameAxes result;
  if (frame == TensorFrame::world) return result;
  FrameAxes voxel;
  for (int d = 0; d < 3; ++d) {
    const auto i = static_cast<std::size_t>(d);
    voxel.axis[i] = grid.axes[i] / grid.spacing(d);
  }
  // A (AᵀA)^(−1/2) is the orthogonal part of A.
  const auto& [a, b, c] = voxel.axis;
  const SymTensor3d gram{dot(a, a), dot(a, b), dot(a, c), dot(b, b), dot(b, c), dot(c, c)};
  const SymTensor3d root = map_eigenvalues(gram, [](double value) { return 1 / std::sqrt(value); });
  result.axis = {rotate_to_world(Vec3d{root.xx, root.xy, root.xz}, voxel),
                 rotate_to_world(Vec3d{root.xy, root.yy, root.yz}, voxel),
                 rotate_to_world(Vec3d{root.xz, root.yz, root.zz}, voxel)};
  if (frame == TensorFrame::fsl && dot(a, cross(b, c)) > 0) result.axis[0] = -result.axis[0];
  return result;
}

SymTensor3d rotate_to_world(const SymTensor3d& tensor, const FrameAxes& frame) {
  // The rows of R, one per world axis.
  const auto& [a, b, c] = frame.axis;
  const Vec3d x{a.x, b.x, c.x}, y{a.y, b.y, c.y}, z{a.z, b.z, c.z};
  return {product(tensor, x, x), product(tensor, x, y), product(tensor, x, z),
          product(tensor, y, y), product(tensor, y, z), product(tensor, z, z)};
}

SymTensor3d rotate_to_world(const SymTensor3d& tensor, const ImageGrid& grid, TensorFrame frame) {
  return frame == TensorFrame::world ? tensor : rotate_to_world(tensor, frame_axes(grid, frame));
}

}  // namespace isochron
