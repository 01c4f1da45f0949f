// Scale on paper: a model of time fitted to measured runs, and simulated solves of 10⁹ to 10¹¹ elements.
#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/report.h"
#include "bench/paper/scale_study.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"

namespace isochron::bench {
namespace {

/// The fit, with measured seconds beside the model's; a node's own costs take the place of those assumed.
void add_fit(Report& report, const std::vector<MeasuredRun>& runs, Machine& machine) {
  const MachineFit fit = fit_machine(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const MeasuredRun& run = runs[i];
    report.add({fmt::format("measured: {}, {:.3g} tets, {:g} ranks x {:g} parts", run.mesh, run.elements, run.ranks,
                            run.parts_per_rank),
                "solve", run.solve_seconds, fit.predicted[i], "s", ""});
  }
  report.note(
      fmt::format("fit: push {:.3g} us alone, {:.3g} us on a full node; message {:.3g} us, byte {:.3g} ns, round "
                  "{:.3g} us per doubling of ranks",
                  1e6 * fit.push_alone, 1e6 * fit.push_crowded, 1e6 * fit.message, 1e9 * fit.byte, 1e6 * fit.round));
  report.note(fmt::format("fit: mean error {:.1f} %, worst {:.1f} % of {} runs", 100 * fit.mean_error,
                          100 * fit.worst_error, runs.size()));
  if (fit.push_crowded > 0) machine.push = fit.push_crowded;
}

std::string case_label(const ScaleCase& c) {
  return fmt::format("{}, {:.0e} tets, {} cores{}", c.field->name, c.elements, c.cores,
                     c.threads > 1 ? fmt::format(" in teams of {}", c.threads) : "");
}

/// The best choice of each deal, what limits it, and one part a rank beside it.
void add_best(Report& report, const std::vector<ScaleResult>& results, const ScaleStudy& study) {
  const std::string row = case_label(results.front().problem);
  report.add({row, "one part a rank", {}, 100 * results.front().efficiency(study.machine), "%", ""});
  for (const Deal deal : {Deal::curve, Deal::arrival}) {
    const ScaleResult& best = best_of(results, deal);
    const Outcome& o = best.outcome;
    const auto share = [&](double loss) { return 100 * loss / o.seconds; };
    const std::string name = deal == Deal::curve ? "by curve" : "by arrival";
    report.add({row, name + ": time", {}, o.seconds, "s", "limit: " + limit_of(o)});
    report.add({row,
                name + ": efficiency",
                {},
                100 * best.efficiency(study.machine),
                "%",
                fmt::format("{} parts a rank, bands of {:g} edges, ghosts {:.0f} %; lost: repeats {:.1f}, imbalance "
                            "{:.1f}, no front {:.1f}, latency {:.1f}, bytes {:.1f}, reductions {:.1f}",
                            best.parts_per_rank, best.width, 100 * best.halo, share(o.repeats), share(o.imbalance),
                            share(o.fill), share(o.latency), share(o.bandwidth), share(o.reductions))});
  }
}

std::vector<ScaleCase> cases_of(const std::vector<ScaleField>& fields, BenchSize size) {
  const bool quick = size == BenchSize::quick;
  std::vector<ScaleCase> cases;
  for (const ScaleField& field : fields) {
    // One node: what can be measured.
    for (const std::uint32_t ranks : {2U, 4U, 8U, 16U}) cases.push_back({&field, 24.4e6, ranks, 1});
    const bool reference = &field == &fields.back();  // what more sources do shows at one size
    for (const double elements : quick       ? std::vector{1e8}
                                 : reference ? std::vector{1e10}
                                             : std::vector{1e9, 1e10, 1e11})
      for (const std::uint32_t cores : quick ? std::vector{64U} : std::vector{100U, 1000U, 10000U, 100000U}) {
        cases.push_back({&field, elements, cores, 1});
        if (cores >= 1000) cases.push_back({&field, elements, cores, 16});
      }
  }
  return cases;
}

/// Large cases first, so that no thread is left with one at the end.
std::vector<std::vector<ScaleResult>> study_all(const ScaleStudy& study, const std::vector<ScaleCase>& cases,
                                                const BenchOptions& options) {
  std::vector<std::vector<ScaleResult>> results(cases.size());
  std::vector<std::size_t> order(cases.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cases[a].ranks() > cases[b].ranks(); });
  std::atomic<std::size_t> next{0};
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  parallel_region(threads, [&](int, int) {
    for (std::size_t i = next++; i < order.size(); i = next++) {
      stop_if_cancelled(options);
      results[order[i]] = study_case(study, cases[order[i]]);
    }
  });
  return results;
}

void attach_grid(Report& report, const std::vector<std::vector<ScaleResult>>& all, const ScaleStudy& study) {
  std::vector<ScaleResult> flat;
  for (const auto& results : all) flat.insert(flat.end(), results.begin(), results.end());
  report.attach("scale-grid.csv", results_csv(flat, study));
}

}  // namespace

bool scale(const BenchOptions& options) {
  const bool quick = options.size == BenchSize::quick;
  Report report("scale", "Simulated solves over ranks; 'paper' is what was measured", options, QuickRun::fewer_meshes);
  ScaleStudy study;
  if (quick) {
    study.cells = 2000;
    study.samples = 16;
    study.parts_per_rank = {1, 4, 16};
  }
  if (!options.runs.empty()) add_fit(report, read_runs(options.runs), study.machine);
  set_costs(study.machine, options.machine);
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  std::vector<ScaleField> fields;
  fields.push_back(cube_field(quick ? 17 : 41, threads));
  for (const Stimulus stimulus : {Stimulus::one, Stimulus::sites})
    fields.push_back(ventricle_field(quick ? 20000 : 300000, stimulus, threads));
  const auto all = study_all(study, cases_of(fields, options.size), options);
  for (const auto& results : all) add_best(report, results, study);
  attach_grid(report, all, study);
  const Machine& m = study.machine;
  report.note(
      fmt::format("machine: {:.3g} us a vertex, {:.2g} us a message, {:.2g} us flight, {:.3g} GB/s a core, {:.2g} "
                  "us a reduction per doubling of ranks{}",
                  1e6 * m.push, 1e6 * m.message, 1e6 * m.latency, 1e-9 / m.byte, 1e6 * m.reduction,
                  options.runs.empty() && options.machine.empty() ? " (assumed: see docs/internals/scale.md)" : ""));
  report.note(fmt::format("at most {} parts are simulated, of {:g} vertices or more", study.max_parts, study.min_part));
  return report.finish(options);
}

}  // namespace isochron::bench
