// The steps of `isochron path` on an image.
#include <cmath>
#include <limits>

#include "apps/isochron/path.h"
#include "apps/isochron/solve_grid.h"
#include "isochron/trace/grid_path.h"

namespace isochron::cli {
namespace {

/// How far a path's travel time may be from the front's before a closer look is taken at the metric. Between voxels
/// whose tensors differ the two differ by themselves, and by a lot before the path is shortened.
double suspicious_share(const Metric& metric, bool raw) {
  if (metric.isotropic()) return 0.1;
  return raw ? std::numeric_limits<double>::infinity() : 0.5;
}

void check_request(const PathRequest& request) {
  refuse_on_image(request.problem.elements != Elements::automatic, "--elements");
  refuse_on_image(request.tolerance.has_value(), "--to-tolerance");
  refuse_on_image(!request.problem.sources.level_set.empty(), "--source-levelset");
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

/// Voxels that none of their neighbours (faces, edges, corners) is earlier than.
Sources sources_at_minima(const ImageGrid& grid, const std::vector<double>& times) {
  const auto is_minimum = [&](VertexId v) {
    const auto at = grid.index(v);
    const auto first = [&](int k) { return at[k] - (at[k] > 0 ? 1U : 0U); };
    const auto last = [&](int k) { return std::min(at[k] + 1, grid.shape[k] - 1); };
    for (std::uint32_t z = first(2); z <= last(2); ++z)
      for (std::uint32_t y = first(1); y <= last(1); ++y)
        for (std::uint32_t x = first(0); x <= last(0); ++x)
          if (times[grid.voxel(x, y, z).index()] < times[v.index()]) return false;
    return true;
  };
  Sources sources;
  for (std::size_t v = 0; v < times.size(); ++v)
    if (std::isfinite(times[v]) && is_minimum(VertexId(v))) sources.vertices.push_back({VertexId(v), times[v]});
  return sources;
}

Sources guess_sources(const Image& arrival, const std::vector<double>& times) {
  const DataArray* label = arrival.data.find("source");
  Sources sources = label != nullptr && label->components == 1 ? sources_by_label(*label, times)
                                                               : sources_at_minima(arrival.grid, times);
  if (sources.empty())
    throw NoAnswerError("nothing was reached (no voxel has a time), so there is no path; solve with other sources");
  return sources;
}

}  // namespace

void trace_image(const PathRequest& request, const SideInputs& inputs, PathSummary& summary, Console& console) {
  check_request(request);
  const Image arrival = read_reported(request.problem.mesh, request.problem.raw, console);
  const ImageGrid& grid = arrival.grid;
  Image problem = read_problem(request, arrival, console);
  SolveRequest solved = request.problem;
  if (!request.image.empty()) solved.mesh = request.image;
  const ImageMetric on = about_file(solved.mesh, [&] { return image_problem(solved, problem, console); });
  about_file(request.problem.mesh, [&] {
    const std::vector<double> times = read_times(request, find_times(request, arrival));
    summary.targets = gather_targets(request, {grid.voxel_count(), "image", "voxel", "voxels"});
    summary.guessed_sources = request.problem.sources.empty();
    const Sources sources = summary.guessed_sources ? guess_sources(arrival, times)
                                                    : gather_voxel_sources(request.problem, inputs, problem);
    const GridPathTracer tracer(grid, on.metric, on.mask, times, sources);
    const double share = suspicious_share(on.metric, request.raw);
    trace_all(
        summary, [&](const Path& path) { return far_off(path, share) && !tracer.explains(path, share); },
        [&](const PathTarget& target) {
          return tracer.from(target.vertex ? grid.position(*target.vertex) : target.point,
                             {request.raw ? Shorten::no : Shorten::yes});
        },
        console);
  });
}

}  // namespace isochron::cli
