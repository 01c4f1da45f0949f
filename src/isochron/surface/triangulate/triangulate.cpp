#include "isochron/surface/triangulate/triangulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/surface/field/doubtful_cells.h"
#include "isochron/surface/field/refined_isosurface.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/label_field.h"
#include "isochron/surface/triangulate/local_sizes.h"
#include "isochron/surface/triangulate/repair.h"
#include "isochron/surface/triangulate/smooth.h"

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

// Adds points with half of the sizes around, no closer to others than that asks for. Returns how many.
std::size_t refine(Delaunay& tets, LocalSizes& sizes, const std::vector<Vec3d>& points) {
  constexpr double apart = 0.8, smallest_factor = 0.1;
  std::size_t added = 0;
  VertexId near;
  for (const Vec3d p : points) {
    near = tets.nearest(p, near);
    if (!near.valid() || norm(tets.point(near) - p) < apart * 0.5 * sizes.size(near, p)) continue;
    const double factor = std::max(0.5 * sizes.factor(near), smallest_factor);
    const VertexId v = tets.insert(p, near);
    if (!v.valid()) continue;
    sizes.set_factor(v, factor);
    ++added;
  }
  return added;
}

void even_out(std::vector<Vec3d>& particles, std::size_t fixed, const LabelField& labels, const LocalSizes& sizes,
              const TriangulateOptions& options, const Progress& progress) {
  for (int pass = 0; pass < options.evenings; ++pass) {
    Delaunay rough(particles, labels.extent());
    rough.label(labels, options.threads);
    particles = evened_out(rough, rough.facets(), labels, sizes, options.threads, fixed);
    progress.update(0);
  }
}

void require_triangles(const TriangleMesh& mesh, std::size_t particles) {
  if (!mesh.elements.empty()) return;
  throw NoAnswerError(fmt::format(
      "no triangles came out of {} particles (they do not enclose anything); use smaller sizes", particles));
}

// The field's surface, in quarters of voxels where the lattice leaves doubts; in halves when those are so many (some 75
// triangles each) that they would fill the memory.
TriangleMesh close_look(const SplineField& field, int threads) {
  constexpr std::ptrdiff_t many = 400000;
  const std::vector<char> doubtful = doubtful_cells(field, threads);
  const int parts = std::count(doubtful.begin(), doubtful.end(), 1) > many ? 2 : 4;
  return refined_isosurface(field, doubtful, parts, threads);
}

// Compares with the expected surface; what the triangles lack of it is given to `again`, which makes the mesh anew.
// What still differs may be the lattice's fault: then the field decides. Of that surface small components are tried
// once more; large ones always miss some handle below a voxel, and to sample all of them again would double the mesh in
// vain.
template <class Again>
void compare(const SplineField& field, const LabelField& labels, const SizeView<double>& sizes,
             const TriangulateOptions& options, TriangleMesh& mesh, TriangulateReport& done, Again&& again) {
  const Vec3d spacing = field.lattice().spacing;
  const double voxel = spacing.x * spacing.y * spacing.z, small = 100 * std::cbrt(voxel * voxel);
  const auto examine = [&](const ExpectedSurface& surface) {
    done.specks += surface.drop_specks(mesh, voxel);
    done.differences = surface.differences(mesh);
    return done.differences.empty();
  };
  const auto mend = [&](const std::vector<Vec3d>& missed) {
    if (!again(missed)) return false;
    done.specks = 0;
    return true;
  };
  const ExpectedSurface rough(*options.expected, options.threads);
  for (int pass = 0; !examine(rough) && pass < options.refinements; ++pass)
    if (!mend(rough.uncovered(mesh, labels, sizes))) break;
  if (done.differences.empty()) return;
  TriangleMesh closer = close_look(field, options.threads);
  rough.drop_specks(closer, voxel);
  const ExpectedSurface expected(closer, options.threads);
  if (examine(expected) || options.refinements == 0) return;
  std::vector<SurfaceDifference> small_ones = done.differences;
  std::erase_if(small_ones, [&](const SurfaceDifference& difference) { return difference.area > small; });
  if (mend(expected.uncovered(mesh, labels, sizes, small_ones))) examine(expected);
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
  LocalSizes local_sizes(sizes.view());
  even_out(particles, 0, labels, local_sizes, options, progress);
  Delaunay tets(particles, labels.extent());
  done.seconds_delaunay = timer.seconds();
  Repair repair(tets, labels, local_sizes, options, done);
  TriangleMesh mesh = compacted(tets, repair.run(progress));
  require_triangles(mesh, particles.size());
  if (options.expected != nullptr) {
    const auto again = [&](const std::vector<Vec3d>& missed) {
      const std::size_t added = refine(tets, local_sizes, missed);
      done.added += added;
      if (added > 0) mesh = compacted(tets, repair.run(progress));
      return added > 0;
    };
    compare(field, labels, sizes.view(), options, mesh, done, again);
  }
  done.seconds_repair = timer.seconds() - done.seconds_delaunay;
  return mesh;
}

MaterialSurface triangulate_materials(const LabelField& field, const SizeField& sizes, std::vector<Vec3d> particles,
                                      std::size_t fixed, const TriangulateOptions& options, TriangulateReport* report,
                                      const Progress& progress) {
  check_particles(particles, field.extent());
  TriangulateReport own;
  TriangulateReport& done = report != nullptr ? *report : own;
  done = {};
  Timer timer;
  LocalSizes local_sizes(sizes.view());
  even_out(particles, fixed, field, local_sizes, options, progress);
  Delaunay tets(particles, field.extent());
  done.seconds_delaunay = timer.seconds();
  const std::vector<DelaunayFacet> facets = Repair(tets, field, local_sizes, options, done, fixed).run(progress);
  MaterialSurface surface{compacted(tets, facets), {}};
  require_triangles(surface.mesh, particles.size());
  for (const DelaunayFacet& facet : facets) surface.labels.push_back(facet.labels);
  done.seconds_repair = timer.seconds() - done.seconds_delaunay;
  return surface;
}

}  // namespace isochron
