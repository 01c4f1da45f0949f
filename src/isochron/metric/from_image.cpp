#include "isochron/metric/from_image.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isochron/core/error.h"

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
      fmt::format("array '{}' has six components in an order that the file does not tell; give it with --tensor-order",
                  array.name));
}

/// What the tensors in the file are.
enum class TensorKind { travel_time, velocity };

Metric tensors(const Image& image, const std::string& name, TensorKind kind, std::optional<TensorOrder> wanted,
               TensorFrame frame, std::span<const std::uint8_t> mask) {
  const DataArray& array = array_of(image, name, {6, 9});
  const FrameAxes axes = frame_axes(image.grid, frame);
  const TensorOrder order = order_of(array, image, wanted);
  TensorMetric metric;
  metric.tensor.resize(image.grid.voxel_count());
  std::array<double, 9> values{};
  for (std::size_t v = 0; v < metric.tensor.size(); ++v) {
    if (!inside(mask, v)) continue;
    for (int c = 0; c < array.components; ++c) values[static_cast<std::size_t>(c)] = array.at(v, c);
    SymTensor3d t = tensor_of({values.data(), static_cast<std::size_t>(array.components)}, order);
    if (frame != TensorFrame::world) t = rotate_to_world(t, axes);
    // A tensor that is not positive definite stays what it is, for the check that counts all of them.
    if (kind == TensorKind::velocity && positive_definite(t)) t = inverse(t);
    metric.tensor[v] = narrowed(t);
  }
  return Metric(std::move(metric));
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
  if (!request.velocities) throw UsageError("fibres need velocities (along and across them); give --velocity L,T");
  FiberMetric metric;
  metric.fiber = directions(image, request.fiber_array);
  if (!request.sheet_array.empty()) metric.sheet = directions(image, request.sheet_array);
  metric.velocities = {*request.velocities};
  std::size_t zero = 0;
  for (std::size_t v = 0; v < metric.fiber.size(); ++v)
    if (inside(mask, v) && metric.fiber[v] == Vec3f{}) ++zero;
  if (zero > 0 && request.zero_fibers == ZeroFibers::refuse)
    throw InputError(
        fmt::format("the fibre is zero in {} voxels; mask them out (--mask), or let them conduct alike in all "
                    "directions with --allow-zero-fibers",
                    zero));
  return Metric(std::move(metric));
}

void check_one(const MetricRequest& request) {
  const int given = (request.speed ? 1 : 0) + (request.speed_array.empty() ? 0 : 1) +
                    (request.metric_array.empty() ? 0 : 1) + (request.velocity_tensor_array.empty() ? 0 : 1) +
                    (request.fiber_array.empty() ? 0 : 1);
  if (given > 1)
    throw UsageError("speeds, tensors and fibres exclude one another (each is a whole metric); give one of them");
  if (!request.table.empty() || !request.region_array.empty())
    throw UsageError("velocity tables are for meshes; on an image give --speed-array or a tensor array");
  if (!request.sheet_array.empty() && request.fiber_array.empty())
    throw UsageError("sheets need fibres (--fibers NAME); give both, or leave out --sheets");
  if (request.velocities && request.fiber_array.empty())
    throw UsageError("--velocity needs fibres (--fibers NAME); give --speed for the same in all directions");
}

}  // namespace

Metric metric_from_image(const Image& image, const MetricRequest& request, std::optional<TensorOrder> order,
                         std::span<const std::uint8_t> mask, TensorFrame frame) {
  check_one(request);
  if (!request.speed_array.empty()) return speeds(image, request.speed_array);
  if (!request.metric_array.empty())
    return tensors(image, request.metric_array, TensorKind::travel_time, order, frame, mask);
  if (!request.velocity_tensor_array.empty())
    return tensors(image, request.velocity_tensor_array, TensorKind::velocity, order, frame, mask);
  if (!request.fiber_array.empty()) return fibers(image, request, mask);
  return Metric::isotropic(request.speed.value_or(1.0));
}

}  // namespace isochron
