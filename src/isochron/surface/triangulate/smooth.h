// Moves points of a triangulated surface within it, for better triangles.
#pragma once

#include <span>
#include <vector>

#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/local_sizes.h"

namespace isochron {

/// Moves those of the given points whose triangles are far from equilateral to better places on the field's surface, if
/// there are any, and then moves them in the tetrahedra. Returns how many moved.
std::size_t smooth(Delaunay& tets, std::span<const DelaunayFacet> facets, std::span<const VertexId> points,
                   const LabelField& field, const LocalSizes& sizes);

/// All points, by id, after some steps of each towards the mean of the triangles around it, where that makes these more
/// equilateral. The first `fixed` points and points without triangles stay; of ids without a point the place means
/// nothing.
std::vector<Vec3d> evened_out(const Delaunay& tets, std::span<const DelaunayFacet> facets, const LabelField& field,
                              const LocalSizes& sizes, int threads, std::size_t fixed = 0);

}  // namespace isochron
