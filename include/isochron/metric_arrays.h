// The metric that named arrays of a data set or an image describe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/diffusion.h"
#include "isochron/image.h"
#include "isochron/metric.h"

namespace isochron {

// ---- The metric that named arrays of a data set describe.

enum class ZeroFibers {
  refuse,    ///< throw InputError
  isotropic  ///< such an element conducts at the transverse (sheet) velocity in every direction
};

/// The unit vector that fits directions best, whichever way each of them points: fibres at the corners of an element.
/// Zero where all are zero, not finite where one is not.
Vec3d common_axis(std::span<const Vec3d> directions);

/// What the metric is made of: one of speed, speed array, metric array, velocity tensor array, fibres, or a velocity
/// table alone. Nothing at all is speed 1.
struct MetricRequest {
  std::optional<double> speed{};
  std::string speed_array{};
  std::string metric_array{};           ///< M
  std::string velocity_tensor_array{};  ///< D = M⁻¹
  std::string fiber_array{};
  std::string sheet_array{};                     ///< with fibres
  std::optional<Velocities> velocities{};        ///< with fibres, everywhere; without sheets `normal` is not used
  std::vector<RegionVelocities> table{};         ///< per region instead; without fibres its rows must be isotropic
  std::string region_array{};                    ///< of the table; empty: the first of region, gmsh:physical, medit:ref
  std::vector<std::int64_t> excluded_regions{};  ///< that do not conduct
  std::string mask_array{};                      ///< of a mesh: 0 where it does not conduct
  TensorOrder tensor_order = TensorOrder::vtk;
  ZeroFibers zero_fibers = ZeroFibers::refuse;
  double eigenvalue_floor = default_eigenvalue_floor;  ///< of tensors of images: `metric_from_image`
};

/// Builds the metric for `cells`, to which the cell arrays of the data set's block belong. Arrays on the cells come
/// before arrays of the same name on the points, which are averaged over each cell's corners. Cells do not conduct
/// where the speed or the mask is 0 (at a corner, for arrays on the points) or the velocities are. Throws UsageError
/// when the request contradicts itself, and InputError when an array is missing (with the names there are), has the
/// wrong number of components or values that cannot be used (with their count and the first cell).
template <int Corners>
Metric metric_from_dataset(std::span<const std::array<VertexId, Corners>> cells, const Dataset& dataset,
                           const MetricRequest& request);

/// The same for a mesh that was taken out of the data set.
template <int Corners>
Metric metric_from_dataset(const SimplexMesh<Corners>& mesh, const Dataset& dataset, const MetricRequest& request) {
  return metric_from_dataset<Corners>(std::span<const std::array<VertexId, Corners>>(mesh.elements), dataset, request);
}
/// The same for the cells that are in the data set.
template <int Corners>
Metric metric_from_dataset(const Dataset& dataset, const MetricRequest& request) {
  return metric_from_dataset<Corners>(std::span<const std::array<VertexId, Corners>>(dataset.block<Corners>().cells),
                                      dataset, request);
}

// ---- The travel-time metric of an image from its arrays.

/// A metric and the voxels that it can be used on.
struct ImageMetric {
  Metric metric;
  std::vector<std::uint8_t> mask;            ///< 1 inside; empty: everywhere
  std::optional<DiffusionCounts> tensors{};  ///< what was found, where it is made of tensors
  std::vector<std::uint8_t> indefinite{};    ///< which of them are not positive definite: see `DiffusionMetric`
  std::size_t not_conducting = 0;            ///< voxels that were taken out of the mask because nothing moves there
};

/// Builds the metric of an image: speed, speed array, metric array, velocity tensor array, or fibres with velocities;
/// nothing at all is speed 1. Regions of velocities are for meshes. Voxels of speed 0 and those of excluded regions,
/// whose array is named then, do not conduct: they are taken out of the mask. Six components of tensors are in `order`
/// or, when that is empty, as the image says; their axes are those of `frame`. Voxels where `mask` (empty, or one value
/// per voxel) is 0 may hold anything. Voxels with tensors that are zero or not finite are taken out of the mask.
/// Tensors that are not positive definite get eigenvalues of at least `eigenvalue_floor` times the median mean
/// eigenvalue, as `diffusion_metric` does it. Throws UsageError when the request contradicts itself, and InputError
/// when an array is missing, has the wrong number of components or an unknown order, or values that cannot be used. Of
/// a part of an image `median` is the median mean eigenvalue of the whole.
ImageMetric metric_from_image(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                              std::vector<std::uint8_t> mask, TensorFrame frame = TensorFrame::world, int threads = 1,
                              std::optional<double> median = {});

/// The mean eigenvalues that the median is of; none when the metric is not an array of tensors. Throws likewise.
std::vector<double> mean_eigenvalues(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                                     std::span<const std::uint8_t> mask, TensorFrame frame);

}  // namespace isochron
