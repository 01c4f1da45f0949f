// Moves points of a triangulated surface within it, for better triangles.
#pragma once

#include <span>

#include "isochron/surface/triangulate/delaunay.h"

namespace isochron {

/// Moves those of the given points whose triangles are far from equilateral to better places on the field's surface, if
/// there are any, and then moves them in the tetrahedra. Returns how many moved.
std::size_t smooth(Delaunay& tets, std::span<const DelaunayFacet> facets, std::span<const VertexId> points,
                   const LabelField& field, const SizeView<double>& sizes);

}  // namespace isochron
