// Pictures of pathways in a brain, as paper 004 has them.
#pragma once

#include "bench/paper/brain.h"
#include "bench/paper/report.h"
#include "bench/paper/tracts.h"
#include "isochron/mesh.h"

namespace isochron::bench {

/// The surface of a pathway: where the total cost is (1 + ε) times the least, around the voxels that join the ends.
TriangleMesh pathway_surface(const Brain& brain, const Connection& found);

/// Paper 004 Figure 9: the arcuate fasciculus (on the phantom its bundle) as a pathway, and streamlines from its ends.
/// Where the pathway is no answer there are no pictures, and the report fails.
void add_tract_and_streamlines(Report& report, const Brain& brain, int seeds_per_axis, const SolveOptions& options);

}  // namespace isochron::bench
