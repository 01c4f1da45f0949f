// A surface, its sizes and where particles start, in device memory. This header needs no CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/device.h"
#include "isochron/surface/particles/cuda/device_lists.h"
#include "isochron/surface/particles/particle.h"
#include "isochron/surface/particles/relax.h"

namespace isochron::cuda {

/// The fields that particles live in, in single precision. They must last, since the result is made on the host.
class DeviceSurface {
 public:
  DeviceSurface(const SplineField& distance, const SizeField& sizes, int threads);

  [[nodiscard]] const SurfaceFields<float>& fields() const { return fields_; }
  /// The far corner of the box that particles lie in; its near corner is the origin.
  [[nodiscard]] Vec3d corner() const { return corner_; }
  /// Projects seeds and keeps those that reach the surface. Throws InputError when none does.
  [[nodiscard]] DeviceParticles place(const std::vector<Vec3d>& seeds) const;
  /// Puts particles that have moved enough onto the surface for good, in double precision.
  void finish(const DeviceParticles& particles, Particles& result) const;

 private:
  const SplineField& distance_;
  const SizeField& sizes_;
  int threads_;
  DeviceArray<float> coefficients_, size_values_;
  SurfaceFields<float> fields_;
  Vec3d corner_;
};

/// For `count` particles.
DeviceParticles make_particles(std::size_t count);

/// Copies the marked particles to `to`, from place `base` on. `ranks` counts the marked ones before each, and in all.
/// Without records (null) they are new.
void append_marked(const DeviceArray<Particle<float>>& particles, const DeviceRecord* records,
                   const DeviceArray<std::uint32_t>& ranks, std::uint32_t base, DeviceParticles& to);

/// On the host; without their damping.
std::vector<Particle<double>> downloaded(const DeviceParticles& particles);

}  // namespace isochron::cuda
