#include "isochron/generate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/generate/smoothing.h"

namespace isochron {
namespace {

void check_range(const ValueRange& range) {
  if (!(range.low > 0 && range.low <= range.high && std::isfinite(range.high)))
    throw UsageError(
        fmt::format("values cannot lie between {} and {} (they must be positive, and the lower end comes first); give "
                    "a range like 0.1,1",
                    range.low, range.high));
}

/// Turns a standard normal value into one that is uniform in the range.
double spread(double normal, const ValueRange& range) {
  const double share = 0.5 * std::erfc(-normal / std::numbers::sqrt2);
  return range.low + (range.high - range.low) * share;
}

template <int Corners>
double element_mean(const std::vector<double>& values, const std::array<VertexId, Corners>& element) {
  double sum = 0;
  for (const VertexId v : element) sum += values[v.index()];
  return sum / Corners;
}

template <int Corners>
Vec3d centroid(const SimplexMesh<Corners>& mesh, const typename SimplexMesh<Corners>::Element& element) {
  Vec3d sum;
  for (const VertexId v : element) sum += mesh.point(v);
  return sum / Corners;
}

Vec3f unit(const Vec3d& v) {
  const Vec3d u = v / norm(v);
  return {static_cast<float>(u.x), static_cast<float>(u.y), static_cast<float>(u.z)};
}

/// The part of `v` in the plane of a triangle; where that is nothing, the triangle's first edge.
Vec3d in_plane(const TriangleMesh& mesh, const TriangleMesh::Element& element, const Vec3d& v) {
  const Vec3d edge = mesh.point(element[1]) - mesh.point(element[0]);
  const Vec3d normal = cross(edge, mesh.point(element[2]) - mesh.point(element[0]));
  const double squared = dot(normal, normal);
  const Vec3d part = squared > 0 ? v - (dot(v, normal) / squared) * normal : v;
  return norm(part) > 1e-6 * norm(v) ? part : edge;
}

/// The columns of the rotation that a quaternion, not necessarily of length one, stands for.
std::array<Vec3d, 3> rotation_axes(const std::array<double, 4>& quaternion) {
  auto [w, x, y, z] = quaternion;
  const double length = std::sqrt(w * w + x * x + y * y + z * z);
  if (!(length > 0)) return {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  w /= length;
  x /= length;
  y /= length;
  z /= length;
  return {Vec3d{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
          Vec3d{2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
          Vec3d{2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
}

}  // namespace

template <int Corners>
void smooth_at_vertices(const SimplexMesh<Corners>& mesh, std::vector<double>& values, int steps) {
  std::vector<double> sum(values.size());
  std::vector<std::uint32_t> count(values.size(), 0);
  for (const auto& element : mesh.elements)
    for (const VertexId v : element) count[v.index()] += Corners - 1;
  for (int step = 0; step < steps; ++step) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const auto& element : mesh.elements) {
      const double total = Corners * element_mean<Corners>(values, element);
      for (const VertexId v : element) sum[v.index()] += total - values[v.index()];
    }
    for (std::size_t v = 0; v < values.size(); ++v)
      if (count[v] > 0) values[v] = 0.5 * (values[v] + sum[v] / count[v]);
  }
}

template <int Corners>
std::vector<double> smoothed_noise(const SimplexMesh<Corners>& mesh, const RandomFieldOptions& options) {
  Random random(options.seed);
  std::vector<double> noise(mesh.vertex_count());
  for (double& value : noise) value = random.normal();
  smooth_at_vertices(mesh, noise, options.smoothing);

  double mean = 0, variance = 0;
  for (const double value : noise) mean += value / static_cast<double>(noise.size());
  for (const double value : noise) variance += (value - mean) * (value - mean) / static_cast<double>(noise.size());
  const double scale = variance > 0 ? 1 / std::sqrt(variance) : 0;
  for (double& value : noise) value = (value - mean) * scale;
  return noise;
}

template <int Corners>
std::vector<double> random_speed(const SimplexMesh<Corners>& mesh, const ValueRange& range,
                                 const RandomFieldOptions& options) {
  check_range(range);
  std::vector<double> at_vertices = smoothed_noise(mesh, options);
  for (double& value : at_vertices) value = spread(value, range);
  std::vector<double> result;
  result.reserve(mesh.element_count());
  for (const auto& element : mesh.elements) result.push_back(element_mean<Corners>(at_vertices, element));
  return result;
}

template <int Corners>
std::vector<SymTensor3f> random_tensors(const SimplexMesh<Corners>& mesh, const ValueRange& range,
                                        const RandomFieldOptions& options) {
  check_range(range);
  // Three fields for the eigenvalues, four for a quaternion: normalised, those give every rotation equally often.
  Random seeds(options.seed);
  std::array<std::vector<double>, 7> fields;
  for (auto& field : fields) field = smoothed_noise(mesh, {.smoothing = options.smoothing, .seed = seeds.bits()});
  for (std::size_t k = 0; k < 3; ++k)
    for (double& value : fields[k]) value = spread(value, range);

  std::vector<SymTensor3f> result;
  result.reserve(mesh.element_count());
  for (const auto& element : mesh.elements) {
    std::array<double, 7> mean{};
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] = element_mean<Corners>(fields[k], element);
    const auto axes = rotation_axes({mean[3], mean[4], mean[5], mean[6]});
    SymTensor3d tensor;
    for (std::size_t k = 0; k < 3; ++k) tensor = tensor + SymTensor3d::outer(axes[k], mean[k]);
    const auto narrow = [](double x) { return static_cast<float>(x); };
    result.push_back({narrow(tensor.xx), narrow(tensor.xy), narrow(tensor.xz), narrow(tensor.yy), narrow(tensor.yz),
                      narrow(tensor.zz)});
  }
  return result;
}

template <int Corners>
std::vector<Vec3f> random_fibers(const SimplexMesh<Corners>& mesh, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vec3f> result;
  result.reserve(mesh.element_count());
  for (const auto& element : mesh.elements) {
    if constexpr (Corners == 3) {
      const Vec3d edge = mesh.point(element[1]) - mesh.point(element[0]);
      const Vec3d normal = cross(edge, mesh.point(element[2]) - mesh.point(element[0]));
      const double angle = random.uniform(0, 2 * std::numbers::pi);
      const Vec3d across = cross(normal, edge) / norm(normal);
      result.push_back(unit(std::cos(angle) * edge + std::sin(angle) * across));
    } else {
      const double x = random.normal(), y = random.normal(), z = random.normal();
      result.push_back(unit({x, y, z}));
    }
  }
  return result;
}

template <int Corners>
std::vector<Vec3f> rotating_fibers(const SimplexMesh<Corners>& mesh, double turns, int axis) {
  if (axis < 0 || axis > 2) throw UsageError(fmt::format("there is no axis {}; choose 0, 1 or 2", axis));
  double low = 0, high = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    low = v == 0 ? mesh.points[v][axis] : std::min(low, mesh.points[v][axis]);
    high = v == 0 ? mesh.points[v][axis] : std::max(high, mesh.points[v][axis]);
  }
  std::vector<Vec3f> result;
  result.reserve(mesh.element_count());
  for (const auto& element : mesh.elements) {
    const double share = high > low ? (centroid(mesh, element)[axis] - low) / (high - low) : 0;
    const double angle = 2 * std::numbers::pi * turns * share;
    Vec3d direction{std::cos(angle), std::sin(angle), 0};
    if constexpr (Corners == 3) direction = in_plane(mesh, element, direction);
    result.push_back(unit(direction));
  }
  return result;
}

template void smooth_at_vertices<3>(const TriangleMesh&, std::vector<double>&, int);
template void smooth_at_vertices<4>(const TetMesh&, std::vector<double>&, int);
template std::vector<double> smoothed_noise<3>(const TriangleMesh&, const RandomFieldOptions&);
template std::vector<double> smoothed_noise<4>(const TetMesh&, const RandomFieldOptions&);
template std::vector<double> random_speed<3>(const TriangleMesh&, const ValueRange&, const RandomFieldOptions&);
template std::vector<double> random_speed<4>(const TetMesh&, const ValueRange&, const RandomFieldOptions&);
template std::vector<SymTensor3f> random_tensors<3>(const TriangleMesh&, const ValueRange&, const RandomFieldOptions&);
template std::vector<SymTensor3f> random_tensors<4>(const TetMesh&, const ValueRange&, const RandomFieldOptions&);
template std::vector<Vec3f> random_fibers<3>(const TriangleMesh&, std::uint64_t);
template std::vector<Vec3f> random_fibers<4>(const TetMesh&, std::uint64_t);
template std::vector<Vec3f> rotating_fibers<3>(const TriangleMesh&, double, int);
template std::vector<Vec3f> rotating_fibers<4>(const TetMesh&, double, int);

}  // namespace isochron
