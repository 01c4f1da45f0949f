// isochron path: rays and geodesics back to the source, through a solved mesh or image.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/problem.h"
#include "apps/isochron/report.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/tensor_input.h"
#include "apps/isochron/wording.h"
#include "isochron/core/join_text.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/path.h"

namespace isochron::cli {
namespace {

struct PathRequest {
  SolveRequest problem;  ///< the file with the times, its mesh, sources and metric
  std::string time_array = "arrival_time";
  std::vector<std::vector<IdRange>> ids;
  std::vector<Vec3d> points;
  std::vector<std::filesystem::path> files;
  std::optional<double> tolerance;  ///< of points, in the file's unit; default 1 % of the mesh's diagonal
  std::filesystem::path image;      ///< that was solved, where the file with the times has nothing but them
  bool raw = false;                 ///< characteristics as they are traced
  std::filesystem::path output;
  Overwrite overwrite = Overwrite::no;
};

/// Where a path is wanted to.
struct PathTarget {
  std::optional<VertexId> vertex;  ///< or a point
  Vec3d point{};
  std::string name{};           ///< from a file of named points
  const char* kind = "vertex";  ///< or "voxel"
};

/// One target and what came of it.
struct TracedTarget {
  PathTarget target;
  Path path;          ///< empty where there is none
  std::string why{};  ///< then the reason
};

struct PathSummary {
  std::filesystem::path input;
  std::filesystem::path written;
  std::vector<TracedTarget> targets;
  bool guessed_sources = false;
  ImageGrid grid{};  ///< where the paths are in an image

  /// How many targets have a path.
  [[nodiscard]] std::size_t traced() const {
    const auto has_path = [](const TracedTarget& traced) { return traced.why.empty(); };
    return static_cast<std::size_t>(std::count_if(targets.begin(), targets.end(), has_path));
  }
};

/// "vertex 5", "point 1,2,3", with the name where there is one.
std::string describe(const PathTarget& target) {
  const std::string place = target.vertex
                                ? fmt::format("{} {}", target.kind, target.vertex->value)
                                : fmt::format("point {:g},{:g},{:g}", target.point.x, target.point.y, target.point.z);
  return target.name.empty() ? place : fmt::format("{} ({})", target.name, place);
}

// ---- files

bool is_table(const std::filesystem::path& file) { return FileName(file).extension == ".csv"; }

/// One line a path. A path that is one point, because it starts at the source, has it twice: a line has two ends.
Dataset as_lines(const std::vector<TracedTarget>& targets) {
  Dataset dataset;
  std::vector<double> times, lengths, travel_times;
  std::vector<std::int32_t> numbers, vertices, sources;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& [target, path, why] = targets[i];
    if (!why.empty()) continue;
    auto& line = dataset.lines.emplace_back();
    const std::size_t count = std::max<std::size_t>(path.points.size(), 2);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t from = std::min(k, path.points.size() - 1);
      line.emplace_back(dataset.points.size());
      dataset.points.push_back(path.points[from]);
      times.push_back(path.times[from]);
    }
    numbers.push_back(static_cast<std::int32_t>(i));
    vertices.push_back(target.vertex ? static_cast<std::int32_t>(target.vertex->value) : -1);
    sources.push_back(path.source);
    lengths.push_back(path.length);
    travel_times.push_back(path.travel_time);
  }
  dataset.point_data.set({"arrival_time", 1, std::move(times)});
  dataset.line_data.set({"path", 1, std::move(numbers)});
  dataset.line_data.set({"vertex", 1, std::move(vertices)});
  dataset.line_data.set({"source", 1, std::move(sources)});
  dataset.line_data.set({"length", 1, std::move(lengths)});
  dataset.line_data.set({"travel_time", 1, std::move(travel_times)});
  return dataset;
}

void write_table(const OutputFile& file, const std::vector<TracedTarget>& targets) {
  ByteWriter sink(file);
  sink.print("path,x,y,z,time\n");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Path& path = targets[i].path;
    for (std::size_t k = 0; k < path.points.size(); ++k) {
      const Vec3d& p = path.points[k];
      sink.print("{},{},{},{},{}\n", i, p.x, p.y, p.z, path.times[k]);
    }
  }
  sink.finish();
}

void check_path_output(const PathRequest& request) {
  const bool tracks = is_trackvis_file(request.output);
  if (tracks && !request.problem.on_image())
    throw usage_error("{}: TrackVis files lie on the voxels of an image ({} is a mesh); use .tck or .vtp",
                      request.output.string(), request.problem.mesh.string());
  if (tracks || is_table(request.output)) return check_output_file(request.output, request.overwrite);
  if (const FileName name(request.output); !is_mesh_file(request.output) && !name.gzip)
    throw usage_error("{}: unknown extension '{}' (it tells the format); use one of {} .trk .csv",
                      request.output.string(), name.extension, join_text(written_extensions(WrittenCells::lines), " "));
  check_writable(request.output, request.overwrite);
  Dataset sample;
  sample.points = {{}, {}};
  sample.lines = {{VertexId(0), VertexId(1)}};
  check_holds(request.output, sample);
}

void write_paths(const PathRequest& request, const PathSummary& summary) {
  const InterruptGuard guard;
  OutputFiles files(request.overwrite);
  if (is_table(request.output)) write_table(files.add(request.output), summary.targets);
  else write_lines(request.output, as_lines(summary.targets), summary.grid, files);
  files.commit();
}

void check_request(const PathRequest& request) {
  if (request.ids.empty() && request.points.empty() && request.files.empty())
    throw UsageError("no target (nothing to trace from); give --to, --to-point or --to-file");
  check_path_output(request);
  Paths inputs = request.files;
  inputs.insert(inputs.end(), request.problem.sources.files.begin(), request.problem.sources.files.end());
  for (const auto& file : {request.problem.mesh, request.problem.mask.file, request.image})
    if (!file.empty()) inputs.push_back(file);
  check_not_among(request.output, inputs, "is an input too (it would be replaced)");
}

/// Of options that do nothing beside the others.
void check_options(const PathRequest& request, Console& console) {
  Paths images{request.problem.mesh};
  if (!request.image.empty()) images.push_back(request.image);
  check_raw(images, request.problem.raw, console);
  warn_unused_tensor_layout(request.problem, console);
}

std::vector<PathTarget> read_targets(const std::filesystem::path& file) {
  std::vector<PathTarget> targets;
  if (FileName(file).extension == ".vtx") {
    for (const VertexId v : read_vtx(file)) targets.push_back({.vertex = v});
    return targets;
  }
  const NamedPoints rows = read_points(file);
  for (std::size_t i = 0; i < rows.points.size(); ++i)
    targets.push_back(
        {.vertex = {}, .point = rows.points[i], .name = rows.names.empty() ? std::string() : rows.names[i]});
  return targets;
}

/// Everything asked for, by id or elsewhere.
std::vector<TracedTarget> gather_targets(const PathRequest& request, const IdSpace& ids) {
  std::vector<TracedTarget> targets;
  const auto add = [&](PathTarget target) {
    if (target.vertex) ids.check("target", target.vertex->index());
    target.kind = ids.one;
    targets.push_back({.target = std::move(target), .path = {}});
  };
  for (const auto& ranges : request.ids)
    for (const IdRange& range : ranges) {
      ids.check("target", range.last);
      for (std::size_t v = range.first; v <= range.last; ++v) add({.vertex = VertexId(v)});
    }
  for (const Vec3d& point : request.points) add({.vertex = {}, .point = point});
  for (const auto& file : request.files)
    for (PathTarget& target : read_targets(file)) add(std::move(target));
  return targets;
}

/// The times in the array asked for, null where there is none. Throws InputError.
std::vector<double> read_times(const PathRequest& request, const DataArray* array) {
  if (array == nullptr)
    throw input_error(
        "there is no point array '{}' (no times to trace on); run 'isochron solve' first, or name the array with "
        "--time-array",
        request.time_array);
  if (array->components != 1)
    throw input_error("array '{}' has {} components (a time is one number); choose another with --time-array",
                      array->name, array->components);
  std::vector<double> times(array->tuple_count());
  for (std::size_t v = 0; v < times.size(); ++v) times[v] = array->at(v);
  return times;
}

/// By the array of sources that the solve left, or else by the times.
Sources guess_sources(const auto& domain, const DataArrays& data, const std::vector<double>& times,
                      std::string_view one) {
  const DataArray* label = data.find("source");
  Sources sources =
      label != nullptr && label->components == 1 ? sources_by_label(*label, times) : sources_at_minima(domain, times);
  if (sources.empty())
    throw NoAnswerError(
        fmt::format("nothing was reached (no {} has a time), so there is no path; solve with other sources", one));
  return sources;
}

// ---- tracing

/// What to do where paths and times do not go together: mostly the metric was forgotten.
std::string metric_advice(const PathRequest& request) {
  const MetricRequest& metric = request.problem.metric;
  const bool given = metric.speed || metric.velocities || !metric.table.empty() || !metric.speed_array.empty() ||
                     !metric.metric_array.empty() || !metric.velocity_tensor_array.empty();
  if (given) return "give the options that the times were solved with";
  return fmt::format(
      "no speed was given, so it is 1 everywhere: give the options that the times were solved with (--speed, "
      "--speed-array, --metric-array, --velocity-tensor-array or --fibers and --velocity{})",
      request.problem.on_image() ? ", and the image that has the array with --image" : "");
}

void trace_one(const PathRequest& request, const std::function<Path(const PathTarget&)>& trace, TracedTarget& traced) {
  try {
    Path path = trace(traced.target);
    if (path.end == PathEnd::source) traced.path = std::move(path);
    else
      traced.why =
          fmt::format("there is no path from {}: {}; {}", describe(traced.target), path.why, metric_advice(request));
  } catch (const NoAnswerError& error) {
    traced.why = to_text(error, command_wording());
  }
}

/// When the front came, after its onset.
double front_time(const Path& path) { return path.times.front() - path.times.back(); }

void warn_of_another_metric(const PathRequest& request, const TracedTarget& traced, Console& console) {
  console.warn("{}: the path takes {:.6g} by the metric, but the front took {:.6g}; {}", describe(traced.target),
               traced.path.travel_time, front_time(traced.path), metric_advice(request));
}

/// Whether a path's travel time differs from that of the front by more than a share.
bool far_off(const Path& path, double share) {
  return path.points.size() > 1 && std::abs(path.travel_time / front_time(path) - 1) > share;
}

/// Traces all targets; notes why where there is no path, and warns of suspicious paths, which were probably traced with
/// another metric than they were solved with.
void trace_all(const PathRequest& request, PathSummary& summary, const std::function<bool(const Path&)>& suspicious,
               const std::function<Path(const PathTarget&)>& trace, Console& console) {
  Activity activity(console, "tracing");
  const InterruptGuard guard;
  parallel_in_order<TracedTarget>(
      console.threads(), summary.targets.size(),
      [&](std::size_t i, const std::atomic<bool>&) {
        check_interrupted();
        TracedTarget traced = summary.targets[i];
        trace_one(request, trace, traced);
        return traced;
      },
      [&](std::size_t i, TracedTarget&& traced) {
        summary.targets[i] = std::move(traced);
        if (suspicious(summary.targets[i].path)) warn_of_another_metric(request, summary.targets[i], console);
      });
}

template <int Corners>
void trace_targets(const PathRequest& request, Dataset&& dataset, const SideInputs& inputs, PathSummary& summary,
                   Console& console) {
  const std::vector<double> times = read_times(request, dataset.point_data.find(request.time_array));
  summary.targets = gather_targets(request, {dataset.points.size(), "mesh", "vertex", "vertices"});
  summary.guessed_sources = request.problem.sources.empty();
  Sources sources;
  if (!summary.guessed_sources) sources = gather_sources<Corners>(request.problem, inputs, dataset, console);
  const SimplexMesh<Corners> mesh = take_mesh<Corners>(dataset);
  if (summary.guessed_sources) sources = guess_sources(mesh, dataset.point_data, times, "vertex");
  Metric metric = metric_from_dataset<Corners>(mesh, dataset, mesh_metric(request.problem));
  if (request.problem.unit) metric.change_unit(*request.problem.unit);
  const double tolerance = request.tolerance.value_or(default_reach(box_of(mesh.points)));
  const PathTracer<Corners> tracer({mesh, metric}, times, sources, {request.raw ? Shorten::no : Shorten::yes});
  trace_all(
      request, summary, [](const Path& path) { return far_off(path, 0.1); },
      [&](const PathTarget& target) {
        return target.vertex ? tracer.from(*target.vertex) : tracer.from(target.point, tolerance);
      },
      console);
}

void trace_mesh(const PathRequest& request, const SideInputs& inputs, PathSummary& summary, Console& console) {
  refuse_on_mesh(!request.image.empty(), "--image");
  refuse_on_mesh(!request.problem.mask.file.empty(), "--mask");
  refuse_on_mesh(request.problem.tensors.frame.has_value(), "--tensor-frame");
  refuse_on_mesh(request.problem.floor_given(), "--eigenvalue-floor");
  Dataset dataset = read_mesh(request.problem, console);
  about_file(request.problem.mesh, [&] {
    if (pick_elements(request.problem, dataset) == 3)
      trace_targets<3>(request, std::move(dataset), inputs, summary, console);
    else trace_targets<4>(request, std::move(dataset), inputs, summary, console);
  });
}

/// How far a path's travel time may be from the front's before a closer look is taken at the metric. Between voxels
/// whose tensors differ the two differ by themselves, and by a lot before the path is shortened.
double suspicious_share(const Metric& metric, bool raw) {
  if (metric.isotropic()) return 0.1;
  return raw ? std::numeric_limits<double>::infinity() : 0.5;
}

/// The array of that name. Formats that keep no names give `values`.
const DataArray* find_times(const PathRequest& request, const Image& arrival) {
  const DataArray* array = arrival.data.find(request.time_array);
  return array == nullptr && request.time_array == PathRequest{}.time_array ? arrival.data.find("values") : array;
}

/// What the times were solved on.
Image read_problem(const PathRequest& request, const Image& arrival, Console& console) {
  if (request.image.empty()) return arrival;
  Image problem = read_reported(request.image, request.problem.raw, console);
  if (!same_voxels(arrival.grid, problem.grid))
    throw InputError(
        "the image has other voxels than the times (another shape, or another place in the world); give the one that "
        "was solved",
        request.image.string());
  return problem;
}

void trace_image(const PathRequest& request, const SideInputs& inputs, PathSummary& summary, Console& console) {
  refuse_on_image(request.problem.elements != Elements::automatic, "--elements");
  refuse_on_image(request.tolerance.has_value(), "--to-tolerance");
  refuse_on_image(!request.problem.sources.level_set.empty(), "--source-levelset");
  const Image arrival = read_reported(request.problem.mesh, request.problem.raw, console);
  const ImageGrid& grid = summary.grid = arrival.grid;
  Image problem = read_problem(request, arrival, console);
  SolveRequest solved = request.problem;
  if (!request.image.empty()) solved.mesh = request.image;
  const ImageMetric on = about_file(solved.mesh, [&] { return image_problem(solved, problem, console); });
  about_file(request.problem.mesh, [&] {
    const std::vector<double> times = read_times(request, find_times(request, arrival));
    summary.targets = gather_targets(request, {grid.voxel_count(), "image", "voxel", "voxels"});
    summary.guessed_sources = request.problem.sources.empty();
    const Sources sources = summary.guessed_sources ? guess_sources(grid, arrival.data, times, "voxel")
                                                    : gather_voxel_sources(request.problem, inputs, problem);
    const GridPathTracer tracer(grid, on.metric, on.mask, times, sources);
    const double share = suspicious_share(on.metric, request.raw);
    trace_all(
        request, summary, [&](const Path& path) { return far_off(path, share) && !tracer.explains(path, share); },
        [&](const PathTarget& target) {
          return tracer.from(target.vertex ? grid.position(*target.vertex) : target.point,
                             {request.raw ? Shorten::no : Shorten::yes});
        },
        console);
    std::vector<Vec3d> points;
    for (const TracedTarget& traced : summary.targets)
      points.insert(points.end(), traced.path.points.begin(), traced.path.points.end());
    warn_about_tensors_at(bad_tensors(voxels_at(grid, points), on.indefinite), "along the paths", solved.mesh.string(),
                          console);
  });
}

// ---- the report

Json json_of(const TracedTarget& traced) {
  const auto& [target, path, why] = traced;
  Json object;
  if (target.vertex) object["vertex"] = target.vertex->value;
  else object["point"] = cli::json_of(target.point);
  if (!target.name.empty()) object["name"] = target.name;
  if (!why.empty()) object["why"] = why;
  else
    object.update({{"source", path.source},
                   {"arrival_time", path.times.front()},
                   {"onset", path.times.back()},
                   {"travel_time", path.travel_time},
                   {"length", path.length},
                   {"points", path.points.size()},
                   {"bridges", path.bridges}});
  return object;
}

void print_report(const PathSummary& summary, const Console& console) {
  constexpr std::size_t max_rows = 20;
  const std::size_t count = summary.traced();
  Report report;
  report.title("mesh", summary.input.string(), counted(count, "path", "paths"));
  Json paths = Json::array(), without_path = Json::array();
  std::size_t rows = 0;
  for (const TracedTarget& traced : summary.targets) {
    const auto& [target, path, why] = traced;
    if (console.options.json) (why.empty() ? paths : without_path).push_back(json_of(traced));
    else if (why.empty() && ++rows <= max_rows)
      report.line(fmt::format("  {}: length {:.6g}, travel time {:.6g} (arrives at {:.6g}), from source {}",
                              describe(target), path.length, path.travel_time, path.times.front(), path.source));
  }
  if (count > max_rows) report.line(fmt::format("  and {} more", count - max_rows));
  if (summary.guessed_sources) report.row("sources", "taken from the file (none given)");
  report.written(summary.written.empty() ? Paths() : Paths{summary.written});
  report.add({{"guessed_sources", summary.guessed_sources}, {"paths", paths}, {"without_path", without_path}});
  report.print(console);
}

/// Exit code of a finished run, and its line on stderr when that is not 0.
int judge(const PathSummary& summary) {
  const std::size_t all = summary.targets.size(), failed = all - summary.traced();
  if (failed == 0) return 0;
  const auto first = std::find_if(summary.targets.begin(), summary.targets.end(),
                                  [](const TracedTarget& traced) { return !traced.why.empty(); });
  const std::string input = summary.input.string();
  if (all == 1) print_error("{}: {}", input, first->why);
  else print_error("{}: {} of {} targets have no path, first {}", input, failed, all, first->why);
  return exit_code(ErrorKind::no_answer);
}

int run_path(const PathRequest& request, Console& console) {
  check_request(request);
  check_options(request, console);
  const SideInputs inputs = read_side_inputs(request.problem);
  PathSummary summary;
  summary.input = request.problem.mesh;
  if (request.problem.on_image()) trace_image(request, inputs, summary, console);
  else trace_mesh(request, inputs, summary, console);
  if (summary.traced() > 0) {
    write_paths(request, summary);
    summary.written = request.output;
  }
  print_report(summary, console);
  return judge(summary);
}

}  // namespace

void declare_path(Command& root, Console& console) {
  Command command =
      root.subcommand("path", "Rays and geodesics back to the source, through a solved mesh or image",
                      "isochron path activation.vtu --to 1200 -o path.vtp --fibers fiber --velocity 0.6,0.3");
  const auto request = std::make_shared<PathRequest>();
  command.positional("ARRIVAL", "The mesh or image with times that 'isochron solve' wrote",
                     into(request->problem.mesh));
  command.group("Where the paths lead from");
  command.repeated("--to", "IDS", "Vertices or voxels, 0-based: 0,5,10-20", append_to(request->ids));
  command.repeated("--to-point", "X,Y,Z", "A point in or on the mesh, or in the image", append_to(request->points));
  command.repeated("--to-file", "FILE", "Points 'x y z' or 'name x y z', or a .vtx file of vertices",
                   append_to(request->files));
  command.option("--to-tolerance", "D", "How far from the mesh a point may be (1 % of its diagonal)",
                 into(request->tolerance));
  declare_mesh(command, request->problem);
  command.option("--time-array", "NAME", "Point array with the times (arrival_time)", into(request->time_array));
  command.group("The image");
  command.option("--image", "FILE",
                 "The image that was solved, with its speeds or tensors, where ARRIVAL has times alone",
                 into(request->image));
  declare_mask(command, request->problem.mask, "The mask of the solve");
  declare_raw(command, request->problem.raw);
  declare_sources(command, request->problem.sources);
  declare_metric(command, request->problem);
  command.group("Output");
  command.option("-o,--output", "FILE", "Polylines: .vtp, .vtk, .vtu, .tck, …, of an image also .trk; or .csv",
                 into(request->output), Need::required);
  command.flag("--raw", "Leave the characteristics as traced, do not shorten them", request->raw);
  command.flag("--force", "Replace existing files", request->overwrite, Overwrite::yes);
  declare_common(command, console);
  command.action([request, &console] { return run_path(*request, console); });
}

}  // namespace isochron::cli
