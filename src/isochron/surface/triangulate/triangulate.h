// From particles on a surface to triangles: Delaunay tetrahedra, labels, repair.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"
#include "isochron/surface/triangulate/label_field.h"

namespace isochron {

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
