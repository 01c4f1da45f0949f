// The zero set of values on a lattice as triangles.
#pragma once

#include <span>

#include "isochron/mesh/marching_tetrahedra.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {

/// The zero set of an image that lies as the lattice does: its points are in the lattice's frame.
inline TriangleMesh marching_tetrahedra(const Lattice& lattice, std::span<const float> values) {
  ImageGrid grid;
  for (int a = 0; a < 3; ++a) {
    grid.shape[static_cast<std::size_t>(a)] = static_cast<std::uint32_t>(lattice.shape[a]);
    grid.axes[static_cast<std::size_t>(a)][a] = lattice.spacing[a];
  }
  return marching_tetrahedra(grid, values);
}

}  // namespace isochron
