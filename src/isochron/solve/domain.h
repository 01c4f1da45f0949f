// What a front runs through.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <variant>

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

enum class DomainKind : std::uint8_t { triangles, tetrahedra, image };

/// Triangles, tetrahedra or an image, with the travel-time metric on them (one value an element or voxel; M in the
/// world frame). Arrays on the host are referred to and must not change while a solver uses them. Arrays in device
/// memory are copied before a call returns; they are read on CUDA's (legacy) default stream: whoever writes them on
/// another stream that does not wait for it calls `cuda::wait_for_stream` first.
struct Domain {
  using Shape = std::variant<const TriangleMesh*, const TetMesh*, MaskedGrid, DeviceMesh>;

  template <int Corners>
  Domain(const SimplexMesh<Corners>& mesh, AnyMetric on_mesh, MeshIds checked = MeshIds::unknown)
      : shape(&mesh), metric(std::move(on_mesh)), ids(checked) {}
  Domain(const ImageGrid& grid, AnyMetric on_grid, std::span<const std::uint8_t> mask = {})
      : shape(MaskedGrid{&grid, mask}), metric(std::move(on_grid)) {}
  template <int Corners>
  Domain(const MeshDomain<Corners>& mesh)  // NOLINT(google-explicit-constructor)
      : Domain(mesh.mesh, mesh.metric, mesh.ids) {}
  Domain(const GridDomain& image) : Domain(image.grid, image.metric, image.mask) {}  // NOLINT
  /// Elements of three columns are triangles, of four tetrahedra.
  Domain(const DeviceMesh& mesh, AnyMetric on_mesh) : shape(mesh), metric(std::move(on_mesh)) {}

  [[nodiscard]] DomainKind kind() const;
  /// Whether any of its arrays is in device memory.
  [[nodiscard]] bool on_device() const { return std::holds_alternative<DeviceMesh>(shape) || metric.host() == nullptr; }

  Shape shape;
  AnyMetric metric;
  MeshIds ids = MeshIds::unknown;  ///< `in_range` where the caller has checked them already
};

}  // namespace isochron
