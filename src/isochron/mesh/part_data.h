// A part of a mesh with the named arrays on it.
#pragma once

#include "isochron/mesh/dataset.h"
#include "isochron/mesh/mesh_part.h"

namespace isochron {

template <int Corners>
struct PartData {
  MeshPart<Corners> part;
  DataArrays point_data;  ///< one tuple for each vertex, ghosts too
  DataArrays cell_data;   ///< one tuple for each element
};

}  // namespace isochron
