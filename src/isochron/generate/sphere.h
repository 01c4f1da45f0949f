// Spheres of nearly equal triangles.
#pragma once

#include <cstddef>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

struct SphereOptions {
  std::size_t frequency = 320;  ///< parts each edge of the icosahedron is cut into, at least 1
  double radius = 1;
};

/// A geodesic sphere around the origin: 10 f² + 2 vertices, 20 f² triangles seen counter-clockwise from outside.
/// Valence is six except at the twelve corners of the icosahedron. f = 320 has about the size of Mesh 3 of paper 000.
/// Throws UsageError when an option is out of range.
TriangleMesh generate_sphere(const SphereOptions& options);

}  // namespace isochron
