// Triangle and tetrahedral meshes: points and connectivity, nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "isochron/core/array.h"
#include "isochron/core/ids.h"
#include "isochron/core/vec.h"

namespace isochron {

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

}  // namespace isochron
