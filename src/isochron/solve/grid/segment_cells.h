// Which voxels the straight line between two voxel centres touches.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isochron/local/stencil_update.h"
#include "isochron/solve/grid/grid_box.h"

namespace isochron {

/// The voxels, as offsets from the line's start, whose closed cubes the line from 0 to `end` touches, without its two
/// ends. Closed: a line through a corner or an edge touches all voxels that meet there, so nothing slips between two
/// masked-out voxels that share no more than an edge or a corner.
std::vector<Vec3i> touched_voxels(const Vec3i& end);

/// Answers whether lines stay in allowed voxels. Remembers the voxels of each offset; one per thread.
class SegmentTest {
 public:
  explicit SegmentTest(const GridCells& cells) : cells_(cells) {}
  /// Between the voxel `from` (allowed) and the one at `offset` (of at most `PackedOffset`'s range).
  bool stays_inside(const Vec3i& from, const Vec3i& offset);

 private:
  const GridCells& cells_;
  std::unordered_map<std::uint32_t, std::vector<std::ptrdiff_t>> between_;  ///< packed offset → steps between cells
};

}  // namespace isochron
