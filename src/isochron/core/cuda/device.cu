#include "isochron/device.h"

#include "isochron/core/cuda/check.h"
#include "isochron/core/cuda/upload_aside.h"

namespace isochron::cuda {
namespace {

/// Stands for all our kernels: they are compiled for the same devices.
__global__ void probe() {}

std::string name_and_text(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

Message solve_on_cpu() { return "solve with " + Setting{Option::backend, "threads"}; }

NoDevice failed(const std::string& device, cudaError_t code) {
  cudaGetLastError();
  return {device + " cannot be used (" + name_and_text(code) + ")" + Advice() + "start the program again, or " +
          solve_on_cpu()};
}

/// Whether the current device is whole and has code of ours. A fault stays with a process until it ends.
std::optional<NoDevice> unusable(const Device& device) {
  cudaFuncAttributes attributes{};
  cudaError_t code = cudaFuncGetAttributes(&attributes, probe);
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
      code == cudaErrorUnsupportedPtxVersion) {
    cudaGetLastError();
    const std::string kind = std::to_string(device.major) + std::to_string(device.minor);
    return NoDevice{"this build has no code for " + device.name + " (" + name_and_text(code) + ")" + Advice() +
                    "build with -DCMAKE_CUDA_ARCHITECTURES=" + kind + ", or " + solve_on_cpu()};
  }
  if (code == cudaSuccess) code = cudaStreamQuery(nullptr);
  if (code == cudaSuccess || code == cudaErrorNotReady) return std::nullopt;
  return failed(device.name, code);
}

}  // namespace

std::optional<Device> find_device(NoDevice& why) {
  int count = 0, current = 0;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count == 0) code = cudaErrorNoDevice;
  if (code != cudaSuccess) {
    cudaGetLastError();  // it would be reported again by the next call
    why.reason =
        "there is no GPU to use (" + name_and_text(code) + ")" + Advice() + "install its driver, or " + solve_on_cpu();
    return std::nullopt;
  }
  cudaDeviceProp properties{};
  code = cudaGetDevice(&current);
  if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, current);
  if (code != cudaSuccess) {
    why = failed("the GPU", code);
    return std::nullopt;
  }
  const Device device{properties.name, properties.major, properties.minor, properties.multiProcessorCount};
  auto reason = too_old(device);
  if (!reason) reason = unusable(device);
  if (!reason) return device;
  why = *reason;
  return std::nullopt;
}

int current_device() {
  int device = -1;
  if (cudaGetDevice(&device) == cudaSuccess) return device;
  cudaGetLastError();
  return -1;
}

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

OnDevice::OnDevice(int device) {
  const int before = current_device();
  if (device < 0 || device == before) return;
  check(cudaSetDevice(device), "going to it");
  before_ = before;
}

OnDevice::~OnDevice() {
  if (before_ >= 0 && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
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
    throw DeviceError(memory_shortage(bytes, free_bytes(), "one more array"));
  }
  check(code, "allocating memory");
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr && cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

void upload(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copying to it");
}

void upload_beside(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "copying to it");
  cudaError_t code = cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
  if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  check(code, "copying to it");
}

void download(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copying from it");
}

void wait() { check(cudaStreamSynchronize(nullptr), "waiting for it"); }

void copy_on_device(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice), "copying on it");
}

void fill_bytes(void* device, int byte, std::size_t bytes) {
  if (bytes > 0) check(cudaMemset(device, byte, bytes), "clearing memory");
}

}  // namespace isochron::cuda
