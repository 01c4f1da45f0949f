#include "apps/isochron/bench_report.h"

#include <fmt/format.h>

#include "apps/isochron/json_text.h"
#include "bench/paper/registry.h"

namespace isochron::cli {

void print_benches(const Console& console) {
  if (console.options.json) {
    Json tables = Json::array();
    for (const PaperBench& bench : paper_benches()) tables.push_back({{"name", bench.name}, {"what", bench.what}});
    print_json({{"tables", std::move(tables)}}, console);
    return;
  }
  for (const PaperBench& bench : paper_benches()) console.print(fmt::format("{:<19}{}\n", bench.name, bench.what));
  if (paper_benches().empty()) console.print("this build has no benches\n");
}

}  // namespace isochron::cli
