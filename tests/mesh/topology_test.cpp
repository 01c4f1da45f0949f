#include "isochron/mesh_quality.h"

#include <gtest/gtest.h>

#include <numbers>

#include "isochron/generate.h"
#include "mesh/mesh_checks.h"
#include "support/surfaces.h"

namespace isochron {
namespace TEST_FILE {

TriangleMesh sphere() { return generate_sphere({.frequency = 8}); }

TEST(Topology, Sphere) {
  const SurfaceTopology found = surface_topology(sphere());
  ASSERT_EQ(found.components.size(), 1U);
  EXPECT_TRUE(found.closed() && found.manifold() && found.oriented());
  EXPECT_EQ(found.euler_characteristic(), 2);
  EXPECT_EQ(found.genus(), 0);
  EXPECT_NEAR(found.area, 4 * std::numbers::pi, 0.15);
  EXPECT_NEAR(found.volume, 4 * std::numbers::pi / 3, 0.1);
  EXPECT_EQ(found.components[0].vertices, sphere().vertex_count());
  EXPECT_EQ(surface_topology(reversed(sphere())).volume, -found.volume);
  // Far from the origin the volume stays exact.
  EXPECT_NEAR(surface_topology(moved(sphere(), {1e6, -1e6, 1e6})).volume, found.volume, 1e-6);
}

TEST(Topology, Torus) {
  const TriangleMesh mesh = torus(3, 1, 60, 30);
  const SurfaceTopology found = surface_topology(mesh);
  EXPECT_TRUE(found.closed() && found.manifold() && found.oriented());
  EXPECT_EQ(found.euler_characteristic(), 0);
  EXPECT_EQ(found.genus(), 1);
  EXPECT_NEAR(found.volume, 6 * std::numbers::pi * std::numbers::pi, 0.6);
  EXPECT_NEAR(found.area, total_measure(mesh), 1e-9);
}

TEST(Topology, PiecesAreCountedOneByOne) {
  // A sphere with a spherical cavity, a torus beside it, vertices in any order.
  TriangleMesh cavity = reversed(sphere());
  for (Vec3d& p : cavity.points) p = 0.5 * p;
  const TriangleMesh mesh = shuffled(together(together(sphere(), cavity), moved(torus(3, 1, 12, 9), {9, 0, 0})), 3);
  const SurfaceTopology found = surface_topology(mesh);
  ASSERT_EQ(found.components.size(), 3U);
  EXPECT_EQ(found.components[0].first, ElementId(0));
  EXPECT_EQ(found.components[1].genus(), 0);
  EXPECT_EQ(found.components[2].genus(), 1);
  EXPECT_NEAR(found.components[1].volume, -found.components[0].volume / 8, 1e-12);
  EXPECT_EQ(found.genus(), 1);
  EXPECT_EQ(found.euler_characteristic(), euler_characteristic(mesh));
  EXPECT_EQ(found.component_of[0], 0U);
  EXPECT_EQ(found.component_of.back(), 2U);
}

TEST(Topology, OpenSurfaces) {
  const TriangleMesh flat = generate_square({.n = 5});
  const SurfaceTopology found = surface_topology(flat);
  EXPECT_EQ(found.boundary_edges.size(), 4U * 4);
  EXPECT_FALSE(found.closed());
  EXPECT_TRUE(found.manifold() && found.oriented());
  EXPECT_EQ(found.euler_characteristic(), 1);
  EXPECT_FALSE(found.genus().has_value());
  EXPECT_EQ(found.volume, 0);
}

TEST(Topology, SurfacesThatAreNone) {
  TriangleMesh book;  // three pages at the edge 0 1
  book.points = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {-1, 1, 0}, {-1, -1, 0}, {5, 0, 0}, {0, 5, 0}};
  book.elements = {{VertexId(0), VertexId(1), VertexId(2)},
                   {VertexId(0), VertexId(1), VertexId(3)},
                   {VertexId(4), VertexId(1), VertexId(0)}};
  SurfaceTopology found = surface_topology(book);
  EXPECT_EQ(found.components.size(), 1U);
  EXPECT_EQ(found.non_manifold_edges, (std::vector<MeshEdge>{{VertexId(0), VertexId(1)}}));
  EXPECT_EQ(found.boundary_edges.size(), 6U);
  EXPECT_FALSE(found.manifold());

  TriangleMesh touching = book;  // two triangles that meet at vertex 0 only
  touching.elements = {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(0), VertexId(5), VertexId(6)}};
  found = surface_topology(touching);
  EXPECT_EQ(found.components.size(), 2U);
  EXPECT_EQ(found.non_manifold_vertices, std::vector{VertexId(0)});
  EXPECT_EQ(found.components[0].vertices, 3U);
  EXPECT_EQ(found.components[1].vertices, 3U);
  EXPECT_EQ(found.components[1].pinched_vertices, 1U);

  touching.elements.push_back({VertexId(3), VertexId(3), VertexId(4)});
  found = surface_topology(touching);
  EXPECT_EQ(found.repeating_triangles, 1U);
  EXPECT_EQ(found.component_of[2], SurfaceTopology::no_component);
  EXPECT_EQ(found.components.size(), 2U);
}

TEST(Topology, PinchedSphere) {
  // Two opposite vertices of a sphere become one: the piece stays one and its Euler number falls by one.
  TriangleMesh mesh = sphere();
  const VertexId kept = mesh.elements.front()[0], gone = mesh.elements.back()[2];
  for (auto& triangle : mesh.elements)
    for (VertexId& v : triangle)
      if (v == gone) v = kept;
  const SurfaceTopology found = surface_topology(mesh);
  ASSERT_EQ(found.components.size(), 1U);
  EXPECT_EQ(found.non_manifold_vertices, std::vector{kept});
  EXPECT_EQ(found.euler_characteristic(), 1);
  EXPECT_TRUE(found.closed());
  EXPECT_FALSE(found.genus().has_value());
}

TEST(Topology, Orientation) {
  TriangleMesh mesh = torus(3, 1, 12, 9);
  std::swap(mesh.elements[20][0], mesh.elements[20][1]);
  SurfaceTopology found = surface_topology(mesh);
  EXPECT_EQ(found.inconsistent_edges, 3U);
  EXPECT_FALSE(found.oriented());
  EXPECT_TRUE(found.components[0].orientable);
  EXPECT_EQ(found.genus(), 1);
  EXPECT_EQ(found.volume, 0);

  mesh.elements = glued_grid(12, 9, true);  // a Klein bottle; the places of its vertices do not matter
  found = surface_topology(mesh);
  EXPECT_TRUE(found.closed() && found.manifold());
  EXPECT_EQ(found.euler_characteristic(), 0);
  EXPECT_FALSE(found.components[0].orientable);
  EXPECT_FALSE(found.genus().has_value());
}

}  // namespace TEST_FILE
}  // namespace isochron
