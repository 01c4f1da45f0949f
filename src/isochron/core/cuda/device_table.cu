#include "isochron/device.h"

#include <cassert>
#include <type_traits>

#include "isochron/core/cuda/launch.h"

namespace isochron::cuda {
namespace {

struct Picked {
  int column[max_picked_columns];
  std::size_t count;
};

template <class To, class From>
__device__ To converted(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    constexpr To none = ~To(0);
    if constexpr (std::is_signed_v<From>)
      if (value < 0) return none;
    if constexpr (sizeof(From) > sizeof(To))
      if (static_cast<std::uint64_t>(value) > none) return none;
    return static_cast<To>(value);
  }
}

template <class To, class From>
__global__ void copy_numbers(DeviceTable table, std::size_t rows, Picked picked, To* result) {
  const std::size_t i = thread_number();
  if (i >= rows * picked.count) return;
  const std::size_t row = i / picked.count;
  const int column = picked.column[i % picked.count];
  if (column == zero_column) {
    result[i] = To(0);
    return;
  }
  const std::size_t rest = row / table.shape[0];
  const std::size_t index[3] = {row % table.shape[0], rest % table.shape[1], rest / table.shape[1]};
  const char* place = static_cast<const char*>(table.data) + column * table.column_stride;
  for (int k = 0; k < 3; ++k) place += static_cast<std::ptrdiff_t>(index[k]) * table.strides[k];
  result[i] = converted<To>(*reinterpret_cast<const From*>(place));
}

template <class To>
void copy_typed(const DeviceTable& table, std::span<const int> columns, To* result) {
  assert(columns.size() <= max_picked_columns);
  Picked picked{};
  picked.count = columns.size();
  for (std::size_t k = 0; k < columns.size(); ++k) picked.column[k] = columns[k];
  const std::size_t rows = table.rows(), count = rows * picked.count;
  const auto start = [&](auto kernel) { launch_for(count, kernel, table, rows, picked, result); };
  switch (table.type) {
    case NumberType::int32: return start(copy_numbers<To, std::int32_t>);
    case NumberType::int64: return start(copy_numbers<To, std::int64_t>);
    case NumberType::uint32: return start(copy_numbers<To, std::uint32_t>);
    default: break;
  }
  if constexpr (std::is_floating_point_v<To>) {
    if (table.type == NumberType::float32) return start(copy_numbers<To, float>);
    return start(copy_numbers<To, double>);
  } else {
    throw InputError("ids cannot be taken from numbers with a fraction; give an array of 32- or 64-bit integers");
  }
}

__global__ void gather_words(const std::uint32_t* items, std::size_t words, const std::uint32_t* ids, std::size_t count,
                             std::uint32_t* result) {
  const std::size_t i = thread_number();
  if (i < count * words) result[i] = items[ids[i / words] * words + i % words];
}

}  // namespace

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  const cudaError_t code = cudaPointerGetAttributes(&attributes, memory);
  if (code != cudaSuccess) require_device();  // says what is missing
  check(code, "looking at an array");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw InputError("an array that should be in the memory of a GPU is not; give one that is, or a host's array");
  return attributes.device;
}

void wait_for_stream(std::uintptr_t stream) {
  check(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(stream)), "waiting for an array");
}

void copy_columns(const DeviceTable& table, std::span<const int> columns, double* result) {
  copy_typed(table, columns, result);
}
void copy_columns(const DeviceTable& table, std::span<const int> columns, float* result) {
  copy_typed(table, columns, result);
}
void copy_columns(const DeviceTable& table, std::span<const int> columns, std::uint32_t* result) {
  copy_typed(table, columns, result);
}

void gather_items(const void* items, std::size_t words_per_item, std::span<const std::uint32_t> ids, void* result) {
  const DeviceArray<std::uint32_t> on_device(ids);
  launch_for(ids.size() * words_per_item, gather_words, static_cast<const std::uint32_t*>(items), words_per_item,
             on_device.data(), ids.size(), static_cast<std::uint32_t*>(result));
}

}  // namespace isochron::cuda
