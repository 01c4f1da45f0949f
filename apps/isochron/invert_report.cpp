// What comes out of `isochron invert`: tables, the summary and the exit code.
#include <algorithm>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/invert.h"
#include "apps/isochron/report.h"
#include "apps/isochron/solve_report.h"
#include "isochron/core/join_text.h"
#include "isochron/core/timer.h"
#include "isochron/invert/option_tables.h"

namespace isochron::cli {
namespace {

/// A source as it was found.
struct FoundSource {
  std::size_t shot, number;  ///< the number counts in the shot
  std::optional<VertexId> vertex;
  Vec3d place;
  double onset;
};

std::vector<FoundSource> found_sources(const InvertSummary& summary) {
  std::vector<FoundSource> result;
  const std::vector<Sources>& shots = summary.found.sources;
  for (std::size_t k = 0; k < shots.size(); ++k) {
    std::size_t number = 0;
    for (const VertexSource& source : shots[k].vertices)
      result.push_back({k, number++, source.vertex.in_whole(), summary.place_of(source.vertex), source.time});
    for (const PointSource& source : shots[k].points)
      result.push_back({k, number++, std::nullopt, source.position, source.time});
  }
  return result;
}

/// Velocities of a region as they were found; without fibres one, without sheets two.
struct FoundVelocities {
  std::int64_t region;
  std::vector<double> velocities;
};

std::vector<FoundVelocities> found_velocities(const InvertSummary& summary) {
  std::vector<FoundVelocities> result;
  if (!summary.request.looks_for(Unknown::region_velocities)) return result;
  const MetricRequest& metric = summary.request.problem.metric;
  const auto& fibers = std::get<FiberMetric>(summary.found.metric.kind());
  const std::size_t regions = metric.table.empty() ? 1 : metric.table.size();
  for (std::size_t i = 0; i < regions; ++i) {
    const Velocities& v = fibers.velocities[i];
    FoundVelocities& found = result.emplace_back();
    found.region = metric.table.empty() ? 0 : metric.table[i].region;
    if (metric.fiber_array.empty()) found.velocities = {v.sheet};
    else if (metric.sheet_array.empty()) found.velocities = {v.fiber, v.sheet};
    else found.velocities = {v.fiber, v.sheet, v.normal};
  }
  return result;
}

std::string sources_csv(const InvertSummary& summary) {
  std::string text = "shot,source,x,y,z,time\n";
  for (const FoundSource& source : found_sources(summary))
    text += fmt::format("{},{},{},{},{},{}\n", csv_field(summary.measured.shots[source.shot]), source.number,
                        source.place.x, source.place.y, source.place.z, source.onset);
  return text;
}

std::string velocities_text(const InvertSummary& summary) {
  std::string text;
  for (const FoundVelocities& found : found_velocities(summary))
    text += fmt::format("{}:{}\n", found.region, fmt::join(found.velocities, ","));
  return text;
}

std::string times_csv(const InvertSummary& summary) {
  const NamedMeasurements& named = summary.measured;
  const bool any_name = std::any_of(named.names.begin(), named.names.end(), [](const auto& names) {
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); });
  });
  std::string text = fmt::format("shot,{}x,y,z,measured,computed,weight\n", any_name ? "name," : "");
  for (std::size_t k = 0; k < named.shots.size(); ++k) {
    const std::vector<Pick>& picks = named.measured.shots[k].picks;
    for (std::size_t i = 0; i < picks.size(); ++i) {
      const Vec3d& p = named.measured.receivers[picks[i].receiver];
      text += csv_field(named.shots[k]) + ',';
      if (any_name) text += csv_field(named.names[k][i]) + ',';
      text +=
          fmt::format("{},{},{},{},{},{}\n", p.x, p.y, p.z, picks[i].time, summary.found.times[k][i], picks[i].weight);
    }
  }
  return text;
}

std::string curve_csv(const std::vector<InversionStep>& steps) {
  std::string text = "iteration,misfit,objective,step,products\n";
  for (const InversionStep& step : steps)
    text += fmt::format("{},{},{},{},{}\n", step.iteration, step.misfit, step.objective, step.step, step.products);
  return text;
}

void report_sources(Report& report, const InvertSummary& summary) {
  report.object()["sources"] = nullptr;
  if (!summary.request.has_source_unknowns()) return;
  constexpr std::size_t max_rows = 20;
  Json& list = report.object()["sources"] = Json::array();
  const std::vector<FoundSource> sources = found_sources(summary);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const FoundSource& source = sources[i];
    const std::string& shot = summary.measured.shots[source.shot];
    Json object{{"shot", shot}, {"source", source.number}};
    if (source.vertex) object["vertex"] = source.vertex->value;
    else object["point"] = json_of(source.place);
    object["onset"] = source.onset;
    list.push_back(std::move(object));
    if (i < max_rows)
      report.row("source", "{}{} at {:.6g},{:.6g},{:.6g}, onset {:.6g}", shot.empty() ? "" : "shot " + shot + ": ",
                 source.number, source.place.x, source.place.y, source.place.z, source.onset);
  }
  if (sources.size() > max_rows) report.row("", "and {} more", grouped(sources.size() - max_rows));
}

void report_velocities(Report& report, const InvertSummary& summary) {
  report.object()["velocities"] = nullptr;
  if (!summary.request.looks_for(Unknown::region_velocities)) return;
  Json& list = report.object()["velocities"] = Json::array();
  for (const auto& [region, velocities] : found_velocities(summary)) {
    list.push_back({{"region", region}, {"velocities", velocities}});
    report.row("velocity", "region {}: {:.6g}", region, fmt::join(velocities, ", "));
  }
}

}  // namespace

void write_inversion_tables(InvertSummary& summary, OutputFiles& files) {
  const InvertRequest& request = summary.request;
  const auto write = [&](const std::filesystem::path& file, const auto& text) {
    if (file.empty()) return;
    write_text(files.add(file), text());
    summary.written.push_back(file);
  };
  write(request.sources_output, [&] { return sources_csv(summary); });
  write(request.velocities_output, [&] { return velocities_text(summary); });
  write(request.times_output, [&] { return times_csv(summary); });
  write(request.curve, [&] { return curve_csv(summary.found.steps); });
}

void print_inversion(const InvertSummary& summary, const Console& console) {
  const Inversion& found = summary.found;
  const Measurements& measured = summary.measured.measured;
  const std::size_t times = summary.measured.time_count();
  std::vector<std::string> unknowns;
  for (const Unknown unknown : summary.request.options.unknowns) unknowns.emplace_back(choice_name(unknown));
  const InversionStep &first = found.steps.front(), &last = found.steps.back();
  Report report;
  report.title("mesh", summary.request.problem.mesh.string(),
               size_text(summary.vertices, summary.elements, summary.corners));
  report.add({{"vertices", summary.vertices},
              {"elements", summary.elements},
              {"element_kind", element_kind(summary.corners)},
              {"shots", measured.shots.size()},
              {"receivers", measured.receivers.size()},
              {"times", times},
              {"unknowns", unknowns},
              {"iterations", last.iteration},
              {"start_misfit", first.misfit},
              {"misfit", last.misfit},
              {"end", choice_name(found.end)}});
  if (summary.corners != voxel_corners) report.add({{"cut_cells", cli::json_of(summary.cut_cells)}});
  for (const CutCells& cut : summary.cut_cells) report.row("cut", "{}", cli::text_of(cut));
  report.row("measured", "{} at {} from {}", counted(times, "time", "times"),
             counted(measured.receivers.size(), "receiver", "receivers"),
             counted(measured.shots.size(), "shot", "shots"));
  report.row("unknown", "{}", join_text(unknowns, ", "));
  report.row("misfit", "{:.4g} after {} ({}), {:.4g} at the start", last.misfit,
             counted(static_cast<std::uint64_t>(last.iteration), "iteration", "iterations"), choice_name(found.end),
             first.misfit);
  report_sources(report, summary);
  report_velocities(report, summary);
  report.times({{"read", summary.read_seconds},
                {"invert", summary.invert_seconds},
                {"write", summary.write_seconds},
                {"total", program_seconds()}});
  report.notes(summary.notes);
  report.written(summary.written);
  report.print(console);
}

int judge(const InvertSummary& summary) {
  if (summary.found.end != InversionEnd::max_iterations) return 0;
  print_error(
      "{}: not converged (the misfit still fell after {}); what was found was written all the same: treat it with "
      "care, or allow more with --max-iterations",
      summary.request.problem.mesh.string(),
      counted(static_cast<std::uint64_t>(summary.found.steps.back().iteration), "iteration", "iterations"));
  return exit_not_converged;
}

}  // namespace isochron::cli
