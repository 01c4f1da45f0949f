#include "isochron/solve/ranks/rank_device.h"

#include "isochron/comm/collectives.h"
#include "isochron/device.h"

namespace isochron::ranks {

int rank_device(const Communicator& communicator) {
  const int devices = cuda::device_count();
  return devices > 0 ? communicator.local_rank() % devices : -1;
}

int required_device(const Communicator& communicator) {
  const int device = rank_device(communicator);
  const cuda::OnDevice here(device);
  (void)cuda::require_device();
  return device;
}

Backend agreed_backend(Communicator& communicator, Backend wanted) {
  if (wanted != Backend::cuda && wanted != Backend::automatic) return wanted;
  try {
    all_or_none(communicator, [&] { (void)required_device(communicator); });
  } catch (const ThrownTogether&) {
    if (wanted == Backend::cuda) throw;
    return Backend::threads;
  }
  return Backend::cuda;
}

}  // namespace isochron::ranks
