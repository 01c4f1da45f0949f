#include "isochron/core/cuda/grouping.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"

namespace isochron::cuda {
namespace {

__global__ void scatter_lengths(const std::uint32_t* keys, const std::uint32_t* lengths, const std::uint32_t* runs,
                                std::uint32_t groups, std::uint32_t* counts) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *runs && keys[i] < groups) counts[keys[i]] = lengths[i];
}

std::uint32_t read_number(const DeviceArray<std::uint32_t>& number) {
  std::uint32_t value = 0;
  number.download_to(std::span<std::uint32_t>(&value, 1));
  return value;
}

template <class T>
void sum_before(DeviceArray<T>& values) {
  if (values.size() == 0) return;
  with_scratch("summing up", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, values.data(), values.data(),
                                         static_cast<std::int64_t>(values.size()));
  });
}

}  // namespace

void sort_by_key(DeviceArray<std::uint32_t>& keys, DeviceArray<std::uint32_t>& values, std::uint32_t largest) {
  if (keys.size() == 0) return;
  DeviceArray<std::uint32_t> other_keys(keys.size()), other_values(values.size());
  cub::DoubleBuffer<std::uint32_t> key_buffer(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> value_buffer(values.data(), other_values.data());
  const int bits = std::max(1, static_cast<int>(std::bit_width(largest)));
  with_scratch("sorting", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, key_buffer, value_buffer, static_cast<int>(keys.size()), 0,
                                           bits);
  });
  if (key_buffer.Current() != keys.data()) std::swap(keys, other_keys);
  if (value_buffer.Current() != values.data()) std::swap(values, other_values);
}

DeviceArray<std::uint64_t> sorted_unique(DeviceArray<std::uint64_t> keys) {
  if (keys.size() == 0) return keys;
  const int count = static_cast<int>(keys.size());
  DeviceArray<std::uint64_t> other(keys.size());
  cub::DoubleBuffer<std::uint64_t> buffer(keys.data(), other.data());
  with_scratch("sorting", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, buffer, count);
  });
  DeviceArray<std::uint32_t> found(1);
  with_scratch("compacting", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, buffer.Current(), buffer.Alternate(), found.data(), count);
  });
  DeviceArray<std::uint64_t> result(read_number(found));
  check(cudaMemcpy(result.data(), buffer.Alternate(), result.bytes(), cudaMemcpyDeviceToDevice), "copying on it");
  return result;
}

DeviceArray<std::uint32_t> group_offsets(const DeviceArray<std::uint32_t>& sorted_keys, std::uint32_t groups) {
  DeviceArray<std::uint32_t> offsets(std::size_t{groups} + 1);
  offsets.clear();
  if (sorted_keys.size() == 0) return offsets;
  const int count = static_cast<int>(sorted_keys.size());
  DeviceArray<std::uint32_t> keys(sorted_keys.size()), lengths(sorted_keys.size()), runs(1);
  with_scratch("counting", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(scratch, bytes, sorted_keys.data(), keys.data(), lengths.data(),
                                              runs.data(), count);
  });
  // There are no more runs than groups, and one of keys of no group.
  launch_for(std::min(sorted_keys.size(), std::size_t{groups} + 1), scatter_lengths, keys.data(), lengths.data(),
             runs.data(), groups, offsets.data());
  exclusive_sum(offsets);
  return offsets;
}

void exclusive_sum(DeviceArray<std::uint64_t>& values) { sum_before(values); }
void exclusive_sum(DeviceArray<std::uint32_t>& values) { sum_before(values); }

}  // namespace isochron::cuda
