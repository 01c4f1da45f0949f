// Arrival times on a mesh that is shared out over ranks: each holds one part, and all solve together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isochron/mesh/mesh_part.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/arrival.h"
#include "isochron/solve/mpi/deal.h"
#include "isochron/solve/mpi/transport.h"
#include "isochron/solve/options.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::mpi {

/// A vertex of the whole mesh that starts with a time, and the source it has it from.
struct GlobalSeed {
  std::uint64_t vertex = 0;
  double time = 0;
  std::int32_t source = 0;
  std::int32_t unused = 0;  ///< no gap: seeds travel as bytes
};

struct GlobalResidual {
  double worst = 0;  ///< as in `Residual`
  double limit = 0;
  std::uint64_t worst_vertex = 0;
  [[nodiscard]] bool passed() const { return worst <= limit; }
};

/// One rank's share of the result, and what all ranks have in common.
struct DistributedArrival {
  std::vector<double> times;         ///< of the part's own vertices; +inf where nothing arrived
  std::vector<std::int32_t> source;  ///< likewise; −1 where unreached. Empty when not asked for

  std::uint64_t reached = 0;  ///< from here on: of all ranks
  std::uint64_t unreached = 0;
  double max_time = 0;
  std::optional<GlobalResidual> residual;
  Precision precision = Precision::double_;
  int threads = 1;  ///< of each rank
  Counters counters;
  Traffic traffic;
  double setup_seconds = 0;
  double solve_seconds = 0;
  std::vector<std::string> notes;

  [[nodiscard]] bool converged() const { return !residual || residual->passed(); }
};

/// Throws UsageError for what is not solved over ranks.
void check_distributed_options(const SolveOptions& options);

/// One rank's end of the solver; every rank makes one and calls the same functions in the same order. A rank may own no
/// vertex at all.
template <int Corners>
class DistributedSolver {
 public:
  /// Keeps references to all but the options. `metric` has one value for each element of the part. Of the options,
  /// those of the schedule of the CPU count: precision, tolerance, band width, sources, verify, progress, and threads,
  /// those of each rank (0: one). Throws as `Solver` does, on the rank that sees it; UsageError for what is not solved
  /// over ranks. `virtual_elements` are those of `Share`: they are given, because a part does not reach far enough to
  /// find them.
  DistributedSolver(Transport& transport, const MeshPart<Corners>& part, const Metric& metric, SolveOptions options,
                    Pace pace = Pace::banded, std::span<const VirtualRecord<double, Corners>> virtual_elements = {});
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
