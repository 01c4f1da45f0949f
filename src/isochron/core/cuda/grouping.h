// Lists of who belongs to whom, built on the device by sorting, reducing and scanning. This header needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/device.h"

namespace isochron::cuda {

/// The longest list these functions take.
inline constexpr std::size_t longest_list = 0x7fffffff;

/// Sorts the values by their keys; equal keys keep their order. No key is above `largest`.
void sort_by_key(DeviceArray<std::uint32_t>& keys, DeviceArray<std::uint32_t>& values, std::uint32_t largest);

/// The different keys, sorted.
DeviceArray<std::uint64_t> sorted_unique(DeviceArray<std::uint64_t> keys);

/// Where each of `groups` groups begins in a sorted list of keys, and where the last one ends. Keys from `groups` on
/// belong to none.
DeviceArray<std::uint32_t> group_offsets(const DeviceArray<std::uint32_t>& sorted_keys, std::uint32_t groups);

/// Puts the sum of those before it in the place of each value.
void exclusive_sum(DeviceArray<std::uint64_t>& values);
void exclusive_sum(DeviceArray<std::uint32_t>& values);

}  // namespace isochron::cuda
