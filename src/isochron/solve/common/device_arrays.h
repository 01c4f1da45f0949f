// What the solvers of arrays in device memory check first.
#pragma once

#include "isochron/solve/device_data.h"
#include "isochron/solve/options.h"

namespace isochron {

/// The device that holds a table; `expected` for one without rows. Throws InputError when it is not the expected one
/// (unless that is −1).
int device_holding(const cuda::DeviceTable& table, int expected);
/// The same for all arrays of a metric; `expected` for one on the host.
int device_holding(const AnyMetric& metric, int expected);

/// Throws UsageError for options that only the CPU has.
void check_device_options(const SolveOptions& options);

}  // namespace isochron
