#include "apps/isochron/mesh_quality.h"

#include "isochron/mesh/self_intersections.h"

namespace isochron::cli {

template <int Corners>
MeshQuality examine_quality(const SimplexMesh<Corners>& mesh, CrossingTest crossings, int threads,
                            const Progress& progress) {
  MeshQuality quality;
  quality.corners = Corners;
  quality.shape = shape_statistics(mesh, threads);
  if constexpr (Corners == 3) {
    quality.topology = surface_topology(mesh);
    if (crossings == CrossingTest::always || mesh.element_count() <= max_triangles_tested)
      quality.self_intersections = self_intersections(mesh, threads, progress).size();
  }
  return quality;
}

template MeshQuality examine_quality<3>(const TriangleMesh&, CrossingTest, int, const Progress&);
template MeshQuality examine_quality<4>(const TetMesh&, CrossingTest, int, const Progress&);

}  // namespace isochron::cli
