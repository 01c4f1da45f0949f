#include "apps/isochron/solve_grid.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/isochron/result_arrays.h"
#include "apps/isochron/solve_report.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/io/image_io.h"
#include "isochron/metric/from_image.h"
#include "isochron/solve/grid_solver.h"

namespace isochron::cli {
namespace {

void check_request(const SolveRequest& request) {
  const auto refuse = [](bool given, std::string_view option) {
    if (given) throw UsageError(fmt::format("{} goes with meshes, not with images; leave it out", option));
  };
  refuse(request.each_source, "--each-source");
  refuse(!request.matrix.empty(), "--matrix");
  refuse(!request.probe.points.empty() || !request.probe.output.empty(), "--probe");
  refuse(!request.picture.file.empty(), "--picture");
  refuse(!request.sources.level_set.empty(), "--source-levelset");
  refuse(request.options.weights == Keep::yes, "--weights");
  refuse(request.elements != Elements::automatic, "--elements");
  if (request.output.empty()) throw UsageError("no output (the result would be lost); give -o FILE");
  if (request.sources.empty())
    throw UsageError(
        "no source (the front starts nowhere); give --source, --source-point, --source-file or --source-tag");
  check_image_writable(request.output, request.overwrite());
}

/// Voxels inside the mask that nothing reached, and how many pieces (joined through faces) they are.
Unreached unreached_voxels(const ImageGrid& grid, std::span<const std::uint8_t> mask,
                           const std::vector<double>& times) {
  Unreached result;
  const auto left = [&](std::size_t v) { return (mask.empty() || mask[v] != 0) && !std::isfinite(times[v]); };
  std::vector<std::uint8_t> seen(times.size(), 0);
  std::vector<std::size_t> piece;
  for (std::size_t start = 0; start < times.size(); ++start) {
    if (!mask.empty() && mask[start] == 0) ++result.no_element;
    if (seen[start] != 0 || !left(start)) continue;
    ++result.parts;
    piece.assign(1, start);
    seen[start] = 1;
    while (!piece.empty()) {
      const VertexId voxel(piece.back());
      piece.pop_back();
      ++result.in_parts;
      const auto at = grid.index(voxel);
      for (std::size_t axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1}) {
          auto beside = at;
          beside[axis] += static_cast<std::uint32_t>(side);
          if (beside[axis] >= grid.shape[axis]) continue;  // below 0 it wraps to a large number
          const std::size_t v = grid.voxel(beside[0], beside[1], beside[2]).index();
          if (seen[v] != 0 || !left(v)) continue;
          seen[v] = 1;
          piece.push_back(v);
        }
    }
  }
  return result;
}

Arrival solve_image(const SolveRequest& request, const Image& image, std::span<const std::uint8_t> mask,
                    const Sources& sources, Console& console) {
  Metric metric = metric_from_image(image, request.metric, request.tensors.order, mask,
                                    request.tensors.frame.value_or(TensorFrame::world));
  if (request.unit) metric.change_unit(*request.unit);
  Activity activity(console, "solving");
  GridOptions options = request.grid;
  options.common = request.options;
  options.common.threads = console.options.threads;
  options.common.progress = activity.progress();
  const InterruptGuard guard;
  Arrival arrival = GridSolver({image.grid, metric, mask}, options).solve(sources);
  check_interrupted();
  return arrival;
}

/// The result: all arrays and the input's where the format has room, else the times alone.
void write_result(const SolveRequest& request, Image&& image, Arrival& arrival) {
  const auto& formats = image_formats();
  const std::string name = request.output.string();
  const bool many = std::any_of(formats.begin(), formats.end(), [&](const ImageFormat& format) {
    return format.many_arrays && std::any_of(format.extensions.begin(), format.extensions.end(),
                                             [&](const std::string& extension) { return name.ends_with(extension); });
  });
  drop_results(image.data);
  if (!many) image.data = {};
  if (!many) image.tensor_order.reset();
  add_result(arrival, image.data);
  if (!many) std::erase_if(image.data.all(), [](const DataArray& array) { return array.name != "arrival_time"; });
  write_image(request.output, image, request.overwrite());
}

}  // namespace

Image read_reported(const std::filesystem::path& file, Console& console) {
  const Activity activity(console, "reading " + file.string());
  Image image = read_image(file);
  for (const std::string& warning : image.warnings) console.warn(fmt::format("{}: {}", file.string(), warning));
  return image;
}

std::vector<std::uint8_t> read_mask(const SolveRequest& request, const ImageGrid& grid, Console& console) {
  if (request.mask.empty()) return {};
  const Image mask = read_reported(request.mask, console);
  const std::string name = request.mask.string();
  if (mask.data.empty() || mask.data.all().front().components != 1)
    throw InputError(fmt::format("{}: a mask needs one value per voxel; give a 3D image", name));
  if (!same_voxels(grid, mask.grid))
    throw InputError(
        fmt::format("{}: the mask has other voxels than the image (another shape, or another place in the world); "
                    "resample it",
                    name));
  const DataArray& values = mask.data.all().front();
  std::vector<std::uint8_t> result(grid.voxel_count());
  for (std::size_t v = 0; v < result.size(); ++v) {
    const double value = values.at(v);
    result[v] = value != 0 && !std::isnan(value) ? 1 : 0;
  }
  return result;
}

int run_solve_grid(const SolveRequest& request, Console& console) {
  check_request(request);
  SideInputs inputs;
  for (const auto& file : request.sources.files) inputs.source_rows.push_back(read_source_file(file));
  SolveSummary summary;
  summary.mesh = request.mesh;
  const Timer reading;
  Image image = read_reported(request.mesh, console);
  const std::vector<std::uint8_t> mask = read_mask(request, image.grid, console);
  summary.read_seconds = reading.seconds();
  Arrival arrival = about_file(request.mesh, [&] {
    return solve_image(request, image, mask, gather_voxel_sources(request, inputs, image), console);
  });
  summary.vertices = image.grid.voxel_count();
  summary.elements =
      mask.empty() ? summary.vertices
                   : static_cast<std::size_t>(std::count_if(mask.begin(), mask.end(), [](auto m) { return m != 0; }));
  summary.corners = voxel_corners;
  summary.solves_per_vertex = arrival.solves_per_vertex();
  if (arrival.unreached > 0) summary.unreached = unreached_voxels(image.grid, mask, arrival.times);
  if (summary.unreached.in_parts > 0)
    console.warn(fmt::format("{}: {} unreached ({} without a source); give each part a source, or widen the mask",
                             summary.mesh.string(), counted(summary.unreached.in_parts, "voxel stays", "voxels stay"),
                             counted(summary.unreached.parts, "part", "parts")));
  const InterruptGuard guard;
  const Timer writing;
  write_result(request, std::move(image), arrival);
  summary.written.push_back(request.output);
  summary.write_seconds = writing.seconds();
  summary.arrival = std::move(arrival);
  print_summary(summary, console);
  return judge(summary);
}

}  // namespace isochron::cli
