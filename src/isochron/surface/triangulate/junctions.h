// Points along the curves where materials meet.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isochron/surface/field/spline.h"
#include "isochron/surface/triangulate/materials.h"

namespace isochron {

/// A point where three or more materials meet.
struct JunctionPoint {
  Vec3d position;
  std::vector<MultiLabelField::Index> materials;  ///< places in `labels()`, ascending
};

/// Points of the corners where four materials meet, and evenly along the curves between them, which are followed from
/// these and from `starts` on.
std::vector<JunctionPoint> follow_junctions(const MaterialLabels& field, const SizeField& sizes,
                                            std::span<const Vec3d> corners, std::span<const Vec3d> starts, int threads);

}  // namespace isochron
