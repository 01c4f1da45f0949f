#include "apps/isochron/solve_grid.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/result_arrays.h"
#include "apps/isochron/solve_each.h"
#include "apps/isochron/solve_parts.h"
#include "apps/isochron/solve_report.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/io/image_io.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/mesh/image_mask.h"
#include "isochron/solve/solver.h"

namespace isochron::cli {
namespace {

/// Calls `work` with a solver, over ranks when there are any. It and the metric live only in here.
template <class Work>
void with_solver(const SolveRequest& request, const ImageGrid& grid, ImageMetric& problem, SharedSteps* ranks,
                 Console& console, Work&& work) {
  const Metric metric = std::move(problem.metric);
  Activity activity(console, "solving");
  SolveOptions options = request.options;
  options.threads = console.options.threads;
  options.progress = activity.progress();
  const InterruptGuard guard;
  if (ranks != nullptr) {
    if (options.threads > 1 && ranks->communicator().size() > 1 && !request.each_source)
      console.warn("--threads has no effect on an image over several ranks (those of one machine have a thread each)");
    ranks->take([&] {
      Solver solver({grid, metric, problem.mask}, options, ranks->communicator());
      work(solver);
    });
  } else {
    Solver solver({grid, metric, problem.mask}, options);
    work(solver);
  }
  check_interrupted();
}

/// Times from all sources as one array with a component for each, where a format holds no more than one.
DataArray side_by_side(const std::vector<DataArray>& arrays) {
  const std::size_t sources = arrays.size();
  return std::visit(
      [&](const auto& first) -> DataArray {
        using Values = std::decay_t<decltype(first)>;
        Values values(sources * first.size());
        for (std::size_t i = 0; i < sources; ++i)
          for (std::size_t v = 0; v < first.size(); ++v)
            values[v * sources + i] = static_cast<typename Values::value_type>(arrays[i].at(v));
        return {"arrival_time", static_cast<int>(sources), std::move(values)};
      },
      arrays.front().values);
}

/// Puts the results beside the input's arrays or, where the format has room for one, the times alone in their place.
void add_results(const SolveRequest& request, Arrival& arrival, EachSource* each, Image& image) {
  const bool many = request.output.empty() || holds_many_arrays(request.output);
  if (!many || (!image.data.empty() && made_by_solve(image.data.all().front().name))) image.tensor_order.reset();
  drop_results(image.data);
  if (!many) image.data = {};
  if (each != nullptr) each->add_arrays(image.data);
  else add_result(arrival, image.data);
  if (many || image.data.empty()) return;
  if (each != nullptr) {
    DataArray times = side_by_side(image.data.all());
    image.data = {};
    image.data.set(std::move(times));
  } else {
    std::erase_if(image.data.all(), [](const DataArray& array) { return array.name != "arrival_time"; });
  }
}

/// A flat image as a surface, with the centres of its pixels as vertices; none between pixels outside the mask.
Dataset flat_surface(const Image& image, std::span<const std::uint8_t> mask) {
  Dataset surface;
  surface.point_data = image.data;
  const ImageGrid& grid = image.grid;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) surface.points.push_back(grid.position(VertexId(v)));
  const auto add = [&](VertexId a, VertexId b, VertexId c) {
    const auto inside = [&](VertexId v) { return mask.empty() || mask[v.index()] != 0; };
    if (inside(a) && inside(b) && inside(c)) surface.triangles.cells.push_back({a, b, c});
  };
  for (std::uint32_t j = 0; j + 1 < grid.shape[1]; ++j)
    for (std::uint32_t i = 0; i + 1 < grid.shape[0]; ++i) {
      add(grid.voxel(i, j, 0), grid.voxel(i + 1, j, 0), grid.voxel(i + 1, j + 1, 0));
      add(grid.voxel(i, j, 0), grid.voxel(i + 1, j + 1, 0), grid.voxel(i, j + 1, 0));
    }
  return surface;
}

void check_picture_of(const SolveRequest& request, const ImageGrid& grid) {
  if (request.picture.file.empty() || grid.flat()) return;
  throw UsageError(
      fmt::format("--picture draws flat images ({} has {} slices); leave it out, and open the result in a viewer",
                  request.mesh.string(), grid.shape[2]));
}

/// What a solve on an image has found, beside its arrays.
struct Found {
  Arrival arrival;
  std::optional<EachSource> each;
  std::vector<ProbeTime> probed;
};

void solve_image(const SolveRequest& request, const SideInputs& inputs, const Image& image, ImageMetric& problem,
                 SharedSteps* ranks, Found& found, Console& console) {
  const Sources sources = gather_voxel_sources(request, inputs, image);
  if (request.each_source) {
    found.each.emplace(request, sources, image.grid.voxel_count());
    with_solver(request, image.grid, problem, ranks, console, [&](Solver& solver) { found.each->run(solver); });
    found.arrival = found.each->take_all();
    return;
  }
  with_solver(request, image.grid, problem, ranks, console,
              [&](Solver& solver) { found.arrival = solver.solve(sources); });
  if (!request.probe.output.empty())
    found.probed = probe_voxels(request, inputs.probes.points, image.grid, problem.mask, found.arrival.times, console);
}

void sum_up(const SolveRequest& request, const ImageGrid& grid, std::span<const std::uint8_t> mask, const Found& found,
            SolveSummary& summary, Console& console) {
  const Arrival& arrival = found.arrival;
  summary.vertices = grid.voxel_count();
  summary.elements =
      mask.empty() ? summary.vertices
                   : static_cast<std::size_t>(std::count_if(mask.begin(), mask.end(), [](auto m) { return m != 0; }));
  summary.corners = voxel_corners;
  if (request.options.scheme != GridScheme::automatic) summary.scheme = request.options.scheme;
  summary.order = request.options.order;
  summary.solves_per_vertex = arrival.solves_per_vertex();
  if (found.each) summary.sources = found.each->summaries();
  if (arrival.unreached > 0) summary.unreached = unreached_voxels(grid, mask, arrival.times);
  warn_unreached_voxels(summary, console);
}

/// The picture comes first: what is wrong with its options shows before anything is written.
std::optional<RuntimeError> draw(const SolveRequest& request, const Image& image, std::span<const std::uint8_t> mask,
                                 const Arrival& found, SolveSummary& summary, const Console& console) {
  if (request.picture.file.empty()) return std::nullopt;
  Arrival arrival = found;
  Dataset surface = flat_surface(image, mask);
  drop_results(surface.point_data);
  add_result(arrival, surface.point_data);
  return draw_result(request, surface, summary, console);
}

void write_results(const SolveRequest& request, const SideInputs& inputs, Image&& image, Found& found,
                   SharedSteps* ranks, SolveSummary& summary, Console& console) {
  if (request.to_mesh()) {
    const Activity activity(console, "writing " + request.output.string());
    if (request.to_pieces()) write_in_pieces(*ranks, request.output, std::move(image));
    else write_image(request.output, image, request.overwrite());
    summary.written.push_back(request.output);
  }
  if (found.each) found.each->commit(summary.written);
  if (!request.probe.output.empty()) {
    write_probes(request.probe.output, inputs.probes, found.probed);
    summary.written.push_back(request.probe.output);
  }
}

}  // namespace

void leave_out_own_mask(const SolveRequest& request, Image& image, std::vector<std::uint8_t>& mask) {
  const std::string& tensors =
      request.metric.metric_array.empty() ? request.metric.velocity_tensor_array : request.metric.metric_array;
  if (tensors.empty()) return;
  for (std::size_t i = 0; i < image.data.all().size(); ++i)
    if (image.data.all()[i].name == tensors) {
      split_confidence(image, i);
      break;
    }
  apply_own_mask(image, mask);
}

ImageMetric image_metric(const SolveRequest& request, const Image& image, std::vector<std::uint8_t> mask, int threads,
                         std::optional<double> median) {
  ImageMetric problem = metric_from_image(image, request.metric, request.tensors.order, std::move(mask),
                                          request.tensors.axes(), threads, median);
  if (request.unit) problem.metric.change_unit(*request.unit);
  return problem;
}

ImageMetric image_problem(const SolveRequest& request, Image& image, Console& console) {
  std::vector<std::uint8_t> mask = read_mask(request.mask, image.grid, console);
  leave_out_own_mask(request, image, mask);
  ImageMetric problem = image_metric(request, image, std::move(mask), console.threads());
  if (problem.tensors) warn_about_tensors(request.mesh.string(), *problem.tensors, console);
  return problem;
}

void warn_unreached_voxels(const SolveSummary& summary, Console& console) {
  const auto& [parts, in_parts, masked] = summary.unreached;
  if (in_parts > 0)
    console.warn(fmt::format("{}: {} unreached ({} without a source); give each part a source, or widen the mask",
                             summary.mesh.string(), counted(in_parts, "voxel stays", "voxels stay"),
                             counted(parts, "part", "parts")));
}

std::string better_grid_options(const Arrival& arrival, GridScheme scheme) {
  std::vector<std::string> options;
  if (arrival.precision == Precision::single_) options.emplace_back("--precision double");
  if (scheme != GridScheme::adaptive && scheme != GridScheme::automatic) options.emplace_back("--scheme adaptive");
  if (options.empty()) return "check the image with 'isochron info'";
  return fmt::format("try {}", fmt::join(options, " or "));
}

int run_solve_grid(const SolveRequest& request, SharedSteps* ranks, Console& console) {
  check_request(request);
  const SideInputs inputs = read_side_inputs(request);
  SolveSummary summary;
  summary.mesh = request.mesh;
  if (ranks != nullptr) summary.ranks = ranks->communicator().size();
  const Timer reading;
  Image image = read_reported(request.mesh, request.raw, console);
  check_picture_of(request, image.grid);
  ImageMetric problem = about_file(request.mesh, [&] { return image_problem(request, image, console); });
  const std::vector<std::uint8_t>& mask = problem.mask;
  summary.tensors = problem.tensors;
  summary.eigenvalue_floor = request.metric.eigenvalue_floor;
  summary.read_seconds = reading.seconds();
  Found found;
  about_file(request.mesh, [&] { solve_image(request, inputs, image, problem, ranks, found, console); });
  sum_up(request, image.grid, mask, found, summary, console);
  const InterruptGuard guard;
  const Timer writing;
  const auto not_drawn = draw(request, image, mask, found.arrival, summary, console);
  add_results(request, found.arrival, found.each ? &*found.each : nullptr, image);
  if (request.to_pieces() && piece_kind_of(request.mesh))
    found.arrival.notes.push_back(
        fmt::format("the first rank read the whole image ({} needs it)", *what_needs_whole(request)));
  write_results(request, inputs, std::move(image), found, ranks, summary, console);
  if (not_drawn) throw RuntimeError(*not_drawn);
  summary.write_seconds = writing.seconds();
  summary.arrival = std::move(found.arrival);
  print_summary(summary, console);
  return judge(summary);
}

}  // namespace isochron::cli
