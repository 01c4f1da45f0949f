// Laplacian smoothing of values on a mesh.
#pragma once

#include <vector>

#include "isochron/mesh.h"

namespace isochron {

/// Steps of u ← (u + m)/2 at every vertex, with m the mean over the other corners of its elements: an umbrella
/// Laplacian (paper 000 section 3.3.1). Values stay between the least and the largest.
template <int Corners>
void smooth_at_vertices(const SimplexMesh<Corners>& mesh, std::vector<double>& values, int steps);

}  // namespace isochron
