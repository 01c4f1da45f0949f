// The zero set of values on a lattice as triangles.
#pragma once

#include <span>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {

/// Marching tetrahedra: the zero set of the values, linear in each of the six tetrahedra that share a cell's main
/// diagonal (Kuhn). Neighbouring cells agree on their common face, so the surface is closed and manifold whatever the
/// values, as long as none on the lattice's border is negative. Triangles face from negative to positive; points are in
/// the lattice frame, on edges of the tetrahedra, a thousandth of the edge away from its ends. Zero counts as positive.
/// Throws InputError when there would be more points than can be numbered.
TriangleMesh marching_tetrahedra(const Lattice& lattice, std::span<const float> values);

}  // namespace isochron
