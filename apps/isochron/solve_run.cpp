// The steps of `isochron solve`: read, solve, write. Points and cells are moved along, not copied.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/mesh_input.h"
#include "apps/isochron/result_arrays.h"
#include "apps/isochron/solve_each.h"
#include "apps/isochron/solve_grid.h"
#include "apps/isochron/solve_mpi.h"
#include "apps/isochron/solve_parts.h"
#include "apps/isochron/solve_report.h"
#include "isochron/comm/mpi_communicator.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/io/file.h"
#include "isochron/io/image_io.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/solve/solver.h"

namespace isochron::cli {
namespace {

bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

/// The pieces of an input that is a set. None when it is not one, or not a good one: who reads it says so.
Paths boxes_of(const std::filesystem::path& input) {
  if (!piece_kind_of(input)) return {};
  try {
    return read_piece_index(input).pieces;
  } catch (const InputError&) {
    return {};
  }
}

/// Pieces of an input must not be replaced either, unless the whole set is.
void check_input_pieces(const SolveRequest& request, std::string_view why) {
  if (request.output.empty()) return;
  for (const auto& input : {request.mesh, request.mask.file}) {
    if (same_place(input, request.output)) continue;
    const Paths pieces = boxes_of(input);
    if (!request.to_pieces()) check_not_among(request.output, pieces, why);
    else if (std::any_of(pieces.begin(), pieces.end(), [&](const std::filesystem::path& piece) {
               return same_place(piece.parent_path(), piece_path(request.output, 0).parent_path());
             }))
      throw UsageError(fmt::format("{}: its pieces would replace those of {}, an input; choose another name",
                                   request.output.string(), input.string()));
  }
}

/// An output must not replace another, nor an input, --force or not. Only -o may replace the mesh, which it holds.
void check_distinct_files(const SolveRequest& request) {
  Paths inputs = request.sources.files;
  for (const auto& file : {request.probe.points, request.mask.file})
    if (!file.empty()) inputs.push_back(file);
  if (request.on_image()) inputs.push_back(request.mesh);
  const std::string_view is_input = "is an input too (it would be replaced)";
  Paths outputs;
  if (request.to_mesh() && !request.on_image() && !request.to_pieces()) outputs = files_written(request.output);
  else if (!request.output.empty()) outputs = {request.output};
  for (const auto& file : outputs) check_not_among(file, inputs, is_input);
  check_input_pieces(request, is_input);
  inputs.push_back(request.mesh);
  if (request.to_table()) check_not_among(request.output, inputs, is_input);
  for (const auto& file : {request.probe.output, request.picture.file, request.matrix}) {
    if (file.empty()) continue;
    check_not_among(file, inputs, is_input);
    check_not_among(file, outputs, "is named for two outputs (one would replace the other)");
    outputs.push_back(file);
  }
}

}  // namespace

bool SolveRequest::to_pieces() const {
  return to_mesh() && options.backend == Backend::mpi &&
         (on_image() ? piece_kind_of(output) == PieceKind::image : is_mesh_set(output));
}

void check_request(const SolveRequest& request) {
  if (request.output.empty() && request.probe.output.empty() && request.picture.file.empty() && request.matrix.empty())
    throw UsageError(
        "no output (the result would be lost); give -o FILE, --probe-output or --picture, or --matrix with "
        "--each-source");
  if (request.sources.empty()) {
    throw UsageError(
        "no source (the front starts nowhere); give --source, --source-point, --source-file, --source-tag or "
        "--source-levelset");
  }
  if (request.probe.points.empty() != request.probe.output.empty())
    throw UsageError("--probe and --probe-output go together (where the points are, where the times go); give both");
  check_each_source(request);
  if (request.to_pieces()) check_set_writable(request.output, request.overwrite());
  else if (request.to_mesh() && request.on_image()) check_image_writable(request.output, request.overwrite());
  else if (request.to_mesh()) check_writable(request.output, request.overwrite());
  if (request.to_table()) check_output_file(request.output, request.overwrite());
  if (!request.matrix.empty()) check_output_file(request.matrix, request.overwrite());
  if (!request.probe.output.empty()) check_output_file(request.probe.output, request.overwrite());
  if (!request.picture.file.empty()) check_picture(request);
  check_distinct_files(request);
}

SideInputs read_side_inputs(const SolveRequest& request) {
  SideInputs inputs;
  for (const auto& file : request.sources.files) inputs.source_rows.push_back(read_source_file(file));
  if (!request.probe.points.empty()) inputs.probes = read_points(request.probe.points);
  return inputs;
}

namespace {

/// Says before the work what the output file will not hold.
void warn_about_output(const SolveRequest& request, const Dataset& dataset, Console& console) {
  if (request.to_pieces()) {
    if (!dataset.lines.empty())
      console.warn(fmt::format("{}: {} will not be in it (pieces are written without lines); write one file",
                               request.output.string(), counted(dataset.lines.size(), "line", "lines")));
    return;
  }
  const std::string extension = FileName(request.output).extension;
  for (const Format& format : formats()) {
    const bool ours =
        std::find(format.extensions.begin(), format.extensions.end(), extension) != format.extensions.end();
    if (ours && !format.keeps_arrays)
      console.warn(fmt::format(
          "{}: the arrival times will not be in it ({} files have no place for them); use .vtu, .vtp, .vtk, "
          ".ply or .msh",
          request.output.string(), format.name));
    const std::size_t lines = ours ? dropped_lines(request.output, dataset) : 0;
    if (lines > 0)
      console.warn(fmt::format("{}: {} will not be in it ({} files have no place for lines); use .vtu, .vtk or .msh",
                               request.output.string(), counted(lines, "line", "lines"), format.name));
  }
}

/// Refuses before the work a picture of an array that will not be there, or of nothing.
void check_picture_data(const SolveRequest& request, const Dataset& dataset) {
  check_picture_cut(request.picture, dataset);
#if defined(ISOCHRON_WITH_VTK)
  const std::string& array = request.picture.options.array;
  const bool made_here = array.empty() || array == "arrival_time" || array == "source" || array == "reached";
  if (!request.picture.file.empty() && !made_here) (void)dataset.point_data.require(array, "points (--picture-array)");
#else
  (void)dataset;
#endif
}

/// Removes the cells of the kind that is not solved on. An output that cannot be written is refused before any warning:
/// the error is all that counts then.
template <int Corners>
void drop_other_cells(const SolveRequest& request, Dataset& dataset, Console& console) {
  auto& other = dataset.block < Corners == 3 ? 4 : 3 > ();
  const std::size_t dropped = other.cells.size();
  other = {};
  if (request.to_pieces()) check_set_holds<Corners>(request.output);
  else if (request.to_mesh()) check_holds(request.output, dataset);
  warn_left_out<Corners>(request, dropped, dataset.lines.size(), console);
  if (request.to_mesh()) warn_about_output(request, dataset, console);
}

}  // namespace

void warn_unreached(const SolveSummary& summary, std::size_t count, Console& console) {
  const auto& [parts, in_parts, no_element] = summary.unreached;
  std::vector<std::string> why;
  if (in_parts > 0)
    why.push_back(fmt::format("{} in {} without a source", grouped(in_parts), counted(parts, "part", "parts")));
  if (no_element > 0) why.push_back(fmt::format("{} in no element", grouped(no_element)));
  const std::size_t rest = count - in_parts - no_element;
  if (rest > 0) why.push_back(fmt::format("{} too far for any number", grouped(rest)));
  console.warn(fmt::format("{}: {} unreached ({}){}", summary.mesh.string(),
                           counted(count, "vertex stays", "vertices stay"), fmt::join(why, ", "),
                           in_parts > 0 ? "; give each part a source, or join the parts" : ""));
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

void check_size(const Box& box) {
  const auto& [low, high] = box;
  const double size = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  if (size > 1e100 || (size > 0 && size < 1e-100))
    throw InputError(
        fmt::format("the mesh is {:g} across (too large or too small to compute with); give it in another unit", size));
}

template <int Corners>
void warn_left_out(const SolveRequest& request, std::size_t other_cells, std::size_t lines, Console& console) {
  if (other_cells > 0)
    console.warn(fmt::format("{}: {} are not solved on and left out of the output; --elements {} picks them",
                             request.mesh.string(),
                             Corners == 4 ? counted(other_cells, "triangle", "triangles")
                                          : counted(other_cells, "tetrahedron", "tetrahedra"),
                             Corners == 4 ? "triangle" : "tet"));
  if (lines > 0)
    console.warn(fmt::format("{}: {} left out of the solve (lines do not conduct)", request.mesh.string(),
                             counted(lines, "line is", "lines are")));
}
template void warn_left_out<3>(const SolveRequest&, std::size_t, std::size_t, Console&);
template void warn_left_out<4>(const SolveRequest&, std::size_t, std::size_t, Console&);

namespace {

/// Calls `work` with a solver, over ranks when there are any. It and the metric live only in here: their memory is free
/// again before the rest is written.
template <int Corners, class Work>
void with_solver(const SolveRequest& request, const SimplexMesh<Corners>& mesh, const Dataset& dataset,
                 SharedSteps* ranks, Console& console, Work&& work) {
  Metric metric = metric_from_dataset<Corners>(mesh, dataset, mesh_metric(request));
  if (request.unit) metric.change_unit(*request.unit);  // coordinates stay as they are, in messages too
  Activity activity(console, "solving");
  SolveOptions options = request.options;
  options.progress = activity.progress();
  const InterruptGuard guard;
  if (ranks != nullptr) {
    ranks->take([&] {
      Solver solver({mesh, metric}, options, ranks->communicator());
      work(solver);
    });
  } else {
    Solver solver({mesh, metric}, options);
    work(solver);
  }
  check_interrupted();
}

template <int Corners>
Arrival solve_on(const SolveRequest& request, const SimplexMesh<Corners>& mesh, const Dataset& dataset,
                 const Sources& sources, SharedSteps* ranks, Console& console) {
  Arrival arrival;
  with_solver(request, mesh, dataset, ranks, console, [&](Solver& solver) { arrival = solver.solve(sources); });
  if (request.options.backend == Backend::threads && arrival.threads == 1 && console.threads() > 1)
    arrival.notes.push_back(fmt::format("{} runs on one thread, whatever --backend says", name_of(arrival.method)));
  return arrival;
}

/// Every source on its own. The result is that of all together, without arrays but with the first times at each vertex.
template <int Corners>
Arrival solve_each_on(const SolveRequest& request, const SimplexMesh<Corners>& mesh, const Dataset& dataset,
                      EachSource& each, SharedSteps* ranks, Console& console) {
  with_solver(request, mesh, dataset, ranks, console, [&](Solver& solver) { each.run(solver); });
  return each.take_all();
}

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

/// The picture comes first, because its options can still turn out wrong: then nothing is written. Where only drawing
/// fails (no display), the other results are written all the same.
template <int Corners>
void write_results(const SolveRequest& request, Dataset& dataset, const NamedPoints& probes,
                   const std::vector<ProbeTime>& probe_times, EachSource* each, SharedSteps* ranks,
                   SolveSummary& summary, Console& console) {
  const Timer timer;
  const auto not_drawn = draw_result(request, dataset, summary, console);
  if (request.to_mesh()) {
    const Activity activity(console, "writing " + request.output.string());
    if (request.to_pieces()) write_in_pieces<Corners>(*ranks, request.output, std::move(dataset));
    else write_dataset(request.output, dataset, request.overwrite());
    summary.written.push_back(request.output);
  }
  if (each != nullptr) each->commit(summary.written);
  if (!request.probe.output.empty()) {
    write_probes(request.probe.output, probes, probe_times);
    summary.written.push_back(request.probe.output);
  }
  if (not_drawn) throw RuntimeError(*not_drawn);
  summary.write_seconds += timer.seconds();
}

/// What to try when a run did not converge: what was not used already.
std::string better_options(const SolveSummary& summary) {
  if (summary.corners == voxel_corners) return better_grid_options(summary.arrival, summary.scheme);
  std::vector<std::string> options;
  if (summary.arrival.precision == Precision::single_) options.emplace_back("--precision double");
  if (summary.arrival.method != Method::banded) options.emplace_back("--method banded");
  if (options.empty()) return "check the mesh with 'isochron info'";
  return fmt::format("try {}", fmt::join(options, " or "));
}

template <int Corners>
int solve_dataset(const SolveRequest& request, Dataset&& dataset, const SideInputs& inputs, SharedSteps* ranks,
                  SolveSummary& summary, Console& console) {
  SimplexMesh<Corners> mesh;
  std::vector<ProbeTime> probed;
  std::optional<EachSource> each;
  Arrival arrival = about_file(request.mesh, [&] {
    const Sources sources = gather_sources<Corners>(request, inputs, dataset, console);
    drop_other_cells<Corners>(request, dataset, console);
    mesh = take_mesh<Corners>(dataset);
    check_size(bounding_box(mesh.points));
    if (request.each_source) {
      each.emplace(request, sources, mesh.vertex_count());
      return solve_each_on(request, mesh, dataset, *each, ranks, console);
    }
    Arrival result = solve_on(request, mesh, dataset, sources, ranks, console);
    if (!request.probe.output.empty()) probed = probe_times(request, inputs.probes.points, mesh, result.times, console);
    return result;
  });
  note_unused_fibers(request.metric, arrival.notes);
  if (request.to_pieces() && is_mesh_set(request.mesh))
    arrival.notes.push_back(
        fmt::format("the first rank read the whole mesh ({} needs it)", *what_needs_whole(request)));
  summary.vertices = mesh.vertex_count();
  summary.elements = mesh.element_count();
  summary.corners = Corners;
  summary.solves_per_vertex = arrival.solves_per_vertex();
  if (each) summary.sources = each->summaries();
  if (arrival.unreached > 0) summary.unreached = explain_unreached(mesh, arrival.times);
  if (arrival.unreached > 0 && arrival.reached > 0) warn_unreached(summary, arrival.unreached, console);
  restore_mesh<Corners>(dataset, std::move(mesh));
  const InterruptGuard guard;
  drop_results(dataset.point_data);
  if (each) each->add_arrays(dataset.point_data);
  else add_result(arrival, dataset.point_data);
  write_results<Corners>(request, dataset, inputs.probes, probed, each ? &*each : nullptr, ranks, summary, console);
  summary.arrival = std::move(arrival);
  print_summary(summary, console);
  return judge(summary);
}

}  // namespace

void add_result(Arrival& arrival, DataArrays& data) {
  std::vector<std::uint8_t> reached(arrival.times.size());
  for (std::size_t v = 0; v < reached.size(); ++v) reached[v] = std::isfinite(arrival.times[v]) ? 1 : 0;
  if (arrival.precision == Precision::single_)
    data.set({"arrival_time", 1, std::vector<float>(arrival.times.begin(), arrival.times.end())});
  else data.set({"arrival_time", 1, std::move(arrival.times)});
  arrival.times = {};
  data.set({"source", 1, std::move(arrival.source)});
  data.set({"reached", 1, std::move(reached)});
  if (!arrival.upwind.empty()) {
    data.set(upwind_vertices(arrival.upwind));
    data.set(upwind_weights(arrival.upwind));
    arrival.upwind = {};
  }
}

int judge(const SolveSummary& summary) {
  const Arrival& arrival = summary.arrival;
  const std::string mesh = summary.mesh.string();
  if (arrival.reached == 0) {  // a source reaches itself, unless travel times are infinite even there
    print_error(
        fmt::format("{}: nothing was reached (travel times are too large for any number); check the units of "
                    "coordinates and speeds",
                    mesh));
    return exit_code(ErrorKind::no_answer);
  }
  const bool failed = arrival.residual && !arrival.residual->passed();
  if (arrival.converged && !failed) return 0;
  const std::string why =
      failed ? fmt::format("residual {:.2g} at {} {} exceeds {:.2g} of an edge", arrival.residual->worst,
                           summary.corners == voxel_corners ? "voxel" : "vertex", arrival.residual->worst_vertex.value,
                           arrival.residual->limit)
             : "updates were still above the tolerance";
  print_error(fmt::format("{}: not converged ({}); the output was written all the same: treat it with care, and {}",
                          mesh, why, better_options(summary)));
  return exit_not_converged;
}

Box bounding_box(std::span<const Vec3d> points) {
  Box box{points.front(), points.front()};
  for (const Vec3d& p : points) {
    for (int k = 0; k < 3; ++k) {
      box.low[k] = std::min(box.low[k], p[k]);
      box.high[k] = std::max(box.high[k], p[k]);
    }
  }
  return box;
}

namespace {

int run_solve_mesh(const SolveRequest& request, SharedSteps* ranks, Console& console) {
  check_request(request);
  const SideInputs inputs = read_side_inputs(request);
  SolveSummary summary;
  summary.mesh = request.mesh;
  if (ranks != nullptr) summary.ranks = ranks->communicator().size();
  const Timer timer;
  Dataset dataset = read_mesh(request, console);
  summary.read_seconds = timer.seconds();
  const int corners = about_file(request.mesh, [&] {
    check_picture_data(request, dataset);
    return pick_elements(request, dataset);
  });
  return corners == 3 ? solve_dataset<3>(request, std::move(dataset), inputs, ranks, summary, console)
                      : solve_dataset<4>(request, std::move(dataset), inputs, ranks, summary, console);
}

}  // namespace

int run_solve(const SolveRequest& request, Console& console) {
  const bool over_ranks = request.options.backend == Backend::mpi;
  if (!over_ranks && mpi::launched_rank() == 0 && mpi::launched_ranks() > 1)
    console.warn(
        fmt::format("{} ranks were launched, and each does the same by itself; add --backend mpi to solve over "
                    "them together",
                    mpi::launched_ranks()));
  if (request.on_image()) {
    if (!over_ranks) return run_solve_grid(request, nullptr, console);
    if (goes_by_parts(request))
      return run_on_all_ranks(
          [&](Communicator& communicator) { return run_solve_grid_parts(request, communicator, console); });
    return run_over_ranks(request, [&](SharedSteps& ranks) { return run_solve_grid(request, &ranks, console); });
  }
  if (is_image_file(request.output) && FileName(request.output).extension != ".npy")
    throw UsageError(fmt::format(
        "{}: is not an image by its name ({} would be one); name a mesh file as output, or give the shape of an image "
        "of bare numbers with --raw-shape",
        request.mesh.string(), request.output.string()));
  if (!over_ranks) return run_solve_mesh(request, nullptr, console);
  if (goes_by_parts(request))
    return run_on_all_ranks(
        [&](Communicator& communicator) { return run_solve_parts(request, communicator, console); });
  return run_over_ranks(request, [&](SharedSteps& ranks) { return run_solve_mesh(request, &ranks, console); });
}

}  // namespace isochron::cli
