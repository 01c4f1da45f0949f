// Squares and spheres.
#include <gtest/gtest.h>

#include <numbers>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "mesh/mesh_checks.h"

namespace isochron {
namespace TEST_FILE {

TEST(GenerateSquare, RegularHasTheCountsOfItsLattice) {
  for (const auto pattern : {SquarePattern::diagonal, SquarePattern::alternating}) {
    const TriangleMesh mesh = generate_square({.n = 17, .extent = 16, .pattern = pattern});
    EXPECT_EQ(mesh.vertex_count(), 17U * 17U);
    EXPECT_EQ(mesh.element_count(), 2U * 16U * 16U);
    const MeshReport report = expect_sound(mesh);
    EXPECT_EQ(report.boundary_facets, 64U);
    EXPECT_EQ(report.max_valence, pattern == SquarePattern::diagonal ? 6U : 8U);
    EXPECT_EQ(report.obtuse_share, 0);
    EXPECT_EQ(report.high, (Vec3d{16, 16, 0}));
    EXPECT_EQ(euler_characteristic(mesh), 1);
    EXPECT_NEAR(total_measure(mesh), 256, 1e-9);
  }
}

TEST(GenerateSquare, JitterMovesOnlyTheInsideAndTurnsNothingRound) {
  const TriangleMesh mesh = generate_square({.n = 40, .jitter = 0.45, .seed = 7});
  const TriangleMesh regular = generate_square({.n = 40});
  expect_sound(mesh);
  std::size_t moved = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const bool inside = v % 40 != 0 && v % 40 != 39 && v / 40 != 0 && v / 40 != 39;
    if (!(mesh.points[v] == regular.points[v])) ++moved;
    if (!inside) {
      EXPECT_EQ(mesh.points[v], regular.points[v]);
    }
  }
  EXPECT_GT(moved, 38U * 38U * 9 / 10);
  EXPECT_NEAR(total_measure(mesh), 1, 1e-12);
}

TEST(GenerateSquare, RefusesNonsense) {
  EXPECT_THROW(generate_square({.n = 1}), UsageError);
  EXPECT_THROW(generate_square({.n = 4, .extent = 0}), UsageError);
  EXPECT_THROW(generate_square({.n = 4, .jitter = 0.5}), UsageError);
}

TEST(GenerateIrregularSquare, HasTheCountsAndValencesOfThePaper) {
  // 1,024 cells a side with an eighth of them given a vertex are the paper's 1,181,697 vertices and 2,359,296
  // triangles; here the same formula with 64.
  const TriangleMesh mesh = generate_irregular_square({.n = 65});
  EXPECT_EQ(mesh.vertex_count(), 65U * 65U + 64U * 64U / 8U);
  EXPECT_EQ(mesh.element_count(), 2U * 64U * 64U + 2U * 64U * 64U / 8U);
  const MeshReport report = expect_sound(mesh);
  EXPECT_EQ(report.boundary_facets, 4U * 64U);
  EXPECT_LE(report.max_valence, 11U);
  EXPECT_GE(report.max_valence, 10U);
  EXPECT_GE(different_valences(mesh), 8U);
  EXPECT_GT(report.min_quality, 0.02);
  EXPECT_EQ(euler_characteristic(mesh), 1);
  EXPECT_NEAR(total_measure(mesh), 1, 1e-12);
}

TEST(GenerateIrregularSquare, DependsOnItsSeedOnly) {
  const TriangleMesh a = generate_irregular_square({.n = 20, .seed = 3});
  const TriangleMesh b = generate_irregular_square({.n = 20, .seed = 3});
  const TriangleMesh c = generate_irregular_square({.n = 20, .seed = 4});
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_NE(a.elements, c.elements);
}

TEST(GenerateIrregularSquare, RefusesNonsense) {
  EXPECT_THROW(generate_irregular_square({.n = 0}), UsageError);
  EXPECT_THROW(generate_irregular_square({.n = 4, .extra = 2}), UsageError);
  EXPECT_THROW(generate_irregular_square({.n = 4, .flips = -1}), UsageError);
}

TEST(GenerateSphere, IsClosedAndSeenFromOutside) {
  for (const std::size_t f : {1U, 2U, 3U, 7U, 16U}) {
    const TriangleMesh mesh = generate_sphere({.frequency = f, .radius = 2});
    EXPECT_EQ(mesh.vertex_count(), 10 * f * f + 2);
    EXPECT_EQ(mesh.element_count(), 20 * f * f);
    const MeshReport report = expect_sound(mesh);
    EXPECT_EQ(report.boundary_facets, 0U);
    EXPECT_EQ(euler_characteristic(mesh), 2);
    EXPECT_LE(report.max_valence, 6U);
    for (const Vec3d& p : mesh.points) EXPECT_NEAR(norm(p), 2, 1e-12);
    for (const auto& e : mesh.elements) {
      const Vec3d &a = mesh.point(e[0]), &b = mesh.point(e[1]), &c = mesh.point(e[2]);
      EXPECT_GT(dot(cross(b - a, c - a), a), 0);
    }
  }
}

TEST(GenerateSphere, AreaConverges) {
  const double exact = 4 * std::numbers::pi;
  const double coarse = exact - total_measure(generate_sphere({.frequency = 8}));
  const double fine = exact - total_measure(generate_sphere({.frequency = 16}));
  EXPECT_NEAR(coarse / fine, 4, 0.1);
  EXPECT_THROW(generate_sphere({.frequency = 0}), UsageError);
  EXPECT_THROW(generate_sphere({.frequency = 1, .radius = 0}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
