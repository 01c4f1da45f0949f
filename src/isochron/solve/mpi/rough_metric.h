// The metric of a small image on which times are guessed.
#pragma once

#include "isochron/core/vec.h"

namespace isochron::mpi {

/// A metric in single precision, with times in units of `unit`: in range where that is about the time for a unit of
/// length, and positive definite when rounded too.
inline SymTensor3f rough_tensor(const SymTensor3d& metric, double unit) {
  const SymTensor3d m = (1 / unit / unit) * metric;
  const double slack = 1e-6 * (m.xx + m.yy + m.zz);
  return {static_cast<float>(m.xx + slack), static_cast<float>(m.xy), static_cast<float>(m.xz),
          static_cast<float>(m.yy + slack), static_cast<float>(m.yz), static_cast<float>(m.zz + slack)};
}

}  // namespace isochron::mpi
