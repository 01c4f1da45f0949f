#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/connectome.h"
#include "apps/isochron/tensor_report.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

Json json_of(const ConnectomeSummary& summary, const Console& console) {
  const Connectome& connectome = summary.connectome;
  Json object{{"tensors", summary.request.tensors.file.string()},
              {"shape", summary.input.grid.shape},
              {"mask_voxels", summary.input.metric.counts.usable},
              {"regions", connectome.size()},
              {"regions_outside_mask", summary.outside_mask},
              {"pairs", connectome.pairs()},
              {"unconnected_pairs", connectome.unconnected},
              {"unfinished_paths", connectome.unfinished},
              {"asymmetry", connectome.asymmetry},
              {"metric", metric_json(summary.request.tensors, summary.input)}};
  add_work_json(object, connectome.work, connectome.solves, summary.request.options);
  object["parcel_seconds"] = summary.parcel_seconds;
  object["connect_seconds"] = summary.connect_seconds;
  object["read_seconds"] = summary.input.read_seconds;
  object["write_seconds"] = summary.write_seconds;
  object["peak_bytes"] = peak_resident_bytes();
  object["notes"] = connectome.work.notes;
  object["warnings"] = console.warnings();
  object["written"] = file_names(summary.written);
  return object;
}

std::string text_of(const ConnectomeSummary& summary) {
  const Connectome& connectome = summary.connectome;
  std::string text = fmt::format("{}: {}, {}\n", summary.request.tensors.file.string(),
                                 counted(connectome.size(), "region", "regions"),
                                 counted(summary.input.metric.counts.usable, "voxel", "voxels"));
  const auto row = [&](const char* key, const std::string& value) { text += fmt::format("  {:<12}{}\n", key, value); };
  row("pairs", connectome.unconnected == 0
                   ? fmt::format("{}, all joined", grouped(connectome.pairs()))
                   : fmt::format("{}, {} not joined", grouped(connectome.pairs()), grouped(connectome.unconnected)));
  row("asymmetry", fmt::format("{:.2g} of the cost on average between the two directions", connectome.asymmetry));
  if (connectome.unfinished > 0)
    row("note", fmt::format("{} could not be traced to the end", counted(connectome.unfinished, "path", "paths")));
  row("time",
      fmt::format("read {:.2f} s, parcels {:.2f} s, connect {:.2f} s, write {:.2f} s", summary.input.read_seconds,
                  summary.parcel_seconds, summary.connect_seconds, summary.write_seconds));
  for (const std::string& note : connectome.work.notes) row("note", note);
  row("wrote", fmt::format("{}", fmt::join(file_names(summary.written), ", ")));
  return text;
}

}  // namespace

void print_summary(const ConnectomeSummary& summary, const Console& console) {
  if (console.options.json) print_json(json_of(summary, console), console);
  else console.say(text_of(summary));
}

}  // namespace isochron::cli
