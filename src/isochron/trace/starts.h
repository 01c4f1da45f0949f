// Where a front started, from its times: for paths through a solution that comes without its sources.
#pragma once

#include <vector>

#include "isochron/mesh/dataset.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/solve/sources.h"

namespace isochron {

/// By the labels of the solve: the earliest place of each source.
Sources sources_by_label(const DataArray& label, const std::vector<double>& times);
/// Vertices that none of their neighbours is earlier than.
template <int Corners>
Sources sources_at_minima(const SimplexMesh<Corners>& mesh, const std::vector<double>& times);
/// Voxels that none of their neighbours (faces, edges, corners) is earlier than.
Sources sources_at_minima(const ImageGrid& grid, const std::vector<double>& times);

}  // namespace isochron
