// What a front runs through: meshes and images with a metric, on the host or in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/device.h"
#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"

namespace isochron {

// ---- Meshes, metrics and results that lie in device memory. This header needs no CUDA.

/// A mesh's arrays: coordinates (two columns: z is 0, or three) and one row of vertex ids an element.
struct DeviceMesh {
  cuda::DeviceTable points, elements;
};

// Metrics in device memory, with a row for each element or voxel; see those of `Metric`.

/// One column.
struct DeviceSpeed {
  cuda::DeviceTable speed;
};
/// Six columns in the order of SymTensor3, or nine: the rows of the matrix, of which the upper triangle is read.
struct DeviceTensor {
  cuda::DeviceTable tensor;
};
/// Three columns each. The table of sheets has no rows where there are none.
struct DeviceFiber {
  cuda::DeviceTable fiber, sheet;
  Velocities velocities;
};

/// A metric, wherever its arrays are. It refers to one on the host, which must live longer; a temporary one is kept.
struct AnyMetric : std::variant<std::shared_ptr<const Metric>, DeviceSpeed, DeviceTensor, DeviceFiber> {
  using variant::variant;
  AnyMetric(const Metric& metric)  // NOLINT(google-explicit-constructor)
      : variant(std::shared_ptr<const Metric>(std::shared_ptr<const Metric>(), &metric)) {}
  AnyMetric(Metric&& metric)  // NOLINT(google-explicit-constructor)
      : variant(std::make_shared<const Metric>(std::move(metric))) {}

  /// Null when the arrays are in device memory.
  [[nodiscard]] std::shared_ptr<const Metric> host() const {
    const auto* metric = std::get_if<std::shared_ptr<const Metric>>(this);
    return metric != nullptr ? *metric : nullptr;
  }
};

/// Times, and the sources when the options ask for them, in device memory. The device has written them when a call
/// returns.
struct DeviceResult {
  cuda::DeviceArray<double> times;         ///< user's numbering; +inf where nothing arrived
  cuda::DeviceArray<std::int32_t> source;  ///< −1 where nothing arrived
  int device = -1;                         ///< whose memory it is
};

/// The device that holds a table; `expected` for one without rows. Throws InputError when it is not the expected one
/// (unless that is −1).
int device_holding(const cuda::DeviceTable& table, int expected);
/// The same for all arrays of a mesh or a metric; `expected` for one on the host.
int device_holding(const DeviceMesh& mesh, int expected);
int device_holding(const AnyMetric& metric, int expected);

// ---- What a front runs through.

/// An image's voxels and where the front may pass: `mask` is empty (everywhere) or has one value per voxel, 0 where it
/// may not. The metric of masked-out voxels is never looked at.
struct MaskedGrid {
  const ImageGrid* grid;
  std::span<const std::uint8_t> mask;
};

/// A mesh on the host, with its metric.
template <int Corners>
struct MeshDomain {
  const SimplexMesh<Corners>& mesh;
  const Metric& metric;
  MeshIds ids = MeshIds::unknown;
};

/// An image on the host, with its metric.
struct GridDomain {
  const ImageGrid& grid;
  const Metric& metric;
  std::span<const std::uint8_t> mask = {};
};

template <int Corners>
struct MeshPart;  // isochron/parts.h
struct IndexBox;  // isochron/partition.h

/// An image of which each rank has a box (see `partition_boxes`). `mask` is that of this rank's voxels.
struct BoxedGrid {
  const ImageGrid* whole;
  const std::vector<IndexBox>* boxes;  ///< of all ranks
  std::span<const std::uint8_t> mask;
};

enum class DomainKind : std::uint8_t { triangles, tetrahedra, image };

/// Triangles, tetrahedra or an image, with the travel-time metric on them (one value per element or voxel; M in the
/// world frame). Arrays on the host are referred to and must not change while a solver uses them. Arrays in device
/// memory are copied before a call returns; they are read on CUDA's (legacy) default stream. After writing
/// them on a stream that does not wait for that one, call `cuda::wait_for_stream` first.
///
/// Over ranks a domain is whole on rank 0, and what the others give is ignored; or every rank gives its part,
/// with the metric of the part's elements (of the voxels of its box).
struct Domain {
  using Shape = std::variant<const TriangleMesh*, const TetMesh*, MaskedGrid, DeviceMesh, const MeshPart<3>*,
                             const MeshPart<4>*, BoxedGrid, std::monostate>;

  /// Empty, for ranks other than 0 where rank 0 has the whole.
  Domain() : shape(std::monostate()) {}
  template <int Corners>
  Domain(const SimplexMesh<Corners>& mesh, AnyMetric on_mesh, MeshIds checked = MeshIds::unknown)
      : shape(&mesh), metric(std::move(on_mesh)), ids(checked) {}
  Domain(const ImageGrid& grid, AnyMetric on_grid, std::span<const std::uint8_t> mask = {})
      : shape(MaskedGrid{&grid, mask}), metric(std::move(on_grid)) {}
  template <int Corners>
  Domain(const MeshDomain<Corners>& mesh)  // NOLINT(google-explicit-constructor)
      : Domain(mesh.mesh, mesh.metric, mesh.ids) {}
  Domain(const GridDomain& image) : Domain(image.grid, image.metric, image.mask) {}  // NOLINT
  template <int Corners>
  Domain(const MeshPart<Corners>& part, AnyMetric on_part) : shape(&part), metric(std::move(on_part)) {}
  Domain(const BoxedGrid& boxes, AnyMetric on_box) : shape(boxes), metric(std::move(on_box)) {}
  /// Elements of three columns are triangles, of four tetrahedra.
  Domain(const DeviceMesh& mesh, AnyMetric on_mesh) : shape(mesh), metric(std::move(on_mesh)) {}

  [[nodiscard]] DomainKind kind() const;
  /// Whether it is one of several parts.
  [[nodiscard]] bool in_parts() const {
    return std::holds_alternative<const MeshPart<3>*>(shape) || std::holds_alternative<const MeshPart<4>*>(shape) ||
           std::holds_alternative<BoxedGrid>(shape);
  }
  /// Whether any of its arrays is in device memory.
  [[nodiscard]] bool on_device() const { return std::holds_alternative<DeviceMesh>(shape) || metric.host() == nullptr; }

  Shape shape;
  AnyMetric metric;
  MeshIds ids = MeshIds::unknown;  ///< `in_range` where the caller has checked them already
};

}  // namespace isochron
