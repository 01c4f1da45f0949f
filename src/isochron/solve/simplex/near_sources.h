// The seeds of vertex sources from the mesh around them, without the adjacency of all of it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isochron/solve/simplex/seeds.h"

namespace isochron {

/// Gives the elements with a corner at most so many edges away from one of the vertices.
using ElementsNear = std::function<std::vector<ElementId>(std::span<const VertexId>, int rings)>;

/// The seeds of several sets of sources, which must be vertices only, as `make_seeds` would give them; checks as
/// `place_sources` does.
template <int Corners>
std::vector<std::vector<Seed>> seeds_near(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                          std::span<const Sources> source_sets, SourceInit init, int ball_rings,
                                          const ElementsNear& elements_near);

}  // namespace isochron
