// The engines of solvers over ranks.
#pragma once

#include <memory>

#include "isochron/communicator.h"
#include "isochron/domain.h"
#include "isochron/solve/engine.h"

namespace isochron::ranks {

/// Of a domain that every rank has a part of.
std::unique_ptr<Engine> make_part_engine(const Domain& domain, SolveOptions options, Communicator& communicator);
/// Of a domain that rank 0 has as a whole.
std::unique_ptr<Engine> make_whole_engine(const Domain& domain, SolveOptions options, Communicator& communicator);

/// The metric on the host; throws UsageError for one in device memory.
std::shared_ptr<const Metric> host_metric(const AnyMetric& metric);

}  // namespace isochron::ranks
