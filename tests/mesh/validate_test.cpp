#include "isochron/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "mesh/mesh_checks.h"

namespace isochron {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::ThrowsMessage;

TetMesh small_cube() { return generate_cube({.nx = 4, .ny = 4, .nz = 4, .extent = {3, 3, 3}}); }

TriangleMesh one_triangle() {
  TriangleMesh mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0.5, std::sqrt(0.75), 0}};
  mesh.elements = {{VertexId(0), VertexId(1), VertexId(2)}};
  return mesh;
}

TetMesh regular_tet() {
  TetMesh mesh;
  mesh.points = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  mesh.elements = {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)}};
  return mesh;
}

TEST(CheckMesh, LengthsMustBeOnesThatCanBeSquared) {
  for (const double scale : {1e-160, 1e160}) {
    TetMesh mesh = small_cube();
    for (Vec3d& p : mesh.points) p = scale * p;
    EXPECT_THAT([&] { check_mesh(mesh); }, ThrowsMessage<InputError>(HasSubstr("too large or too small"))) << scale;
  }
  for (const double scale : {1e-140, 0.0, 1e140}) {
    TetMesh mesh = small_cube();
    for (Vec3d& p : mesh.points) p = scale * p;
    EXPECT_NO_THROW(check_mesh(mesh)) << scale;
  }
}

TEST(CheckMesh, NamesWhatIsWrong) {
  EXPECT_NO_THROW(check_mesh(small_cube()));
  EXPECT_THAT([] { check_mesh(TetMesh{}); }, ThrowsMessage<InputError>(HasSubstr("no points")));
  TetMesh mesh = small_cube();
  mesh.elements.clear();
  EXPECT_THAT([&] { check_mesh(mesh); }, ThrowsMessage<InputError>(HasSubstr("no tetrahedra")));
  mesh = small_cube();
  mesh.points[5].y = std::numeric_limits<double>::quiet_NaN();
  mesh.points[9].z = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { check_mesh(mesh); }, ThrowsMessage<InputError>(HasSubstr("2 of 64 points")));
  EXPECT_THAT([&] { check_mesh(mesh); }, ThrowsMessage<InputError>(HasSubstr("first: point 5")));
  mesh = small_cube();
  mesh.elements[7][2] = VertexId(64);
  EXPECT_THAT([&] { check_mesh(mesh); }, ThrowsMessage<InputError>(HasSubstr("first in element 7")));
  EXPECT_NO_THROW(check_mesh(mesh, MeshIds::in_range));  // the caller says so
}

TEST(CheckMesh, ThreadsFindTheSame) {
  TetMesh mesh = generate_cube({.nx = 30, .ny = 30, .nz = 30});
  EXPECT_NO_THROW(check_mesh(mesh, MeshIds::unknown, 4));
  for (const std::size_t element : {100000U, 60000U, 140000U})
    for (const int corner : {1, 3}) mesh.elements[element][corner] = VertexId(27000);
  EXPECT_THAT([&] { check_mesh(mesh, MeshIds::unknown, 4); },
              ThrowsMessage<InputError>(HasSubstr("6 times, first in element 60000")));
  for (const std::size_t point : {26999U, 9000U, 20000U}) mesh.points[point].x = std::nan("");
  EXPECT_THAT([&] { check_mesh(mesh, MeshIds::unknown, 4); },
              ThrowsMessage<InputError>(HasSubstr("3 of 27000 points (first: point 9000)")));
}

TEST(Validate, MeasuresEquilateralElements) {
  const MeshReport flat = validate(one_triangle());
  EXPECT_NEAR(flat.min_quality, 1, 1e-12);
  EXPECT_NEAR(flat.mean_edge, 1, 1e-12);
  EXPECT_EQ(flat.boundary_facets, 3U);
  EXPECT_EQ(flat.obtuse_share, 0);
  const MeshReport solid = validate(regular_tet());
  EXPECT_NEAR(solid.mean_quality, 1, 1e-12);
  EXPECT_NEAR(solid.max_edge, std::sqrt(8.0), 1e-12);
  EXPECT_EQ(solid.boundary_facets, 4U);
  EXPECT_EQ(solid.max_valence, 1U);
}

TEST(Validate, FindsInvertedElements) {
  TetMesh mesh = small_cube();
  std::swap(mesh.elements[3][0], mesh.elements[3][1]);
  std::swap(mesh.elements[8][0], mesh.elements[8][1]);
  EXPECT_EQ(validate(mesh).inverted, 2U);
  TriangleMesh flat = generate_square({.n = 5});
  std::swap(flat.elements[3][0], flat.elements[3][1]);
  EXPECT_EQ(validate(flat).inverted, 1U);
  flat.points[0].z = 1;  // no longer flat: a triangle in space has no wrong side
  EXPECT_EQ(validate(flat).inverted, 0U);
}

TEST(Validate, FindsDegenerateElements) {
  TetMesh mesh = small_cube();
  mesh.elements[3][0] = mesh.elements[3][1];
  EXPECT_EQ(validate(mesh).degenerate, 1U);
  EXPECT_FALSE(validate(mesh).sound());
  TetMesh sliver = regular_tet();
  sliver.points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 1e-13}};
  EXPECT_EQ(validate(sliver).degenerate, 1U);
  sliver.points[3].z = 1e-4;
  EXPECT_EQ(validate(sliver).degenerate, 0U);
  TriangleMesh line = one_triangle();
  line.points[2] = {0.3, 0, 0};
  EXPECT_EQ(validate(line).degenerate, 1U);
}

TEST(Validate, FindsDuplicatesAndLeftovers) {
  TetMesh mesh = small_cube();
  mesh.elements.push_back({mesh.elements[4][2], mesh.elements[4][0], mesh.elements[4][1], mesh.elements[4][3]});
  mesh.elements.push_back(mesh.elements[4]);
  mesh.points.push_back(mesh.points[11]);
  mesh.points.push_back({9, 9, 9});
  const MeshReport report = validate(mesh);
  EXPECT_EQ(report.duplicate_elements, 2U);
  EXPECT_EQ(report.unreferenced_vertices, 2U);
  EXPECT_EQ(report.duplicate_points, 1U);
  EXPECT_GT(report.non_manifold_facets, 0U);
  EXPECT_EQ(report.components, 1U);
  EXPECT_EQ(report.high, (Vec3d{9, 9, 9}));
}

TEST(Validate, FindsNonManifoldEdges) {
  TriangleMesh fan = one_triangle();
  fan.points.push_back({0, 0, 1});
  fan.points.push_back({0, -1, 0});
  fan.elements.push_back({VertexId(0), VertexId(1), VertexId(3)});
  EXPECT_EQ(validate(fan).non_manifold_facets, 0U);
  fan.elements.push_back({VertexId(0), VertexId(1), VertexId(4)});
  const MeshReport report = validate(fan);
  EXPECT_EQ(report.non_manifold_facets, 1U);
  EXPECT_EQ(report.boundary_facets, 6U);
}

TEST(Validate, CountsComponents) {
  TetMesh mesh = small_cube();
  TetMesh other = generate_cube({.nx = 2, .ny = 2, .nz = 2});
  for (const Vec3d& p : other.points) mesh.points.push_back(p + Vec3d({10, 0, 0}));
  for (const auto& e : other.elements)
    mesh.elements.push_back({VertexId(e[3].index() + 64), VertexId(e[2].index() + 64), VertexId(e[1].index() + 64),
                             VertexId(e[0].index() + 64)});
  const MeshReport report = validate(shuffled(mesh, 1));
  EXPECT_EQ(report.components, 2U);
  EXPECT_EQ(report.largest_component, 64U);
}

TEST(Parts, AreNamedByTheirSmallestVertex) {
  TriangleMesh mesh;
  mesh.points.resize(8);
  mesh.elements = {{VertexId(7), VertexId(3), VertexId(5)},
                   {VertexId(6), VertexId(1), VertexId(2)},
                   {VertexId(5), VertexId(4), VertexId(7)}};
  const std::vector<VertexId> part = parts_of(mesh);
  for (const std::size_t v : {3U, 4U, 5U, 7U}) EXPECT_EQ(part[v], VertexId(3));
  for (const std::size_t v : {1U, 2U, 6U}) EXPECT_EQ(part[v], VertexId(1));
  EXPECT_FALSE(part[0].valid());
}

TEST(Validate, FindsFacesThatDoNotMatch) {
  EXPECT_EQ(validate(generate_cube({.nx = 6, .ny = 5, .nz = 4, .jitter = 0.3})).unmatched_facets, 0U);
  // Two boxes that touch, whose cells are cut along different diagonals.
  TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3});
  const TetMesh other = generate_cube({.nx = 3, .ny = 3, .nz = 3, .diagonal = KuhnDiagonal::pnp});
  const std::size_t first = mesh.points.size();
  for (const Vec3d& p : other.points) mesh.points.push_back(p + Vec3d{1, 0, 0});
  for (auto element : other.elements) {
    for (VertexId& v : element) v = VertexId(v.index() + first);
    mesh.elements.push_back(element);
  }
  EXPECT_EQ(validate(mesh, {}, 2).unmatched_facets, 16U);
}

TEST(Validate, ObtuseDependsOnTheMetric) {
  const TriangleMesh mesh = generate_square({.n = 8});
  EXPECT_EQ(validate(mesh).obtuse_share, 0);
  // Right triangles stay right in a metric along the axes and turn obtuse in one across them.
  EXPECT_EQ(validate(mesh, [](ElementId) { return SymTensor3d::diagonal(1, 9, 1); }).obtuse_share, 0);
  EXPECT_EQ(validate(mesh, [](ElementId) { return SymTensor3d{2, 1, 0, 2, 0, 1}; }).obtuse_share, 1);
  const auto half = [&](ElementId e) {
    return e.index() % 2 == 0 ? SymTensor3d{2, 1, 0, 2, 0, 1} : SymTensor3d::identity();
  };
  EXPECT_NEAR(validate(mesh, half, 2).obtuse_share, 0.5, 0.01);
}

TEST(Validate, DoesNotDependOnThreadsOrNumbering) {
  const TetMesh mesh = generate_cube({.nx = 12, .ny = 9, .nz = 7, .jitter = 0.3});
  const MeshReport a = validate(mesh, {}, 1), b = validate(shuffled(mesh, 4), {}, 3);
  EXPECT_EQ(a.boundary_facets, b.boundary_facets);
  EXPECT_EQ(a.max_valence, b.max_valence);
  EXPECT_EQ(a.min_edge, b.min_edge);
  EXPECT_NEAR(a.mean_quality, b.mean_quality, 1e-12);
  EXPECT_EQ(a.obtuse_share, b.obtuse_share);
}

}  // namespace TEST_FILE
}  // namespace isochron
