// What a solve over ranks counts, and would take, on clocks that do not depend on the host.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "bench/paper/virtual_ranks.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/scatter.h"

namespace isochron::bench {
namespace {

/// A solve on one thread, and what ranks are held against.
struct Reference {
  Heart heart;
  std::vector<Seed> seeds;
  Arrival serial;
};

bool same_times(const std::vector<double>& times, const Arrival& serial) {
  for (std::size_t v = 0; v < times.size(); ++v)
    if (!(std::abs(times[v] - serial.times[v]) <= 1e-6 * serial.max_time)) return false;
  return true;
}

/// Adds a row and returns the seconds.
double add_ranks(Report& report, const Reference& reference, const std::string& row,
                 const std::vector<std::uint32_t>& rank_of, int ranks, double seconds_of_one) {
  const VirtualSolve solve =
      virtual_solve(reference.heart.mesh, reference.heart.metric, reference.seeds, rank_of, ranks, RankCosts{});
  const bool right = same_times(solve.times, reference.serial);
  const auto add = [&](const char* column, double value, const char* unit) {
    report.add({row, column, {}, right ? std::optional(value) : std::nullopt, unit, right ? "" : failed_check});
  };
  add("updates", solve.updates, "a vertex");
  add("busy", 100 * solve.busy, "% of the ranks' time");
  add("time", solve.seconds, "s by the clocks");
  if (seconds_of_one > 0) add("speed-up", seconds_of_one / solve.seconds, "times");
  add("messages", static_cast<double>(solve.traffic.messages), "");
  const auto least = static_cast<double>(solve.traffic.halo_bytes);
  add("bytes over least", least == 0 ? 1 : static_cast<double>(solve.traffic.bytes) / least, "times");
  add("elements kept over share", solve.kept, "times, the largest");
  return solve.seconds;
}

}  // namespace

bool tuning_ranks(const BenchOptions& options) {
  Report report("tuning-ranks", "Counts and times of ranks on clocks of their own", options);
  const bool quick = options.size == BenchSize::quick;
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  Reference reference{heart(quick ? 20000 : 3000000, 0.6, 0.3, threads), {}, {}};
  const TetMesh& mesh = reference.heart.mesh;
  const Sources sources = middle_source(mesh);
  SolveOptions serial;
  serial.backend = Backend::serial;
  serial.precision = Precision::double_;
  reference.seeds = ranks::whole_seeds(mesh, reference.heart.metric, sources, serial);
  reference.serial = solve(mesh, reference.heart.metric, sources, serial);
  const std::string size = fmt::format("{:.2g} million tets", static_cast<double>(mesh.element_count()) / 1e6);
  const std::vector<std::uint32_t> whole(mesh.vertex_count(), 0);
  const double one = add_ranks(report, reference, size + ", one rank", whole, 1, 0);
  for (const int ranks : quick ? std::vector<int>{4} : std::vector<int>{2, 4, 8, 16}) {
    stop_if_cancelled(options);
    add_ranks(report, reference, fmt::format("{}, {} ranks by time", size, ranks),
              ranks::partition_by_time(mesh, reference.heart.metric, reference.seeds, ranks, threads), ranks, one);
    const RankOptions blind{.blocks_per_rank = 0, .partitioner = Partitioner::curve, .threads = threads};
    add_ranks(report, reference, fmt::format("{}, {} ranks, blind", size, ranks),
              ranks::partition_in_blocks(mesh, ranks, blind), ranks, one);
  }
  report.note("Each rank has a clock that goes on with what it does, at costs that are assumed (bench/NOTES.md).");
  return report.finish(options);
}

}  // namespace isochron::bench
