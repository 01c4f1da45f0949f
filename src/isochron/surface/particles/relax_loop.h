// The stages of relaxing particles, on host and device alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/progress.h"
#include "isochron/surface/particles/density.h"
#include "isochron/surface/particles/particle.h"
#include "isochron/surface/particles/relax.h"
#include "isochron/surface/particles/step.h"

namespace isochron {

/// How far, in sizes, a particle may go before the lists of neighbours are made anew. They reach twice as far beyond
/// the energy's end, so no neighbour is missed meanwhile.
inline constexpr double list_slack = 0.25;
inline constexpr double list_reach = energy_reach + 2 * list_slack;
/// Lists are old when more than one particle in so many has used up half of its slack.
inline constexpr std::size_t far_share = 500;

/// The damping that particles start with.
inline constexpr double first_lambda = 0.1;

[[noreturn]] inline void refuse_no_particles() {
  throw InputError("no particle is on the surface (no seed is near the field's zero); check the isovalue");
}
[[noreturn]] inline void refuse_size() {
  throw InputError("a size is not positive (edge lengths must be); check the sizing field");
}

/// Puts particles that have moved enough onto the surface for good.
template <class Fields>
void finish_particles(const Fields& fields, std::span<const Particle<double>> particles, int threads,
                      Particles& result) {
  result.positions.resize(particles.size());
  result.normals.resize(particles.size());
  result.sizes.resize(particles.size());
  parallel_for(threads, particles.size(), [&](std::size_t i) {
    const Particle<double>& particle = particles[i];
    const Projection<double> landed = fields.put(particle.position, particle.size, 1e-6 * particle.size, 10);
    result.positions[i] = landed.position;
    result.normals[i] = landed.normal;
    result.sizes[i] = fields.sizes.size(landed.position);
  });
}

/// Sweeps and density control until the energy stands still. `Relaxation` has placed its particles; `prepare` lists
/// neighbours, `sweep` moves every particle once, `control` adds and removes some, `current` gives them all.
template <class Relaxation>
Particles run_relaxation(Relaxation& relaxation, const ParticleOptions& options, const Progress& progress) {
  // The seeds spread before anybody judges their density. Density control ends when it hardly finds anything to do, or
  // in time for what it did to heal.
  const int first_control = std::min(3, options.iterations / 4), last_control = options.iterations * 3 / 5;
  const int settling = std::min(14, options.iterations / 4);
  constexpr std::size_t hardly_any = 500;  // one particle in so many
  Particles result;
  int settled = 0;  // sweeps since the last density control
  double energy = 0;
  relaxation.prepare();
  for (int k = 0; k < options.iterations && !result.converged; ++k) {
    progress.update(static_cast<double>(k) / options.iterations);
    RelaxIteration iteration = relaxation.sweep();
    const double change = std::abs(energy - iteration.energy);
    energy = iteration.energy;
    if (k >= first_control && settled == 0) {
      const DensityChange done = relaxation.control(k);
      iteration.added = done.added;
      iteration.deleted = done.deleted;
      if (k >= last_control || hardly_any * (done.added + done.deleted) < iteration.particles) settled = 1;
    } else if (settled > 0) {
      result.converged = ++settled > settling && change < options.min_change * energy;
    }
    iteration.new_lists = iteration.added + iteration.deleted > 0 || relaxation.lists_are_old();
    if (iteration.new_lists && !result.converged) relaxation.prepare();
    result.iterations.push_back(iteration);
    if (options.watch) options.watch(iteration);
    if (options.show) options.show(iteration, relaxation.current());
  }
  relaxation.finish(result);
  progress.update(1);
  return result;
}

}  // namespace isochron
