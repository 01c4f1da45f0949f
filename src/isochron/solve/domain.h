// What a front runs through.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/mesh/validate.h"
#include "isochron/solve/device_data.h"

namespace isochron {

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
struct MeshPart;  // dist/mesh_part.h
struct IndexBox;  // dist/index_box.h

/// An image of which each rank has a box (see `partition_boxes`). `mask` is that of this rank's voxels.
struct BoxedGrid {
  const ImageGrid* whole;
  const std::vector<IndexBox>* boxes;  ///< of all ranks
  std::span<const std::uint8_t> mask;
};

enum class DomainKind : std::uint8_t { triangles, tetrahedra, image };

/// Triangles, tetrahedra or an image, with the travel-time metric on them (one value an element or voxel; M in the
/// world frame). Arrays on the host are referred to and must not change while a solver uses them. Arrays in device
/// memory are copied before a call returns; they are read on CUDA's (legacy) default stream: whoever writes them on
/// another stream that does not wait for it calls `cuda::wait_for_stream` first.
///
/// Over ranks a domain is whole on rank 0, and then what the others give does not count; or every rank gives its part,
/// with the metric of the part's elements (of the voxels of its box).
struct Domain {
  using Shape = std::variant<const TriangleMesh*, const TetMesh*, MaskedGrid, DeviceMesh, const MeshPart<3>*,
                             const MeshPart<4>*, BoxedGrid, std::monostate>;

  /// Of a rank that has nothing of it.
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
