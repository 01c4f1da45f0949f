// Diffusion tensors: fitting and reading them, and the travel-time metrics made of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/metric.h"
#include "isochron/progress.h"
#include "isochron/types.h"

namespace isochron {

// ---- Diffusion tensors: what people derive from them, and the travel-time metrics made of them.

/// The mean of the eigenvalues.
inline double mean_diffusivity(const SymTensor3d& tensor) { return (tensor.xx + tensor.yy + tensor.zz) / 3; }
/// The unit eigenvector of the largest eigenvalue; its sign means nothing.
Vec3d principal_direction(const SymTensor3d& tensor);

/// The tensor with the mean diffusivity and the fractional anisotropy (at most 1) whose two smaller eigenvalues are
/// equal and whose principal direction is that given, of any length and sign. Zero, as background is, without a
/// direction or a positive diffusivity, and where a number is not finite.
SymTensor3d axial_tensor(double anisotropy, double diffusivity, const Vec3d& direction);

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
  /// 1 where the tensor is not positive definite and its eigenvalues were raised; empty when there is none.
  std::vector<std::uint8_t> indefinite;
  DiffusionCounts counts;
  double median_diffusivity = 0;   ///< of usable voxels with a positive one
  double smallest_eigenvalue = 0;  ///< the floor in the unit of the tensors
};

/// The metric of an image of diffusion tensors, all in one frame (the world's, see `world_tensors`). `mask` is empty or
/// has a value per tensor, not 0 inside. Throws UsageError for options out of range, InputError when the mask has
/// another size or no voxel has a positive mean diffusivity.
DiffusionMetric diffusion_metric(std::span<const SymTensor3d> tensors, std::span<const std::uint8_t> mask = {},
                                 const DiffusionMetricOptions& options = {});

// ---- Diffusion tensors as image files hold them.

/// Whether an image's first array has as many components as a symmetric tensor: 6, 7 with a confidence, or 9.
bool holds_tensors(const Image& image);

/// Zero, as background is, where the image has a mask of its own (NRRD's masked tensors).
void leave_out_masked(const Image& image, std::vector<SymTensor3d>& tensors);

/// The tensors of an image's first array, turned into the world; zero where the image's own mask is. `order` is that of
/// six components, else what the file says. Throws InputError when there are no tensors or their order is not known;
/// `what` names the image.
std::vector<SymTensor3d> image_tensors(Image image, std::optional<TensorOrder> order, TensorFrame frame,
                                       const std::string& what);

/// Tensors of an image's principal directions (three components along the axes of `frame`) and of images of fractional
/// anisotropy and mean diffusivity on the same voxels: see `axial_tensor`. Throws InputError when an image is on other
/// voxels or has another number of components; `names` are those of the three.
std::vector<SymTensor3d> axial_tensors(const Image& directions, const Image& anisotropy, const Image& diffusivity,
                                       TensorFrame frame, const std::array<std::string, 3>& names);

// ---- Diffusion tensors from diffusion-weighted images.

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

// ---- Do the principal directions of a tensor image continue one another? Finds axes that were mixed up on the way.

/// One way in which the tensors' axes could have been meant.
struct AxesCandidate {
  std::string name;      ///< "as given", "x negated", …, "frame voxel"
  double coherence = 0;  ///< from 0 to 1
};

struct FiberCoherence {
  std::size_t voxels = 0;                 ///< that were looked at: anisotropic ones
  std::vector<AxesCandidate> candidates;  ///< the first is "as given"

  /// The best other candidate where it is better by more than chance allows; else null.
  [[nodiscard]] const AxesCandidate* better() const;
};

/// From every voxel of fractional anisotropy above `min_anisotropy` (and at most 1) one step is made, both ways, to
/// the neighbour that lies most nearly along the principal direction, as each candidate understands it. The coherence
/// is the mean |cosine| between the two principal directions, weighted by the anisotropy; a neighbour without a
/// direction counts as 0. Fibres are longer than voxels, so the right candidate has the highest value (after Schilling
/// et al., A fiber coherence index for quality control of B-table orientation in diffusion MRI scans, 2019). `tensors`
/// has one tensor per voxel, in the world if `given` was their frame; candidates are that with an axis negated, and the
/// others.
FiberCoherence fiber_coherence(const ImageGrid& grid, std::span<const SymTensor3d> tensors,
                               TensorFrame given = TensorFrame::world, double min_anisotropy = 0.25);

}  // namespace isochron
