// The zero set of values on a lattice, or of a spline through them, as triangles.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/mesh/marching_tetrahedra.h"
#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"

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

/// Of a function of the position, at `times` as many points along each axis of the lattice.
TriangleMesh marching_tetrahedra(const Lattice& lattice, int times, int threads,
                                 const std::function<double(Vec3d)>& value);

/// The zero set of a spline: marching tetrahedra on the lattice of the field, and in the cells that are not 0 in
/// `refined` (numbered as their lowest points) with `parts` times as many points along each axis. On the border of
/// those cells the field counts as linear between lattice points, as it does outside, and triangles beside them are cut
/// to fit: the surface is closed and manifold like the other.
TriangleMesh refined_isosurface(const SplineField& field, const std::vector<char>& refined, int parts, int threads);

/// The cells (numbered as their lowest points; others are 0) in which the zero set of the field may be another than
/// marching tetrahedra see: what is inside, or what is outside, is in several parts in the cell or on one of its faces,
/// or changes twice along an edge, by the values at the corners or halfway between. Their neighbours are among them.
std::vector<char> doubtful_cells(const SplineField& field, int threads);

}  // namespace isochron
