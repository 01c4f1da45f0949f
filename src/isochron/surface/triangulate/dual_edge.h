// Where the dual edge of a facet crosses the surface of a field.
#pragma once

#include "isochron/surface/triangulate/delaunay.h"

namespace isochron {

struct DualCrossings {
  int count = 0;
  Vec3d farthest;     ///< the crossing farthest from the facet's corners
  double radius = 0;  ///< how far it is from each of them
};

/// Walks along the dual edge of a facet with corner `corner`, in steps of the field's clearance but no shorter than
/// `finest`: pairs of crossings closer than that can be missed.
DualCrossings dual_crossings(const LabelField& field, const DelaunayFacet& facet, Vec3d corner, double finest);

}  // namespace isochron
