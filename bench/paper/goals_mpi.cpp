// Our aims over MPI ranks: the ventricle as large as it is, and as large as there are ranks. Run under mpirun, once for
// each number of ranks; scripts/bench_mpi.sh does, and compares.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/solve/mpi/deal_by_time.h"
#include "isochron/solve/mpi/mpi_transport.h"
#include "isochron/solve/mpi/root_seeds.h"
#include "isochron/solve/mpi/scatter.h"

namespace isochron::bench {
namespace {

SolveOptions solve_options() {
  SolveOptions options;
  options.verify = Keep::yes;
  options.precision = Precision::double_;
  return options;
}

/// One process, on one thread and on all.
void add_one_process(Report& report, const std::string& row, const Heart& heart, const BenchOptions& options) {
  const Sources sources = middle_source(heart.mesh);
  for (const int threads : {1, options.threads > 0 ? options.threads : hardware_threads()}) {
    SolveOptions one = solve_options();
    one.threads = threads;
    one.backend = threads > 1 ? Backend::threads : Backend::serial;
    Solver<4> solver({heart.mesh, heart.metric}, one);
    Measured best;
    for (int i = 0; i < 3; ++i) {
      Arrival arrival = solver.solve(sources);
      if (i == 0 || arrival.solve_seconds < best.arrival.solve_seconds)
        best = {arrival.residual->passed(), "", std::move(arrival)};
    }
    report.add(entry_of(row, fmt::format("no ranks, {} threads", threads), {}, best, "s", seconds));
    if (threads == 1) report.add(entry_of(row, "no ranks, updates", {}, best, "a vertex", updates_per_vertex));
  }
}

/// All ranks together: rank 0 makes the ventricle and reports.
void add_ventricle(Report& report, mpi::Transport& transport, const std::string& row, std::size_t elements,
                   const mpi::DealOptions& deal, const BenchOptions& options, bool compare) {
  const bool root = transport.rank() == 0;
  const int team = options.threads > 0 ? options.threads : hardware_threads();
  std::unique_ptr<Heart> heart;
  Sources sources;
  if (root) {
    heart = std::make_unique<Heart>(bench::heart(elements, 0.6, 0.3, team));
    sources = middle_source(heart->mesh);
    if (compare && transport.size() == 1) add_one_process(report, row, *heart, options);
  }
  const TetMesh* mesh = root ? &heart->mesh : nullptr;
  const Metric* metric = root ? &heart->metric : nullptr;
  const auto seeds = mpi::root_seeds<4>(transport, mesh, metric, root ? &sources : nullptr, solve_options());
  const Timer cutting;
  std::vector<std::uint32_t> rank_of;
  if (root && deal.pieces == 0) rank_of = mpi::deal_by_time(*mesh, *metric, seeds, transport.size(), team);
  else if (root) rank_of = mpi::deal_vertices(*mesh, transport.size(), deal);
  const mpi::Share<4> share =
      mpi::scatter<4>(transport, mesh, metric, std::move(rank_of), ObtuseSplit::automatic, team);
  const double cut_seconds = cutting.seconds();
  heart.reset();
  mpi::DistributedSolver<4> solver(transport, share.part, share.metric, solve_options());
  mpi::DistributedArrival best;
  for (int i = 0; i < 3; ++i) {
    mpi::DistributedArrival arrival = solver.solve(seeds);
    if (i == 0 || arrival.solve_seconds < best.solve_seconds) best = std::move(arrival);
  }
  if (!root) return;
  const auto add = [&](const char* column, double value, const char* unit) {
    report.add({row,
                column,
                {},
                best.converged() ? std::optional(value) : std::nullopt,
                unit,
                best.converged() ? "" : failed_check});
  };
  const auto whole = static_cast<double>(share.part.whole_vertices);
  add("elements", static_cast<double>(share.part.whole_elements), "");
  add("cut and scatter", cut_seconds, "s");
  add("set-up", best.setup_seconds, "s");
  add("solve", best.solve_seconds, "s");
  add("idle", 100 * best.traffic.idle_seconds / best.solve_seconds, "% of the solve");
  add("bands", static_cast<double>(best.traffic.bands), "");
  add("updates", static_cast<double>(best.counters.vertex_updates) / whole, "a vertex");
  add("messages", static_cast<double>(best.traffic.messages), "");
  add("bytes over least",
      best.traffic.halo_bytes == 0
          ? 1
          : static_cast<double>(best.traffic.bytes) / static_cast<double>(best.traffic.halo_bytes),
      "times");
  add("elements kept over share",
      static_cast<double>(share.part.mesh.element_count()) * transport.size() /
          static_cast<double>(share.part.whole_elements),
      "times");
}

}  // namespace

int goals_mpi(const BenchOptions& options) {
  const std::unique_ptr<mpi::Transport> transport = mpi::join_world();
  const int ranks = transport->size();
  Report report("goals-mpi", fmt::format("A ventricle over {} ranks, double precision", ranks), options);
  const bool quick = options.size == BenchSize::quick;
  const std::size_t whole = quick ? 200000 : 24000000, each = quick ? 20000 : 1500000;
  for (const int pieces : {0, 1, 16, 64}) {
    mpi::DealOptions deal;
    deal.pieces = pieces;
    if (ranks == 1 && pieces > 0) break;
    const std::string row = pieces == 0 ? "strong" : fmt::format("strong, {} pieces a rank", pieces);
    add_ventricle(report, *transport, row, whole, deal, options, pieces == 0);
  }
  add_ventricle(report, *transport, "weak", each * static_cast<std::size_t>(ranks), {}, options, false);
  return transport->rank() == 0 ? report.finish(options) : 0;
}

}  // namespace isochron::bench
