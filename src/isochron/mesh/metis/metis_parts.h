// Parts of a mesh by METIS. Left out of builds without it.
#pragma once

#include <cstdint>
#include <vector>

#include <metis.h>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// Vertices joined by the elements' edges, as METIS wants it.
struct MetisGraph {
  std::vector<idx_t> offsets, neighbors;
  bool fits = true;  ///< false when there are more edges than METIS can count; nothing else is set then
};

template <int Corners>
MetisGraph metis_graph(const SimplexMesh<Corners>& mesh);

/// The part of every vertex; none is empty. Precondition: at least as many vertices as parts. Throws RuntimeError when
/// METIS fails.
std::vector<std::uint32_t> metis_parts(const MetisGraph& graph, std::uint32_t parts);

}  // namespace isochron
