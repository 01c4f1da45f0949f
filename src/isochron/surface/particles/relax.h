// Particles that spread over the surface F = 0 until they lie in hexagons of the wanted size (paper 002, section 3).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "isochron/options.h"
#include "isochron/progress.h"
#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"
#include "isochron/types.h"

namespace isochron {

/// Where the particles are, in the lattice's frame, and how they came there.
struct Particles {
  std::vector<Vec3d> positions;  ///< on F = 0
  std::vector<Vec3d> normals;    ///< unit, outward
  std::vector<double> sizes;     ///< edge length wanted there
  std::vector<RelaxIteration> iterations;
  bool converged = false;  ///< the energy's change fell below `min_change`
};

/// Projects the seeds to the surface and relaxes them: sweeps of damped Newton steps, one particle after another, with
/// density control between sweeps; in our scheme the last sweeps are without it. The same for any number of threads.
/// Throws InputError when no seed reaches the surface or a size is not positive, DeviceError when there is no GPU to
/// use or it fails, Cancelled when `progress` says so.
Particles relax(const SplineField& distance, const SizeField& sizes, const std::vector<Vec3d>& seeds,
                const ParticleOptions& options = {}, const Progress& progress = {});

}  // namespace isochron
