// Triangles that are made to be looked at.
#pragma once

#include <vector>

#include "isochron/core/vec.h"
#include "isochron/draw/color_map.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// A closed surface in world coordinates, its triangles seen counter-clockwise from outside, with a normal a vertex.
struct ShadedMesh {
  TriangleMesh mesh;
  std::vector<Vec3f> normals;  ///< unit, outward
  std::vector<Color> colors;   ///< one a vertex, or none
};

}  // namespace isochron
