// Sharing out a mesh so that one front keeps all ranks busy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/metric/metric.h"
#include "isochron/solve/mpi/deal.h"
#include "isochron/solve/mpi/distributed_solver.h"

namespace isochron::mpi {

/// The rank of every vertex, for a solve from these seeds: the mesh is cut into slabs of about the same arrival time,
/// and each slab by planes into as many pieces as there are ranks. So every rank has its share of the front at any
/// time. Arrival times are guessed by solving on a coarse image of the mesh, and so is how often each vertex will be
/// processed; where the guess is off, ranks wait for one another, and nothing else. Solves from other sources are right
/// too, and no worse balanced than by chance.
template <int Corners>
std::vector<std::uint32_t> deal_by_time(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                        std::span<const GlobalSeed> seeds, int ranks, int threads);

}  // namespace isochron::mpi
