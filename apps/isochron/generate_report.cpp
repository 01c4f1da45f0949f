#include "apps/isochron/generate_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/json_text.h"
#include "apps/isochron/values.h"

namespace isochron::cli {
namespace {

void say_times(double generate, double write, const Console& console) {
  console.say(fmt::format("  time     generate {:.2f} s, write {:.2f} s\n", generate, write));
}

}  // namespace

void print_summary(const ImageSummary& summary, const Console& console) {
  const std::string file = summary.written.front().string();
  if (console.options.json) {
    const Json object{{"file", file},
                      {"kind", summary.kind},
                      {"shape", summary.shape},
                      {"arrays", summary.arrays},
                      {"written", file_names(summary.written)},
                      {"generate_seconds", summary.generate_seconds},
                      {"write_seconds", summary.write_seconds},
                      {"warnings", console.warnings()}};
    print_json(object, console);
    return;
  }
  console.say(fmt::format("{}: {} voxels\n", file, fmt::join(summary.shape, " x ")));
  console.say(fmt::format("  arrays   {}\n", fmt::join(summary.arrays, ", ")));
  if (summary.written.size() > 1)
    console.say(fmt::format("  files    {}\n", fmt::join(file_names(summary.written), ", ")));
  say_times(summary.generate_seconds, summary.write_seconds, console);
}

void print_summary(const GenerateSummary& summary, const Console& console) {
  const std::uint64_t tets = summary.tetrahedra, triangles = summary.triangles;
  if (console.options.json) {
    const Json object{{"file", summary.file.string()},
                      {"kind", summary.kind},
                      {"vertices", summary.vertices},
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
      fmt::format("{}: {}, {}\n", summary.file.string(), counted(summary.vertices, "vertex", "vertices"),
                  tets > 0 ? counted(tets, "tetrahedron", "tetrahedra") : counted(triangles, "triangle", "triangles")));
  if (!summary.arrays.empty()) console.say(fmt::format("  arrays   {}\n", fmt::join(summary.arrays, ", ")));
  say_times(summary.generate_seconds, summary.write_seconds, console);
}

}  // namespace isochron::cli
