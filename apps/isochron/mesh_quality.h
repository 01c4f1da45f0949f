// How good a mesh is: what `isochron info` and `isochron surface --report` find out about it.
#pragma once

#include <optional>

#include "apps/isochron/report.h"
#include "isochron/mesh/surface_distance.h"
#include "isochron/mesh_quality.h"
#include "isochron/progress.h"

namespace isochron::cli {

/// Whether to look for triangles that run through one another: a second for each million.
enum class CrossingTest {
  always,
  small_meshes  ///< up to `max_triangles_tested`, where not too many are near one another
};
constexpr std::size_t max_triangles_tested = 500'000;

struct MeshQuality {
  ShapeStatistics shape;
  int corners = 3;                                ///< 3: triangles, 4: tetrahedra
  std::optional<SurfaceTopology> topology;        ///< of triangles
  std::optional<std::size_t> self_intersections;  ///< pairs of triangles; empty when not looked for
  std::optional<SurfaceDistance> distance;        ///< to the surface that this one should follow, where there is one
};

/// The mesh must pass `check_mesh`. Throws Cancelled.
template <int Corners>
MeshQuality examine_quality(const SimplexMesh<Corners>& mesh, CrossingTest crossings, int threads,
                            const Progress& progress = {});

enum class Histograms { show, hide };

/// `shape` and, for triangles, `surface` (and `distance`, where one was measured); the text in the columns of
/// `isochron info`.
void report_quality(Report& report, const MeshQuality& quality, Histograms histograms);

/// Reports on a mesh are indented, under the line that says what is in it.
inline Report mesh_report() { return Report(13, 4); }

}  // namespace isochron::cli
