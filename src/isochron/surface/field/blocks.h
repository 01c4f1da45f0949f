// Label maps that were enlarged from coarser ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isochron/image.h"

namespace isochron {

/// An image seen as blocks of equal voxels: along each axis `size` voxels, the first block beginning at `-before`.
struct BlockGrid {
  std::array<int, 3> size{1, 1, 1}, before{0, 0, 0};
  ImageGrid grid;    ///< of the blocks; those at the border may lie partly outside the image
  std::string note;  ///< empty when the blocks are the voxels
};

/// Finds blocks by where the values change: on every axis that has enough changes to tell (eight places), all of them a
/// multiple of the block's size apart. Blocks of up to 8 voxels.
template <class Value>
BlockGrid find_blocks(const ImageGrid& grid, std::span<const Value> values);

/// The blocks' values: those of a voxel in each.
template <class Value>
std::vector<Value> block_values(const ImageGrid& image, const BlockGrid& blocks, std::span<const Value> values) {
  const auto voxel = [&](std::uint32_t block, int axis) {
    const int at = static_cast<int>(block) * blocks.size[axis] - blocks.before[axis];
    return static_cast<std::uint32_t>(std::clamp(at, 0, static_cast<int>(image.shape[axis]) - 1));
  };
  std::vector<Value> result;
  result.reserve(blocks.grid.voxel_count());
  for (std::uint32_t k = 0; k < blocks.grid.shape[2]; ++k)
    for (std::uint32_t j = 0; j < blocks.grid.shape[1]; ++j)
      for (std::uint32_t i = 0; i < blocks.grid.shape[0]; ++i)
        result.push_back(values[image.voxel(voxel(i, 0), voxel(j, 1), voxel(k, 2)).index()]);
  return result;
}

/// All labels of an image.
std::set<std::int32_t> labels_in(std::span<const std::int32_t> labels);

}  // namespace isochron
