// The steps of `isochron solve` that meshes and images, whole or in parts, take alike: solve, write, report.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/isochron/problem.h"
#include "apps/isochron/solve_each.h"
#include "apps/isochron/solve_mpi.h"
#include "apps/isochron/solve_report.h"
#include "isochron/core/timer.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/solver.h"

namespace isochron::cli {

// What is solved on is a `Run`. It has `in_parts`, whether each rank has a part of it, and in the order of calls
//
// - `sources(inputs, console)`, `vertex_count()` of the whole, `metric()`, `domain(metric)`,
//   `warn_of_ranks(ranks, console)`;
// - `probe(points, arrival, console)`; `sum_up(arrival, summary, console)`, which completes the summary;
// - `add_results(arrival, each, summary, console)`, which puts results into the data that is written and draws them;
//   `write(ranks, files)`; in parts also `part_vertices(arrival)`, those of this rank.
//
// In parts all ranks call these together.

/// Calls `work` with a solver, over ranks when there are any. It and the metric live only in here: their memory is free
/// again before the rest is written. Gives the seconds that making the metric took.
template <class Run, class Work>
double with_solver(const SolveRequest& request, Run& run, SharedSteps* ranks, Console& console, Work&& work) {
  const Timer making;
  const Metric metric = run.metric();
  const double made = making.seconds();
  Activity activity(console, "solving");
  SolveOptions options = request.options;
  options.progress = ranks == nullptr || ranks->first() ? activity.progress() : interruptible();
  const InterruptGuard guard;
  if (ranks != nullptr) {
    run.warn_of_ranks(*ranks, console);
    ranks->take([&] {
      Solver solver(run.domain(metric), options, ranks->communicator());
      work(solver);
    });
  } else {
    Solver solver(run.domain(metric), options);
    work(solver);
  }
  if (!Run::in_parts) check_interrupted();  // one of several must not leave the others alone
  return made;
}

/// Writes everything, so that all files appear or none; but a set of pieces appears by itself, before the others.
template <class Run>
void write_results(const SolveRequest& request, Run& run, SharedSteps* ranks, EachSource* each,
                   const NamedPoints& points, const std::vector<ProbeTime>& probed, OutputFiles& files,
                   SolveSummary& summary, Console& console) {
  const Activity activity(console, "writing " + request.output.string());
  if (request.to_mesh() || request.to_vertex_values()) run.write(ranks, files);
  if (each != nullptr) each->finish();
  if (!request.probe.output.empty()) write_probes(files.add(request.probe.output), points, probed);
  files.commit();
  for (const std::filesystem::path& file : {request.output, request.matrix, request.probe.output})
    if (!file.empty()) summary.written.push_back(file);
}

/// Solves on what was read, writes and reports; gives the exit code.
template <class Run>
int solve_and_write(const SolveRequest& request, Run&& run, const SideInputs& inputs, SharedSteps* ranks,
                    SolveSummary& summary, Console& console) {
  std::vector<ProbeTime> probed;
  OutputFiles files(request.overwrite);
  std::optional<EachSource> each;
  Arrival arrival;
  about_file(request.mesh, [&] {
    const Sources sources = run.sources(inputs, console);
    if (request.each_source) each.emplace(request, sources, run.vertex_count(), files);
    const double made = with_solver(request, run, ranks, console, [&](Solver& solver) {
      if (each) each->run(solver);
      else arrival = solver.solve(sources);
    });
    if (each) arrival = each->take_all();
    warn_rounded_times(request, sources, arrival, console);
    arrival.setup_seconds += made;
    if (!request.probe.output.empty()) probed = run.probe(inputs.probes.points, arrival, console);
  });
  summary.vertices = run.vertex_count();
  summary.solves_per_vertex = arrival.solves_per_vertex();
  if (each) summary.sources = each->summaries();
  run.sum_up(arrival, summary, console);
  if (!request.metric.excluded_regions.empty() && arrival.not_conducting == 0)
    console.warn("--exclude-region leaves nothing out ({} has no such region); check the numbers",
                 request.mesh.string());
  if (!Run::in_parts && request.to_pieces() && piece_kind_of(request.mesh))
    arrival.notes.push_back(fmt::format("the first rank read the whole {} ({} needs it)",
                                        request.on_image() ? "image" : "mesh", *what_needs_whole(request)));
  const InterruptGuard guard;
  const Timer writing;
  EachSource* const of_each = each ? &*each : nullptr;
  const auto not_drawn = run.add_results(arrival, of_each, summary, console);
  write_results(request, run, ranks, of_each, inputs.probes, probed, files, summary, console);
  // A picture that could not be drawn because there is no display ends the run only when all else is written.
  if (not_drawn) throw RuntimeError(*not_drawn);
  summary.write_seconds = writing.seconds();
  if constexpr (Run::in_parts) add_largest(ranks->communicator(), run.part_vertices(arrival), summary);
  summary.arrival = std::move(arrival);
  if (ranks != nullptr && !ranks->first()) return 0;
  print_summary(summary, console);
  return judge(summary);
}

}  // namespace isochron::cli
