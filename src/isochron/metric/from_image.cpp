#include "isochron/metric_arrays.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/metric/bad_cells.h"

namespace isochron {
namespace {

const DataArray& array_of(const Image& image, const std::string& name, std::initializer_list<int> components) {
  const DataArray& array = image.data.require(name, "image");
  for (const int allowed : components)
    if (array.components == allowed) return array;
  throw InputError(
      fmt::format("array '{}' has the wrong number of components ({}); choose another array", name, array.components));
}

bool inside(std::span<const std::uint8_t> mask, std::size_t voxel) { return mask.empty() || mask[voxel] != 0; }

Metric speeds(const Image& image, const std::string& name) {
  const DataArray& array = array_of(image, name, {1});
  SpeedMetric metric;
  metric.speed.resize(image.grid.voxel_count());
  for (std::size_t v = 0; v < metric.speed.size(); ++v) metric.speed[v] = array.at(v);
  return Metric(std::move(metric));
}

TensorOrder order_of(const DataArray& array, const Image& image, std::optional<TensorOrder> wanted) {
  if (wanted || array.components == 9) return wanted.value_or(TensorOrder::row);
  if (const auto known = image.order_of(array)) return *known;
  throw InputError(
      fmt::format("array '{}' has six components in an order that the file does not tell; give it with ", array.name) +
      Setting{Option::tensor_order});
}

std::vector<SymTensor3d> tensors_of_array(const Image& image, const std::string& name,
                                          std::optional<TensorOrder> wanted, TensorFrame frame) {
  const DataArray& array = array_of(image, name, {6, 9});
  return world_tensors(array, order_of(array, image, wanted), image.grid, frame, fmt::format("array '{}'", name));
}

ImageMetric tensors(const Image& image, const std::string& name, DiffusionMetricOptions options,
                    std::optional<TensorOrder> wanted, TensorFrame frame, std::vector<std::uint8_t> mask) {
  const std::vector<SymTensor3d> found = tensors_of_array(image, name, wanted, frame);
  check_symmetric(image.data.require(name, "image"), mask, fmt::format("tensor array '{}'", name));
  options.raised = RaisedTensors::unusable;
  DiffusionMetric made = diffusion_metric(found, mask, options);
  return {std::move(made.metric), made.counts.left_out() > 0 ? std::move(made.usable) : std::move(mask), made.counts,
          std::move(made.indefinite)};
}

std::vector<Vec3f> directions(const Image& image, const std::string& name) {
  const DataArray& array = array_of(image, name, {3});
  std::vector<Vec3f> result(image.grid.voxel_count());
  for (std::size_t v = 0; v < result.size(); ++v)
    result[v] = {static_cast<float>(array.at(v, 0)), static_cast<float>(array.at(v, 1)),
                 static_cast<float>(array.at(v, 2))};
  return result;
}

Metric fibers(const Image& image, const MetricRequest& request, std::span<const std::uint8_t> mask) {
  if (!request.velocities)
    throw UsageError("fibres need velocities (along and across them); give " + Setting{Option::velocity, "L,T"});
  FiberMetric metric;
  metric.fiber = directions(image, request.fiber_array);
  if (!request.sheet_array.empty()) metric.sheet = directions(image, request.sheet_array);
  metric.velocities = {*request.velocities};
  std::size_t zero = 0;
  for (std::size_t v = 0; v < metric.fiber.size(); ++v)
    if (inside(mask, v) && metric.fiber[v] == Vec3f{}) ++zero;
  if (zero > 0 && request.zero_fibers == ZeroFibers::refuse)
    throw InputError(fmt::format("the fibre is zero in {} of {} voxels; mask them out (", zero, metric.fiber.size()) +
                     Setting{Option::mask} + "), or let them conduct alike in all directions with " +
                     Setting{Option::allow_zero_fibers});
  return Metric(std::move(metric));
}

/// Takes out of the mask the voxels where nothing moves: those of speed 0 and of excluded regions.
void leave_out_standstill(const Image& image, const MetricRequest& request, ImageMetric& made) {
  std::vector<std::uint8_t>& mask = made.mask;
  const auto leave_out = [&](std::size_t voxel) {
    if (mask.empty()) mask.assign(image.grid.voxel_count(), 1);
    made.not_conducting += mask[voxel] != 0 ? 1 : 0;
    mask[voxel] = 0;
  };
  if (const auto* speeds = std::get_if<SpeedMetric>(&made.metric.kind()))
    for (std::size_t v = 0; v < speeds->speed.size(); ++v)
      if (speeds->speed[v] == 0) leave_out(v);
  if (request.excluded_regions.empty()) return;
  if (request.region_array.empty())
    throw UsageError("regions of an image are left out, but which array holds them is not said; name it with " +
                     Setting{Option::region_array});
  const DataArray& regions = array_of(image, request.region_array, {1});
  const std::set<double> excluded(request.excluded_regions.begin(), request.excluded_regions.end());
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v)
    if (const double region = regions.at(v); !std::isnan(region) && excluded.contains(region)) leave_out(v);
}

void check_one(const MetricRequest& request) {
  const int given = (request.speed ? 1 : 0) + (request.speed_array.empty() ? 0 : 1) +
                    (request.metric_array.empty() ? 0 : 1) + (request.velocity_tensor_array.empty() ? 0 : 1) +
                    (request.fiber_array.empty() ? 0 : 1);
  if (given > 1)
    throw UsageError("speeds, tensors and fibres exclude one another (each is a whole metric); give one of them");
  if (!request.table.empty() || (!request.region_array.empty() && request.excluded_regions.empty()))
    throw UsageError("velocity tables are for meshes; on an image give " + Setting{Option::speed_array} +
                     " or a tensor array");
  if (!request.sheet_array.empty() && request.fiber_array.empty())
    throw UsageError("sheets need fibres (" + Setting{Option::fibers, "NAME"} + "); give both, or leave out " +
                     Setting{Option::sheets});
  if (request.velocities && request.fiber_array.empty())
    throw UsageError(Setting{Option::velocity} + " needs fibres (" + Setting{Option::fibers, "NAME"} + "); give " +
                     Setting{Option::speed} + " for the same in all directions");
}

}  // namespace

namespace {

ImageMetric made_of_arrays(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                           std::vector<std::uint8_t> mask, TensorFrame frame, int threads,
                           std::optional<double> median) {
  const auto of_tensors = [&](const std::string& name, DiffusionMetricKind kind) {
    const DiffusionMetricOptions options{
        .kind = kind, .floor = request.eigenvalue_floor, .median = median, .threads = threads};
    return tensors(image, name, options, order, frame, std::move(mask));
  };
  if (!request.metric_array.empty()) return of_tensors(request.metric_array, DiffusionMetricKind::identity);
  if (!request.velocity_tensor_array.empty())
    return of_tensors(request.velocity_tensor_array, DiffusionMetricKind::inverse);
  Metric metric = Metric::isotropic(request.speed.value_or(1.0));
  if (!request.speed_array.empty()) metric = speeds(image, request.speed_array);
  if (!request.fiber_array.empty()) metric = fibers(image, request, mask);
  return {.metric = std::move(metric), .mask = std::move(mask)};
}

}  // namespace

ImageMetric metric_from_image(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                              std::vector<std::uint8_t> mask, TensorFrame frame, int threads,
                              std::optional<double> median) {
  check_one(request);
  ImageMetric made = made_of_arrays(image, request, order, std::move(mask), frame, threads, median);
  leave_out_standstill(image, request, made);
  if (made.not_conducting > 0 && std::find(made.mask.begin(), made.mask.end(), 1) == made.mask.end())
    throw InputError("no voxel conducts (speeds are 0, or regions are left out); give some of them a speed");
  return made;
}

std::vector<double> mean_eigenvalues(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                                     std::span<const std::uint8_t> mask, TensorFrame frame) {
  check_one(request);
  const std::string& name = request.metric_array.empty() ? request.velocity_tensor_array : request.metric_array;
  if (name.empty()) return {};
  return positive_diffusivities(tensors_of_array(image, name, order, frame), mask);
}

}  // namespace isochron
