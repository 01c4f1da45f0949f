// A partition of a mesh with which one front keeps all ranks busy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/solve/ranks/part_solver.h"

namespace isochron::ranks {

/// The rank of every vertex, for a solve from these seeds: the mesh is cut into slabs of about the same arrival time,
/// and each slab by planes into as many blocks as there are ranks. So every rank has a part of the front at any
/// time. Arrival times are guessed by solving on a coarse image of the mesh, and so is how often each vertex will be
/// processed; where the guess is off, ranks wait for one another, and nothing else. Solves from other sources are right
/// too, and no worse balanced than by chance.
template <int Corners>
std::vector<std::uint32_t> partition_by_time(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                             std::span<const Seed> seeds, int ranks, int threads);

/// How often a solve will process each vertex, 1 where once is enough; guessed from times that are known roughly.
std::vector<float> expected_work(const TetMesh& mesh, const Metric& metric, std::span<const double> times, int threads);
/// Obtuse corners of triangles are split, so that hardly a vertex is processed twice.
std::vector<float> expected_work(const TriangleMesh& mesh, const Metric& metric, std::span<const double> times,
                                 int threads);

}  // namespace isochron::ranks
