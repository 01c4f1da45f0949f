// What a distributed solve costs on a machine, and how those costs are fitted to measured runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace isochron::bench {

/// Costs in seconds. Those of the network are of one rank, with its share of the node's link.
struct Machine {
  double push = 1.6e-6;       ///< of one vertex in a solve on one rank, with what is repeated there
  double message = 0.4e-6;    ///< of a rank's time, to send or to take one message
  double latency = 2e-6;      ///< from a message's sending to its receipt, beside `message`
  double byte = 1 / 0.39e9;   ///< of payload: 64 ranks share a link of 25 GB/s
  double reduction = 1.5e-6;  ///< of one small reduction, for each doubling of the ranks
  double value_bytes = 12;    ///< of one border value: a number and a time
  double sends = 1.7;         ///< messages between two ranks in a band: when it opens, and what was reached in it
  double ghost_push = 0.45;   ///< work of pushing from a received value, in pushes of an owned vertex
};

/// Sets costs from text like "latency=1e-6,message=3e-7", by the names above. Throws UsageError for another name or
/// what is not a number from 0 on.
void set_costs(Machine& machine, const std::string& text);

/// What working in parts costs beside the network: ranks go ahead within a band with times that a neighbour's values
/// correct later. For a band of x sides of a part, a vertex is pushed 1 + `early` x times in place of once, and
/// 1 + `early` x + `late` x² times where values of one band are used only in the next. A border value is sent
/// 1 + `resend` w times for a band of w edges. Measured on small meshes (docs/internals/scale.md).
struct Rework {
  double early = 1.6, late = 14;
  double resend = 0.38;
  int echoes = 0;  ///< further rounds of a band: where times are not causal, corrections go to and fro across a border
};
inline constexpr Rework isotropic_rework{1.6, 14, 0.38, 0}, fiber_rework{2.8, 140, 0.8, 8};

/// One measured solve, as a line of the CSV file that `--runs` names (docs/internals/scale.md lists the columns).
struct MeasuredRun {
  std::string mesh;
  double ranks = 1, parts_per_rank = 1, vertices = 0, elements = 0;
  double bands = 0, rounds = 0, messages = 0, bytes = 0, pushes = 0;
  double work_seconds = 0;   ///< in the local solver, mean over ranks
  double solve_seconds = 0;  ///< wall time
  std::optional<double> band_width, halo_values, sent_values, work_max_seconds, critical_seconds, idle_seconds;

  /// What the slowest ranks worked: the sum over rounds where it was counted, else the busiest rank's, else the mean.
  [[nodiscard]] double longest_work() const;
};

/// Throws InputError with path and line when a column is missing or a number is not one.
std::vector<MeasuredRun> read_runs(const std::filesystem::path& path);

/// The text of a file that `read_runs` reads, without the columns that were not counted.
std::string runs_csv(const std::vector<MeasuredRun>& runs);

/// A machine as the runs show it. Runs of one node say what its shared memory costs, not its network.
struct MachineFit {
  double push_alone = 0;                    ///< one rank on the machine
  double push_crowded = 0;                  ///< as many ranks as the fullest run has: they share the memory
  double message = 0, byte = 0, round = 0;  ///< per message of a rank, per byte, per round and doubling of ranks
  double worst_error = 0, mean_error = 0;   ///< |predicted / measured − 1| of the solve seconds
  std::vector<double> predicted;            ///< solve seconds, run by run
};

/// Least squares of relative errors, no cost below zero. Throws InputError without a run of one rank.
MachineFit fit_machine(const std::vector<MeasuredRun>& runs);

/// x ≥ 0 that minimises |A x − b| for few columns; each row of `a` has one entry per column.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& a, const std::vector<double>& b);

}  // namespace isochron::bench
