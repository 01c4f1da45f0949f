// Ranks with clocks of their own that do not depend on the host: what a solve over ranks counts and would take.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isochron/communicator.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"
#include "isochron/solve/ranks/part_solver.h"

namespace isochron::bench {

/// Seconds that things take on a rank of one core (bench/NOTES.md).
struct RankCosts {
  double update = 0.4e-6;     ///< of a vertex, beside its solves
  double solve = 32e-9;       ///< of a local solve
  double look = 0.15e-6;      ///< for messages
  double message = 0.5e-6;    ///< sending or taking one
  double byte = 1e-9;         ///< of it, likewise
  double latency = 1e-6;      ///< of its way
  double reduction = 1.5e-6;  ///< for each doubling of the ranks
};

/// Calls `work(communicator)` for every rank, each on a thread of its own, of which one runs at a time: the rank whose
/// clock is behind all others, until it looks for messages. So all that happens depends on the clocks alone. A clock
/// goes on with what the communicator does and by `spent(rank)`, the seconds that a rank has worked so far by its own
/// account. Returns the clocks at the end. Rethrows what the first rank threw.
std::vector<double> run_on_virtual_clocks(int ranks, const RankCosts& costs, const std::function<double(int)>& spent,
                                          const std::function<void(Communicator&)>& work);

/// A solve over ranks by such clocks.
struct VirtualSolve {
  double seconds = 0;  ///< until the last rank has ended
  double busy = 0;     ///< share of that in which ranks worked, mean
  double updates = 0;  ///< a vertex of the mesh, ghosts' among them
  double kept = 0;     ///< elements of the largest part over its share
  Traffic traffic;
  std::vector<double> times;  ///< by vertex
};
VirtualSolve virtual_solve(const TetMesh& mesh, const Metric& metric, const std::vector<Seed>& seeds,
                           const std::vector<std::uint32_t>& rank_of, int ranks, const RankCosts& costs);

}  // namespace isochron::bench
