#include "isochron/surface/field/isosurface.h"

#include <gtest/gtest.h>

#include <map>
#include <numbers>
#include <random>
#include <utility>

#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

double area(const TriangleMesh& mesh) {
  double sum = 0;
  for (const auto& [a, b, c] : mesh.elements)
    sum += 0.5 * norm(cross(mesh.point(b) - mesh.point(a), mesh.point(c) - mesh.point(a)));
  return sum;
}

double volume(const TriangleMesh& mesh) {
  double sum = 0;
  for (const auto& [a, b, c] : mesh.elements) sum += dot(mesh.point(a), cross(mesh.point(b), mesh.point(c))) / 6;
  return sum;
}

// Every edge twice, once in each direction; and the triangles around each vertex in one fan.
void expect_closed_manifold(const TriangleMesh& mesh) {
  std::map<std::pair<VertexId, VertexId>, VertexId> beyond;  // directed edge: the third corner
  for (const auto& t : mesh.elements)
    for (int c = 0; c < 3; ++c)
      ASSERT_TRUE(beyond.emplace(std::pair{t[c], t[(c + 1) % 3]}, t[(c + 2) % 3]).second) << "an edge twice";
  std::vector<int> triangles(mesh.vertex_count(), 0);
  for (const auto& t : mesh.elements)
    for (const VertexId v : t) ++triangles[v.index()];
  for (const auto& [edge, third] : beyond) ASSERT_TRUE(beyond.contains({edge.second, edge.first})) << "a border";
  std::vector<char> seen(mesh.vertex_count(), 0);
  for (const auto& [edge, third] : beyond) {
    if (seen[edge.first.index()] != 0) continue;
    seen[edge.first.index()] = 1;
    int fan = 0;
    for (VertexId at = edge.second; fan == 0 || at != edge.second; ++fan) at = beyond.at({edge.first, at});
    ASSERT_EQ(fan, triangles[edge.first.index()]) << "two fans at a vertex";
  }
}

long euler(const TriangleMesh& mesh) {
  return static_cast<long>(mesh.vertex_count()) - static_cast<long>(mesh.element_count()) / 2;
}

TEST(MarchingTetrahedra, BallHasItsEulerNumberAreaAndVolume) {
  const Lattice lattice{{30, 28, 40}, {1, 1.1, 0.8}};
  const Vec3d centre{14.2, 15.1, 15.6};
  const TriangleMesh mesh =
      marching_tetrahedra(lattice, sampled(lattice, [&](Vec3d p) { return ball(p, centre, 10); }));
  expect_closed_manifold(mesh);
  EXPECT_EQ(euler(mesh), 2);
  EXPECT_NEAR(area(mesh), 400 * std::numbers::pi, 0.01 * 400 * std::numbers::pi);
  EXPECT_NEAR(volume(mesh), 4000 * std::numbers::pi / 3, 0.01 * 4000);  // positive: it faces outward
  for (const Vec3d& p : mesh.points) EXPECT_NEAR(norm(p - centre), 10, 0.05);
}

TEST(MarchingTetrahedra, TorusHasAHole) {
  const Lattice lattice{{40, 40, 16}, {1, 1, 1}};
  const TriangleMesh mesh = marching_tetrahedra(lattice, sampled(lattice, [](Vec3d p) {
                                                  return torus(p, {19.7, 19.5, 7.6}, 12, 4.5);
                                                }));
  expect_closed_manifold(mesh);
  EXPECT_EQ(euler(mesh), 0);
  const double exact = 4 * std::numbers::pi * std::numbers::pi * 12 * 4.5;
  EXPECT_NEAR(area(mesh), exact, 0.02 * exact);
}

TEST(MarchingTetrahedra, NoiseWithZerosIsClosedAndManifold) {
  const Lattice lattice{{12, 11, 10}, {1, 1, 1}};
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(-2, 2);
  std::vector<float> values(lattice.point_count());
  for (int k = 0; k < 10; ++k)
    for (int j = 0; j < 11; ++j)
      for (int i = 0; i < 12; ++i) {
        const bool border = i == 0 || j == 0 || k == 0 || i == 11 || j == 10 || k == 9;
        values[lattice.index(i, j, k)] = border ? 1.0F : static_cast<float>(value(random));
      }
  const TriangleMesh mesh = marching_tetrahedra(lattice, values);
  EXPECT_GT(mesh.element_count(), 1000U);
  expect_closed_manifold(mesh);
  EXPECT_GT(volume(mesh), 0);
}

TEST(MarchingTetrahedra, NothingInsideGivesNothing) {
  const Lattice lattice{{4, 4, 4}, {1, 1, 1}};
  EXPECT_EQ(marching_tetrahedra(lattice, std::vector<float>(64, 0)).element_count(), 0U);
}

}  // namespace TEST_FILE
}  // namespace isochron
