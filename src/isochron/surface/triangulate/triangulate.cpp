#include "isochron/surface/triangulate/triangulate.h"

#include <fmt/format.h>

#include <cmath>

#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/repair.h"

namespace isochron {
namespace {

void check_particles(const std::vector<Vec3d>& particles, Vec3d extent) {
  for (std::size_t i = 0; i < particles.size(); ++i) {
    for (int a = 0; a < 3; ++a) {
      if (particles[i][a] >= 0 && particles[i][a] <= extent[a]) continue;
      throw InputError(
          fmt::format("particle {} is at ({}, {}, {}), which is not in the field's lattice; project the "
                      "particles to the surface first",
                      i, particles[i].x, particles[i].y, particles[i].z));
    }
  }
}

TriangleMesh compacted(const Delaunay& tets, const std::vector<DelaunayFacet>& facets) {
  TriangleMesh mesh;
  std::vector<VertexId> renumbered(tets.id_count());
  for (const DelaunayFacet& facet : facets)
    for (const VertexId v : facet.corners) renumbered[v.index()] = VertexId(std::size_t{0});
  for (std::size_t i = 0; i < renumbered.size(); ++i) {
    if (!renumbered[i].valid()) continue;
    renumbered[i] = VertexId(mesh.points.size());
    mesh.points.push_back(tets.point(VertexId(i)));
  }
  mesh.elements.reserve(facets.size());
  for (const DelaunayFacet& facet : facets) {
    mesh.elements.push_back({renumbered[facet.corners[0].index()], renumbered[facet.corners[1].index()],
                             renumbered[facet.corners[2].index()]});
  }
  return mesh;
}

}  // namespace

TriangleMesh triangulate(const SplineField& field, const SizeField& sizes, std::vector<Vec3d> particles,
                         const TriangulateOptions& options, TriangulateReport* report, const Progress& progress) {
  const SplineLabels labels(field);
  check_particles(particles, labels.extent());
  TriangulateReport own;
  TriangulateReport& done = report != nullptr ? *report : own;
  done = {};
  Timer timer;
  Delaunay tets(particles, labels.extent());
  done.seconds_delaunay = timer.seconds();
  const std::vector<DelaunayFacet> facets = repair(tets, labels, sizes.view(), options, done, progress);
  done.seconds_repair = timer.seconds() - done.seconds_delaunay;
  if (facets.empty()) {
    throw NoAnswerError(fmt::format(
        "no triangles came out of {} particles (they do not enclose anything); use smaller sizes", particles.size()));
  }
  return compacted(tets, facets);
}

}  // namespace isochron
