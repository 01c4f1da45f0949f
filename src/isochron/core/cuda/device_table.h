// Tables of numbers in device memory that belong to someone else, and copies of them as kernels want them. This header
// needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "isochron/core/cuda/device_array.h"

namespace isochron::cuda {

enum class NumberType { int32, int64, uint32, float32, float64 };

constexpr std::size_t bytes_of(NumberType type) {
  return type == NumberType::int64 || type == NumberType::float64 ? 8 : 4;
}

/// Rows of numbers in device memory. The rows of an image have three indices, of which the first runs fastest where
/// they are numbered. Strides are in bytes and may be negative.
struct DeviceTable {
  const void* data = nullptr;
  NumberType type = NumberType::float64;
  std::size_t shape[3]{0, 1, 1};
  std::ptrdiff_t strides[3]{};
  std::size_t columns = 1;
  std::ptrdiff_t column_stride = 0;

  [[nodiscard]] std::size_t rows() const { return shape[0] * shape[1] * shape[2]; }
};

/// A table whose rows lie one behind the other.
inline DeviceTable packed_table(const void* data, NumberType type, std::size_t rows, std::size_t columns) {
  const auto size = static_cast<std::ptrdiff_t>(bytes_of(type));
  return {data, type, {rows, 1, 1}, {static_cast<std::ptrdiff_t>(columns) * size, 0, 0}, columns, size};
}

/// The device in whose memory it is. Throws InputError when it is no device's, DeviceError when there is no device.
int device_of(const void* memory);

/// Waits until everything is done that was given to a stream (a cudaStream_t; 1 and 2 are CUDA's own for the default
/// streams).
void wait_for_stream(std::uintptr_t stream);

/// In place of a column: zeros.
inline constexpr int zero_column = -1;
inline constexpr std::size_t max_picked_columns = 9;

/// Writes some columns of all rows, one row behind the other, to device memory. As ids, numbers that are no 32-bit ids
/// become the largest one, and numbers with a fraction are not taken (InputError).
void copy_columns(const DeviceTable& table, std::span<const int> columns, double* result);
void copy_columns(const DeviceTable& table, std::span<const int> columns, float* result);
void copy_columns(const DeviceTable& table, std::span<const int> columns, std::uint32_t* result);

/// Copies some items, of 4-byte words, to another place in device memory; both lists of items are there, the ids are
/// not.
void gather_items(const void* items, std::size_t words_per_item, std::span<const std::uint32_t> ids, void* result);

/// Some values of an array in device memory, on the host.
template <class T>
std::vector<T> fetch_some(const T* values, std::span<const std::uint32_t> ids) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  std::vector<T> result(ids.size());
  DeviceArray<T> some(ids.size());
  gather_items(values, sizeof(T) / sizeof(std::uint32_t), ids, some.data());
  some.download_to(result);
  return result;
}

/// All of them.
template <class T>
std::vector<T> fetch_all(const DeviceArray<T>& values) {
  std::vector<T> result(values.size());
  values.download_to(result);
  return result;
}

}  // namespace isochron::cuda
