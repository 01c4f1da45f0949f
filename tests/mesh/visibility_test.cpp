#include "isochron/mesh/visibility.h"

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "isochron/mesh/locator.h"
#include "support/cut_mesh.h"

namespace isochron {
namespace TEST_FILE {

template <int Corners>
bool sees(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, VertexId from, VertexId to) {
  return segment_inside(mesh, adjacency, mesh.point(from), elements_at(adjacency, from), to);
}

template <int Corners>
void expect_all_pairs_visible(const SimplexMesh<Corners>& mesh) {
  const Adjacency adjacency = build_adjacency(mesh);
  for (std::size_t a = 0; a < mesh.vertex_count(); ++a)
    for (std::size_t b = 0; b < mesh.vertex_count(); ++b)
      EXPECT_TRUE(sees(mesh, adjacency, VertexId(a), VertexId(b))) << a << " to " << b;
}

TEST(Visibility, EverythingInAConvexMesh) {
  expect_all_pairs_visible(generate_cube({.nx = 5, .ny = 5, .nz = 5}));
  expect_all_pairs_visible(generate_cube({.nx = 5, .ny = 4, .nz = 6, .extent = {100, 3, 0.02}, .jitter = 0.3}));
  expect_all_pairs_visible(generate_irregular_cube({.n = 5}));
  TriangleMesh square = generate_square({.n = 9});
  expect_all_pairs_visible(square);
  tilt(square);
  expect_all_pairs_visible(square);
  square = generate_square({.n = 9, .jitter = 0.3, .pattern = SquarePattern::alternating});
  tilt(square);
  expect_all_pairs_visible(square);
}

TEST(Visibility, FarFromTheOrigin) {
  TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5, .extent = {4.4, 4.4, 4.4}});
  for (Vec3d& p : mesh.points) p += Vec3d{4.3e5, 5.1e6, -1.7e3};
  expect_all_pairs_visible(mesh);
}

TEST(Visibility, FromAPointInsideAnElement) {
  const TetMesh mesh = generate_cube({.nx = 7, .ny = 7, .nz = 7, .jitter = 0.25});
  const Adjacency adjacency = build_adjacency(mesh);
  const PointLocator<4> locator(mesh);
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    const double x = random.uniform(), y = random.uniform(), z = random.uniform();
    const auto at = locator.nearest({x, y, z});
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
      EXPECT_TRUE(segment_inside(mesh, adjacency, at.point, std::span(&at.element, 1), VertexId(v)));
  }
}

TEST(Visibility, NotThroughASlit) {
  // The slit is x < 1/2 in the plane z = 1/2.
  const TetMesh whole = generate_cube({.nx = 9, .ny = 9, .nz = 9});
  const TetMesh mesh = slit(
      whole, [](Vec3d p) { return p.z == 0.5 && p.x < 0.5; }, [](Vec3d c) { return c.z > 0.5; });
  const std::size_t copies_begin = whole.vertex_count();
  ASSERT_EQ(mesh.vertex_count(), copies_begin + 4 * 9);
  const Adjacency adjacency = build_adjacency(mesh);
  for (const Vec3d start :
       {Vec3d{0.25, 0.5, 0.25}, Vec3d{0.25, 0.5, 0.375}, Vec3d{0, 0, 0}, Vec3d{0.5, 0.125, 0.125}}) {
    const VertexId from = vertex_at(mesh, start);
    for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
      const Vec3d to = mesh.points[i];
      const double t = (0.5 - start.z) / (to.z - start.z);
      const bool in_upper_half = to.z > 0.5 || i >= copies_begin;
      const bool hidden = in_upper_half && start.x + t * (to.x - start.x) < 0.5 - 1e-12;
      EXPECT_EQ(sees(mesh, adjacency, from, VertexId(i)), !hidden) << "vertex " << i;
    }
  }
}

TEST(Visibility, AlongASlitOnItsOwnSideOnly) {
  const TetMesh whole = generate_cube({.nx = 9, .ny = 9, .nz = 9});
  const TetMesh mesh = slit(
      whole, [](Vec3d p) { return p.z == 0.5 && p.x < 0.5; }, [](Vec3d c) { return c.z > 0.5; });
  const Adjacency adjacency = build_adjacency(mesh);
  const VertexId lower = vertex_at(mesh, {0.25, 0.5, 0.5});
  const VertexId rim = vertex_at(mesh, {0.5, 0.5, 0.5});
  for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
    if (mesh.points[i].z != 0.5) continue;
    EXPECT_EQ(sees(mesh, adjacency, lower, VertexId(i)), i < whole.vertex_count());
    EXPECT_TRUE(sees(mesh, adjacency, rim, VertexId(i)));
  }
}

TEST(Visibility, NotRoundACorner) {
  const TetMesh mesh =
      without(generate_cube({.nx = 9, .ny = 3, .nz = 9}), [](Vec3d c) { return c.x > 0.5 && c.z > 0.5; });
  const Adjacency adjacency = build_adjacency(mesh);
  const Vec3d start{0.25, 0.5, 0.875};
  const VertexId from = vertex_at(mesh, start);
  for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
    if (adjacency.valence(VertexId(i)) == 0) continue;
    bool inside = true;
    for (double t = 0; t <= 1; t += 1.0 / 1024) {
      const Vec3d p = start + t * (mesh.points[i] - start);
      inside = inside && !(p.x > 0.5 + 1e-9 && p.z > 0.5 + 1e-9);
    }
    EXPECT_EQ(sees(mesh, adjacency, from, VertexId(i)), inside) << "vertex " << i;
  }
}

TEST(Visibility, OnACurvedSurfaceOnlyAlongEdges) {
  const TriangleMesh mesh = generate_sphere({.frequency = 4});
  const Adjacency adjacency = build_adjacency(mesh);
  const VertexId from(17);
  std::size_t seen = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) seen += sees(mesh, adjacency, from, VertexId(v)) ? 1 : 0;
  EXPECT_EQ(seen, 1 + adjacency.valence(from));
}

TEST(Visibility, NotOverARoof) {
  TriangleMesh mesh = generate_square({.n = 9});
  for (Vec3d& p : mesh.points) p.z = 0.25 - 0.5 * std::abs(p.x - 0.5);
  const Adjacency adjacency = build_adjacency(mesh);
  const VertexId ridge = vertex_at(mesh, {0.5, 0.25, 0.25});
  const VertexId left = vertex_at(mesh, {0.25, 0.25, 0.125});
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    EXPECT_TRUE(sees(mesh, adjacency, ridge, VertexId(v)));
    EXPECT_EQ(sees(mesh, adjacency, left, VertexId(v)), mesh.points[v].x <= 0.5);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
