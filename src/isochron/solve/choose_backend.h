// Which back end `Backend::automatic` stands for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "isochron/core/message.h"
#include "isochron/solve/options.h"

namespace isochron {

/// From where on a back end gains more than it costs to start. bench/NOTES.md has what they were measured with.
struct BackendThresholds {
  std::size_t threads_elements = 150000;
  std::size_t cuda_elements = 1000000;
  std::size_t cuda_spare_bytes = std::size_t{256} << 20;  ///< of device memory, left to the driver and to others
};
inline constexpr BackendThresholds backend_thresholds{};

/// The methods that exist on the GPU only; the others exist on the CPU only.
constexpr bool runs_on_gpu(Method method) {
  return method == Method::push || method == Method::patch_fim || method == Method::active_list ||
         method == Method::domain_decomposition;
}

/// Memory of a device that was found, and what this solve would take of it.
struct DeviceMemory {
  std::size_t free_bytes = 0;
  std::size_t needed_bytes = 0;
};

struct BackendChoice {
  Backend backend = Backend::serial;  ///< never `automatic`
  std::string note;                   ///< for `Arrival::notes`, where the user should know why; else empty
};

/// Whether `choose_backend` would look at a device. Looking for one starts the driver, which takes longer than solving
/// a small mesh does.
bool asks_for_device(const SolveOptions& options, std::size_t elements);

/// The back end of these options: the one they name or, where that is `automatic`, the GPU when there is one with
/// enough memory, the mesh is worth it and the options allow it, else the CPU. A method of the GPU alone means the GPU.
/// `device` is empty when none was found.
BackendChoice choose_backend(const SolveOptions& options, std::size_t elements,
                             const std::optional<DeviceMemory>& device);

/// What is left when the device that `automatic` chose fails with a DeviceError that says `why`: the CPU, and a note
/// without the advice of the error, which is followed here.
BackendChoice without_device(std::size_t elements, const Message& why);

}  // namespace isochron
