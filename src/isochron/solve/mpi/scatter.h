// A mesh that one rank has as a whole, shared out over all; and the result brought together again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/mesh_part.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/mpi/distributed_solver.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::mpi {

/// The rank of every vertex, from 0 to `ranks` − 1: the mesh is cut into pieces, and these are dealt out one by one in
/// the order in which a curve passes through them.
template <int Corners>
std::vector<std::uint32_t> deal_vertices(const SimplexMesh<Corners>& mesh, int ranks, const DealOptions& options);

/// One rank's share of a mesh and its metric.
template <int Corners>
struct Share {
  MeshPart<Corners> part;
  Metric metric;  ///< of the part's elements
  /// Of obtuse corners of own vertices, see `split_obtuse`; in the part's numbers and the user's units. Their faces may
  /// reach beyond the part's elements: the vertices there are the part's last ghosts.
  std::vector<VirtualRecord<double, Corners>> virtual_elements;
};

/// All ranks together: rank 0 cuts its mesh and sends each rank its share, the vertices that `rank_of` gives it. Other
/// ranks give null pointers and nothing.
template <int Corners>
Share<Corners> scatter(Transport& transport, const SimplexMesh<Corners>* mesh, const Metric* metric,
                       std::vector<std::uint32_t> rank_of, ObtuseSplit obtuse, int threads);

/// All ranks together: the result of all `whole` vertices, on rank 0; without arrays elsewhere. `own` are the ids of
/// the vertices that this rank has times of; vertices that no rank has are unreached.
Arrival gather_arrival(Transport& transport, std::span<const std::uint64_t> own, std::uint64_t whole,
                       const DistributedArrival& arrival);
template <int Corners>
Arrival gather_arrival(Transport& transport, const MeshPart<Corners>& part, const DistributedArrival& arrival) {
  return gather_arrival(transport, std::span(part.global_vertex).first(part.owned), part.whole_vertices, arrival);
}

}  // namespace isochron::mpi
