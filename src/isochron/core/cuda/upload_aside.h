// Copying to the device beside other work. This header needs no CUDA.
#pragma once

#include <cstddef>
#include <future>

#include "isochron/device.h"

namespace isochron::cuda {

/// Copies to the device on a stream of its own and then waits for it; kernels that run meanwhile are not waited for.
void upload_beside(void* device, const void* host, std::size_t bytes);

/// A thread that copies while the caller goes on: the host's part of a copy, out of memory that is not pinned, takes
/// longest. Both arrays must last until `wait` or the end.
class UploadAside {
 public:
  UploadAside(void* to, const void* from, std::size_t bytes)
      : done_(std::async(std::launch::async, [device = current_device(), to, from, bytes] {
          const OnDevice here(device);
          upload_beside(to, from, bytes);
        })) {}
  /// Throws what the copy threw.
  void wait() { done_.get(); }

 private:
  std::future<void> done_;  // waits at its end
};

}  // namespace isochron::cuda
