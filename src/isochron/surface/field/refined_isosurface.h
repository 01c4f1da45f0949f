// The zero set of a spline as triangles, finer in chosen cells.
#pragma once

#include <vector>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/spline.h"

namespace isochron {

/// Marching tetrahedra (isosurface.h) on the lattice of the field, and in the cells that are not 0 in `refined`
/// (numbered as their lowest points) with `parts` times as many points along each axis. On the border of those cells
/// the field counts as linear between lattice points, as it does outside, and triangles beside them are cut to fit: the
/// surface is closed and manifold like the other.
TriangleMesh refined_isosurface(const SplineField& field, const std::vector<char>& refined, int parts, int threads);

}  // namespace isochron
