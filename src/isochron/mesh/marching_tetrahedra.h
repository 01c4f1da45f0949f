// The zero set of an image's values as triangles.
#pragma once

#include <span>

#include "isochron/image.h"
#include "isochron/mesh.h"

namespace isochron {

/// Marching tetrahedra: the zero set of the values (one a voxel), linear in each of the six tetrahedra that share a
/// cell's main diagonal (Kuhn). Neighbouring cells agree on their common face, so the surface is closed and manifold
/// whatever the values, as long as none on the image's border is negative. Triangles face from negative to positive;
/// points are in the world, on edges of the tetrahedra, a thousandth of the edge away from its ends, and in the middle
/// of an edge with a value that is not finite. Zero and NaN count as positive. Throws InputError when there would be
/// more points than can be numbered.
TriangleMesh marching_tetrahedra(const ImageGrid& grid, std::span<const float> values);

}  // namespace isochron
