#include "isochron/solve/choose_backend.h"

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"

namespace isochron {
namespace {

Backend on_cpu(std::size_t elements) {
  return elements < backend_thresholds.threads_elements ? Backend::serial : Backend::threads;
}

}  // namespace

bool asks_for_device(const SolveOptions& options, std::size_t elements) {
  return options.backend == Backend::automatic && options.method == Method::automatic &&
         options.source_init != SourceInit::factored && elements >= backend_thresholds.cuda_elements;
}

BackendChoice choose_backend(const SolveOptions& options, std::size_t elements,
                             const std::optional<DeviceMemory>& device) {
  if (options.backend == Backend::mpi)
    throw UsageError("this solver is for one process (backend mpi); give each rank its part with DistributedSolver");
  if (options.backend != Backend::automatic) return {options.backend, {}};
  if (runs_on_gpu(options.method)) return {Backend::cuda, {}};
  if (!asks_for_device(options, elements) || !device) return {on_cpu(elements), {}};
  const std::size_t needed = device->needed_bytes + backend_thresholds.cuda_spare_bytes;
  if (needed <= device->free_bytes) return {Backend::cuda, {}};
  return without_device(elements, cuda::memory_shortage(needed, device->free_bytes, "this mesh"));
}

BackendChoice without_device(std::size_t elements, const Message& why) {
  return {on_cpu(elements), "solved on the CPU: " + to_text(why.problem())};
}

}  // namespace isochron
