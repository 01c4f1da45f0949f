#include "isochron/core/cuda/device.h"

#include "isochron/core/cuda/check.h"

namespace isochron::cuda {
namespace {

constexpr int oldest_major = 8;  // what the kernels are compiled for

std::string in_megabytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

}  // namespace

std::optional<Device> find_device(NoDevice& why) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    cudaGetLastError();  // it would be reported again by the next call
    why.reason = std::string("there is no GPU to use (") +
                 (code == cudaSuccess ? "no CUDA device" : cudaGetErrorString(code)) +
                 "); install its driver, or solve with --backend threads";
    return std::nullopt;
  }
  int current = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&current), "choosing a device");
  check(cudaGetDeviceProperties(&properties, current), "asking for its properties");
  if (properties.major < oldest_major) {
    why.reason = std::string(properties.name) + " is too old (compute capability " + std::to_string(properties.major) +
                 "." + std::to_string(properties.minor) + ", needed 8.0); solve with --backend threads";
    return std::nullopt;
  }
  return Device{properties.name, properties.major, properties.minor, properties.multiProcessorCount};
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for its memory");
  return free;
}

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  const cudaError_t code = cudaMalloc(&memory, bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw RuntimeError("the GPU's memory is full (" + in_megabytes(bytes) + " more needed, " +
                       in_megabytes(free_bytes()) + " free); use a smaller mesh, or solve with --backend threads");
  }
  check(code, "allocating memory");
  return memory;
}

void release(void* memory) noexcept { cudaFree(memory); }

void upload(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copying to it");
}

void download(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copying from it");
}

void fill_bytes(void* device, int byte, std::size_t bytes) {
  if (bytes > 0) check(cudaMemset(device, byte, bytes), "clearing memory");
}

}  // namespace isochron::cuda
