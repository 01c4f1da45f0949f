#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"

namespace isochron::cuda {

Device require_device() {
  NoDevice why;
  auto device = find_device(why);
  if (!device) throw RuntimeError(why.reason);
  return *device;
}

}  // namespace isochron::cuda
