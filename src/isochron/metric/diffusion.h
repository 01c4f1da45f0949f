// Diffusion tensors: what people derive from them, and the travel-time metrics made of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "isochron/core/eigen3.h"  // also for fractional_anisotropy
#include "isochron/core/vec.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/tensor_frame.h"
#include "isochron/mesh/tensor_order.h"
#include "isochron/metric/metric.h"

namespace isochron {

/// The mean of the eigenvalues.
inline double mean_diffusivity(const SymTensor3d& tensor) { return (tensor.xx + tensor.yy + tensor.zz) / 3; }
/// The unit eigenvector of the largest eigenvalue; its sign means nothing.
Vec3d principal_direction(const SymTensor3d& tensor);

/// The tensors of an array with six (in that order) or nine components per voxel, turned into the world. Throws
/// InputError for another number of components or tuples that are not one per voxel; `what` names the array.
std::vector<SymTensor3d> world_tensors(const DataArray& array, TensorOrder order, const ImageGrid& grid,
                                       TensorFrame frame, const std::string& what);

/// Formulas for the metric M of a diffusion tensor T. M has T's eigenvectors; crossing e costs √(eᵀ M e), so M is small
/// along fibres.
enum class DiffusionMetricKind {
  sharpened,  ///< |T|^(−1/3) (T / |T|^(1/3))^(−α) (paper 004, eq. 3): volume normalised, contrast raised by α
  inverse,    ///< T⁻¹ (the usual one; the same as sharpened with α = 1)
  adjugate,   ///< |T| T⁻¹ (Fuster et al., Adjugate diffusion tensors for geodesic tractography, 2016)
  identity    ///< T itself, which is a travel-time metric already
};

/// Which tensors have small eigenvalues raised.
enum class RaisedTensors {
  all,      ///< all that have one: diffusivities are measured, and small ones are noise
  unusable  ///< those that are not positive definite; the others are what they are
};

/// Eigenvalues of T, all positive, to those of M.
using EigenvalueMap = std::function<Vec3d(const Vec3d&)>;

/// The formula of a kind; `alpha` is only for `sharpened`.
EigenvalueMap eigenvalue_map(DiffusionMetricKind kind, double alpha);

/// Of the image's median mean diffusivity.
inline constexpr double default_eigenvalue_floor = 0.01;

struct DiffusionMetricOptions {
  DiffusionMetricKind kind = DiffusionMetricKind::sharpened;
  double alpha = 3;  ///< from 0 to `max_alpha`
  static constexpr double max_alpha = 20;
  /// Eigenvalues of T below this share of the image's median mean diffusivity are raised to it.
  double floor = default_eigenvalue_floor;
  RaisedTensors raised = RaisedTensors::all;
  /// Then small eigenvalues are raised until the eigenvalues of M differ by no more than this factor (speeds by its
  /// root): stronger contrast is noise, and is lost in single precision.
  double largest_ratio = 1e4;
  /// Another formula, instead of `kind`. It should be monotone; the cap of the ratio then applies to T's eigenvalues.
  EigenvalueMap own{};
  /// The median mean diffusivity, where the tensors are those of a part of the image; else it is found.
  std::optional<double> median{};
  int threads = 1;
};

/// The mean diffusivities that the median is of: those of the mask's voxels that are positive.
std::vector<double> positive_diffusivities(std::span<const SymTensor3d> tensors, std::span<const std::uint8_t> mask);
/// Throws InputError: there are none.
[[noreturn]] void refuse_diffusivities();

/// What was found in the voxels of the mask. `empty` and `not_finite` ones are left out; the others are used.
struct DiffusionCounts {
  std::size_t voxels = 0;      ///< in the mask
  std::size_t usable = 0;      ///< that got a metric
  std::size_t empty = 0;       ///< all components zero: background
  std::size_t not_finite = 0;  ///< NaN or infinite components
  std::size_t not_positive_definite = 0;
  std::size_t fa_above_one = 0;
  std::size_t floored = 0;  ///< had an eigenvalue raised, by the floor or the cap

  [[nodiscard]] std::size_t left_out() const { return empty + not_finite; }
  void operator+=(const DiffusionCounts& part);
  /// What became of the voxels, each count by its name, as reports show it.
  [[nodiscard]] std::array<std::pair<std::string_view, std::size_t>, 6> named() const {
    return {{{"usable", usable},
             {"empty", empty},
             {"not_finite", not_finite},
             {"not_positive_definite", not_positive_definite},
             {"fa_above_one", fa_above_one},
             {"floored", floored}}};
  }
};

struct DiffusionMetric {
  Metric metric;                     ///< M per voxel, in the tensors' frame; left-out voxels get a typical isotropic M
  std::vector<std::uint8_t> usable;  ///< 1 where the metric means something: the mask of a solve
  DiffusionCounts counts;
  double median_diffusivity = 0;   ///< of usable voxels with a positive one
  double smallest_eigenvalue = 0;  ///< the floor in the unit of the tensors
};

/// The metric of an image of diffusion tensors, all in one frame (the world's, see `world_tensors`). `mask` is empty or
/// has a value per tensor, not 0 inside. Throws UsageError for options out of range, InputError when the mask has
/// another size or no voxel has a positive mean diffusivity.
DiffusionMetric diffusion_metric(std::span<const SymTensor3d> tensors, std::span<const std::uint8_t> mask = {},
                                 const DiffusionMetricOptions& options = {});

}  // namespace isochron
