// Arrival times on an image that is partitioned over ranks: each holds some blocks of it, and all solve together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isochron/solve/ranks/distributed_arrival.h"
#include "isochron/solve/ranks/grid_part.h"
#include "isochron/solve/solver.h"

namespace isochron::mpi {

/// One rank's end of the solver; every rank makes one and calls the same functions in the same order. A rank may have
/// no voxel at all.
class DistributedGridSolver {
 public:
  /// Keeps a reference to the communicator. Of the options those count that `DistributedSolver` has, `backend`
  /// included; second-order times are computed on the CPU in any case. Throws UsageError for what is not solved over
  /// ranks.
  DistributedGridSolver(Communicator& communicator, const GridPart& part, const SolveOptions& options);
  ~DistributedGridSolver();

  /// First arrivals at `own_voxels`, in their order. Each rank gives seeds: all of them, or at least those of its own
  /// voxels.
  DistributedArrival solve(std::span<const GlobalSeed> seeds);

  /// The voxels of the whole image that this rank computes; those that nothing may enter are nobody's.
  [[nodiscard]] const std::vector<std::uint64_t>& own_voxels() const { return own_voxels_; }

 private:
  class Engine;
  template <class Problem>
  class EngineOf;

  std::vector<std::uint64_t> own_voxels_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace isochron::mpi
