// The seeds of sources on a mesh that rank 0 has as a whole.
#pragma once

#include <vector>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/mpi/distributed_solver.h"
#include "isochron/solve/sources.h"

namespace isochron::mpi {

/// The seeds that `Solver` would start with. Throws as `Solver::solve` does.
template <int Corners>
std::vector<GlobalSeed> whole_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                                    const SolveOptions& options);

/// All ranks together: those seeds on all ranks. Rank 0 has mesh, metric and sources;
/// others give null pointers.
template <int Corners>
std::vector<GlobalSeed> root_seeds(Transport& transport, const SimplexMesh<Corners>* mesh, const Metric* metric,
                                   const Sources* sources, const SolveOptions& options);

}  // namespace isochron::mpi
