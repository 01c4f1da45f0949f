// The travel-time metric of an image from its arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "isochron/mesh/image.h"
#include "isochron/mesh/tensor_frame.h"
#include "isochron/metric/from_dataset.h"
#include "isochron/metric/metric.h"

namespace isochron {

/// Builds the metric of an image: speed, speed array, metric array, velocity tensor array, or fibres with velocities;
/// nothing at all is speed 1. Regions of velocities are for meshes. Six components of tensors are in `order` or, when
/// that is empty, as the image says; their axes are those of `frame`. Voxels where `mask` (empty, or one value per
/// voxel) is 0 may hold anything. Throws UsageError when the request contradicts itself, and InputError when an array
/// is missing, has the wrong number of components or an unknown order, or values that cannot be used.
Metric metric_from_image(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                         std::span<const std::uint8_t> mask, TensorFrame frame = TensorFrame::world);

}  // namespace isochron
