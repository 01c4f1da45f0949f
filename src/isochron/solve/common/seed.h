// Vertices or voxels that have a time before a solve starts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/core/ids.h"

namespace isochron {

/// A vertex or voxel (user's numbering) that starts with a time, and the source it has it from.
struct Seed {
  VertexId vertex;
  double time = 0;
  std::int32_t source = 0;
};

/// The same by the number in a domain that is in parts.
struct GlobalSeed {
  std::uint64_t vertex = 0;
  double time = 0;
  std::int32_t source = 0;
  std::int32_t unused = 0;  ///< no gap: seeds travel as bytes
};

/// The radius of source balls in rings: when there are many they are kept small, so that together they cover at most
/// about a quarter of the mesh or image, which has `dim` dimensions.
int limited_rings(int ball_rings, std::size_t sources, std::size_t vertex_count, int dim);

}  // namespace isochron
