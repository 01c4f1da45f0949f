// Connected parts of a set of voxels, and how low a level set can be that joins two regions.
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

/// The smallest level for which a part of {values ≤ level} has voxels of both; +inf when there is none.
double joining_level(const ImageGrid& grid, std::span<const double> values, std::span<const VertexId> from,
                     std::span<const VertexId> to);

}  // namespace isochron
