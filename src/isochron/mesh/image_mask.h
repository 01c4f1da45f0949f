// Which voxels of an image count: masks in files of their own, and those that come with tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isochron/mesh/image.h"

namespace isochron {

/// Tensors may come with a confidence, from 0 to 1; below this they are background, as they are to teem.
inline constexpr double min_confidence = 0.5;

/// An array of an image that has the voxels of `grid` and one value for each: that of this name, or the first. Throws
/// InputError when it is not there, lies elsewhere, has another shape or several values a voxel; `what` names the
/// image.
const DataArray& values_on(const ImageGrid& grid, const Image& image, const std::string& what,
                           const std::string& name = {});
/// The same for a mask: without a name, the only array. Throws InputError when there are several, too.
const DataArray& mask_array(const ImageGrid& grid, const Image& image, const std::string& what,
                            const std::string& name);

/// An array of one value a voxel as a mask: 1 where it is finite and not 0.
std::vector<std::uint8_t> mask_values(const DataArray& array);

/// That array of an image as a mask. Throws InputError as `mask_array` does, and when it is 0 everywhere.
std::vector<std::uint8_t> mask_of(const Image& image, const ImageGrid& grid, const std::string& what,
                                  const std::string& name = {});

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
