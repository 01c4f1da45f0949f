// The stages of relaxing particles, on host and device alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

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

/// Projects seeds to the surface and gives those that reach it.
template <class Fields>
std::vector<Particle<double>> place_seeds(const Fields& fields, const std::vector<Vec3d>& seeds, int threads) {
  std::vector<Particle<double>> all(seeds.size());
  std::vector<char> reached(seeds.size(), 0);
  parallel_for(threads, seeds.size(), [&](std::size_t i) {
    const double size = fields.sizes.size(seeds[i]);
    const Projection<double> landed = fields.put(seeds[i], size, 0.01 * size, 10);
    reached[i] = landed.reached;
    all[i] = {landed.position, fields.sizes.size(landed.position), landed.normal, first_lambda};
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!reached[i]) continue;
    if (!(all[i].size > 0)) refuse_size();
    all[kept++] = all[i];
  }
  all.resize(kept);
  return all;
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

/// When our scheme controls the density, and when it ends. The seeds spread before anybody judges their density.
/// Density control ends when it hardly finds anything to do, or in time for what it did to heal.
class OurCourse {
 public:
  explicit OurCourse(const ParticleOptions& options)
      : first_control_(std::min(3, options.iterations / 4)),
        last_control_(options.iterations * 3 / 5),
        settling_(std::min(14, options.iterations / 4)),
        min_change_(options.min_change) {}

  [[nodiscard]] bool controls(int iteration) const { return iteration >= first_control_ && settled_ == 0; }
  /// Whether this iteration, whose density was controlled where `controls` said so, is the last.
  bool ends(int number, const RelaxIteration& iteration) {
    const double change = std::abs(energy_ - iteration.energy);
    energy_ = iteration.energy;
    if (controls(number)) {
      if (number >= last_control_ || hardly_any * (iteration.added + iteration.deleted) < iteration.particles)
        settled_ = 1;
      return false;
    }
    return settled_ > 0 && ++settled_ > settling_ && change < min_change_ * energy_;
  }

 private:
  static constexpr std::size_t hardly_any = 500;  // one particle in so many
  int first_control_, last_control_, settling_;
  double min_change_;
  int settled_ = 0;  // sweeps since the last density control
  double energy_ = 0;
};

/// When the published scheme ends: the system's energy has changed by less than a share of itself (section 6). Density
/// is controlled after every sweep.
class PublishedCourse {
 public:
  explicit PublishedCourse(const ParticleOptions& options) : min_change_(options.min_change) {}

  [[nodiscard]] bool controls(int /*iteration*/) const { return true; }
  bool ends(int number, const RelaxIteration& iteration) {
    const double before = energy_;
    energy_ = iteration.energy * static_cast<double>(iteration.particles);
    return number > 0 && std::abs(before - energy_) <= min_change_ * energy_;
  }

 private:
  double min_change_;
  double energy_ = 0;
};

/// Sweeps and density control until the energy stands still. `Relaxation` has placed its particles; `prepare` lists
/// neighbours, `sweep` moves every particle once, `control` adds and removes some, `current` gives them all. `Course`
/// says when density is controlled and when it ends.
template <class Relaxation, class Course = OurCourse>
Particles run_relaxation(Relaxation& relaxation, const ParticleOptions& options, const Progress& progress) {
  Particles result;
  Course course(options);
  relaxation.prepare();
  for (int k = 0; k < options.iterations && !result.converged; ++k) {
    progress.update(static_cast<double>(k) / options.iterations);
    RelaxIteration iteration = relaxation.sweep();
    if (course.controls(k)) {
      const DensityChange done = relaxation.control(k);
      iteration.added = done.added;
      iteration.deleted = done.deleted;
    }
    result.converged = course.ends(k, iteration);
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
