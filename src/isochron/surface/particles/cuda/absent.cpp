// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/surface/particles/cuda/relax_on_device.h"

namespace isochron::cuda {

Particles relax_on_device(const SplineField&, const SizeField&, const std::vector<Vec3d>&, const ParticleOptions&,
                          const Progress&) {
  require_device();
  return {};
}

}  // namespace isochron::cuda
