// Arrival times on a mesh that is partitioned over ranks: each holds one part, and all solve together.
#pragma once

#include <memory>
#include <span>

#include "isochron/comm/communicator.h"
#include "isochron/dist/mesh_part.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/options.h"
#include "isochron/solve/ranks/distributed_arrival.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::mpi {

/// One rank's end of the solver; every rank makes one and calls the same functions in the same order. A rank may own no
/// vertex at all.
template <int Corners>
class DistributedSolver {
 public:
  /// Keeps references to all but the options. `metric` has one value for each element of the part. Of the options,
  /// those of the banded schedule count: precision, tolerance, band width, sources, verify, progress, and threads,
  /// those of each rank (0: one). With back end `cuda` each rank solves on its GPU (`rank_device`), with any other on
  /// the CPU; `agreed_backend` says whether all have one. Throws as `Solver` does, on the rank that sees it; UsageError
  /// for what is not solved over ranks. `virtual_elements` are those of `SolvePart`: they are given, because a part
  /// does not reach far enough to find them.
  DistributedSolver(Communicator& communicator, const MeshPart<Corners>& part, const Metric& metric,
                    SolveOptions options, Pace pace = Pace::banded,
                    std::span<const VirtualRecord<double, Corners>> virtual_elements = {});
  ~DistributedSolver();

  /// First arrivals. Each rank gives seeds: all of them, or at least those of its own vertices.
  DistributedArrival solve(std::span<const GlobalSeed> seeds);

 private:
  class Engine;
  template <class T>
  class EngineOf;
  std::unique_ptr<Engine> engine_;
};

}  // namespace isochron::mpi
