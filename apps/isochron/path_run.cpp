// The steps of `isochron path`: read, trace, write.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/mesh_input.h"
#include "apps/isochron/path.h"
#include "apps/isochron/problem_options.h"
#include "apps/isochron/wording.h"
#include "isochron/core/error.h"
#include "isochron/io/file.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/trace/simplex_path.h"

namespace isochron::cli {
namespace {

/// Without --to-tolerance a point may be this share of the mesh's diagonal away.
constexpr double default_reach = 0.01;
/// A path whose travel time is this far from its arrival time was traced with another metric than it was solved with.
constexpr double suspicious_share = 0.1;

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

/// Vertices that none of their neighbours is earlier than.
template <int Corners>
Sources sources_at_minima(const SimplexMesh<Corners>& mesh, const std::vector<double>& times) {
  std::vector<bool> minimum(times.size(), false);
  for (const auto& e : mesh.elements)
    for (const VertexId v : e) minimum[v.index()] = std::isfinite(times[v.index()]);
  for (const auto& e : mesh.elements)
    for (const VertexId v : e)
      for (const VertexId w : e)
        if (times[w.index()] < times[v.index()]) minimum[v.index()] = false;
  Sources sources;
  for (std::size_t v = 0; v < times.size(); ++v)
    if (minimum[v]) sources.vertices.push_back({VertexId(v), times[v]});
  return sources;
}

template <int Corners>
Sources guess_sources(const SimplexMesh<Corners>& mesh, const Dataset& dataset, const std::vector<double>& times) {
  const DataArray* label = dataset.point_data.find("source");
  Sources sources =
      label != nullptr && label->components == 1 ? sources_by_label(*label, times) : sources_at_minima(mesh, times);
  if (sources.empty())
    throw NoAnswerError("nothing was reached (no vertex has a time), so there is no path; solve with other sources");
  return sources;
}

void trace_one(const std::function<Path(const PathTarget&)>& trace, TracedTarget& traced) {
  try {
    Path path = trace(traced.target);
    if (path.end == PathEnd::source) traced.path = std::move(path);
    else traced.why = fmt::format("there is no path from {}: {}", describe(traced.target), path.why);
  } catch (const NoAnswerError& error) {
    traced.why = to_text(error, command_wording());
  }
}

/// When the front came, after its onset.
double front_time(const Path& path) { return path.times.front() - path.times.back(); }

void warn_of_another_metric(const TracedTarget& traced, Console& console) {
  console.warn(
      fmt::format("{}: the path takes {:.6g} by the metric, but the front took {:.6g}: give the options that the "
                  "times were solved with",
                  describe(traced.target), traced.path.travel_time, front_time(traced.path)));
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
  if (summary.guessed_sources) sources = guess_sources(mesh, dataset, times);
  Metric metric = metric_from_dataset<Corners>(mesh, dataset, mesh_metric(request.problem));
  if (request.problem.unit) metric.change_unit(*request.problem.unit);
  const Box box = bounding_box(mesh.points);
  const double tolerance = request.tolerance.value_or(default_reach * norm(box.high - box.low));
  const PathTracer<Corners> tracer({mesh, metric}, times, sources, {request.raw ? Shorten::no : Shorten::yes});
  trace_all(
      summary, [](const Path& path) { return far_off(path, suspicious_share); },
      [&](const PathTarget& target) {
        return target.vertex ? tracer.from(*target.vertex) : tracer.from(target.point, tolerance);
      },
      console);
}

void trace_mesh(const PathRequest& request, const SideInputs& inputs, PathSummary& summary, Console& console) {
  refuse_on_mesh(!request.image.empty(), "--image");
  refuse_on_mesh(!request.problem.mask.file.empty(), "--mask");
  refuse_on_mesh(!request.problem.mask.array.empty(), "--mask-array");
  refuse_on_mesh(request.problem.tensors.frame.has_value(), "--tensor-frame");
  refuse_on_mesh(request.problem.floor_given(), "--eigenvalue-floor");
  Dataset dataset = read_mesh(request.problem, console);
  about_file(request.problem.mesh, [&] {
    if (pick_elements(request.problem, dataset) == 3)
      trace_targets<3>(request, std::move(dataset), inputs, summary, console);
    else trace_targets<4>(request, std::move(dataset), inputs, summary, console);
  });
}

/// Exit code of a finished run, and its line on stderr when that is not 0.
int judge(const PathSummary& summary) {
  const auto failed = [](const TracedTarget& t) { return !t.why.empty(); };
  const auto first = std::find_if(summary.targets.begin(), summary.targets.end(), failed);
  if (first == summary.targets.end()) return 0;
  const auto count = std::count_if(summary.targets.begin(), summary.targets.end(), failed);
  const std::string input = summary.input.string();
  if (summary.targets.size() == 1) print_error(fmt::format("{}: {}", input, first->why));
  else
    print_error(
        fmt::format("{}: {} of {} targets have no path, first {}", input, count, summary.targets.size(), first->why));
  return exit_code(ErrorKind::no_answer);
}

}  // namespace

std::string describe(const PathTarget& target) {
  const std::string place = target.vertex
                                ? fmt::format("{} {}", target.kind, target.vertex->value)
                                : fmt::format("point {:g},{:g},{:g}", target.point.x, target.point.y, target.point.z);
  return target.name.empty() ? place : fmt::format("{} ({})", target.name, place);
}

std::vector<TracedTarget> gather_targets(const PathRequest& request, const PathSpace& space) {
  std::vector<TracedTarget> targets;
  const auto check = [&](std::size_t id) {
    if (id >= space.count)
      throw InputError(fmt::format("target id {} is out of range (the {} has {}: 0…{}); give an id of the {}", id,
                                   space.holder, counted(space.count, space.one, space.many), space.count - 1,
                                   space.holder));
  };
  const auto add = [&](PathTarget target) {
    if (target.vertex) check(target.vertex->index());
    target.kind = space.one;
    targets.push_back({.target = std::move(target), .path = {}});
  };
  for (const auto& ranges : request.ids)
    for (const IdRange& range : ranges) {
      check(range.last);
      for (std::size_t v = range.first; v <= range.last; ++v) add({.vertex = VertexId(v)});
    }
  for (const Vec3d& point : request.points) add({.vertex = {}, .point = point});
  for (const auto& file : request.files)
    for (PathTarget& target : read_targets(file)) add(std::move(target));
  return targets;
}

std::vector<double> read_times(const PathRequest& request, const DataArray* array) {
  if (array == nullptr)
    throw InputError(
        fmt::format("there is no point array '{}' (no times to trace on); run 'isochron solve' first, or "
                    "name the array with --time-array",
                    request.time_array));
  if (array->components != 1)
    throw InputError(
        fmt::format("array '{}' has {} components (a time is one number); choose another with --time-array",
                    array->name, array->components));
  std::vector<double> times(array->tuple_count());
  for (std::size_t v = 0; v < times.size(); ++v) times[v] = array->at(v);
  return times;
}

Sources sources_by_label(const DataArray& label, const std::vector<double>& times) {
  std::map<double, VertexId> first;
  for (std::size_t v = 0; v < times.size(); ++v) {
    if (!(label.at(v) >= 0) || !std::isfinite(times[v])) continue;
    const auto [found, fresh] = first.try_emplace(label.at(v), v);
    if (!fresh && times[v] < times[found->second.index()]) found->second = VertexId(v);
  }
  Sources sources;
  for (const auto& [name, v] : first) sources.vertices.push_back({v, times[v.index()]});
  return sources;
}

bool far_off(const Path& path, double share) {
  return path.points.size() > 1 && std::abs(path.travel_time / front_time(path) - 1) > share;
}

void trace_all(PathSummary& summary, const std::function<bool(const Path&)>& suspicious,
               const std::function<Path(const PathTarget&)>& trace, Console& console) {
  Activity activity(console, "tracing");
  const InterruptGuard guard;
  for (TracedTarget& traced : summary.targets) {
    check_interrupted();
    trace_one(trace, traced);
    if (suspicious(traced.path)) warn_of_another_metric(traced, console);
  }
}

int run_path(const PathRequest& request, Console& console) {
  check_request(request);
  check_options(request, console);
  const SideInputs inputs = read_side_inputs(request.problem);
  PathSummary summary;
  summary.input = request.problem.mesh;
  if (request.problem.on_image()) trace_image(request, inputs, summary, console);
  else trace_mesh(request, inputs, summary, console);
  const bool any =
      std::any_of(summary.targets.begin(), summary.targets.end(), [](const TracedTarget& t) { return t.why.empty(); });
  if (any) {
    write_paths(request, summary.targets);
    summary.written = request.output;
  }
  print_summary(summary, console);
  return judge(summary);
}

}  // namespace isochron::cli
