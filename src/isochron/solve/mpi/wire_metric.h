// Metrics as bytes of a message.
#pragma once

#include <span>

#include "isochron/metric/metric.h"
#include "isochron/solve/mpi/wire.h"

namespace isochron::mpi {

void put_metric(Bytes& bytes, const Metric& metric);
Metric take_metric(Unpack& unpack);

/// One metric of the elements of several, which are parts of the same one; in their order.
Metric joined(std::span<const Metric> parts);

}  // namespace isochron::mpi
