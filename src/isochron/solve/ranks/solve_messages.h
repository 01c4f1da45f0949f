// What a solve starts from and gives back, as bytes of a message.
#pragma once

#include <span>

#include "isochron/arrival.h"
#include "isochron/comm/packing.h"
#include "isochron/metric.h"
#include "isochron/sources.h"

namespace isochron::ranks {

void put_sources(Bytes& bytes, const Sources& sources);
Sources take_sources(Unpack& unpack);

/// Without upwind weights.
void put_arrival(Bytes& bytes, const Arrival& arrival);
Arrival take_arrival(Unpack& unpack);

void put_metric(Bytes& bytes, const Metric& metric);
Metric take_metric(Unpack& unpack);

/// One metric of the elements of several, which are parts of the same one; in their order.
Metric joined(std::span<const Metric> parts);

}  // namespace isochron::ranks
