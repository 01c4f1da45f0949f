// The sweeps and the density control of paper 002 as published, on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/published_step.h"
#include "isochron/surface/particles/relax_loop.h"

namespace isochron {

/// Particles in bins of 27 colours, for `run_relaxation`. The bins of a colour are processed at the same time, each by
/// one thread, which first copies the bin's neighbourhood together (Algorithm 2). The same for any number of threads:
/// no bin of a colour is in the neighbourhood of another one.
class PublishedRelaxation {
 public:
  PublishedRelaxation(const SurfaceFields<double>& fields, const ParticleOptions& options);

  void place(const std::vector<Vec3d>& seeds) { particles_ = place_seeds(fields_, seeds, threads_); }
  [[nodiscard]] std::size_t particle_count() const { return particles_.size(); }
  void prepare();
  RelaxIteration sweep();
  DensityChange control(int iteration);
  /// The bins are made anew before every sweep (section 5.3).
  [[nodiscard]] bool lists_are_old() const { return true; }
  [[nodiscard]] std::span<const Particle<double>> current() const { return particles_; }
  void finish(Particles& result) const { finish_particles(fields_, particles_, threads_, result); }

 private:
  using Copies = std::vector<Particle<double>>;

  Neighbourhood<double> copy_neighbourhood(const Bin& bin, Copies& copies) const;
  BinWork process(const Bin& bin, Copies& copies);
  void find_energies(const Bin& bin, Copies& copies);

  SurfaceFields<double> fields_;
  ParticleOptions options_;
  int threads_;
  PublishedRules<double> rules_;
  double room_ = 0;                          // how far a step may go: the largest h
  std::vector<Particle<double>> particles_;  // sorted into bins
  std::vector<double> energies_;             // after all have moved
  std::vector<Copies> copies_;               // by thread, as large as the largest neighbourhood
  Bins bins_;
  std::array<std::vector<std::uint32_t>, bin_colours> colours_;
};

}  // namespace isochron
