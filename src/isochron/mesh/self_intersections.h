// Where a surface runs through itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/progress.h"

namespace isochron {

using TrianglePair = std::array<ElementId, 2>;  ///< the smaller id first

/// True when two triangles have more in common than the vertices they share by id and the edge between two of those:
/// they cross, touch, or overlap in one plane. Decided exactly (mesh/orientation.h). Triangles whose corners lie on one
/// line, and those that name a vertex twice, meet nothing.
bool triangles_meet(const TriangleMesh& mesh, ElementId a, ElementId b);

/// All pairs of triangles that meet, ascending; empty for an embedded surface. The mesh must pass `check_mesh`. Throws
/// Cancelled.
std::vector<TrianglePair> self_intersections(const TriangleMesh& mesh, int threads = 1, const Progress& progress = {});

/// How many there are, without a list of them; nothing when it takes more than `max_work`, in comparisons of boxes.
/// Around a vertex of many triangles only those whose far edges are near one another are compared.
std::optional<std::size_t> count_self_intersections(const TriangleMesh& mesh, int threads, const Progress& progress,
                                                    std::uint64_t max_work);

}  // namespace isochron
