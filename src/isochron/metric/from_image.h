// The travel-time metric of an image from its arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/mesh/tensor_frame.h"
#include "isochron/metric/from_dataset.h"
#include "isochron/metric/metric.h"

namespace isochron {

/// A metric and the voxels that it can be used on.
struct ImageMetric {
  Metric metric;
  std::vector<std::uint8_t> mask;          ///< 1 inside; empty: everywhere
  std::optional<DiffusionCounts> tensors;  ///< what was found, where it is made of tensors
};

/// Builds the metric of an image: speed, speed array, metric array, velocity tensor array, or fibres with velocities;
/// nothing at all is speed 1. Regions of velocities are for meshes. Six components of tensors are in `order` or, when
/// that is empty, as the image says; their axes are those of `frame`. Voxels where `mask` (empty, or one value per
/// voxel) is 0 may hold anything. Voxels with tensors that are zero or not finite are taken out of the mask. Tensors
/// that are not positive definite get eigenvalues of at least `eigenvalue_floor` times the median mean eigenvalue, as
/// `diffusion_metric` does it. Throws UsageError when the request contradicts itself, and InputError when an array is
/// missing, has the wrong number of components or an unknown order, or values that cannot be used. Of a part of an
/// image `median` is the median mean eigenvalue of the whole.
ImageMetric metric_from_image(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                              std::vector<std::uint8_t> mask, TensorFrame frame = TensorFrame::world, int threads = 1,
                              std::optional<double> median = {});

/// The mean eigenvalues that the median is of; none when the metric is not an array of tensors. Throws likewise.
std::vector<double> mean_eigenvalues(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                                     std::span<const std::uint8_t> mask, TensorFrame frame);

}  // namespace isochron
