// Cutting a mesh's vertices into parts of about equal size with short borders.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

enum class Partitioner {
  automatic,  ///< METIS where the build has it and can do it, otherwise the curve
  metis,
  curve  ///< equal pieces of a Hilbert curve through the vertices
};

/// True in a build with METIS.
bool has_metis();

/// The part of every vertex, from 0 to `parts` − 1; `parts` must be positive. No part is empty unless there are more
/// parts than vertices. METIS is made for parts of some size: parts of fewer than 16 vertices, and vertices without any
/// element, are cut by the curve whatever is asked for. Throws UsageError for `metis` in a build without it,
/// RuntimeError when METIS fails.
template <int Corners>
std::vector<std::uint32_t> partition_vertices(const SimplexMesh<Corners>& mesh, std::uint32_t parts,
                                              Partitioner partitioner, int threads = 1);

}  // namespace isochron
