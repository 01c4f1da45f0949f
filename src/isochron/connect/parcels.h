// Cuts a mask into compact regions of similar size, for connectomes without a label map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/solve/options.h"

namespace isochron {

/// Labels 1 … count in the voxels of the mask and 0 outside. Seeds are placed one after the other where the mask is
/// farthest from those before (in a straight line); each voxel gets the label of the seed that reaches it first at unit
/// speed inside the mask. Parts of the mask without a seed stay 0. Throws UsageError when count is 0 and InputError
/// when the mask has fewer voxels than that.
std::vector<std::int32_t> make_parcels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::size_t count,
                                       const SolveOptions& options = {});

}  // namespace isochron
