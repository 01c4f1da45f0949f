// Diffusion tensors between voxels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "isochron/mesh/image.h"

namespace isochron {

/// Tensors of an image, in the world frame, and which of them count (a value a voxel, not 0 where they do). A view.
struct TensorField {
  const ImageGrid& grid;
  std::span<const SymTensor3d> tensors;
  std::span<const std::uint8_t> mask;
};

/// The tensor at a point of the world: linear between the eight voxels around it, of which only those in the mask
/// count. Nothing when the voxel that holds the point is outside the mask, or the point outside the image.
std::optional<SymTensor3d> tensor_at(const TensorField& field, const Vec3d& position);

}  // namespace isochron
