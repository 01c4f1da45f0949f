#include "isochron/solve/simplex/cuda/mesh_input.h"

#include <array>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::cuda {
namespace {

template <class Tag>
std::span<const std::uint32_t> numbers(std::span<const Id<Tag>> ids) {
  static_assert(sizeof(Id<Tag>) == sizeof(std::uint32_t));
  return {reinterpret_cast<const std::uint32_t*>(ids.data()), ids.size()};
}

void check_points(const DeviceTable& points) {
  if (points.columns != 2 && points.columns != 3)
    throw InputError(fmt::format("points have {} coordinates; give 2 or 3", points.columns));
}

void check_corners(const DeviceTable& elements, int corners) {
  if (elements.columns != static_cast<std::size_t>(corners))
    throw InputError(fmt::format("elements have {} corners; give {} ({})", elements.columns, corners,
                                 corners == 3 ? "triangles" : "tetrahedra"));
}

}  // namespace

template <int Corners>
MeshOnDevice<Corners>::MeshOnDevice(const SimplexMesh<Corners>& mesh)
    : points(std::span<const Vec3d>(mesh.points)), elements(std::span<const Element>(mesh.elements)) {}

template <int Corners>
MeshOnDevice<Corners>::MeshOnDevice(const DeviceMesh& mesh) {
  check_points(mesh.points);
  check_corners(mesh.elements, Corners);
  static_assert(sizeof(Vec3d) == 3 * sizeof(double) && sizeof(Element) == Corners * sizeof(std::uint32_t));
  points = DeviceArray<Vec3d>(mesh.points.rows());
  const std::array<int, 3> axes{0, 1, mesh.points.columns == 3 ? 2 : zero_column};
  copy_columns(mesh.points, axes, reinterpret_cast<double*>(points.data()));
  elements = DeviceArray<Element>(mesh.elements.rows());
  constexpr std::array<int, 4> corners{0, 1, 2, 3};
  copy_columns(mesh.elements, std::span(corners).first(Corners), reinterpret_cast<std::uint32_t*>(elements.data()));
}

template <int Corners>
SimplexMesh<Corners> MeshOnDevice<Corners>::fetch() const {
  return {fetch_all(points), fetch_all(elements)};
}

template <int Corners>
void MeshInput<Corners>::check() const {
  if (host_ != nullptr) check_mesh(*host_);
  else check_mesh(device_->fetch());
}

template <int Corners>
std::vector<typename SimplexMesh<Corners>::Element> MeshInput<Corners>::elements(std::span<const ElementId> ids) const {
  if (host_ == nullptr) return fetch_some(device_->elements.data(), numbers(ids));
  std::vector<typename SimplexMesh<Corners>::Element> result;
  result.reserve(ids.size());
  for (const ElementId e : ids) result.push_back(host_->element(e));
  return result;
}

template <int Corners>
std::vector<Vec3d> MeshInput<Corners>::points(std::span<const VertexId> ids) const {
  if (host_ == nullptr) return fetch_some(device_->points.data(), numbers(ids));
  std::vector<Vec3d> result;
  result.reserve(ids.size());
  for (const VertexId v : ids) result.push_back(host_->point(v));
  return result;
}

const DeviceMetric& MetricInput::on_device(std::optional<DeviceMetric>& place, std::size_t elements) const {
  const DeviceMetric& metric = device_ != nullptr ? *device_ : place.emplace(*host_, elements);
  if (!usable_everywhere(metric))  // then it is said where not
    check_metric(host_ != nullptr ? *host_ : metric.fetch(), elements, Subject::metric);
  return metric;
}

Metric MetricInput::of(std::span<const ElementId> elements) const {
  return host_ != nullptr ? host_->of(elements) : device_->fetch(numbers(elements));
}

template <int Corners>
double time_unit(const MeshInput<Corners>& mesh, const MetricInput& metric) {
  const std::vector<ElementId> sample = unit_sample(mesh.element_count());
  SimplexMesh<Corners> part;
  std::vector<VertexId> corners;
  for (const auto& element : mesh.elements(sample)) {
    auto& own = part.elements.emplace_back();
    for (int c = 0; c < Corners; ++c) {
      own[c] = VertexId(corners.size());
      corners.push_back(element[c]);
    }
  }
  part.points = mesh.points(corners);
  std::vector<ElementId> all;
  for (std::size_t e = 0; e < part.element_count(); ++e) all.emplace_back(e);
  return isochron::time_unit(sample_edges(part, metric.of(sample), all));
}

template struct MeshOnDevice<3>;
template struct MeshOnDevice<4>;
template class MeshInput<3>;
template class MeshInput<4>;
template double time_unit(const MeshInput<3>&, const MetricInput&);
template double time_unit(const MeshInput<4>&, const MetricInput&);

}  // namespace isochron::cuda
