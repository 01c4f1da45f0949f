// `isochron invert` on a mesh or an image.
#include <algorithm>
#include <utility>

#include "apps/isochron/invert.h"
#include "apps/isochron/problem.h"
#include "apps/isochron/solve_report.h"
#include "isochron/core/timer.h"
#include "isochron/invert/model.h"
#include "isochron/io/file.h"
#include "isochron/solver.h"

namespace isochron::cli {
namespace {

/// What is inverted, with the start.
struct InvertProblem {
  Domain domain;
  double receiver_tolerance;  ///< unless another one is asked for
};

InversionOptions inversion_options(const InvertRequest& request, const InvertProblem& problem) {
  InversionOptions options = request.options;
  options.solve = request.problem.options;
  options.solve.tolerance = options.solve.tolerance.value_or(1e-9);
  options.solve.precision = Precision::double_;
  options.receiver_tolerance = request.receiver_tolerance.value_or(problem.receiver_tolerance);
  if (!request.problem.unit || request.looks_for(Unknown::tensor_scale)) return options;
  for (std::optional<double>* bound : {&options.min_velocity, &options.max_velocity})
    if (*bound) **bound /= *request.problem.unit;
  return options;
}

/// Goes on from a checkpoint. Throws InputError when it is that of another problem.
void take_checkpoint(const InvertRequest& request, const InvertProblem& problem, const InversionState& start,
                     InversionOptions& options, InvertSummary& summary) {
  options.start = start;
  const std::size_t there = start.values.size();
  const std::size_t needed = InversionModel(problem.domain, summary.measured.measured, options).size();
  if (there != needed)
    throw InputError(fmt::format("has {}, and this problem {} (it is of another one); give the input and the options "
                                 "that it was written with, or another name",
                                 counted(there, "unknown", "unknowns"), grouped(needed)),
                     request.checkpoint.string());
  summary.notes.push_back(fmt::format("goes on from {}", request.checkpoint.string()));
}

/// Finds the unknowns, and gives the times everywhere where there is one shot and they are written.
std::vector<double> find_unknowns(const InvertRequest& request, const InvertProblem& problem,
                                  const std::optional<InversionState>& start, InvertSummary& summary,
                                  Console& console) {
  const Timer timer;
  InversionOptions options = inversion_options(request, problem);
  if (start) take_checkpoint(request, problem, *start, options, summary);
  Activity activity(console, "inverting");
  const Progress progress = activity.progress();
  const InterruptGuard guard;
  options.solve.progress = progress;
  bool saved = false;
  options.on_step = [&](const InversionStep& step, const InversionState& state) {
    activity.detail(fmt::format("iteration {}, misfit {:.4g}", step.iteration, step.misfit));
    if (progress.report) progress.report(step.iteration / std::max(1.0, static_cast<double>(options.max_iterations)));
    if (step.iteration == 0 || request.checkpoint.empty()) return;
    write_checkpoint(request.checkpoint, state);
    saved = true;
  };
  summary.found =
      about_file(request.problem.mesh, [&] { return invert(problem.domain, summary.measured.measured, options); });
  check_interrupted();
  if (saved) summary.written.push_back(request.checkpoint);
  std::vector<double> times;
  if (summary.found.sources.size() == 1 && !request.problem.output.empty()) {
    Domain found = problem.domain;
    found.metric = summary.found.metric;
    options.solve.progress.report = {};
    options.solve.source_init = summary.found.source_init;
    times = Solver(found, options.solve).solve(summary.found.sources.front()).times;
  }
  check_interrupted();
  if (request.problem.unit) summary.found.metric.change_unit(1 / *request.problem.unit);
  summary.invert_seconds = timer.seconds();
  return times;
}

/// Adds what was found: a value for each element or voxel to `cells`, times to `points`.
void add_found(const InvertRequest& request, InvertSummary& summary, std::vector<double> times, DataArrays& cells,
               DataArrays& points) {
  drop_results(points);
  if (!times.empty()) points.set({"arrival_time", 1, std::move(times)});
  if (request.looks_for(Unknown::tensor_scale)) cells.set({request.field_name(), 1, summary.found.scale});
  if (!request.looks_for(Unknown::speed)) return;
  const auto& speed = std::get<SpeedMetric>(summary.found.metric.kind()).speed;
  cells.set({request.field_name(), 1, std::vector<double>(speed.begin(), speed.end())});
}

/// Writes everything, so that all files appear or none, and reports.
template <class Write>
int finish_inversion(InvertSummary& summary, Console& console, Write&& write_output) {
  const std::filesystem::path& output = summary.request.problem.output;
  const Timer timer;
  {
    const InterruptGuard guard;
    const Activity activity(console, "writing " + output.string());
    OutputFiles files(summary.request.problem.overwrite);
    if (!output.empty()) {
      write_output(files);
      summary.written.push_back(output);
    }
    write_inversion_tables(summary, files);
    check_interrupted();
    files.commit();
  }
  summary.write_seconds = timer.seconds();
  print_inversion(summary, console);
  return judge(summary);
}

// ---- meshes

/// Throws where the format of -o has no place for what is found of the elements.
template <int Corners>
void check_holds_field(const InvertRequest& request) {
  if (request.problem.output.empty() || !request.has_field()) return;
  Dataset sample;
  sample.points.resize(Corners);
  std::array<VertexId, Corners> cell;
  for (std::size_t c = 0; c < Corners; ++c) cell[c] = VertexId(c);
  sample.block<Corners>().cells = {cell};
  sample.block<Corners>().data.set({request.field_name(), 1, std::vector<double>{1}});
  if (!kept_arrays(request.problem.output, sample).dropped.empty())
    throw usage_error("{}: the format has no place for the array '{}' of elements; use .vtu, .vtp, .vtk or .msh",
                      request.problem.output.string(), request.field_name());
}

/// The metric of a table of velocities without fibres, in a form whose velocities can be unknown: all elements conduct
/// alike in all directions at the velocity across fibres that are zero.
template <int Corners>
Metric metric_of_regions(const SimplexMesh<Corners>& mesh, Dataset& dataset, MetricRequest request) {
  request.fiber_array = "isochron:no fibers";
  request.zero_fibers = ZeroFibers::isotropic;
  DataArrays& arrays = dataset.block<Corners>().data;
  arrays.set({request.fiber_array, 3, std::vector<float>(3 * mesh.element_count())});
  Metric metric = metric_from_dataset<Corners>(mesh, dataset, request);
  std::erase_if(arrays.all(), [&](const DataArray& array) { return array.name == request.fiber_array; });
  return metric;
}

template <int Corners>
Metric start_metric(const InvertRequest& request, const SimplexMesh<Corners>& mesh, Dataset& dataset) {
  const MetricRequest wanted = mesh_metric(request.problem);
  Metric metric = metric_from_dataset<Corners>(mesh, dataset, wanted);  // refuses rows that need fibres
  if (request.looks_for(Unknown::region_velocities) && wanted.fiber_array.empty())
    metric = metric_of_regions<Corners>(mesh, dataset, wanted);
  if (request.problem.unit) metric.change_unit(*request.problem.unit);
  return metric;
}

template <int Corners>
int invert_on_mesh(const InvertRequest& request, const InvertInputs& inputs, Dataset&& dataset, InvertSummary& summary,
                   Console& console) {
  const std::filesystem::path& file = request.problem.mesh;
  summary.corners = Corners;
  summary.vertices = dataset.points.size();
  summary.elements = dataset.block<Corners>().cells.size();
  summary.cut_cells = dataset.cut_cells;
  summary.place_of = [points = std::span<const Vec3d>(dataset.points)](GlobalVertexId v) {
    return points[v.in_whole().index()];
  };
  const Sources common =
      about_file(file, [&] { return gather_sources<Corners>(request.problem, inputs.sources, dataset, console); });
  summary.measured = gather_measurements(request, inputs.tables, {dataset.points.size(), "mesh", "vertex", "vertices"},
                                         summary.place_of, common, console);
  check_holds_field<Corners>(request);
  SimplexMesh<Corners> mesh;
  const Metric metric = about_file(file, [&] {
    drop_other_cells<Corners>(request.problem, "times", dataset, console);
    mesh = take_mesh<Corners>(dataset);
    check_size(box_of(mesh.points, console.threads()));
    return start_metric<Corners>(request, mesh, dataset);
  });
  const InvertProblem problem{MeshDomain<Corners>{mesh, metric}, default_reach(box_of(mesh.points, console.threads()))};
  std::vector<double> times = find_unknowns(request, problem, inputs.start, summary, console);
  note_unused_fibers(request.problem.metric, summary.notes);
  return finish_inversion(summary, console, [&](OutputFiles& files) {
    restore_mesh<Corners>(dataset, std::move(mesh));
    add_found(request, summary, std::move(times), dataset.block<Corners>().data, dataset.point_data);
    write_dataset(files, request.problem.output, dataset);
  });
}

// ---- images

int invert_on_image(const InvertRequest& request, const InvertInputs& inputs, Image&& image, InvertSummary& summary,
                    Console& console) {
  const std::filesystem::path& file = request.problem.mesh;
  const ImageMetric problem = about_file(file, [&] { return image_problem(request.problem, image, console); });
  const ImageGrid& grid = image.grid;
  summary.corners = voxel_corners;
  summary.vertices = summary.elements = grid.voxel_count();
  if (!problem.mask.empty())
    summary.elements -= static_cast<std::size_t>(std::count(problem.mask.begin(), problem.mask.end(), 0));
  summary.place_of = [&grid](GlobalVertexId v) { return grid.position(v.in_whole()); };
  const Sources common = about_file(file, [&] { return gather_voxel_sources(request.problem, inputs.sources, image); });
  summary.measured = gather_measurements(request, inputs.tables, {grid.voxel_count(), "image", "voxel", "voxels"},
                                         summary.place_of, common, console);
  std::vector<double> times = find_unknowns(
      request, {GridDomain{grid, problem.metric, problem.mask}, default_reach(grid)}, inputs.start, summary, console);
  return finish_inversion(summary, console, [&](OutputFiles& files) {
    const bool many = holds_many_arrays(request.problem.output);
    if (!many) image.data = {}, image.tensor_order.reset();
    add_found(request, summary, std::move(times), image.data, image.data);
    if (!many && request.has_field())
      std::erase_if(image.data.all(), [&](const DataArray& array) { return array.name != request.field_name(); });
    write_image(files.add(request.problem.output), image);
  });
}

}  // namespace

int run_invert(const InvertRequest& request, Console& console) {
  InvertInputs inputs{read_shot_tables(request, console), read_side_inputs(request.problem), {}};
  if (!request.checkpoint.empty()) inputs.start = read_checkpoint(request.checkpoint);
  InvertSummary summary{request};
  const Timer reading;
  if (request.problem.on_image()) {
    Image image = read_reported(request.problem.mesh, request.problem.raw, console);
    summary.read_seconds = reading.seconds();
    return invert_on_image(request, inputs, std::move(image), summary, console);
  }
  Dataset dataset = read_mesh(request.problem, console, wanted_arrays(request.problem));
  summary.read_seconds = reading.seconds();
  const int corners = about_file(request.problem.mesh, [&] { return pick_elements(request.problem, dataset); });
  return corners == 3 ? invert_on_mesh<3>(request, inputs, std::move(dataset), summary, console)
                      : invert_on_mesh<4>(request, inputs, std::move(dataset), summary, console);
}

}  // namespace isochron::cli
