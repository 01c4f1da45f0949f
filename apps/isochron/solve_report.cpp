// What comes out of `isochron solve`: arrays, warnings, the picture, the report and the exit code.
#include "apps/isochron/solve_report.h"

#include <algorithm>
#include <cmath>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/report.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/core/join_text.h"
#include "isochron/core/timer.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/io/vertex_values.h"

namespace isochron::cli {
namespace {

DataArray upwind_vertices(const std::vector<Upwind>& upwind) {
  std::vector<std::int32_t> values;
  values.reserve(3 * upwind.size());
  for (const Upwind& from : upwind)
    for (const VertexId v : from.vertices) values.push_back(v.valid() ? static_cast<std::int32_t>(v.value) : -1);
  return {"upwind_vertices", 3, std::move(values)};
}

DataArray upwind_weights(const std::vector<Upwind>& upwind) {
  std::vector<float> values;
  values.reserve(3 * upwind.size());
  for (const Upwind& from : upwind) values.insert(values.end(), from.weights.begin(), from.weights.end());
  return {"upwind_weights", 3, std::move(values)};
}

Json json_of(const SourceSummary& source) {
  Json object;
  if (source.vertex) object["vertex"] = source.vertex->value;
  else object["point"] = cli::json_of(source.point);
  const Arrival& arrival = source.arrival;
  object.update({{"onset", source.onset},
                 {"reached", arrival.reached},
                 {"unreached", arrival.unreached},
                 {"max_time", arrival.max_time},
                 {"solve_seconds", arrival.solve_seconds},
                 {"converged", arrival.converged},
                 {"residual", residual_of(arrival)}});
  return object;
}

Traffic traffic_of(const SolveSummary& summary) { return summary.arrival.traffic.value_or(Traffic()); }

std::string_view split_name(const SolveSummary& summary) {
  if (traffic_of(summary).division == Division::sources) return "sources";
  return summary.corners == voxel_corners ? "image" : "mesh";
}

std::string text_of_ranks(const SolveSummary& summary) {
  const Traffic traffic = traffic_of(summary);
  if (traffic.division == Division::sources)
    return fmt::format("{}, the sources shared out between them", summary.ranks);
  const bool teams = traffic.parts < summary.ranks;
  std::string ranks = teams ? fmt::format("{} in {}", summary.ranks, counted(traffic.parts, "team", "teams"))
                            : std::to_string(summary.ranks);
  if (traffic.parts == 1) return ranks;
  return fmt::format(
      "{}, the {} shared out between them, {}, {:.1f} MB sent ({:.2f} times the least), idle for {:.2f} s", ranks,
      split_name(summary), counted(traffic.bands, "band", "bands"), static_cast<double>(traffic.bytes) / 1e6,
      traffic.bytes == 0 ? 1.0 : static_cast<double>(traffic.bytes) / static_cast<double>(traffic.halo_bytes),
      traffic.idle_seconds);
}

Json mpi_json(const SolveSummary& summary) {
  const Traffic traffic = traffic_of(summary);
  Json object{
      {"ranks", summary.ranks},       {"parts", traffic.parts},           {"split", split_name(summary)},
      {"messages", traffic.messages}, {"bytes", traffic.bytes},           {"least_bytes", traffic.halo_bytes},
      {"bands", traffic.bands},       {"agreements", traffic.agreements}, {"idle_seconds", traffic.idle_seconds}};
  if (summary.max_vertices > 0)
    object.update({{"most_vertices", summary.max_vertices}, {"most_peak_bytes", summary.max_bytes}});
  return object;
}

std::string text_of(const DiffusionCounts& counts, double floor) {
  std::string text = fmt::format("{} used", grouped(counts.usable));
  if (counts.left_out() > 0)
    text += fmt::format(", {} left out ({} zero, {} not finite)", grouped(counts.left_out()), grouped(counts.empty),
                        grouped(counts.not_finite));
  if (counts.not_positive_definite > 0)
    text += fmt::format("; {} not positive definite: eigenvalues raised to {:g} of the median",
                        grouped(counts.not_positive_definite), floor);
  return text;
}

std::string points_of(int corners, std::size_t count) {
  return corners == voxel_corners ? counted(count, "voxel", "voxels") : counted(count, "vertex", "vertices");
}

/// "ball around 3 of 5 sources".
std::string text_of_start(const Arrival& arrival) {
  std::string name(name_of(*arrival.source_init));
  if (arrival.source_init != SourceInit::ball || arrival.point_sources == 0) return name;
  if (arrival.source_balls == 0) return name + (arrival.point_sources == 1 ? " without effect" : " around no source");
  if (arrival.source_balls == arrival.point_sources)
    return name + (arrival.point_sources == 1 ? " around the source" : " around all sources");
  return fmt::format("{} around {} of {} sources", name, grouped(arrival.source_balls), grouped(arrival.point_sources));
}

/// How it was solved.
void report_method(Report& report, const SolveSummary& summary) {
  const Arrival& arrival = summary.arrival;
  report.add({{"method", name_of(arrival.method)},
              {"backend", name_of(arrival.backend)},
              {"threads", arrival.threads},
              {"precision", name_of(arrival.precision)},
              {"source_init", arrival.source_init ? Json(name_of(*arrival.source_init)) : Json(nullptr)},
              {"point_sources", arrival.point_sources},
              {"source_balls", arrival.source_balls}});
  report.row("method", "{}, {}, {} precision", name_of(arrival.method), counted(arrival.threads, "thread", "threads"),
             name_of(arrival.precision));
  if (arrival.source_init) report.row("start", "{}", text_of_start(arrival));
  if (summary.ranks > 0) {
    report.object()["mpi"] = mpi_json(summary);
    report.row("ranks", "{}", text_of_ranks(summary));
  }
  if (!summary.sources.empty()) {
    Json& sources = report.object()["sources"] = Json::array();
    for (const SourceSummary& source : summary.sources) sources.push_back(json_of(source));
    report.row("sources", "{}, each on its own", grouped(summary.sources.size()));
  }
  if (summary.corners != voxel_corners) return;
  const SolveOptions& options = summary.request.options;
  report.add({{"scheme", scheme_name(options)}, {"order", options.order}, {"tensors", nullptr}});
  if (!summary.tensors) return;
  report.object()["tensors"] = cli::json_of(*summary.tensors, summary.request.metric.eigenvalue_floor);
  report.row("tensors", "{}", text_of(*summary.tensors, summary.request.metric.eigenvalue_floor));
}

/// What came out of it, and whether it can be trusted.
void report_result(Report& report, const SolveSummary& summary) {
  const Arrival& arrival = summary.arrival;
  const bool image = summary.corners == voxel_corners;
  report.add({{"solves_per_vertex", summary.solves_per_vertex},
              {"rounds", arrival.counters.rounds},
              {"reached", arrival.reached},
              {"unreached", arrival.unreached},
              {"unreached_parts", summary.unreached.parts},
              {"unreached_in_parts", summary.unreached.in_parts},
              {"unreached_in_no_element", summary.unreached.no_element},
              {"not_conducting", arrival.not_conducting},
              {"max_time", arrival.max_time},
              {"converged", arrival.converged},
              {"residual", residual_of(arrival)},
              {"residual_limit", arrival.residual ? Json(arrival.residual->limit) : Json(nullptr)},
              {"too_early", arrival.residual ? Json(arrival.residual->share_below) : Json(nullptr)}});
  report.row("reached", "{}",
             arrival.unreached == 0 ? (image ? "all voxels" : "all vertices")
                                    : fmt::format("{}; {} unreached", points_of(summary.corners, arrival.reached),
                                                  counted(arrival.unreached, "stays", "stay")));
  if (arrival.not_conducting > 0)
    report.row("left out", "{} that {} not conduct",
               image ? counted(arrival.not_conducting, "voxel", "voxels")
                     : counted(arrival.not_conducting, "element", "elements"),
               arrival.not_conducting == 1 ? "does" : "do");
  if (arrival.reached > 0) report.row("last time", "{:.6g}", arrival.max_time);
  report.row("work", "{:.1f} local solves a {}, {}", summary.solves_per_vertex, image ? "voxel" : "vertex",
             counted(arrival.counters.rounds, "round", "rounds"));
  if (arrival.residual)
    report.row("residual", "{:.2g} of an edge, limit {:.2g}: {}", arrival.residual->worst, arrival.residual->limit,
               arrival.residual->passed() ? "passed" : "FAILED");
  else if (!arrival.converged) report.row("converged", "NO");
}

/// What to try when a run did not converge: what was not used already.
std::string better_options(const SolveSummary& summary) {
  if (summary.corners == voxel_corners) return better_grid_options(summary.arrival, summary.request.options.scheme);
  std::vector<std::string> options;
  if (summary.arrival.precision == Precision::single_) options.emplace_back("--precision double");
  if (summary.arrival.method != Method::banded) options.emplace_back("--method banded");
  if (options.empty()) return "check the mesh with 'isochron info'";
  return fmt::format("try {}", join_text(options, " or "));
}

}  // namespace

std::string size_text(std::size_t vertices, std::size_t elements, int corners) {
  const std::string all = corners == voxel_corners ? fmt::format("{} in the mask", grouped(elements))
                          : corners == 4           ? counted(elements, "tetrahedron", "tetrahedra")
                                                   : counted(elements, "triangle", "triangles");
  return points_of(corners, vertices) + ", " + all;
}

const char* element_kind(int corners) { return corners == voxel_corners ? "voxel" : corners == 4 ? "tet" : "triangle"; }

DataArray times_array(std::string name, Arrival& arrival) {
  std::vector<double> times = std::exchange(arrival.times, {});
  if (arrival.precision != Precision::single_) return {std::move(name), 1, std::move(times)};
  return {std::move(name), 1, std::vector<float>(times.begin(), times.end())};
}

void add_result(Arrival& arrival, DataArrays& data) {
  std::vector<std::uint8_t> reached(arrival.times.size());
  for (std::size_t v = 0; v < reached.size(); ++v) reached[v] = std::isfinite(arrival.times[v]) ? 1 : 0;
  data.set(times_array("arrival_time", arrival));
  data.set({"source", 1, std::move(arrival.source)});
  data.set({"reached", 1, std::move(reached)});
  if (!arrival.upwind.empty()) {
    data.set(upwind_vertices(arrival.upwind));
    data.set(upwind_weights(arrival.upwind));
    arrival.upwind = {};
  }
}

bool made_by_solve(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"arrival_time", "source", "reached", "upwind_vertices",
                                                  "upwind_weights"};
  constexpr std::string_view of_one_source = "arrival_time_";
  if (name.starts_with(of_one_source)) {
    const std::string_view number = name.substr(of_one_source.size());
    return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  }
  return std::find(names.begin(), names.end(), name) != names.end();
}

void write_vertex_results(const SolveRequest& request, const DataArrays& data, const PositionOf& position_of,
                          OutputFiles& files) {
  const OutputFile file = files.add(request.output);
  if (!is_table_file(request.output)) return write_vertex_values(file, data.require("arrival_time", "points"));
  std::vector<const DataArray*> columns;
  for (const DataArray& array : data.all())
    if (made_by_solve(array.name) && array.name != "reached" && array.components == 1) columns.push_back(&array);
  write_vertex_table(file, position_of, columns);
}

void drop_results(DataArrays& data) {
  std::erase_if(data.all(), [](const DataArray& array) { return made_by_solve(array.name); });
}

void warn_unreached(const SolveSummary& summary, const Arrival& arrival, Console& console) {
  const std::size_t count = arrival.unreached;
  const auto& [parts, in_parts, no_element] = summary.unreached;
  std::vector<std::string> why;
  if (in_parts > 0)
    why.push_back(fmt::format("{} in {} without a source", grouped(in_parts), counted(parts, "part", "parts")));
  if (no_element > 0)
    why.push_back(
        fmt::format("{} in no element{}", grouped(no_element), arrival.not_conducting > 0 ? " that conducts" : ""));
  const std::size_t rest = count - in_parts - no_element;
  if (rest > 0) why.push_back(fmt::format("{} too far for any number", grouped(rest)));
  console.warn("{}: {} unreached ({}){}", summary.request.mesh.string(),
               counted(count, "vertex stays", "vertices stay"), join_text(why, ", "),
               in_parts > 0 ? "; give each part a source, or join the parts" : "");
}

void warn_unreached_voxels(const SolveSummary& summary, Console& console) {
  const auto& [parts, in_parts, masked] = summary.unreached;
  if (in_parts > 0)
    console.warn("{}: {} unreached ({} without a source); give each part a source, or widen the mask",
                 summary.request.mesh.string(), counted(in_parts, "voxel stays", "voxels stay"),
                 counted(parts, "part", "parts"));
}

void note_unused_fibers(const MetricRequest& metric, std::vector<std::string>& notes) {
  if (metric.fiber_array.empty()) return;
  std::vector<double> regions;
  for (const RegionVelocities& row : metric.table) {
    const Velocities& v = row.velocities;
    if (v.fiber == v.sheet && (metric.sheet_array.empty() || v.normal == v.sheet))
      regions.push_back(static_cast<double>(row.region));
  }
  if (regions.empty()) return;
  notes.push_back(fmt::format("the fibres have no effect in {} {} (one velocity for all directions)",
                              regions.size() == 1 ? "region" : "regions", region_list(regions)));
}

std::string better_grid_options(const Arrival& arrival, GridScheme scheme) {
  std::vector<std::string> options;
  if (arrival.precision == Precision::single_) options.emplace_back("--precision double");
  if (scheme != GridScheme::adaptive && scheme != GridScheme::automatic) options.emplace_back("--scheme adaptive");
  if (options.empty()) return "check the image with 'isochron info'";
  return fmt::format("try {}", join_text(options, " or "));
}

template <int Corners>
void warn_left_out(const SolveRequest& request, std::size_t other_cells, std::size_t lines, Console& console) {
  if (other_cells > 0)
    console.warn("{}: {} are not solved on and left out of the output; --elements {} picks them", request.mesh.string(),
                 Corners == 4 ? counted(other_cells, "triangle", "triangles")
                              : counted(other_cells, "tetrahedron", "tetrahedra"),
                 Corners == 4 ? "triangle" : "tet");
  if (lines > 0)
    console.warn("{}: {} left out of the solve (lines do not conduct)", request.mesh.string(),
                 counted(lines, "line is", "lines are"));
}
template void warn_left_out<3>(const SolveRequest&, std::size_t, std::size_t, Console&);
template void warn_left_out<4>(const SolveRequest&, std::size_t, std::size_t, Console&);

void check_picture([[maybe_unused]] const PictureRequest& picture, [[maybe_unused]] Overwrite overwrite) {
#if defined(ISOCHRON_WITH_VTK)
  if (const FileName name(picture.file); name.extension != ".png" || name.gzip)
    throw UsageError(picture.file.string() +
                     ": is no name of a picture (they are PNG files); give one that ends in .png");
  check_picture_options(picture.options);
  check_output_file(picture.file, overwrite);
#else
  throw RuntimeError("--picture needs VTK (this build has none); rebuild with -DISOCHRON_WITH_VTK=ON");
#endif
}

std::optional<RuntimeError> draw_result(const SolveRequest& request, const Dataset& dataset, SolveSummary& summary,
                                        const Console& console) {
  if (request.picture.file.empty()) return std::nullopt;
  const Activity activity(console, "drawing " + request.picture.file.string());
  try {
#if defined(ISOCHRON_WITH_VTK)
    PictureOptions options = request.picture.options;
    options.overwrite = request.overwrite;
    draw_picture(request.picture.file, dataset, options, interruptible());
#else
    static_cast<void>(dataset);
#endif
  } catch (const RuntimeError& error) {
    return error;
  }
  summary.written.push_back(request.picture.file);
  return std::nullopt;
}

void warn_rounded_times(const SolveRequest& request, const Sources& sources, const Arrival& arrival, Console& console) {
  if (arrival.precision != Precision::single_ || !request.to_mesh()) return;
  double first = sources.level_set.empty() ? arrival.max_time : 0;
  for (const VertexSource& source : sources.vertices) first = std::min(first, source.time);
  for (const PointSource& source : sources.points) first = std::min(first, source.time);
  constexpr double half_epsilon = std::numeric_limits<float>::epsilon() / 2, share = 1e-4;
  const double rounding = half_epsilon * std::max(std::abs(first), std::abs(arrival.max_time));
  if (rounding > share * (arrival.max_time - first))
    console.warn(
        "{}: the times are rounded to about {:.1g} (32-bit numbers, and onsets much later or earlier than 0); use "
        "--precision double",
        request.output.string(), rounding);
}

void warn_outside(const ProbeRequest& probe, const std::vector<ProbeTime>& probed, const std::string& what,
                  Console& console) {
  const auto outside = static_cast<std::size_t>(
      std::count_if(probed.begin(), probed.end(), [](const ProbeTime& one) { return !one.time; }));
  if (outside == 0) return;
  console.warn("{}: {} of {} outside {} and without a time; allow more with --probe-tolerance", probe.points.string(),
               grouped(outside), counted(probed.size(), "point is", outside == 1 ? "points is" : "points are"), what);
}

void write_probes(const OutputFile& file, const NamedPoints& points, const std::vector<ProbeTime>& times) {
  ByteWriter sink(file);
  const bool named = !points.names.empty();
  sink.print("{}x,y,z,time,distance\n", named ? "name," : "");
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Vec3d& p = points.points[i];
    if (named) sink.print("{},", csv_field(points.names[i]));
    sink.print("{},{},{},{},{}\n", p.x, p.y, p.z, times[i].time ? fmt::format("{}", *times[i].time) : "",
               times[i].distance);
  }
  sink.finish();
}

int judge(const SolveSummary& summary) {
  const Arrival& arrival = summary.arrival;
  const std::string mesh = summary.request.mesh.string();
  if (arrival.reached == 0) {  // a source reaches itself, unless travel times are infinite even there
    print_error(
        "{}: nothing was reached (travel times are too large for any number); check the units of coordinates and "
        "speeds",
        mesh);
    return exit_code(ErrorKind::no_answer);
  }
  const bool failed = arrival.residual && !arrival.residual->passed();
  if (arrival.converged && !failed) return 0;
  const std::string_view noun = summary.corners == voxel_corners ? "voxel" : "vertex";
  std::string why = "updates were still above the tolerance";
  if (failed && !arrival.residual->settled())
    why = fmt::format("residual {:.2g} at {} {} exceeds {:.2g} of an edge", arrival.residual->worst, noun,
                      arrival.residual->worst_vertex.value, arrival.residual->limit);
  else if (failed)
    why = fmt::format("the time at {} {} is {:.2g} % less than the largest speed takes along a straight line", noun,
                      arrival.residual->vertex_below.value, 100 * arrival.residual->share_below);
  print_error("{}: not converged ({}); the output was written all the same: treat it with care, and {}", mesh, why,
              better_options(summary));
  return exit_not_converged;
}

void print_summary(const SolveSummary& summary, const Console& console) {
  const Arrival& arrival = summary.arrival;
  const bool image = summary.corners == voxel_corners;
  const auto bytes = peak_resident_bytes();
  Report report;
  report.title("mesh", summary.request.mesh.string(), size_text(summary.vertices, summary.elements, summary.corners));
  report.add({{"vertices", summary.vertices},
              {"elements", summary.elements},
              {"element_kind", element_kind(summary.corners)},
              {"transfer_seconds", arrival.transfer_seconds},
              {"peak_bytes", bytes}});
  if (!image) report.add({{"cut_cells", cli::json_of(summary.cut_cells)}});
  for (const CutCells& cut : summary.cut_cells) report.row("cut", "{}", cli::text_of(cut));
  report_method(report, summary);
  report_result(report, summary);
  report.times({{"read", summary.read_seconds},
                {"setup", arrival.setup_seconds, "set-up"},
                {"solve", arrival.solve_seconds},
                {"write", summary.write_seconds},
                {"total", program_seconds()}});
  report.row("memory", "{:.0f} MB at most", static_cast<double>(bytes) / 1e6);
  report.notes(arrival.notes);
  report.written(summary.written);
  report.print(console);
}

}  // namespace isochron::cli
