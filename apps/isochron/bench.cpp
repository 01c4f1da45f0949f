// isochron bench: the papers' tables.
#include <algorithm>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/report.h"
#include "bench/paper/registry.h"
#include "isochron/core/join_text.h"

namespace isochron::cli {
namespace {

struct BenchRequest {
  std::string name;
  bool list = false;
  bool quick = false;
  bool gpu_only = false;
  std::filesystem::path output_folder;
  std::filesystem::path runs;
  std::string machine;
};

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

int run_bench(const BenchRequest& request, const Console& console) {
  if (request.list) {
    print_benches(console);
    return 0;
  }
  if (request.name.empty())
    throw usage_error("no table given; choose one of: {}; see 'isochron bench --list'", bench_names());
  const PaperBench& bench = find_bench(request.name);
  if (!(request.runs.empty() && request.machine.empty()) && bench.name != "scale")
    throw usage_error("--runs and --machine do not go with {} (only the scale model has them); use them with 'scale'",
                      bench.name);
  std::error_code ignored;
  if (std::filesystem::exists(request.output_folder, ignored) && !std::filesystem::is_directory(request.output_folder))
    throw input_error("{}: is not a folder (CSV and JSON files go into one); choose another name",
                      request.output_folder.string());
  Activity activity(console, "running " + bench.name);
  BenchOptions options;
  options.threads = console.options.threads;
  options.size = request.quick ? BenchSize::quick : BenchSize::paper;
  if (request.gpu_only) options.columns = BenchColumns::gpu;
  options.output_folder = request.output_folder;
  options.runs = request.runs;
  options.machine = request.machine;
  if (console.options.json) options.output = BenchOutput::json;
  else if (console.options.quiet) options.output = BenchOutput::none;
  options.progress = activity.progress();
  return bench.run(options) ? 0 : exit_not_converged;
}

}  // namespace

void declare_bench(Command& root, Console& console) {
  Command command = root.subcommand("bench", "Rerun a paper's table and print it beside the paper's numbers",
                                    "isochron bench --list");
  const auto request = std::make_shared<BenchRequest>();
  command.positional("TABLE", "Which one", into(request->name), Need::optional);
  command.flag("--list", "Show the tables there are", request->list);
  command.flag("--quick", "Small meshes, as a smoke test", request->quick);
  command.flag("--gpu-only", "Leave out what runs on the CPU", request->gpu_only);
  command.option("-o,--output-folder", "FOLDER", "Write CSV and JSON files there", into(request->output_folder));
  command.option("--runs", "FILE", "Measured runs that 'scale' is fitted to, as CSV", into(request->runs));
  command.option("--machine", "COSTS", "Costs for 'scale': latency=1e-6,byte=1e-9,...", into(request->machine));
  declare_common(command, console);
  command.action([request, &console] { return run_bench(*request, console); });
}

}  // namespace isochron::cli
