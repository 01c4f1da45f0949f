#include "apps/isochron/generate_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/json_text.h"
#include "apps/isochron/values.h"

namespace isochron::cli {

void print_summary(const GenerateSummary& summary, const Dataset& dataset, const Console& console) {
  const std::size_t tets = dataset.tets.cells.size();
  const std::size_t triangles = dataset.triangles.cells.size();
  if (console.options.json) {
    const Json object{{"file", summary.file.string()},
                      {"kind", summary.kind},
                      {"vertices", dataset.points.size()},
                      {"triangles", triangles},
                      {"tetrahedra", tets},
                      {"arrays", summary.arrays},
                      {"generate_seconds", summary.generate_seconds},
                      {"write_seconds", summary.write_seconds},
                      {"warnings", console.warnings()}};
    print_json(object, console);
    return;
  }
  console.say(
      fmt::format("{}: {}, {}\n", summary.file.string(), counted(dataset.points.size(), "vertex", "vertices"),
                  tets > 0 ? counted(tets, "tetrahedron", "tetrahedra") : counted(triangles, "triangle", "triangles")));
  if (!summary.arrays.empty()) console.say(fmt::format("  arrays   {}\n", fmt::join(summary.arrays, ", ")));
  console.say(
      fmt::format("  time     generate {:.2f} s, write {:.2f} s\n", summary.generate_seconds, summary.write_seconds));
}

}  // namespace isochron::cli
