// Triangle and tetrahedral meshes, and what is right and wrong with them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "isochron/types.h"

namespace isochron {

// ---- Triangle and tetrahedral meshes: points and connectivity, nothing else.

/// A mesh of simplices with `Corners` vertices each. Coordinates are in the caller's unit; flat meshes have z = 0.
/// Plain data, its own or borrowed: nothing is checked here, see `validate`.
template <int Corners>
struct SimplexMesh {
  static_assert(Corners == 3 || Corners == 4);
  static constexpr int corners = Corners;
  static constexpr int edges = Corners * (Corners - 1) / 2;
  using Element = std::array<VertexId, Corners>;

  Array<Vec3d> points;
  Array<Element> elements;

  [[nodiscard]] std::size_t vertex_count() const { return points.size(); }
  [[nodiscard]] std::size_t element_count() const { return elements.size(); }
  [[nodiscard]] const Vec3d& point(VertexId v) const { return points[v.index()]; }
  [[nodiscard]] const Element& element(ElementId e) const { return elements[e.index()]; }
};

using TriangleMesh = SimplexMesh<3>;
using TetMesh = SimplexMesh<4>;

/// Corner pairs of the edges in storage order: the six (three) squared metric lengths of an element come in this order.
template <int Corners>
constexpr auto edge_corners() {
  if constexpr (Corners == 3) {
    return std::array<std::array<int, 2>, 3>{{{0, 1}, {0, 2}, {1, 2}}};
  } else {
    return std::array<std::array<int, 2>, 6>{{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}}};
  }
}

/// Index of the edge between two different corners, by the Gray code of paper 001 section 3: corner k is the bit 1<<k,
/// an edge the two bits together, and (code / 2) - 1 its place. The same order serves triangles and tetrahedra.
constexpr int edge_index(int a, int b) { return ((1 << a) | (1 << b)) / 2 - 1; }

// ---- What is right and wrong with a mesh.

/// What is known of the vertex ids of elements.
enum class MeshIds { unknown, in_range };

/// Throws InputError unless the mesh has points and elements, all coordinates are finite, all vertex ids are in
/// range and lengths can be squared. Ids that are known to be in range are not looked at again.
template <int Corners>
void check_mesh(const SimplexMesh<Corners>& mesh, MeshIds ids = MeshIds::unknown, int threads = 1);

/// Which part of the mesh each vertex is in, as the smallest vertex id of that part. Parts share no vertex: a front
/// does not cross from one to another. Vertices of no element get an invalid id.
template <int Corners>
std::vector<VertexId> parts_of(const SimplexMesh<Corners>& mesh);

/// Counts of what a solver's user may want to know. "Facet" is an edge of a triangle mesh, a face of a tet mesh.
struct MeshReport {
  std::size_t vertices = 0;
  std::size_t elements = 0;
  std::size_t inverted = 0;            ///< negative volume; for triangles, negative area in a flat mesh (constant z)
  std::size_t degenerate = 0;          ///< a repeated vertex, or no volume (area) beside the edge lengths
  std::size_t duplicate_elements = 0;  ///< elements with the same vertices as an earlier one
  std::size_t unreferenced_vertices = 0;
  std::size_t duplicate_points = 0;     ///< points at exactly the place of another with a smaller id
  std::size_t boundary_facets = 0;      ///< facets of one element
  std::size_t non_manifold_facets = 0;  ///< facets of more than two elements
  /// Faces of one tetrahedron with another one behind them: elements that touch without sharing a face (the mesh is not
  /// conforming, or parts of it touch or overlap). Of very many boundary faces only some 100,000 are tested.
  std::size_t unmatched_facets = 0;
  std::size_t components = 0;                        ///< parts that share no vertex; unreferenced vertices do not count
  std::size_t largest_component = 0;                 ///< its vertices
  std::size_t max_valence = 0;                       ///< most elements at a vertex
  Vec3d low, high;                                   ///< bounding box of all points
  double min_edge = 0, mean_edge = 0, max_edge = 0;  ///< edge lengths; the mean is over element edges
  double min_quality = 0, mean_quality = 0;  ///< 1 is equilateral: 4√3·A/Σl² (triangles), 12·(3V)^⅔/Σl² (tets)
  double obtuse_share = 0;                   ///< share of elements with a corner not acute in the metric

  /// True when nothing counted makes first-arrival times wrong or meaningless.
  [[nodiscard]] bool sound() const { return degenerate == 0 && duplicate_elements == 0; }
};

/// The travel-time metric of an element, for `obtuse_share`. Empty means the identity.
using MetricOf = std::function<SymTensor3d(ElementId)>;

/// Examines the mesh, which must pass `check_mesh`. Sorts the facets in passes, so that 24 million tetrahedra need a
/// few hundred MB beyond the mesh.
template <int Corners>
MeshReport validate(const SimplexMesh<Corners>& mesh, const MetricOf& metric = {}, int threads = 1);

}  // namespace isochron
