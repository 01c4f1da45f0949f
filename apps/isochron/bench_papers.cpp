// isochron bench papers: all tables and figures of the papers on one page.
#include <algorithm>

#include "apps/isochron/bench.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/report.h"
#include "apps/isochron/wording.h"
#include "bench/page/estimate.h"
#include "bench/page/page.h"
#include "bench/page/papers.h"
#include "bench/page/results.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

using bench::MachineRun;
using bench::TableResult;

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> result{""};
  for (const char c : text)
    if (c == ',') result.emplace_back();
    else result.back() += c;
  return result;
}

/// The benches of papers whose names begin with one of the texts; all where there is none.
std::vector<const PaperBench*> chosen_benches(const std::string& only) {
  std::vector<const PaperBench*> all;
  for (const PaperBench& bench : paper_benches())
    if (!bench.paper_number().empty()) all.push_back(&bench);
  if (only.empty()) return all;
  const std::vector<std::string> beginnings = split_at_commas(only);
  const auto is_meant = [](const PaperBench& bench, const std::string& text) {
    return !text.empty() && (bench.name.starts_with(text) || bench.paper == text);
  };
  for (const std::string& text : beginnings)
    if (std::none_of(all.begin(), all.end(), [&](const PaperBench* b) { return is_meant(*b, text); }))
      throw usage_error("--only: no table of a paper begins with '{}'; see 'isochron bench --list'", text);
  std::erase_if(all, [&](const PaperBench* b) {
    return std::none_of(beginnings.begin(), beginnings.end(),
                        [&](const std::string& text) { return is_meant(*b, text); });
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

std::vector<TableResult> run_all(const std::vector<const PaperBench*>& benches, const BenchRequest& request,
                                 const Console& console) {
  std::vector<double> expected;
  expected.reserve(benches.size());
  for (const PaperBench* bench : benches) expected.push_back(bench::expected_seconds(bench->name, request.quick));
  bench::WorkEstimate estimate(std::move(expected));
  BenchOptions options = bench_options(request, console);
  std::vector<TableResult> tables;
  std::string lines;
  {
    Activity activity(console, "running the papers' tables");
    const Progress shown = activity.progress();
    for (const PaperBench* bench : benches) {
      activity.detail(fmt::format("{}, {} of {}", bench->name, tables.size() + 1, benches.size()));
      const Timer timer;
      options.progress.cancel = shown.cancel;
      options.progress.report = [&](double) { shown.update(estimate.fraction(timer.seconds())); };
      options.progress.update(0);
      tables.push_back(run_one(*bench, options));
      estimate.finish(timer.seconds());
      const TableResult& table = tables.back();
      lines += fmt::format("{:<19}{:>8.1f} s  {}\n", table.name, table.seconds, table.sound() ? "" : "FAILED");
    }
  }
  console.say(lines);
  return tables;
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

int run_papers(const BenchRequest& request, const Console& console) {
  check(request);
  const std::vector<const PaperBench*> benches = chosen_benches(request.only);
  std::vector<MachineRun> others;
  for (const auto& file : request.with)
    for (MachineRun& run : bench::read_machine_runs(file)) others.push_back(std::move(run));
  std::vector<MachineRun> runs;
  if (!request.no_run)
    runs.push_back(
        {bench::this_computer(request.label, console.threads(), ISOCHRON_VERSION), run_all(benches, request, console)});
  std::move(others.begin(), others.end(), std::back_inserter(runs));
  bench::number_labels(runs);
  std::vector<bench::MoreFile> files{{"papers.html", bench::papers_page(runs)}, {"papers.json", bench::json_of(runs)}};
  for (const MachineRun& run : runs)
    for (const TableResult& table : run.tables) files.insert(files.end(), table.files.begin(), table.files.end());
  write_files(request.output_folder, files);

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
