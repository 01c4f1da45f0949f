// The seeds of sources on a mesh that rank 0 has as a whole, or that no rank has.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/dist/mesh_part.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/ranks/distributed_solver.h"
#include "isochron/solve/sources.h"

namespace isochron::mpi {

/// Where and when the front starts on a shared mesh; `Arrival::source` counts the vertices first, then the points.
struct GlobalSources {
  struct Vertex {
    std::uint64_t vertex = 0;  ///< of the whole mesh
    double time = 0;
  };
  std::vector<Vertex> vertices;
  std::vector<PointSource> points;
};

/// All ranks together, with the same sources on each: the seeds that `Solver` would start with on the whole mesh, on
/// all ranks. The surroundings of the sources are collected on rank 0, whosoever parts they lie in. Throws InputError
/// on all ranks, as `place_sources` does.
template <int Corners>
std::vector<GlobalSeed> part_seeds(Communicator& communicator, const MeshPart<Corners>& part, const Metric& metric,
                                   const GlobalSources& sources, const SolveOptions& options);

/// The seeds that `Solver` would start with. Throws as `Solver::solve` does.
template <int Corners>
std::vector<GlobalSeed> whole_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                                    const SolveOptions& options);

/// All ranks together: those seeds on all ranks. Rank 0 has mesh, metric and sources; others give null pointers.
template <int Corners>
std::vector<GlobalSeed> root_seeds(Communicator& communicator, const SimplexMesh<Corners>* mesh, const Metric* metric,
                                   const Sources* sources, const SolveOptions& options);

}  // namespace isochron::mpi
