// First times around sources: near a point, and beside the zero set of a signed function.
#pragma once

#include <functional>
#include <span>

#include "isochron/mesh/adjacency.h"
#include "isochron/metric.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/common/seed_rows.h"

namespace isochron {

/// Thrown by `ball_times` when it comes to a vertex whose incidences are not listed: the adjacency is that of a part of
/// a mesh, and the part is too small.
struct PartTooSmall {};

/// Receives each vertex once, with the time at which the front reaches it.
using SetTime = std::function<void(VertexId, double)>;
/// The same of a ball: `SeedKind::own` for the corners of its seeds.
using SetBallTime = std::function<void(VertexId, double, SeedKind)>;

/// How far the ball around a source may go.
struct BallLimits {
  int rings = 0;             ///< its radius, in elements as large as those at the source
  std::size_t vertices = 0;  ///< as many as it may hold
  std::size_t varying = 0;   ///< likewise where the metric is not constant at the source

  /// About how many edges lead from the source to the ball's edge, at most.
  [[nodiscard]] int edges_across(int dim) const;
};

/// Where the rows of a ball's times go, if they are asked for: one of a seed for each time that is set.
struct BallRows {
  SeedRows* to = nullptr;
  std::int32_t source = 0;
};

/// The limits of each ball where there are several. Together they hold at most a quarter of the mesh; where the metric
/// varies, and a larger ball gains less, a fortieth (or 50 vertices), so that they cost little beside the solve.
BallLimits ball_limits(int ball_rings, std::size_t sources, std::size_t vertex_count, int dim);

/// Gives `set` the times of the vertices near a point source, from its onset on, each solved with the front taken as a
/// sphere around the source (point_source_update.h). `seeds` are the element that holds the position or all elements at
/// the source vertex; their corners are always set, each with the straight path in its own element (the least where
/// several share it).
///
/// The ball has the volume of one of `limits.rings` rings of elements as large as the seeds, whatever the anisotropy.
/// It stays in the elements whose speeds are nearly those at the source, along directions that may turn. Where the
/// metric is constant and the straight line stays in the mesh the times are exact. Elsewhere they are those of first
/// order at worst, and solving may lower them.
///
/// Returns the radius as a travel time: every vertex that the front reaches so soon through such elements is set.
template <int Corners>
double ball_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency, Vec3d position,
                  std::span<const ElementId> seeds, double onset, const BallLimits& limits, const SetBallTime& set,
                  BallRows rows = {});

/// Gives `set` the travel time from the zero set of `values` (one per vertex, linear in each element) to each corner of
/// each element that meets it: along the straight way to the nearest point that can be seen from the corner through any
/// number of elements (curved surfaces are unfolded), 0 on the zero set. So it is exact where the metric is constant
/// and nothing is in the way; elsewhere it is the time of some path in the mesh, which solving may lower. Throws
/// InputError when there is not one finite value per vertex or the zero set is empty. `rows` gets one for each time; a
/// time on the zero set has a kink there, and no derivative by the values.
template <int Corners>
void levelset_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
                    std::span<const double> values, const SetTime& set, BallRows rows = {});

}  // namespace isochron
