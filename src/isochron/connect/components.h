// Connected parts of a set of voxels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/image.h"

namespace isochron {

struct Components {
  std::vector<std::int32_t> of_voxel;  ///< which part, −1 outside the set
  std::vector<std::size_t> sizes;      ///< voxels in each
};

/// The parts of the voxels that are not 0 in `set`; voxels that share a face, an edge or a corner are together.
Components find_components(const ImageGrid& grid, std::span<const std::uint8_t> set);

}  // namespace isochron
