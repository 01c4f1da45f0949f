// Relaxing particles on the GPU. This header needs no CUDA.
#pragma once

#include <vector>

#include "isochron/surface/particles/relax.h"

namespace isochron::cuda {

/// As `relax`, in single precision on the device. In our scheme: the same steps, lists and density control. With
/// uniform bins there is a warp for each bin of a colour, its particles one after another, the lanes sharing the sum
/// over the neighbours listed. With adaptive bins all particles of a colour of the neighbour graph move at once, a few
/// lanes for each. The published scheme: see `relax_published`. Throws DeviceError when there is no device or it fails.
Particles relax_on_device(const SplineField& distance, const SizeField& sizes, const std::vector<Vec3d>& seeds,
                          const ParticleOptions& options, const Progress& progress);

}  // namespace isochron::cuda
