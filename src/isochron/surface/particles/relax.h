// Particles that spread over the surface F = 0 until they lie in hexagons of the wanted size (paper 002, section 3).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/core/vec.h"
#include "isochron/solve/options.h"
#include "isochron/surface/field/spline.h"
#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/particle.h"

namespace isochron {

/// Whether particles are added and removed where there are too few or too many.
enum class DensityControl {
  full,
  delete_only  ///< none is added: as many as there were seeds, or fewer (paper 002, Table 3)
};

/// What an iteration did.
struct RelaxIteration {
  double energy = 0;          ///< mean of the particles' energies, as they were when visited
  std::size_t particles = 0;  ///< that were visited
  std::size_t moved = 0;
  std::size_t resting = 0;  ///< not looked at, since they and their neighbours had stopped
  std::size_t added = 0, deleted = 0;
  std::size_t energy_evaluations = 0;  ///< sums over a list of neighbours
  std::size_t spline_evaluations = 0;
  bool new_lists = false;  ///< the neighbours were looked up again
};

struct ParticleOptions {
  double split_below = 0.75;   ///< of the ideal energy: a particle is added beside one with less
  double delete_above = 1.35;  ///< one with more is removed
  int iterations = 50;         ///< at most
  double min_change = 0.0015;  ///< of the mean energy; it ends when an iteration without density control has less
  double lambda_step = 10;     ///< factor of the Levenberg–Marquardt damping
  std::uint64_t seed = 1;      ///< of the random numbers that bias the density control
  BinKind bins = BinKind::adaptive;
  DensityControl density = DensityControl::full;
  Backend backend = Backend::automatic;  ///< cuda: in single precision on the GPU; all else: on `threads` threads
  int threads = 1;                       ///< 0: all cores
  /// Called after each iteration, from the thread that relaxes; may be empty.
  std::function<void(const RelaxIteration&)> watch{};
  /// Likewise, with where the particles are now (in the lattice's frame); on a GPU this copies them.
  std::function<void(const RelaxIteration&, std::span<const Particle<double>>)> show{};
};

/// Where the particles are, in the lattice's frame, and how they came there.
struct Particles {
  std::vector<Vec3d> positions;  ///< on F = 0
  std::vector<Vec3d> normals;    ///< unit, outward
  std::vector<double> sizes;     ///< edge length wanted there
  std::vector<RelaxIteration> iterations;
  bool converged = false;  ///< the energy's change fell below `min_change`
};

/// Projects the seeds to the surface and relaxes them: sweeps of damped Newton steps, one particle after another, with
/// density control between sweeps at first and sweeps alone at the end. The same for any number of threads. Throws
/// InputError when no seed reaches the surface or a size is not positive, Cancelled when `progress` says so.
Particles relax(const SplineField& distance, const SizeField& sizes, const std::vector<Vec3d>& seeds,
                const ParticleOptions& options = {}, const Progress& progress = {});

}  // namespace isochron
