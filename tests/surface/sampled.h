// Functions sampled at the points of a lattice or the voxels of an image.
#pragma once

#include <cmath>
#include <vector>

#include "isochron/image.h"
#include "isochron/surface.h"

namespace isochron {

template <class Function>
std::vector<float> sampled(const Lattice& lattice, Function&& function) {
  std::vector<float> values(lattice.point_count());
  for (int k = 0; k < lattice.shape[2]; ++k)
    for (int j = 0; j < lattice.shape[1]; ++j)
      for (int i = 0; i < lattice.shape[0]; ++i)
        values[lattice.index(i, j, k)] = static_cast<float>(function(lattice.position(i, j, k)));
  return values;
}

/// By world positions.
template <class Function>
std::vector<float> sampled(const ImageGrid& grid, Function&& function) {
  std::vector<float> values(grid.voxel_count());
  for (std::size_t v = 0; v < values.size(); ++v) values[v] = static_cast<float>(function(grid.position(VertexId(v))));
  return values;
}

/// Distances to the surface, negative inside.
inline double ball(const Vec3d& p, const Vec3d& centre, double radius) { return norm(p - centre) - radius; }
inline double torus(const Vec3d& p, const Vec3d& centre, double ring, double tube) {
  const Vec3d q = p - centre;
  return std::hypot(std::hypot(q.x, q.y) - ring, q.z) - tube;
}

}  // namespace isochron
