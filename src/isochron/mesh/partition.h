// Cutting a mesh's vertices into parts of about equal size with short borders.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

enum class Partitioner {
  automatic,  ///< METIS where the build has it, otherwise the curve
  metis,
  curve  ///< equal pieces of a Hilbert curve through the vertices
};

/// The part of every vertex, from 0 to `parts` − 1. Throws UsageError for `metis` in a build without it.
template <int Corners>
std::vector<std::uint32_t> partition_vertices(const SimplexMesh<Corners>& mesh, std::uint32_t parts,
                                              Partitioner partitioner, int threads = 1);

}  // namespace isochron
