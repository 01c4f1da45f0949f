#include "apps/isochron/tensors_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/json_text.h"
#include "apps/isochron/values.h"

namespace isochron::cli {
void print_summary(const TensorsSummary& summary, const Console& console) {
  const TensorFitCounts& counts = summary.counts;
  if (console.options.json) {
    const Json object{{"file", summary.file.string()},
                      {"shape", summary.shape},
                      {"volumes", summary.volumes},
                      {"volumes_left_out", summary.volumes_left_out},
                      {"b_values_scaled", summary.b_scaled},
                      {"fit", summary.fit},
                      {"voxels", counts.voxels},
                      {"fitted", counts.fitted},
                      {"empty", counts.empty},
                      {"failed", counts.failed},
                      {"missing_signals", counts.missing_signals},
                      {"not_positive_definite", counts.not_positive_definite},
                      {"median_fa", summary.median_fa},
                      {"median_diffusivity", summary.median_diffusivity},
                      {"written", file_names(summary.written)},
                      {"threads", console.threads()},
                      {"read_seconds", summary.read_seconds},
                      {"fit_seconds", summary.fit_seconds},
                      {"write_seconds", summary.write_seconds},
                      {"warnings", console.warnings()}};
    print_json(object, console);
    return;
  }
  console.say(fmt::format("{}: {} voxels, {}\n", summary.file.string(), fmt::join(summary.shape, " x "),
                          counted(summary.volumes, "volume", "volumes")));
  console.say(fmt::format("  tensors  {} of {} ({} without signal, {} not positive definite)\n", grouped(counts.fitted),
                          counted(counts.voxels, "voxel", "voxels"), grouped(counts.empty),
                          grouped(counts.not_positive_definite)));
  console.say(fmt::format("  median   anisotropy {:.3f}, mean diffusivity {:.3g}\n", summary.median_fa,
                          summary.median_diffusivity));
  console.say(fmt::format("  files    {}\n", fmt::join(file_names(summary.written), ", ")));
  console.say(fmt::format("  time     read {:.2f} s, fit {:.2f} s, write {:.2f} s\n", summary.read_seconds,
                          summary.fit_seconds, summary.write_seconds));
}

}  // namespace isochron::cli
