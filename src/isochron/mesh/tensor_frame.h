// Along which axes an image's tensors and gradient directions are written, and how they get into the world.
#pragma once

#include <array>

#include "isochron/core/vec.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// What x, y and z mean in the components of tensors and directions.
enum class TensorFrame {
  world,  ///< the world axes (MRtrix's scanner RAS)
  voxel,  ///< the image's own axes
  fsl     ///< the image's own axes, the first one reversed when the affine has a positive determinant (FSL)
};

/// An orthogonal matrix, as the world directions of a frame's x, y and z.
struct FrameAxes {
  std::array<Vec3d, 3> axis{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
};

/// The frame's axes in the world. For voxel axes that are not at right angles, the nearest ones that are (the
/// orthogonal part of their directions' polar decomposition). The axes must be independent, see `check_grid`.
FrameAxes frame_axes(const ImageGrid& grid, TensorFrame frame);

inline Vec3d rotate_to_world(const Vec3d& v, const FrameAxes& frame) {
  return v.x * frame.axis[0] + v.y * frame.axis[1] + v.z * frame.axis[2];
}
/// R T Rᵀ with the frame's axes as the columns of R.
SymTensor3d rotate_to_world(const SymTensor3d& tensor, const FrameAxes& frame);
SymTensor3d rotate_to_world(const SymTensor3d& tensor, const ImageGrid& grid, TensorFrame frame);

}  // namespace isochron
