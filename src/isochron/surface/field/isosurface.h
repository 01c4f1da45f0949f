// The zero set of values on a lattice as triangles.
#pragma once

#include <functional>
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

/// Of a function of the position, at `times` as many points along each axis of the lattice.
TriangleMesh marching_tetrahedra(const Lattice& lattice, int times, int threads,
                                 const std::function<double(Vec3d)>& value);

}  // namespace isochron
