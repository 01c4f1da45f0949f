// Relaxing particles on the GPU as paper 002 published it. This header needs no CUDA.
#pragma once

#include <vector>

#include "isochron/surface/particles/cuda/device_surface.h"
#include "isochron/surface/particles/relax.h"

namespace isochron::cuda {

/// The published scheme in single precision: a block of threads for each bin of a colour, one launch a colour. The
/// block copies the bin's neighbourhood together, to shared memory where it fits, and moves the bin's particles one
/// after another, its threads sharing the sums over the neighbourhood (paper 002, section 5). The same for equal input.
/// Throws as `relax_on_device` does.
Particles relax_published(const DeviceSurface& surface, const std::vector<Vec3d>& seeds, const ParticleOptions& options,
                          const Progress& progress);

}  // namespace isochron::cuda
