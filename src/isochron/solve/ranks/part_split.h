// Virtual elements at obtuse corners of a mesh that no rank has as a whole.
#pragma once

#include <vector>

#include "isochron/communicator.h"
#include "isochron/metric.h"
#include "isochron/parts.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::ranks {

/// All ranks together: the virtual triangles of a part's own vertices, those that `split_obtuse` finds on the whole
/// mesh, in the part's numbers and the user's units. Unfolding asks the owners of vertices beyond the part for the
/// triangles there; vertices that the virtual triangles need become the part's last ghosts.
std::vector<VirtualRecord<double, 3>> split_part(Communicator& communicator, MeshPart<3>& part, const Metric& metric);

}  // namespace isochron::ranks
