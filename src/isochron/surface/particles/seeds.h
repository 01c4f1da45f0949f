// Where particles start: points of the isosurface, as dense as the sizes ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/surface/field/spline.h"
#include "isochron/types.h"

namespace isochron {

struct SeedOptions {
  std::size_t count = 0;           ///< about so many in all; 0: as many as the sizes ask for
  std::uint64_t seed = 1;          ///< of the random numbers
  std::size_t fewest = 4;          ///< for every component, however small
  std::size_t most = 200'000'000;  ///< more than this is refused before any is made
  int threads = 1;
};

/// Random points of the isosurface, evenly spread along its triangles in proportion to area / size², at least `fewest`
/// in every component, projected to F = 0 (a point that does not get there stays where it is). All in the lattice's
/// frame. Throws InputError when there are no triangles, or for more than `most` points.
std::vector<Vec3d> surface_seeds(const TriangleMesh& surface, const SplineField& distance, const SizeField& sizes,
                                 const SeedOptions& options = {});

}  // namespace isochron
