#include "isochron/mesh/partition.h"

#include "isochron/core/error.h"
#include "isochron/mesh/ordering.h"

namespace isochron {

template <int Corners>
std::vector<std::uint32_t> partition_vertices(const SimplexMesh<Corners>& mesh, std::uint32_t parts,
                                              Partitioner partitioner, int threads) {
  if (partitioner == Partitioner::metis)
    throw UsageError("this build has no METIS; leave --partitioner out, or build where libmetis-dev is installed");
  const Permutation order = hilbert_order(mesh.points, CurveDetail::points, threads);
  const std::uint64_t count = mesh.vertex_count();
  std::vector<std::uint32_t> part_of(count);
  for (std::uint64_t i = 0; i < count; ++i)
    part_of[order.new_to_old[i]] = static_cast<std::uint32_t>(i * parts / count);
  return part_of;
}

template std::vector<std::uint32_t> partition_vertices(const SimplexMesh<3>&, std::uint32_t, Partitioner, int);
template std::vector<std::uint32_t> partition_vertices(const SimplexMesh<4>&, std::uint32_t, Partitioner, int);

}  // namespace isochron
