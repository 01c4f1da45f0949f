#include "isochron/diffusion.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"

namespace isochron {
namespace {

bool finite(const SymTensor3d& t) { return std::isfinite(t.xx + t.xy + t.xz + t.yy + t.yz + t.zz); }

void check(const DiffusionMetricOptions& options) {
  if (!(options.alpha >= 0 && options.alpha <= DiffusionMetricOptions::max_alpha))
    throw UsageError(fmt::format("alpha {} cannot be used (it sharpens by a power); give one from 0 to {}, usually 3",
                                 options.alpha, DiffusionMetricOptions::max_alpha));
  if (!(options.floor > 0 && options.floor <= 1))
    throw UsageError(
        fmt::format("the eigenvalue floor {} cannot be used (it is a share of the median diffusivity); "
                    "give one above 0 and at most 1",
                    options.floor));
  if (!(options.largest_ratio >= 1 && options.largest_ratio <= 1e6))
    throw UsageError(
        fmt::format("the largest ratio {} cannot be used (single precision holds no more than 1e6); give "
                    "one from 1 to 1e6",
                    options.largest_ratio));
}

/// The largest ratio of T's eigenvalues that keeps the ratio of M's in bounds.
double tensor_ratio(const DiffusionMetricOptions& options) {
  if (options.own || options.kind != DiffusionMetricKind::sharpened) return options.largest_ratio;
  return std::pow(options.largest_ratio, 1 / options.alpha);  // any ratio for alpha = 0: M is isotropic
}

double median_diffusivity(std::span<const SymTensor3d> tensors, std::span<const std::uint8_t> mask) {
  std::vector<double> values = positive_diffusivities(tensors, mask);
  if (values.empty()) refuse_diffusivities();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Turns one tensor after the other into its metric, and counts.
struct Converter {
  EigenvalueMap map;
  DiffusionMetricKind kind = DiffusionMetricKind::sharpened;
  RaisedTensors which = RaisedTensors::all;
  double floor = 0;
  double ratio = 1;
  DiffusionCounts counts{};

  /// False when the tensor is to be left out.
  bool convert(const SymTensor3d& tensor, SymTensor3f& m) {
    ++counts.voxels;
    if (!finite(tensor)) return ++counts.not_finite, false;
    if (tensor == SymTensor3d{}) return ++counts.empty, false;
    ++counts.usable;
    if (fractional_anisotropy(tensor) > 1) ++counts.fa_above_one;
    if (which == RaisedTensors::unusable && as_it_is(tensor, m)) return true;
    const auto e = eigen_system(tensor);
    if (!(e.values.z > 0) || which == RaisedTensors::unusable) ++counts.not_positive_definite;
    const double least = std::max(floor, e.values.x / ratio);
    if (e.values.z < least) ++counts.floored;
    const Vec3d raised{std::max(e.values.x, least), std::max(e.values.y, least), std::max(e.values.z, least)};
    m = narrowed(tensor_of_eigen(map(raised), e.vectors));
    return true;
  }

 private:
  /// The metric of a tensor without a change to its eigenvalues; false when it cannot be used, as stored.
  [[nodiscard]] bool as_it_is(const SymTensor3d& tensor, SymTensor3f& m) const {
    if (!positive_definite(tensor)) return false;
    const auto general = [&] {
      const auto e = eigen_system(tensor);
      return tensor_of_eigen(map(e.values), e.vectors);
    };
    m = narrowed(kind == DiffusionMetricKind::inverse    ? inverse(tensor)
                 : kind == DiffusionMetricKind::identity ? tensor
                                                         : general());
    return positive_definite(widened(m));
  }
};

}  // namespace

void DiffusionCounts::operator+=(const DiffusionCounts& part) {
  voxels += part.voxels;
  usable += part.usable;
  empty += part.empty;
  not_finite += part.not_finite;
  not_positive_definite += part.not_positive_definite;
  fa_above_one += part.fa_above_one;
  floored += part.floored;
}

std::vector<double> positive_diffusivities(std::span<const SymTensor3d> tensors, std::span<const std::uint8_t> mask) {
  std::vector<double> values;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double value = mean_diffusivity(tensors[i]);
    if ((mask.empty() || mask[i] != 0) && value > 0 && finite(tensors[i])) values.push_back(value);
  }
  return values;
}

void refuse_diffusivities() {
  throw InputError(
      "the tensors cannot be diffusion tensors (no voxel in the mask has a positive mean diffusivity); check the "
      "image, its component order and the mask");
}

Vec3d principal_direction(const SymTensor3d& tensor) { return eigen_system(tensor).vectors[0]; }

std::vector<SymTensor3d> world_tensors(const DataArray& array, TensorOrder order, const ImageGrid& grid,
                                       TensorFrame frame, const std::string& what) {
  if (array.components != 6 && array.components != 9)
    throw InputError(
        fmt::format("{} is no tensor image (values per voxel: {}, needed: 6 or 9); give the fitted tensors", what,
                    array.components));
  if (array.tuple_count() != grid.voxel_count())
    throw InputError(fmt::format("{} does not fit its image (tensors: {}, voxels: {}); give one per voxel", what,
                                 array.tuple_count(), grid.voxel_count()));
  const FrameAxes axes = frame_axes(grid, frame);
  std::vector<SymTensor3d> result(grid.voxel_count());
  std::array<double, 9> components{};
  const std::span<const double> used(components.data(), static_cast<std::size_t>(array.components));
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t c = 0; c < used.size(); ++c) components[c] = array.at(i, static_cast<int>(c));
    result[i] = tensor_of(used, order);
    if (frame != TensorFrame::world) result[i] = rotate_to_world(result[i], axes);
  }
  return result;
}

EigenvalueMap eigenvalue_map(DiffusionMetricKind kind, double alpha) {
  switch (kind) {
    case DiffusionMetricKind::inverse: return [](const Vec3d& t) { return Vec3d{1 / t.x, 1 / t.y, 1 / t.z}; };
    case DiffusionMetricKind::identity: return [](const Vec3d& t) { return t; };
    case DiffusionMetricKind::adjugate: return [](const Vec3d& t) { return Vec3d{t.y * t.z, t.x * t.z, t.x * t.y}; };
    default:
      return [alpha](const Vec3d& t) {
        const double g = std::cbrt(t.x) * std::cbrt(t.y) * std::cbrt(t.z);
        return Vec3d{std::pow(t.x / g, -alpha), std::pow(t.y / g, -alpha), std::pow(t.z / g, -alpha)} / g;
      };
  }
}

DiffusionMetric diffusion_metric(std::span<const SymTensor3d> tensors, std::span<const std::uint8_t> mask,
                                 const DiffusionMetricOptions& options) {
  check(options);
  if (!mask.empty() && mask.size() != tensors.size())
    throw InputError(
        fmt::format("the mask does not fit the tensors (values: {}, tensors: {}); give one of the same "
                    "image",
                    mask.size(), tensors.size()));
  DiffusionMetric result;
  result.median_diffusivity = options.median ? *options.median : median_diffusivity(tensors, mask);
  result.smallest_eigenvalue = options.floor * result.median_diffusivity;
  const EigenvalueMap map = options.own ? options.own : eigenvalue_map(options.kind, options.alpha);
  const double typical = result.median_diffusivity;
  const SymTensor3f elsewhere = narrowed(SymTensor3d::identity(map({typical, typical, typical}).x));

  TensorMetric metric;
  metric.tensor.assign(tensors.size(), elsewhere);
  result.usable.assign(tensors.size(), 0);
  result.indefinite.assign(tensors.size(), 0);
  std::mutex adding;
  parallel_chunks(options.threads, tensors.size(), [&](std::size_t begin, std::size_t end) {
    Converter converter{.map = map,
                        .kind = options.own ? DiffusionMetricKind::sharpened : options.kind,
                        .which = options.raised,
                        .floor = result.smallest_eigenvalue,
                        .ratio = tensor_ratio(options)};
    for (std::size_t i = begin; i < end; ++i) {
      if (!mask.empty() && mask[i] == 0) continue;
      const std::size_t before = converter.counts.not_positive_definite;
      result.usable[i] = converter.convert(tensors[i], metric.tensor[i]) ? 1 : 0;
      result.indefinite[i] = converter.counts.not_positive_definite > before ? 1 : 0;
    }
    const std::lock_guard lock(adding);
    result.counts += converter.counts;
  });
  if (result.counts.not_positive_definite == 0) result.indefinite = {};
  result.metric = Metric(std::move(metric));
  return result;
}

}  // namespace isochron
