#include "isochron/surface/triangulate/triangulate.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/triangulate/compare.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/label_field.h"
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
  constexpr double separation = 0.8, smallest_factor = 0.1;
  std::size_t added = 0;
  VertexId near;
  for (const Vec3d p : points) {
    near = tets.nearest(p, near);
    if (!near.valid() || norm(tets.point(near) - p) < separation * 0.5 * sizes.size(near, p)) continue;
    const double factor = std::max(0.5 * sizes.factor(near), smallest_factor);
    const VertexId v = tets.insert(p, near);
    if (!v.valid()) continue;
    sizes.set_factor(v, factor);
    ++added;
  }
  return added;
}

void require_triangles(const TriangleMesh& mesh, std::size_t particles) {
  if (!mesh.elements.empty()) return;
  throw NoAnswerError(fmt::format(
      "no triangles came out of {} particles (they do not enclose anything); use smaller sizes", particles));
}

// Delaunay tetrahedra of evened out particles, and their repair.
class Triangulation {
 public:
  Triangulation(const LabelField& field, const SizeField& sizes, std::vector<Vec3d> particles, std::size_t fixed,
                const TriangulateOptions& options, TriangulateReport* report, const Progress& progress)
      : field_(field),
        options_(options),
        report_(report != nullptr ? *report : own_report_),
        progress_(progress),
        particles_(particles.size()),
        sizes_(sizes.view()),
        tets_(evened(std::move(particles), fixed), field.extent()),
        repair_(tets_, field, sizes_, options, report_, fixed) {
    report_ = {};
    report_.seconds_delaunay = timer_.seconds();
  }

  // The facets of the surface, and the mesh that they make.
  TriangleMesh repair() {
    facets_ = repair_.run(progress_);
    TriangleMesh mesh = compacted(tets_, facets_);
    require_triangles(mesh, particles_);
    report_.seconds_repair = timer_.seconds() - report_.seconds_delaunay;
    return mesh;
  }
  [[nodiscard]] std::span<const DelaunayFacet> facets() const { return facets_; }
  // Adds points; says whether there was room for any.
  bool refine(const std::vector<Vec3d>& points) {
    const std::size_t added = isochron::refine(tets_, sizes_, points);
    report_.added += added;
    return added > 0;
  }
  TriangulateReport& report() { return report_; }

 private:
  std::vector<Vec3d> evened(std::vector<Vec3d> particles, std::size_t fixed) {
    check_particles(particles, field_.extent());
    for (int pass = 0; pass < options_.evenings; ++pass) {
      Delaunay rough(particles, field_.extent());
      rough.label(field_, options_.threads);
      particles = evened_out(rough, rough.facets(), field_, sizes_, options_.threads, fixed);
      progress_.update(0);
    }
    return particles;
  }

  Timer timer_;
  const LabelField& field_;
  const TriangulateOptions& options_;
  TriangulateReport own_report_;
  TriangulateReport& report_;
  const Progress& progress_;
  std::size_t particles_;
  LocalSizes sizes_;
  Delaunay tets_;
  Repair repair_;
  std::vector<DelaunayFacet> facets_;
};

// The field's surface, in quarters of voxels where the lattice leaves doubts; in halves when those are so many (some 75
// triangles each) that they would fill the memory.
TriangleMesh close_look(const SplineField& field, int threads) {
  constexpr std::ptrdiff_t many = 400000;
  const std::vector<char> doubtful = doubtful_cells(field, threads);
  const int parts = std::count(doubtful.begin(), doubtful.end(), 1) > many ? 2 : 4;
  return refined_isosurface(field, doubtful, parts, threads);
}

// Compares with the expected surface; with what the triangles lack of it the mesh is made anew.
// What still differs may be the lattice's fault: then the field decides. Of that surface small components are tried
// once more; large ones always miss some thin handle, and to sample all of them again would double the mesh in
// vain.
void compare(const SplineField& field, const LabelField& labels, const SizeView<double>& sizes,
             const TriangulateOptions& options, Triangulation& triangulation, TriangleMesh& mesh) {
  TriangulateReport& done = triangulation.report();
  const Vec3d spacing = field.lattice().spacing;
  const double voxel = spacing.x * spacing.y * spacing.z, small = 100 * std::cbrt(voxel * voxel);
  const auto examine = [&](const ExpectedSurface& surface) {
    done.specks += surface.drop_specks(mesh, voxel);
    done.differences = surface.differences(mesh);
    return done.differences.empty();
  };
  const auto mend = [&](const std::vector<Vec3d>& missed) {
    if (!triangulation.refine(missed)) return false;
    mesh = triangulation.repair();
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

/// With a number of threads: all cores where the options leave it open.
TriangulateOptions with_threads(TriangulateOptions options) {
  if (options.threads <= 0) options.threads = hardware_threads();
  return options;
}

}  // namespace

TriangleMesh triangulate(const SplineField& field, const SizeField& sizes, std::vector<Vec3d> particles,
                         const TriangulateOptions& wanted, TriangulateReport* report, const Progress& progress) {
  const TriangulateOptions options = with_threads(wanted);
  const SplineLabels labels(field);
  Triangulation triangulation(labels, sizes, std::move(particles), 0, options, report, progress);
  TriangleMesh mesh = triangulation.repair();
  if (options.expected != nullptr) compare(field, labels, sizes.view(), options, triangulation, mesh);
  return mesh;
}

MaterialSurface triangulate_materials(const LabelField& field, const SizeField& sizes, std::vector<Vec3d> particles,
                                      std::size_t fixed, const TriangulateOptions& wanted, TriangulateReport* report,
                                      const Progress& progress) {
  const TriangulateOptions options = with_threads(wanted);
  Triangulation triangulation(field, sizes, std::move(particles), fixed, options, report, progress);
  MaterialSurface surface{triangulation.repair(), {}};
  for (const DelaunayFacet& facet : triangulation.facets()) surface.labels.push_back(facet.labels);
  return surface;
}

}  // namespace isochron
