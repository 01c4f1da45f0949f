// Cutting a data set open with a plane.
#pragma once

#include "isochron/core/vec.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

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
