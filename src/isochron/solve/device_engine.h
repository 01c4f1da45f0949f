// Solves that run on the GPU from seeds to times.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/domain.h"
#include "isochron/solve/common/seed.h"

namespace isochron {

/// Keeps a prepared mesh or image in device memory between solves; the host only sends seeds and gets times.
/// `Arrival::upwind` is not filled. Throws DeviceError when the device fails or its memory is too small.
class DeviceEngine {
 public:
  virtual ~DeviceEngine() = default;
  /// Solves for each set of seeds, as many at once as the memory allows.
  virtual void solve(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take) = 0;
  /// Leaves times and sources in device memory.
  virtual Arrival solve_in_place(const std::vector<Seed>& seeds) = 0;
  /// The fixed-point check of times in the user's numbering.
  virtual Residual residual(std::span<const double> times, const std::vector<Seed>& seeds) = 0;
};

}  // namespace isochron
