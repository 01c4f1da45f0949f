// isochron bench: the papers' tables.
#include <algorithm>
#include <memory>

#include "apps/isochron/bench.h"
#include "apps/isochron/commands.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/report.h"
#include "bench/page/results.h"
#include "bench/paper/registry.h"
#include "isochron/core/join_text.h"
#include "isochron/io.h"
#include "isochron/io/file.h"

namespace isochron::cli {
namespace {

std::string bench_names() {
  std::vector<std::string_view> names;
  for (const PaperBench& bench : paper_benches()) names.push_back(bench.name);
  return join_text(names, ", ");
}

const PaperBench& find_bench(const std::string& name) {
  const auto& all = paper_benches();
  const auto it = std::find_if(all.begin(), all.end(), [&](const PaperBench& bench) { return bench.name == name; });
  if (it != all.end()) return *it;
  throw usage_error("unknown table '{}'; choose one of: {}; see 'isochron bench --list'", name, bench_names());
}

void print_benches(const Console& console) {
  Json tables = Json::array();
  std::string text;
  for (const PaperBench& bench : paper_benches()) {
    tables.push_back({{"name", bench.name}, {"what", bench.what}});
    text += fmt::format("{:<19}{}\n", bench.name, bench.what);
  }
  if (text.empty()) text = "this build has no benches\n";
  console.print(console.options.json ? json_line({{"tables", std::move(tables)}}) : text);
}

/// Options of the scale model, or of the page, do not go with other names.
void check_options(const BenchRequest& request) {
  if (!(request.runs.empty() && request.machine.empty()) && request.name != "scale")
    throw usage_error("--runs and --machine do not go with {} (only the scale model has them); use them with 'scale'",
                      request.name);
  if (!request.particles.empty() && !request.papers() && request.name != "002-table-1" &&
      request.name != "002-figure-9")
    throw usage_error("--particles does not go with {} (it makes no meshes of particles); use it with '002-table-1'",
                      request.name);
  if (!request.particles.empty() && !std::filesystem::is_directory(request.particles))
    throw input_error("{}: is not a folder; give the one that 'bench 002-table-1 -o' wrote on a machine with a GPU",
                      request.particles.string());
  if (!request.papers() && (!request.only.empty() || !request.with.empty() || request.no_run || !request.label.empty()))
    throw usage_error(
        "--only, --with, --no-run and --label do not go with {} (they are of the page); use them with "
        "'papers'",
        request.name);
}

void check_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  if (!std::filesystem::is_directory(there))
    throw input_error("{}: is not a folder (files go into one); choose another name",
                      there == std::filesystem::absolute(folder) ? folder.string() : there.string());
  check_output_file(there / "papers.json", Overwrite::yes);
}

/// The table as files: as CSV and JSON, its pictures and what else it made.
std::vector<bench::MoreFile> files_of(const bench::TableResult& table) {
  std::vector<bench::MoreFile> files{{table.name + ".csv", csv_of(table)}, {table.name + ".json", json_of(table)}};
  for (const bench::Picture& picture : table.pictures) files.push_back({picture.name + ".png", picture.png});
  if (const auto chart = chart_of(table))
    if (const auto svg = svg_of(*chart)) files.push_back({table.name + ".svg", *svg});
  files.insert(files.end(), table.files.begin(), table.files.end());
  return files;
}

int run_table(const BenchRequest& request, const Console& console) {
  const PaperBench& bench = find_bench(request.name);
  Activity activity(console, "running " + bench.name);
  BenchOptions options = bench_options(request, console);
  options.progress.cancel = activity.progress().cancel;
  options.take = [&](const bench::TableResult& table) {
    if (console.options.json) console.print(json_of(table));
    else console.say(text_of(table));
    if (!request.output_folder.empty()) write_files(request.output_folder, files_of(table));
  };
  return bench.run(options) ? 0 : exit_not_converged;
}

int run_bench(const BenchRequest& request, Console& console) {
  if (request.list) {
    print_benches(console);
    return 0;
  }
  if (request.name.empty())
    throw usage_error("no table given; choose one of: {}; see 'isochron bench --list'", bench_names());
  if (!request.papers()) find_bench(request.name);
  check_options(request);
  check_folder(request.output_folder);
  return request.papers() ? run_papers(request, console) : run_table(request, console);
}

}  // namespace

BenchOptions bench_options(const BenchRequest& request, const Console& console) {
  BenchOptions options;
  options.threads = console.options.threads;
  options.size = request.quick ? BenchSize::quick : BenchSize::paper;
  if (request.gpu_only) options.columns = BenchColumns::gpu;
  options.runs = request.runs;
  options.machine = request.machine;
  options.particles = request.particles;
  return options;
}

void write_files(const std::filesystem::path& folder, const std::vector<bench::MoreFile>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw RuntimeError(fmt::format("cannot make the folder {} ({}); choose another --output-folder", folder.string(),
                                   error.message()));
  OutputFiles outputs(Overwrite::yes);
  for (const bench::MoreFile& file : files) write_text(outputs.add(folder / file.name), file.text);
  outputs.commit();
}

void declare_bench(Command& root, Console& console) {
  Command command = root.subcommand("bench", "Rerun a paper's table and print it beside the paper's numbers",
                                    "isochron bench --list");
  const auto request = std::make_shared<BenchRequest>();
  command.positional("TABLE", "Which one; 'papers' for all of the papers on one page", into(request->name),
                     Need::optional);
  command.flag("--list", "Show the tables there are", request->list);
  command.flag("--quick", "Small meshes, as a smoke test", request->quick);
  command.flag("--gpu-only", "Leave out what runs on the CPU", request->gpu_only);
  command.option("-o,--output-folder", "FOLDER", "Write CSV, JSON and pictures there, or the page",
                 into(request->output_folder));
  command.option("--only", "NAMES", "Of 'papers': tables whose names begin so, as 000,003-table-4",
                 into(request->only));
  command.repeated("--with", "FILE",
                   "For 'papers': the papers.json of another machine, or this one's papers.partial.json",
                   append_to(request->with));
  command.flag("--no-run", "For 'papers': show the files of --with alone", request->no_run);
  command.option("--label", "TEXT", "For 'papers': what this machine is called on the page", into(request->label));
  command.option("--particles", "FOLDER", "For '002-table-1', '002-figure-9' and 'papers': particles that a GPU placed",
                 into(request->particles));
  command.option("--runs", "FILE", "Measured runs that 'scale' is fitted to, as CSV", into(request->runs));
  command.option("--machine", "COSTS", "Costs for 'scale': latency=1e-6,byte=1e-9,...", into(request->machine));
  declare_common(command, console);
  command.action([request, &console] { return run_bench(*request, console); });
}

}  // namespace isochron::cli
