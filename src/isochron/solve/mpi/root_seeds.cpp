#include "isochron/solve/mpi/root_seeds.h"

#include <utility>

#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/plan.h"
#include "isochron/solve/simplex/seeds.h"

namespace isochron::mpi {

template <int Corners>
std::vector<GlobalSeed> whole_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                                    const SolveOptions& options) {
  const Adjacency adjacency = build_adjacency(mesh, wanted_threads(options));
  const PlacedSources placed = place_sources(mesh, adjacency, sources);
  const int rings = limited_rings(options.ball_rings, placed.points.size(), mesh.vertex_count(), Corners - 1);
  std::vector<GlobalSeed> seeds;
  for (const Seed& seed : make_seeds(mesh, metric, adjacency, sources, placed, options.source_init, rings))
    seeds.push_back({seed.vertex.index(), seed.time, seed.source});
  return seeds;
}

template <int Corners>
std::vector<GlobalSeed> root_seeds(Transport& transport, const SimplexMesh<Corners>* mesh, const Metric* metric,
                                   const Sources* sources, const SolveOptions& options) {
  Bytes bytes;
  if (transport.rank() == 0) put_vector(bytes, whole_seeds(*mesh, *metric, *sources, options));
  bytes = broadcast(transport, std::move(bytes));
  return Unpack(bytes).take_vector<GlobalSeed>();
}

template std::vector<GlobalSeed> whole_seeds(const SimplexMesh<3>&, const Metric&, const Sources&, const SolveOptions&);
template std::vector<GlobalSeed> whole_seeds(const SimplexMesh<4>&, const Metric&, const Sources&, const SolveOptions&);
template std::vector<GlobalSeed> root_seeds(Transport&, const SimplexMesh<3>*, const Metric*, const Sources*,
                                            const SolveOptions&);
template std::vector<GlobalSeed> root_seeds(Transport&, const SimplexMesh<4>*, const Metric*, const Sources*,
                                            const SolveOptions&);

}  // namespace isochron::mpi
