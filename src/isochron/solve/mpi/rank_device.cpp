#include "isochron/solve/mpi/rank_device.h"

#include "isochron/core/cuda/device.h"
#include "isochron/mesh/agreement.h"
#include "isochron/solve/mpi/rank_exchange.h"

namespace isochron::mpi {

int rank_device(const Transport& transport) {
  const int devices = cuda::device_count();
  return devices > 0 ? transport.local_rank() % devices : -1;
}

int required_device(const Transport& transport) {
  const int device = rank_device(transport);
  const cuda::OnDevice here(device);
  (void)cuda::require_device();
  return device;
}

Backend agreed_backend(Transport& transport, Backend wanted) {
  if (wanted != Backend::cuda && wanted != Backend::automatic) return wanted;
  RankExchange exchange(transport);
  try {
    all_or_none(exchange, [&] { (void)required_device(transport); });
  } catch (const ThrownTogether&) {
    if (wanted == Backend::cuda) throw;
    return Backend::threads;
  }
  return Backend::cuda;
}

}  // namespace isochron::mpi
