// Makes the labelled tetrahedra's surface manifold, faithful to the field and well shaped, by changing points.
#pragma once

#include "isochron/core/progress.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron {

/// Repairs in rounds: finds what is wrong, adds or removes points there, and smooths around them. Leaves all tetrahedra
/// labelled. Returns the surface's facets.
std::vector<DelaunayFacet> repair(Delaunay& tets, const LabelField& field, const SizeView<double>& sizes,
                                  const TriangulateOptions& options, TriangulateReport& report,
                                  const Progress& progress);

}  // namespace isochron
