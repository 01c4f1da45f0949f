// Rays and geodesics traced back to the source, and times at points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"
#include "isochron/solver.h"
#include "isochron/sources.h"
#include "isochron/types.h"

namespace isochron {

// ---- A ray or geodesic traced back from a point to the source that reaches it first.

enum class Shorten { no, yes };

struct PathOptions {
  /// Whether the traced way is made a shortest one among those near it: the characteristics of times that are exact to
  /// first order wander about an edge, the shortest way does not.
  Shorten shorten = Shorten::yes;
};

enum class PathEnd {
  source,   ///< where the front started
  minimum,  ///< a place that nothing earlier is near, but no source: the times do not fit the sources
  unended   ///< tracing gave up after very many steps
};

/// From the start (first) to the source (last), as a polyline in world coordinates.
struct Path {
  std::vector<Vec3d> points;
  std::vector<double> times;  ///< when the front passes each point; strictly decreasing
  double length = 0;          ///< in the unit of the coordinates
  double travel_time = 0;     ///< along the path, by the metric: about times.front() − times.back()
  std::int32_t source = -1;   ///< index into Sources, as in `Arrival::source`
  PathEnd end = PathEnd::source;
  std::string why{};        ///< where it did not end at a source: the reason, one line
  std::size_t bridges = 0;  ///< gaps crossed where the interpolated times have a minimum of their own
};

// ---- Rays and geodesics on triangle and tetrahedral meshes, traced back to the source.

/// Traces any number of paths on one field of times. In each element the time is linear and the path follows the
/// characteristic −D∇u; between elements whose characteristics meet it runs along the face or edge they share. The
/// interpolated time strictly decreases along the path, so it always ends. Const calls may come from several threads.
template <int Corners>
class PathTracer {
 public:
  /// Keeps references to mesh, metric and times, which must be those of a solve with these sources (one time a vertex,
  /// +inf where unreached). Throws InputError where the sizes do not fit, a time is NaN or −inf, and like
  /// `Solver::solve` for sources that are not there.
  PathTracer(MeshDomain<Corners> domain, std::span<const double> times, const Sources& sources,
             PathOptions options = {});
  ~PathTracer();
  PathTracer(PathTracer&&) noexcept;
  PathTracer& operator=(PathTracer&&) noexcept;

  /// The path from a vertex. Throws InputError for an id out of range and NoAnswerError where nothing arrived.
  [[nodiscard]] Path from(VertexId start) const;
  /// The path from a point in or on the mesh. Throws InputError when it is further than `tolerance` from it (in the
  /// mesh's unit) and NoAnswerError where nothing arrived.
  [[nodiscard]] Path from(Vec3d start, double tolerance) const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

extern template class PathTracer<3>;
extern template class PathTracer<4>;

// ---- Rays and pathways on images, traced back to the source.

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

// ---- Where a front started, from its times: for paths through a solution that comes without its sources.

/// By the labels of the solve: the earliest place of each source.
Sources sources_by_label(const DataArray& label, const std::vector<double>& times);
/// Vertices that none of their neighbours is earlier than.
template <int Corners>
Sources sources_at_minima(const SimplexMesh<Corners>& mesh, const std::vector<double>& times);
/// Voxels that none of their neighbours (faces, edges, corners) is earlier than.
Sources sources_at_minima(const ImageGrid& grid, const std::vector<double>& times);

// ---- Times at points between vertices or voxels: receivers and electrodes.

/// What a probe found.
struct ProbeTime {
  std::optional<double> time;  ///< none where the mesh or image is further away than the tolerance
  double distance = 0;         ///< from it
};

/// Times at points, interpolated in their elements.
template <int Corners>
std::vector<ProbeTime> probe_times(const SimplexMesh<Corners>& mesh, std::span<const double> times,
                                   std::span<const Vec3d> points, double tolerance, int threads);
/// The same in an image, between its voxels; points outside the mask have no time either.
std::vector<ProbeTime> probe_times(const ImageGrid& grid, std::span<const std::uint8_t> mask,
                                   std::span<const double> times, std::span<const Vec3d> points, double tolerance);

}  // namespace isochron
