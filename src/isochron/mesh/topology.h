// How the triangles of a surface hang together: pieces, holes, handles, and where it is no surface at all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

using MeshEdge = std::array<VertexId, 2>;  ///< the smaller id first

/// A piece of a surface: triangles joined by shared edges. Pieces that share only a vertex are two.
struct SurfaceComponent {
  ElementId first;  ///< its triangle with the smallest id
  std::size_t vertices = 0, edges = 0, triangles = 0;
  std::size_t boundary_edges = 0;      ///< edges of one triangle
  std::size_t non_manifold_edges = 0;  ///< edges of more than two triangles
  std::size_t pinched_vertices = 0;    ///< vertices that hold this component together with itself or another
  std::size_t inconsistent_edges = 0;  ///< edges that both their triangles run through in the same direction
  bool orientable = true;              ///< its triangles can be turned to agree; only known without non-manifold edges
  double area = 0;                     ///< in the mesh's unit, squared
  double volume = 0;  ///< enclosed; negative when the triangles face inward, 0 unless closed and oriented

  [[nodiscard]] bool closed() const { return boundary_edges == 0 && non_manifold_edges == 0; }
  [[nodiscard]] bool oriented() const { return inconsistent_edges == 0; }
  [[nodiscard]] bool manifold() const { return non_manifold_edges == 0 && pinched_vertices == 0; }
  /// Vertices − edges + triangles: 2 for a sphere, 0 for a torus, 1 for a disc.
  [[nodiscard]] long euler_characteristic() const {
    return static_cast<long>(vertices) - static_cast<long>(edges) + static_cast<long>(triangles);
  }
  /// The number of handles; only closed, orientable surfaces have one.
  [[nodiscard]] std::optional<long> genus() const {
    if (!closed() || !manifold() || !orientable) return std::nullopt;
    return (2 - euler_characteristic()) / 2;
  }
};

struct SurfaceTopology {
  std::vector<SurfaceComponent> components;  ///< in the order of their first triangles
  std::vector<std::uint32_t> component_of;   ///< of each triangle; `no_component` for those that repeat a vertex
  std::vector<MeshEdge> boundary_edges;      ///< ascending, as all lists here
  std::vector<MeshEdge> non_manifold_edges;
  std::vector<VertexId> non_manifold_vertices;  ///< their triangles form several fans that no edge joins
  std::size_t repeating_triangles = 0;          ///< triangles that name a vertex twice; left out of everything else
  std::size_t inconsistent_edges = 0;           ///< as in the components
  double area = 0;
  double volume = 0;  ///< sum over the components: cavities, whose triangles face into them, are subtracted

  static constexpr std::uint32_t no_component = 0xffffffffU;

  [[nodiscard]] bool closed() const { return boundary_edges.empty() && non_manifold_edges.empty(); }
  [[nodiscard]] bool manifold() const { return non_manifold_edges.empty() && non_manifold_vertices.empty(); }
  [[nodiscard]] bool oriented() const { return inconsistent_edges == 0; }
  [[nodiscard]] long euler_characteristic() const;  ///< sum over the components
  /// Sum of the handles of all components, if each has a number of them.
  [[nodiscard]] std::optional<long> genus() const;
};

/// Examines a mesh that passes `check_mesh`. Needs some 40 bytes a triangle beside the mesh.
SurfaceTopology surface_topology(const TriangleMesh& mesh);

}  // namespace isochron
