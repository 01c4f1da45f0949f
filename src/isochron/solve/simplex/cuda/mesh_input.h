// What the device's solvers of meshes are made from: a mesh and a metric, each on the host or already in device memory.
// This header needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isochron/device.h"
#include "isochron/domain.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"
#include "isochron/solve/cuda/device_metric.h"

namespace isochron::cuda {

/// A mesh in device memory, in a copy of its own as the host would keep it. Ids are not checked.
template <int Corners>
struct MeshOnDevice {
  using Element = typename SimplexMesh<Corners>::Element;
  DeviceArray<Vec3d> points;
  DeviceArray<Element> elements;

  explicit MeshOnDevice(const SimplexMesh<Corners>& mesh);
  /// Throws InputError when the tables are not those of such a mesh.
  explicit MeshOnDevice(const DeviceMesh& mesh);
  [[nodiscard]] SimplexMesh<Corners> fetch() const;
};

/// A mesh, wherever it is.
template <int Corners>
class MeshInput {
 public:
  MeshInput(const SimplexMesh<Corners>& mesh) : host_(&mesh) {}     // NOLINT: it is either
  MeshInput(const MeshOnDevice<Corners>& mesh) : device_(&mesh) {}  // NOLINT

  [[nodiscard]] std::size_t vertex_count() const {
    return host_ != nullptr ? host_->vertex_count() : device_->points.size();
  }
  [[nodiscard]] std::size_t element_count() const {
    return host_ != nullptr ? host_->element_count() : device_->elements.size();
  }
  /// Null when the mesh is on the device.
  [[nodiscard]] const SimplexMesh<Corners>* host() const { return host_; }
  [[nodiscard]] const MeshOnDevice<Corners>* device() const { return device_; }

  /// Throws what `check_mesh` throws.
  void check() const;
  /// Some of its elements, and some of its points.
  [[nodiscard]] std::vector<typename SimplexMesh<Corners>::Element> elements(std::span<const ElementId> ids) const;
  [[nodiscard]] std::vector<Vec3d> points(std::span<const VertexId> ids) const;

 private:
  const SimplexMesh<Corners>* host_ = nullptr;
  const MeshOnDevice<Corners>* device_ = nullptr;
};

/// A metric, wherever it is.
class MetricInput {
 public:
  MetricInput(const Metric& metric) : host_(&metric) {}          // NOLINT: it is either
  MetricInput(const DeviceMetric& metric) : device_(&metric) {}  // NOLINT

  /// Null when the metric is on the device.
  [[nodiscard]] const Metric* host() const { return host_; }
  [[nodiscard]] const DeviceMetric* device() const { return device_; }

  /// Memory that a copy on the device takes; none when it is there.
  [[nodiscard]] std::size_t bytes_to_send() const { return host_ != nullptr ? host_->bytes_per_element() : 0; }
  /// On the device, checked there: throws InputError as `check_metric` does. A copy is kept in `place`.
  const DeviceMetric& on_device(std::optional<DeviceMetric>& place, std::size_t elements) const;
  /// On some elements.
  [[nodiscard]] Metric of(std::span<const ElementId> elements) const;

 private:
  const Metric* host_ = nullptr;
  const DeviceMetric* device_ = nullptr;
};

/// As the other `time_unit`.
template <int Corners>
double time_unit(const MeshInput<Corners>& mesh, const MetricInput& metric);

}  // namespace isochron::cuda
