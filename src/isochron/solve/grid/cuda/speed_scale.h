// From speeds in device memory to the stencils' scales; see `SpeedStencils`. This header needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/device.h"

namespace isochron::cuda {

/// What the speeds of all allowed cells add up to.
struct SpeedSums {
  double slowness = 0;         ///< 1/speed
  unsigned long long bad = 0;  ///< cells whose speed is no positive finite number
};

/// `voxel` says of each cell which speed is its own; `nobody`'s is not allowed.
SpeedSums add_up_speeds(const double* speed, const DeviceArray<std::uint32_t>& voxel);

/// factor · speed² of each allowed cell, 0 elsewhere. False when single precision does not hold one of them.
bool write_scales(const double* speed, const DeviceArray<std::uint32_t>& voxel, double factor,
                  DeviceArray<float>& scale);

}  // namespace isochron::cuda
