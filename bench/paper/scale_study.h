// Which number of parts and which width of a band suit a size of mesh and a number of cores: many simulated solves.
#pragma once

#include <string>
#include <vector>

#include "bench/paper/registry.h"
#include "bench/paper/scale_parts.h"

namespace isochron::bench {

/// A question: this mesh on so many cores, with ranks of so many threads.
struct ScaleCase {
  const ScaleField* field;
  double elements;
  std::uint32_t cores, threads;

  [[nodiscard]] std::uint32_t ranks() const { return cores / threads; }
};

/// One answer to it.
struct ScaleResult {
  ScaleCase problem;
  std::uint32_t parts_per_rank = 1, parts = 1;
  double width = 1;
  BandRule rule = BandRule::flow;
  Deal deal = Deal::curve;
  double halo = 0;  ///< ghosts to owned vertices
  Outcome outcome;

  /// Of all cores, against one core that solves the whole.
  [[nodiscard]] double efficiency(const Machine& one_core) const;
};

/// What the study tries.
struct ScaleStudy {
  Machine machine;             ///< with one thread a rank
  double team_speed_up = 8.5;  ///< of 16 threads in a rank over one
  std::vector<std::uint32_t> parts_per_rank{1, 4, 16, 64, 256};
  std::vector<double> widths{0.5, 1, 2, 4};
  std::uint64_t max_parts = 700000;  ///< more would take this simulation minutes
  double min_part = 512;             ///< vertices
  std::size_t cells = 20000;
  std::int64_t samples = 32;  ///< bands; fewer of many parts

  [[nodiscard]] Machine machine_of(std::uint32_t threads) const;
};

/// Ghosts to owned vertices up to which a choice is recommended: memory of 1.3 times a rank's share.
inline constexpr double max_halo = 0.3;

/// All that was tried for one case: every number of parts and deal at a width of one edge, then other widths and rules
/// for the best of them.
std::vector<ScaleResult> study_case(const ScaleStudy& study, const ScaleCase& problem);

/// The quickest with that deal within the memory, or the quickest of all where none is; only our solver's own rule
/// counts.
const ScaleResult& best_of(const std::vector<ScaleResult>& results, Deal deal);

/// The largest loss, in words.
std::string limit_of(const Outcome& outcome);

/// All results as CSV.
std::string results_csv(const std::vector<ScaleResult>& results, const ScaleStudy& study);

}  // namespace isochron::bench
