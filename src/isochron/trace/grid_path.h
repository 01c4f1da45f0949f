// Rays and pathways on images, traced back to the source.
#pragma once

#include <cstdint>
#include <span>

#include "isochron/mesh/image.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/sources.h"
#include "isochron/trace/path.h"

namespace isochron {

/// The path from a world position, `start`, back to the source that reaches it first: along the characteristic −D∇u,
/// between the voxels, and never through a voxel outside the mask. Metric, mask (empty: everything), times (one a
/// voxel, +inf outside the mask and where unreached) and sources are those of the solve; a source region is many
/// voxels. Throws InputError where the sizes do not fit, a time is NaN, a source is outside, or `start` is outside the
/// image or the mask, and NoAnswerError where nothing arrived.
Path trace_path(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                std::span<const double> times, const Sources& sources, Vec3d start, PathOptions options = {});

}  // namespace isochron
