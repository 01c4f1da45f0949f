// isochron bench papers: all tables and figures of the papers on one page.
#include <algorithm>
#include <utility>

#include "apps/isochron/bench.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/report.h"
#include "apps/isochron/wording.h"
#include "bench/page/estimate.h"
#include "bench/page/page.h"
#include "bench/page/papers.h"
#include "bench/page/results.h"
#include "isochron/core/delimited_text.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

using bench::MachineRun;
using bench::TableResult;

/// The benches of papers whose names begin with one of the texts; all where there is none. Of these those that run on a
/// GPU when only that is asked for.
std::vector<const PaperBench*> chosen_benches(const std::string& only, bool gpu_only) {
  std::vector<const PaperBench*> all;
  for (const PaperBench& bench : paper_benches())
    if (!bench.paper_number().empty() && (!gpu_only || bench.has_gpu_columns())) all.push_back(&bench);
  if (only.empty()) return all;
  const std::vector<std::string_view> beginnings = split_text(only, ",");
  const auto is_meant = [](const PaperBench& bench, std::string_view text) {
    return !text.empty() && (bench.name.starts_with(text) || bench.paper == text);
  };
  for (const std::string_view text : beginnings)
    if (std::none_of(all.begin(), all.end(), [&](const PaperBench* b) { return is_meant(*b, text); }))
      throw usage_error("--only: no table of a paper begins with '{}'; see 'isochron bench --list'", text);
  std::erase_if(all, [&](const PaperBench* b) {
    return std::none_of(beginnings.begin(), beginnings.end(),
                        [&](std::string_view text) { return is_meant(*b, text); });
  });
  return all;
}

/// A bench that ended with an error still has its place on the page.
TableResult failed_table(const PaperBench& bench, const BenchOptions& options, const std::string& why) {
  TableResult table;
  table.name = bench.name;
  table.title = bench.what;
  table.quick = options.size == BenchSize::quick;
  table.comparable = !table.quick;
  table.entries.push_back({bench.name, "run", {}, {}, "", bench::failed_run(why)});
  return table;
}

TableResult run_one(const PaperBench& bench, BenchOptions options) {
  std::optional<TableResult> result;
  options.take = [&](const TableResult& table) { result = table; };
  const Timer timer;
  try {
    bench.run(options);
    if (!result) result = failed_table(bench, options, "it gave no table");
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    result = failed_table(bench, options, to_text(error, command_wording()));
  } catch (const std::bad_alloc&) {
    result = failed_table(bench, options, "out of memory");
  } catch (const std::exception& error) {  // the other tables have taken hours
    result = failed_table(bench, options, error.what());
  }
  result->seconds = timer.seconds();
  return std::move(*result);
}

/// In the folder, while it runs and when it is interrupted: the tables that are finished.
constexpr const char* unfinished_file = "papers.partial.json";

/// Takes the run out of the list that this computer did not finish, with meshes of the same size; else an empty one.
MachineRun take_unfinished(std::vector<MachineRun>& runs, const bench::Computer& here, bool quick) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const MachineRun& run) {
    const auto same_size = [&](const TableResult& table) { return table.quick == quick; };
    return run.unfinished && run.computer == here && std::all_of(run.tables.begin(), run.tables.end(), same_size);
  });
  if (found == runs.end()) return {here, {}};
  MachineRun run = std::move(*found);
  runs.erase(found);
  return run;
}

/// Runs the benches whose tables the run does not have yet, and saves the run after each of them.
void run_all(const std::vector<const PaperBench*>& benches, const BenchRequest& request, const Console& console,
             MachineRun& run) {
  std::vector<TableResult> before = std::exchange(run.tables, {});
  std::erase_if(before, [](const TableResult& table) { return !table.sound(); });  // they are run again
  const auto is_there = [&](const PaperBench* bench) {
    return std::any_of(before.begin(), before.end(), [&](const TableResult& t) { return t.name == bench->name; });
  };
  std::vector<double> expected;
  for (const PaperBench* bench : benches)
    if (!is_there(bench)) expected.push_back(bench::expected_seconds(bench->name, request.quick));
  const std::size_t count = expected.size();
  bench::WorkEstimate estimate(std::move(expected));
  BenchOptions options = bench_options(request, console);
  run.tables = before;
  run.unfinished = true;
  std::string lines;
  std::size_t number = 0;
  {
    Activity activity(console, "running the papers' tables");
    const Progress shown = activity.progress();
    for (const PaperBench* bench : benches) {
      if (is_there(bench)) continue;
      activity.detail(fmt::format("{}, {} of {}", bench->name, ++number, count));
      const Timer timer;
      options.progress.cancel = shown.cancel;
      options.progress.report = [&](double) { shown.update(estimate.fraction(timer.seconds())); };
      options.progress.update(0);
      run.tables.push_back(run_one(*bench, options));
      estimate.finish(timer.seconds());
      const TableResult& table = run.tables.back();
      lines += fmt::format("{:<19}{:>8.1f} s  {}\n", table.name, table.seconds, table.sound() ? "" : "FAILED");
      write_files(request.output_folder, {{unfinished_file, bench::json_of(std::vector{run})}});
    }
  }
  run.unfinished = false;
  console.say(lines);
}

/// Puts aside the tables of an interrupted run that is not continued.
void keep_unfinished(const BenchRequest& request, Console& console) {
  const std::filesystem::path file = request.output_folder / unfinished_file;
  std::error_code ignored;
  if (request.no_run || !std::filesystem::exists(file, ignored)) return;
  const bool given = std::any_of(request.with.begin(), request.with.end(), [&](const std::filesystem::path& with) {
    return std::filesystem::equivalent(with, file, ignored);
  });
  if (given) return;
  const std::filesystem::path kept = request.output_folder / "papers.partial.old.json";
  std::filesystem::rename(file, kept, ignored);
  console.warn("{}: kept of an interrupted run; give it to --with to continue that run", kept.string());
}

void check(const BenchRequest& request) {
  if (request.output_folder.empty())
    throw usage_error("no folder given for the page; give one with --output-folder, as in 'bench papers -o out'");
  if (request.no_run && request.with.empty())
    throw usage_error("--no-run leaves nothing to show without runs of other machines; give them with --with");
  if (request.no_run && !request.only.empty())
    throw usage_error("--only does not go with --no-run (it chooses what is run); leave one of them out");
}

}  // namespace

int run_papers(const BenchRequest& request, Console& console) {
  check(request);
  const std::vector<const PaperBench*> benches = chosen_benches(request.only, request.gpu_only);
  std::vector<MachineRun> others;
  for (const auto& file : request.with)
    for (MachineRun& run : bench::read_machine_runs(file)) others.push_back(std::move(run));
  std::vector<MachineRun> runs;
  if (!request.no_run) {
    keep_unfinished(request, console);
    const auto here = bench::this_computer(request.label, console.threads(), ISOCHRON_VERSION);
    runs.push_back(take_unfinished(others, here, request.quick));
    run_all(benches, request, console, runs.back());
  }
  std::move(others.begin(), others.end(), std::back_inserter(runs));
  bench::join_parts(runs);
  bench::number_labels(runs);
  std::vector<bench::MoreFile> files{{"papers.html", bench::papers_page(runs)}, {"papers.json", bench::json_of(runs)}};
  for (const MachineRun& run : runs)
    for (const TableResult& table : run.tables)
      for (const bench::MoreFile& file : table.files)  // of the same name: that of the first run
        if (std::none_of(files.begin(), files.end(), [&](const auto& other) { return other.name == file.name; }))
          files.push_back(file);
  write_files(request.output_folder, files);
  std::error_code ignored;
  if (!request.no_run) std::filesystem::remove(request.output_folder / unfinished_file, ignored);

  std::vector<std::string> failed;
  Json machines = Json::array();
  for (const MachineRun& run : runs) {
    machines.push_back({{"label", run.computer.label}, {"tables", run.tables.size()}});
    for (const TableResult& table : run.tables)
      if (!table.sound()) failed.push_back(runs.size() > 1 ? table.name + " on " + run.computer.label : table.name);
  }
  Report report;
  report.add({{"machines", std::move(machines)}, {"failed", failed}});
  for (const std::string& name : failed) report.row("failed", "{}", name);
  report.written({request.output_folder / "papers.html", request.output_folder / "papers.json"});
  report.print(console);
  return failed.empty() ? 0 : exit_not_converged;
}

}  // namespace isochron::cli
