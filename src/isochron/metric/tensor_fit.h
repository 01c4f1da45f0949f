// Diffusion tensors from diffusion-weighted images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/core/vec.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/gradient_table.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// Gradients as the fit uses them: unit directions in the world.
struct WorldGradients {
  std::vector<double> b;
  std::vector<Vec3d> direction;    ///< zero where b is 0
  std::vector<std::uint8_t> used;  ///< 0 for volumes with a b-value but no direction (scanners add mean images)
  bool scaled = false;             ///< the b-values were multiplied with the squared lengths of the directions
  [[nodiscard]] std::size_t left_out() const;
};

/// Turns FSL's directions into the world: the first component changes its sign when the affine has a positive
/// determinant, then the voxel axes turn them. Directions get unit length; when any squared length is more than 1 % off
/// 1, lengths carry b-values, as in MRtrix, and every b-value is multiplied with its direction's squared length.
WorldGradients world_gradients(const GradientTable& table, const ImageGrid& grid);

enum class TensorFitMethod {
  wls,  ///< least squares weighted with the squared signal: the measured one first, then twice the predicted one
  ols   ///< ordinary least squares of the logarithms
};

struct TensorFitOptions {
  TensorFitMethod method = TensorFitMethod::wls;
  int threads = 1;
  Progress progress{};
};

/// What became of the voxels of the mask.
struct TensorFitCounts {
  std::size_t voxels = 0;           ///< in the mask
  std::size_t fitted = 0;           ///< that got a tensor
  std::size_t empty = 0;            ///< no positive signal at all: background
  std::size_t failed = 0;           ///< too few positive signals to tell a tensor
  std::size_t missing_signals = 0;  ///< fitted without some signals that are not positive or not finite
  std::size_t not_positive_definite = 0;
};

struct TensorFit {
  std::vector<SymTensor3d> tensor;  ///< mm²/s for b in s/mm², in the gradients' frame; zero where there is no fit
  TensorFitCounts counts;
};

/// Fits ln S = ln S₀ − b gᵀ T g in every voxel of the mask (empty: everywhere). `signal` has a tuple per voxel with one
/// value per volume. Throws InputError when the numbers of volumes or voxels differ, or when the gradients do not
/// determine a tensor: that takes six directions, and b = 0 or a second b-value.
TensorFit fit_tensors(const DataArray& signal, const WorldGradients& gradients, std::span<const std::uint8_t> mask = {},
                      const TensorFitOptions& options = {});

}  // namespace isochron
