// An image of values as a map of labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace isochron::viewer {

/// The labels of an image with how many voxels have each: its values, when these are whole numbers and few. Empty when
/// they are not. Voxels without a number have no label.
std::map<std::int32_t, std::size_t> label_counts(std::span<const float> values);

/// The values as labels; voxels without a number get the least integer. Throws InputError when a value is not whole.
std::vector<std::int32_t> as_labels(std::span<const float> values);

}  // namespace isochron::viewer
