// Tensor images that the tests of connectivity share.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "isochron/connect.h"
#include "isochron/image.h"

namespace isochron::test {

/// A grid whose axes are along those of the world.
inline ImageGrid straight_grid(std::uint32_t nx, std::uint32_t ny, std::uint32_t nz, double spacing = 1) {
  return {{nx, ny, nz}, {}, {Vec3d{spacing, 0, 0}, Vec3d{0, spacing, 0}, Vec3d{0, 0, spacing}}};
}

/// Diffusivity `along` a direction and `across` it.
inline SymTensor3d fiber_tensor(const Vec3d& direction, double along = 1.7e-3, double across = 0.2e-3) {
  const Vec3d unit = direction / norm(direction);
  return SymTensor3d::identity(across) + SymTensor3d::outer(unit, along - across);
}

/// An image of tensors, owned.
struct TensorSample {
  ImageGrid grid;
  std::vector<SymTensor3d> tensors;
  std::vector<std::uint8_t> mask;

  /// `tensor_of(position)` at every voxel; everything is in the mask.
  template <class TensorAt>
  TensorSample(const ImageGrid& on, TensorAt&& tensor_of) : grid(on), mask(on.voxel_count(), 1) {
    for (std::size_t v = 0; v < grid.voxel_count(); ++v) tensors.push_back(tensor_of(grid.position(VertexId(v))));
  }
};

/// Fibres in circles around the z axis.
inline SymTensor3d ring_tensor(const Vec3d& p) {
  const Vec3d around{-p.y, p.x, 0};
  return norm(around) > 0 ? fiber_tensor(around) : SymTensor3d::identity(0.7e-3);
}

inline Region voxel_region(std::vector<VertexId> voxels, const char* name = "region") {
  return {name, std::move(voxels)};
}

}  // namespace isochron::test
