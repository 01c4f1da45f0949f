// First times around sources: exact straight-line times near a point, and beside the zero set of a signed function.
#pragma once

#include <functional>
#include <span>

#include "isochron/mesh/adjacency.h"
#include "isochron/metric.h"

namespace isochron {

/// Thrown by `ball_times` when it comes to a vertex whose incidences are not listed: the adjacency is that of a part of
/// a mesh, and the part is too small.
struct PartTooSmall {};

/// Receives each vertex once, with the time at which the front reaches it.
using SetTime = std::function<void(VertexId, double)>;

/// Gives `set` the times onset + √(dᵀ M d) of the vertices in a metric ball around a point source, where d is the
/// vector from `position` and M the metric there. `seeds` are the element that holds the position or all elements at
/// the source vertex; their corners are always set, each with its own element's M (the least where several share it).
///
/// The ball has the volume of one of `max_rings` rings of elements as large as the seeds, whatever the anisotropy. It
/// ends earlier where an element's M differs from that at the source, unless the whole effect on the ball's times stays
/// below a tenth of an element, and where a surface leaves the plane of the source. Vertices behind slits and corners
/// are left out. So every time set is that of a path in the mesh, and nothing can reach the ball earlier from outside.
///
/// Returns the ball's radius as a travel time (0 when only the corners of the seeds are set).
template <int Corners>
double ball_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency, Vec3d position,
                  std::span<const ElementId> seeds, double onset, int max_rings, const SetTime& set);

/// Gives `set` the travel time from the zero set of `values` (one per vertex, linear in each element) to each corner of
/// each element that meets it: along the straight way to the nearest point that can be seen from the corner through any
/// number of elements (curved surfaces are unfolded), 0 on the zero set. So it is exact where the metric is constant
/// and nothing is in the way; elsewhere it is the time of some path in the mesh, which solving may lower. Throws
/// InputError when there is not one finite value per vertex or the zero set is empty.
template <int Corners>
void levelset_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
                    std::span<const double> values, const SetTime& set);

}  // namespace isochron
