// Which voxels of an image count: masks in files of their own, and those that come with tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isochron/mesh/image.h"

namespace isochron {

/// Tensors may come with a confidence, from 0 to 1; below this they are background, as they are to teem.
inline constexpr double least_confidence = 0.5;

/// The first array of an image that has the voxels of `grid` and one value for each. Throws InputError when it lies
/// elsewhere, has another shape or several values a voxel; `what` names it.
const DataArray& values_on(const ImageGrid& grid, const Image& image, const std::string& what);

/// An array of one value a voxel as a mask: 1 where it is finite and not 0.
std::vector<std::uint8_t> mask_values(const DataArray& array);

/// The image's first array as a mask: 1 where it is finite and not 0. Throws InputError as `values_on` does, and when
/// it is 0 everywhere.
std::vector<std::uint8_t> mask_of(const Image& image, const ImageGrid& grid, const std::string& what);

/// Takes the first component of each tuple away: a confidence, as an array `mask` of 0 and 1.
DataArray split_confidence(DataArray& array);

/// The same for array number `index` of an image: a symmetric tensor behind a confidence, seven components row by row,
/// becomes one of six, and the image gets a mask of its own. Other numbers of components stay as they are.
void split_confidence(Image& image, std::size_t index);

/// The mask that an image has itself, not 0 where its tensors count: its array `mask`. Null when there is none.
const DataArray* own_mask(const Image& image);

/// Sets `mask` (empty: everywhere) to 0 where the image's own mask is 0.
void apply_own_mask(const Image& image, std::vector<std::uint8_t>& mask);

}  // namespace isochron
