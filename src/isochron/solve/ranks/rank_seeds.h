// The seeds of sources on a mesh that rank 0 has as a whole, or that no rank has.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/mesh/adjacency.h"
#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/parts.h"
#include "isochron/solve/common/seed.h"
#include "isochron/sources.h"

namespace isochron::ranks {

/// All ranks together, with the same sources on each: the seeds that `Solver` would start with on the whole mesh, on
/// all ranks. The surroundings of the sources are collected on rank 0, whosoever parts they lie in. Throws InputError
/// on all ranks, as `place_sources` does, and UsageError for a level set. `adjacency` is that of the part's mesh.
template <int Corners>
std::vector<Seed> part_seeds(Communicator& communicator, const MeshPart<Corners>& part, const Adjacency& adjacency,
                             const Metric& metric, const Sources& sources, const SolveOptions& options);

/// The seeds that `Solver` would start with. Throws as `Solver::solve` does.
template <int Corners>
std::vector<Seed> whole_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                              const SolveOptions& options);

}  // namespace isochron::ranks
