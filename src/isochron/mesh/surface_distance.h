// How far apart two surfaces are.
#pragma once

#include "isochron/mesh.h"
#include "isochron/progress.h"

namespace isochron {

/// Distances of the vertices (those of triangles) and triangle centres of one surface to the nearest points of another,
/// in the meshes' unit. Each sample counts once, whatever the size of its triangles.
struct DistanceStatistics {
  std::size_t samples = 0;
  double mean = 0, percentile_95 = 0, max = 0;
};

struct SurfaceDistance {
  DistanceStatistics there, back;  ///< from the first to the second surface, and the other way
  [[nodiscard]] double hausdorff() const { return there.max > back.max ? there.max : back.max; }  ///< as sampled
};

/// One way. Both must have triangles and finite points; throws InputError, Cancelled.
DistanceStatistics distance_to_surface(const TriangleMesh& from, const TriangleMesh& to, int threads = 1,
                                       const Progress& progress = {});

/// Both ways.
SurfaceDistance surface_distance(const TriangleMesh& a, const TriangleMesh& b, int threads = 1,
                                 const Progress& progress = {});

}  // namespace isochron
