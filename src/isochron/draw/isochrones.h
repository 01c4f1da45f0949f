// Isochrones: lines and surfaces of equal value, the outside of a volume to draw them on, and cuts with a plane.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "isochron/core/ids.h"
#include "isochron/core/vec.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// A face of a tetrahedral mesh, its corners turned so that its normal points out, and the tetrahedron it belongs to.
struct BoundaryFace {
  std::array<VertexId, 3> corners;
  ElementId tet;
};

/// The faces that belong to one tetrahedron only, in order of their smallest vertex. Sorts by counting: linear in the
/// number of faces, and in memory bounded whatever the mesh.
std::vector<BoundaryFace> boundary_faces(std::span<const Vec3d> points, std::span<const TetMesh::Element> tets);

/// The outside of the data set's tetrahedra as a surface of its own: only the points on it, with their arrays, and the
/// arrays of the tetrahedra behind its triangles. Triangles and lines of the data set are left out.
Dataset boundary_surface(const Dataset& dataset);

/// The round spacing (1, 2 or 5 times a power of ten) of which about so many multiples lie between low and high: at
/// most twice, at least half as many. 0 when low < high does not hold or one of them is not finite.
double round_spacing(double low, double high, int about);
/// The multiples of that spacing strictly between low and high; empty where it is 0.
std::vector<double> round_levels(double low, double high, int about);
/// Multiples of `spacing` > 0 strictly between low and high. Throws UsageError when there are more than 10,000.
std::vector<double> spaced_levels(double low, double high, double spacing);

/// Polylines on the triangles where the (one-component) point array `array` has the given values, closed ones with the
/// first point repeated. The result's `line_data` array `array` holds each line's level; the other point arrays of the
/// surface are interpolated. Triangles with a corner that is not finite (not reached) are left out. Throws InputError
/// when the array is missing (listing the names) or has several components.
Dataset isolines(const Dataset& surface, std::string_view array, std::span<const double> levels);

/// Triangles inside the tetrahedra where the point array has the given values, facing larger values. `triangles.data`
/// holds the level under the array's name. Otherwise like `isolines`.
Dataset isosurfaces(const Dataset& volume, std::string_view array, std::span<const double> levels);

/// The same for values that are no array of the data set, one per point; the levels are in the array "level".
Dataset level_surfaces(const Dataset& volume, std::span<const double> values, std::span<const double> levels);

// ---- Cutting a data set open with a plane.

/// The plane through `point`; what lies on the side that `normal` points to is removed.
struct CutPlane {
  Vec3d point;
  Vec3d normal{1, 0, 0};
};

/// Throws UsageError when all points of the data set lie on the side that is removed.
void check_cut(const Dataset& dataset, const CutPlane& plane);

/// The part of a surface (triangles and lines left out elsewhere) that stays, with interpolated point arrays; triangles
/// the plane crosses are cut along it.
Dataset clip_surface(const Dataset& surface, const CutPlane& plane);

/// The part of the plane that lies inside the tetrahedra, as triangles facing along the normal, with interpolated point
/// arrays.
Dataset cut_face(const Dataset& volume, const CutPlane& plane);

/// One data set with the points and triangles of both; only point arrays that both have are kept.
Dataset merged_surfaces(const Dataset& first, const Dataset& second);

}  // namespace isochron
