// What a solve over ranks starts from and gives back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isochron/solve/arrival.h"
#include "isochron/solve/capabilities.h"
#include "isochron/solve/ranks/rank_options.h"

namespace isochron::mpi {

/// A vertex of the whole mesh (or a voxel of the whole image) that starts with a time, and the source it has it from.
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

/// One rank's part of the result, and what all ranks have in common.
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

/// What all ranks have in common, as the result of one process; without arrays.
Arrival common_result(const DistributedArrival& arrival);

/// Throws UsageError for what is not solved over ranks.
void check_distributed_options(DomainKind domain, const SolveOptions& options);

}  // namespace isochron::mpi
