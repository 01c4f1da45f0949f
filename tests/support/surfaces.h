// Closed surfaces that the library has no generator for.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "isochron/mesh.h"

namespace isochron {

/// The triangles of a grid of rows × columns quadrilaterals whose ends are glued; vertex (i, j) is i · columns + j.
/// `twisted` glues the last row to the first one backwards, as in a Klein bottle.
inline std::vector<TriangleMesh::Element> glued_grid(std::uint32_t rows, std::uint32_t columns, bool twisted) {
  const auto id = [&](std::uint32_t i, std::uint32_t j) {
    if (i == rows && twisted) j = columns - j % columns;
    return VertexId((i % rows) * columns + j % columns);
  };
  std::vector<TriangleMesh::Element> result;
  for (std::uint32_t i = 0; i < rows; ++i)
    for (std::uint32_t j = 0; j < columns; ++j) {
      result.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
      result.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
    }
  return result;
}

/// A torus around the z axis, its triangles seen counter-clockwise from outside.
inline TriangleMesh torus(double ring, double tube, std::uint32_t rows, std::uint32_t columns) {
  TriangleMesh mesh;
  for (std::uint32_t i = 0; i < rows; ++i)
    for (std::uint32_t j = 0; j < columns; ++j) {
      const double u = 2 * std::numbers::pi * i / rows, v = 2 * std::numbers::pi * j / columns;
      const double r = ring + tube * std::cos(v);
      mesh.points.push_back({r * std::cos(u), r * std::sin(u), tube * std::sin(v)});
    }
  mesh.elements = glued_grid(rows, columns, false);
  return mesh;
}

/// Both meshes as one, nothing shared.
template <int Corners>
SimplexMesh<Corners> together(SimplexMesh<Corners> a, const SimplexMesh<Corners>& b) {
  const std::size_t shift = a.vertex_count();
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  for (auto element : b.elements) {
    for (VertexId& v : element) v = VertexId(v.index() + shift);
    a.elements.push_back(element);
  }
  return a;
}

/// Turned inside out.
inline TriangleMesh reversed(TriangleMesh mesh) {
  for (auto& triangle : mesh.elements) std::swap(triangle[1], triangle[2]);
  return mesh;
}

template <int Corners>
SimplexMesh<Corners> moved(SimplexMesh<Corners> mesh, Vec3d by) {
  for (Vec3d& p : mesh.points) p += by;
  return mesh;
}

}  // namespace isochron
