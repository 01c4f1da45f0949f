// Which GPU a rank uses, and whether all ranks have one.
#pragma once

#include "isochron/communicator.h"
#include "isochron/options.h"

namespace isochron::ranks {

/// The GPU of a rank: the one of its number among the ranks of its machine, modulo the GPUs there; −1 without any.
int rank_device(const Communicator& communicator);
/// The same, when it can run our kernels. Throws DeviceError with the reason otherwise.
int required_device(const Communicator& communicator);

/// All ranks together, with the same `wanted`: `cuda` when that was asked for and every rank has its GPU; for
/// `automatic` the same, or `threads` when one has none; other back ends as they are. Throws on all ranks
/// (`ThrownTogether`) why one has none when `cuda` was asked for.
Backend agreed_backend(Communicator& communicator, Backend wanted);

}  // namespace isochron::ranks
