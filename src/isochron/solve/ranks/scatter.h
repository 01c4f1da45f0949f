// Scatters a mesh that one rank has as a whole over all, and gathers the result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/metric.h"
#include "isochron/parts.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::ranks {

/// The rank of every vertex, from 0 to `ranks` − 1: the mesh is cut into blocks, which ranks get in turn, in
/// the order in which a curve passes through them.
template <int Corners>
std::vector<std::uint32_t> partition_in_blocks(const SimplexMesh<Corners>& mesh, int ranks, const RankOptions& options);

/// One rank's part of a mesh and its metric.
template <int Corners>
struct SolvePart {
  MeshPart<Corners> part;
  Metric metric;  ///< of the part's elements
  /// Of obtuse corners of own vertices, see `split_obtuse`; in the part's numbers and the user's units. Their faces may
  /// reach beyond the part's elements: the vertices there are the part's last ghosts.
  std::vector<VirtualRecord<double, Corners>> virtual_elements;
};

/// All ranks together: rank 0 cuts its mesh and sends each rank its part, the vertices that `rank_of` gives it. Other
/// ranks give null pointers and nothing.
template <int Corners>
SolvePart<Corners> scatter(Communicator& communicator, const SimplexMesh<Corners>* mesh, const Metric* metric,
                           std::vector<std::uint32_t> rank_of, ObtuseSplit obtuse, int threads);

/// All ranks together: from results on parts, that of all `whole` vertices, on rank 0; without arrays elsewhere. `own`
/// are the ids of the vertices that this rank has times of; vertices that no rank has are unreached.
Arrival gather_arrival(Communicator& communicator, std::span<const std::uint64_t> own, std::uint64_t whole,
                       Arrival arrival);

}  // namespace isochron::ranks
