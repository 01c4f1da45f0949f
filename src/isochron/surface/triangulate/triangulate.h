// From particles on a surface to triangles: Delaunay tetrahedra, labels, repair.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/progress.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/spline.h"
#include "isochron/surface/triangulate/compare.h"

namespace isochron {

struct TriangulateOptions {
  double min_ratio = 0.45;  ///< radius ratio below which a triangle is improved (equilateral: 1)
  double min_angle = 20;    ///< degrees, likewise
  int evenings = 1;         ///< times that all particles are smoothed and triangulated anew, before the repair
  int rounds = 40;          ///< of repair; the last third of them only adds points
  int threads = hardware_threads();
  /// A surface of the same object, as marching tetrahedra give it: what the particles miss of it is sampled again with
  /// sizes halved, at most `refinements` times, and specks that it lacks are left out. Where they still differ the
  /// field itself is looked at more closely, and only what differs from that is reported. Without it nothing is
  /// compared.
  const TriangleMesh* expected = nullptr;
  int refinements = 2;
};

/// What the triangulation had to do, and what it could not.
struct TriangulateReport {
  std::size_t added = 0, removed = 0, moved = 0;  ///< points, by the repair
  std::size_t relabelled = 0;                     ///< points where the surface touched itself and labels were changed
  int rounds = 0;
  std::size_t bad_shapes = 0;       ///< triangles still below `min_ratio` or `min_angle`
  std::size_t bad_crossings = 0;    ///< triangles whose dual edge still crosses the field's surface more than once
  std::size_t singular_points = 0;  ///< points where the surface still touches itself; 0 unless the rounds ran out
  std::size_t unused = 0;           ///< particles that are no corner of any triangle
  std::size_t specks = 0;           ///< components below a voxel's volume that the expected surface lacks, left out
  std::vector<SurfaceDifference> differences;  ///< from the expected surface, where the field agrees with that
  double seconds_delaunay = 0, seconds_repair = 0;
};

/// Triangles through particles on the zero set of a field of signed distances (negative inside; lattice frame). The
/// result is closed, without self-intersections and oriented outward; it is manifold unless the report says otherwise.
/// Points are added, moved and removed where the particles do not capture the surface, or for the triangles' shapes.
/// Throws `InputError` for particles that are not finite or outside the lattice, `RuntimeError` without CGAL and
/// `NoAnswerError` when no triangle is left.
TriangleMesh triangulate(const SplineField& field, const SizeField& sizes, std::vector<Vec3d> particles,
                         const TriangulateOptions& options = {}, TriangulateReport* report = nullptr,
                         const Progress& progress = {});

/// Triangles between materials, each once.
struct MaterialSurface {
  TriangleMesh mesh;
  std::vector<std::array<int, 2>> labels;  ///< of each triangle: behind it, and before it (where its normal points)
};

/// Like `triangulate`, for any number of materials. The border of each one is closed and manifold; triangles of more
/// than two materials meet only in junctions. The first `fixed` particles lie on junctions and stay; the others lie on
/// borders between two. `options.expected` is not used.
MaterialSurface triangulate_materials(const LabelField& field, const SizeField& sizes, std::vector<Vec3d> particles,
                                      std::size_t fixed, const TriangulateOptions& options = {},
                                      TriangulateReport* report = nullptr, const Progress& progress = {});

}  // namespace isochron
