// Rays and pathways on images, traced back to the source.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "isochron/mesh/image.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/sources.h"
#include "isochron/trace/path.h"

namespace isochron {

class GridEnds;
class GridField;

/// Where the ends of a path may move when it is shortened. A path between two regions has to be paid for only from
/// where it leaves one to where it enters the other, at whichever voxels that is cheapest. Voxels of no end: it stays.
struct EndRegions {
  std::span<const VertexId> start;   ///< with the voxel of the start
  std::span<const VertexId> finish;  ///< source voxels of one onset, with the one that the front came from
};

/// Traces any number of paths on one field of times, along the characteristic −D∇u, between the voxels, and never
/// through a voxel outside the mask. Const calls may come from several threads.
class GridPathTracer {
 public:
  /// Keeps references to all but the sources. Metric, mask (empty: everything), times (one a voxel, +inf outside the
  /// mask and where unreached) and sources are those of the solve; a source region is many voxels. Throws InputError
  /// where the sizes do not fit, a time is NaN, or a source is outside.
  GridPathTracer(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                 std::span<const double> times, const Sources& sources);
  ~GridPathTracer();
  GridPathTracer(const GridPathTracer&) = delete;
  GridPathTracer& operator=(const GridPathTracer&) = delete;

  /// The path from a world position back to the source that reaches it first. Throws InputError when it is outside the
  /// image or the mask, and NoAnswerError where nothing arrived.
  [[nodiscard]] Path from(Vec3d start, PathOptions options = {}, const EndRegions& regions = {}) const;

  /// Whether the times at the voxels of a path rise as the metric says, up to a share on the mean over the path. Where
  /// the metric is rough, a path between voxels can take much longer or less than the front, which went from voxel to
  /// voxel; then the two fit each other all the same. True also for paths that keep too near to the source to tell.
  [[nodiscard]] bool explains(const Path& path, double share) const;

 private:
  std::span<const std::uint8_t> mask_;
  std::unique_ptr<GridField> field_;
  std::unique_ptr<GridEnds> ends_;
};

/// One path in one line; throws like `GridPathTracer`.
Path trace_path(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                std::span<const double> times, const Sources& sources, Vec3d start, PathOptions options = {});

}  // namespace isochron
