// What the tests of the generators ask of every mesh.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/mesh.h"

namespace isochron {

/// The sorted vertex sets of `Size` ids that the elements contain, with how many elements contain each.
template <std::size_t Size, int Corners>
std::map<std::array<VertexId, Size>, int> sub_simplices(const SimplexMesh<Corners>& mesh) {
  std::map<std::array<VertexId, Size>, int> result;
  for (auto element : mesh.elements) {
    std::sort(element.begin(), element.end());
    for (unsigned subset = 0; subset < (1U << Corners); ++subset) {
      std::array<VertexId, Size> ids;
      std::size_t at = 0;
      for (int k = 0; k < Corners; ++k)
        if (((subset >> k) & 1U) != 0) {
          if (at < Size) ids[at] = element[k];
          ++at;
        }
      if (at == Size) ++result[ids];
    }
  }
  return result;
}

/// Vertices − edges + triangles (− tetrahedra): 1 for a disc or a ball, 2 for a closed sphere.
template <int Corners>
long euler_characteristic(const SimplexMesh<Corners>& mesh) {
  long result = static_cast<long>(mesh.vertex_count()) - static_cast<long>(sub_simplices<2>(mesh).size()) +
                static_cast<long>(sub_simplices<3>(mesh).size());
  if constexpr (Corners == 4) result -= static_cast<long>(mesh.element_count());
  return result;
}

inline double measure_of(const TetMesh& mesh, const TetMesh::Element& e) {
  const Vec3d& a = mesh.point(e[0]);
  return dot(mesh.point(e[1]) - a, cross(mesh.point(e[2]) - a, mesh.point(e[3]) - a)) / 6;
}
inline double measure_of(const TriangleMesh& mesh, const TriangleMesh::Element& e) {
  const Vec3d& a = mesh.point(e[0]);
  return norm(cross(mesh.point(e[1]) - a, mesh.point(e[2]) - a)) / 2;
}

/// Sum of the signed volumes, or of the areas.
template <int Corners>
double total_measure(const SimplexMesh<Corners>& mesh) {
  double sum = 0;
  for (const auto& element : mesh.elements) sum += measure_of(mesh, element);
  return sum;
}

/// Area of the faces that belong to one tetrahedron only. Inside a mesh that does not fit together there are some too.
inline double boundary_area(const TetMesh& mesh) {
  TriangleMesh faces;
  faces.points = mesh.points;
  for (const auto& [face, count] : sub_simplices<3>(mesh))
    if (count == 1) faces.elements.push_back(face);
  return total_measure(faces);
}

/// One manifold piece, nothing inverted, degenerate, doubled or left over.
template <int Corners>
MeshReport expect_sound(const SimplexMesh<Corners>& mesh) {
  EXPECT_NO_THROW(check_mesh(mesh));
  const MeshReport report = validate(mesh);
  EXPECT_EQ(report.inverted, 0U);
  EXPECT_EQ(report.degenerate, 0U);
  EXPECT_EQ(report.duplicate_elements, 0U);
  EXPECT_EQ(report.unreferenced_vertices, 0U);
  EXPECT_EQ(report.duplicate_points, 0U);
  EXPECT_EQ(report.non_manifold_facets, 0U);
  EXPECT_EQ(report.components, 1U);
  EXPECT_EQ(report.largest_component, mesh.vertex_count());
  EXPECT_TRUE(report.sound());
  return report;
}

/// How many different numbers of elements meet at vertices.
template <int Corners>
std::size_t different_valences(const SimplexMesh<Corners>& mesh) {
  std::vector<int> valence(mesh.vertex_count(), 0);
  for (const auto& element : mesh.elements)
    for (const VertexId v : element) ++valence[v.index()];
  return std::set<int>(valence.begin(), valence.end()).size();
}

/// The same mesh with its vertices numbered at random.
template <int Corners>
SimplexMesh<Corners> shuffled(const SimplexMesh<Corners>& mesh, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> place(mesh.vertex_count());
  for (std::size_t v = 0; v < place.size(); ++v) place[v] = static_cast<std::uint32_t>(v);
  for (std::size_t v = place.size(); v > 1; --v) std::swap(place[v - 1], place[random.below(v)]);
  SimplexMesh<Corners> result = mesh;
  for (std::size_t v = 0; v < place.size(); ++v) result.points[place[v]] = mesh.points[v];
  for (auto& element : result.elements)
    for (VertexId& v : element) v = VertexId(place[v.index()]);
  return result;
}

}  // namespace isochron
