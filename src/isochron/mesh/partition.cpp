#include "isochron/mesh/partition.h"

#include "isochron/core/error.h"
#include "isochron/mesh/ordering.h"

#if defined(ISOCHRON_WITH_METIS)
#include "isochron/mesh/metis/metis_parts.h"
#endif

namespace isochron {
namespace {

template <int Corners>
std::vector<std::uint32_t> curve_parts(const SimplexMesh<Corners>& mesh, std::uint32_t parts, int threads) {
  const Permutation order = hilbert_order(mesh.points, CurveDetail::points, threads);
  const std::uint64_t count = mesh.vertex_count();
  std::vector<std::uint32_t> part_of(count);
  for (std::uint64_t i = 0; i < count; ++i)
    part_of[order.new_to_old[i]] = static_cast<std::uint32_t>(i * parts / count);
  return part_of;
}

#if defined(ISOCHRON_WITH_METIS)
/// With smaller parts METIS leaves some empty, and below a few vertices it prints complaints.
constexpr std::size_t min_metis_part = 16;

template <int Corners>
bool metis_fits(const SimplexMesh<Corners>& mesh, std::uint32_t parts) {
  return parts > 1 && mesh.element_count() > 0 && mesh.vertex_count() / parts >= min_metis_part;
}
#endif

}  // namespace

bool has_metis() {
#if defined(ISOCHRON_WITH_METIS)
  return true;
#else
  return false;
#endif
}

template <int Corners>
std::vector<std::uint32_t> partition_vertices(const SimplexMesh<Corners>& mesh, std::uint32_t parts,
                                              Partitioner partitioner, int threads) {
  if (partitioner == Partitioner::metis && !has_metis())
    throw UsageError("this build has no METIS; leave " + Setting{Option::partitioner} +
                     " out, or build where libmetis-dev is installed");
#if defined(ISOCHRON_WITH_METIS)
  if (partitioner != Partitioner::curve && metis_fits(mesh, parts)) {
    const MetisGraph graph = metis_graph(mesh);
    if (graph.fits) return metis_parts(graph, parts);
    if (partitioner == Partitioner::metis)
      throw UsageError("the mesh is too large for this build's METIS, which counts in 32 bits; use " +
                       Setting{Option::partitioner, "curve"});
  }
#endif
  return curve_parts(mesh, parts, threads);
}

template std::vector<std::uint32_t> partition_vertices(const SimplexMesh<3>&, std::uint32_t, Partitioner, int);
template std::vector<std::uint32_t> partition_vertices(const SimplexMesh<4>&, std::uint32_t, Partitioner, int);

}  // namespace isochron
