#include "isochron/generate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "isochron/error.h"
#include "mesh/mesh_checks.h"

namespace isochron {
namespace TEST_FILE {

Vec3d widen(Vec3f v) { return {v.x, v.y, v.z}; }

Vec3d centroid(const TetMesh& mesh, const TetMesh::Element& element) {
  Vec3d sum;
  for (const VertexId v : element) sum += 0.25 * mesh.point(v);
  return sum;
}

TEST(Ventricle, IsOneSoundPieceAtAnySize) {
  for (const double edge : {20.0, 6.0, 3.0}) {
    const Ventricle heart = generate_ventricle({.edge = edge});
    const MeshReport report = expect_sound(heart.mesh);
    EXPECT_EQ(euler_characteristic(heart.mesh), 1);
    EXPECT_GT(report.min_quality, edge > 10 ? 0.15 : 0.3);
    EXPECT_EQ(heart.fiber.size(), heart.mesh.element_count());
    EXPECT_EQ(heart.sheet.size(), heart.mesh.element_count());
    EXPECT_EQ(heart.transmural.size(), heart.mesh.vertex_count());
    EXPECT_EQ(heart.apicobasal.size(), heart.mesh.vertex_count());
    EXPECT_NEAR(report.high.z, 15, 1e-9);
    EXPECT_NEAR(report.low.z, -54, 0.1 * edge);
  }
}

TEST(Ventricle, HasTheVolumeOfTheWall) {
  // An ellipsoid with half-axes a, a, c cut at height z has the volume π a² (z + 2c/3 − z³/(3c²)).
  const auto cut = [](double a, double c, double z) {
    return M_PI * a * a * (z + 2 * c / 3 - z * z * z / (3 * c * c));
  };
  const double exact = cut(27, 54, 15) - cut(17, 47, 15);
  EXPECT_NEAR(total_measure(generate_ventricle({.edge = 3}).mesh), exact, 0.01 * exact);
}

TEST(Ventricle, MeetsTheWantedNumberOfElements) {
  for (const std::size_t wanted : {1000U, 20000U, 60000U}) {
    const double made = static_cast<double>(generate_ventricle({.elements = wanted}).mesh.element_count());
    EXPECT_NEAR(made / static_cast<double>(wanted), 1, 0.05);
  }
}

TEST(Ventricle, CoordinatesMatchTheSurfaces) {
  const VentricleOptions options{.edge = 4};
  const Ventricle heart = generate_ventricle(options);
  std::size_t inner = 0, outer = 0, base = 0;
  for (std::size_t v = 0; v < heart.mesh.vertex_count(); ++v) {
    const Vec3d& p = heart.mesh.points[v];
    const auto on = [&](double a, double c) { return (p.x * p.x + p.y * p.y) / (a * a) + p.z * p.z / (c * c); };
    if (heart.transmural[v] == 0) {
      ++inner;
      EXPECT_NEAR(on(options.endo_short, options.endo_long), 1, 1e-9);
    }
    if (heart.transmural[v] == 1) {
      ++outer;
      EXPECT_NEAR(on(options.epi_short, options.epi_long), 1, 1e-9);
    }
    EXPECT_GE(heart.apicobasal[v], 0);
    EXPECT_LE(heart.apicobasal[v], 1);
    if (std::abs(p.z - options.base) < 1e-9) {
      ++base;
      EXPECT_NEAR(heart.apicobasal[v], 1, 1e-6);
    }
  }
  EXPECT_EQ(inner, outer);
  EXPECT_GT(base, 0U);
}

TEST(Ventricle, FibersTurnThroughTheWall) {
  const VentricleOptions options{.edge = 2, .helix_endo = 70, .helix_epi = -50};
  const Ventricle heart = generate_ventricle(options);
  for (std::size_t e = 0; e < heart.mesh.element_count(); ++e) {
    const Vec3d f = widen(heart.fiber[e]), s = widen(heart.sheet[e]), p = centroid(heart.mesh, heart.mesh.elements[e]);
    ASSERT_NEAR(norm(f), 1, 1e-5);
    ASSERT_NEAR(norm(s), 1, 1e-5);
    ASSERT_NEAR(dot(f, s), 0, 1e-5);
    ASSERT_GT(dot(s, p), 0);  // outward
    const double radius = std::hypot(p.x, p.y);
    if (radius < 1) continue;
    // The angle from the circumference towards the base, and the depth it belongs to.
    const Vec3d around{-p.y / radius, p.x / radius, 0};
    const double angle = std::atan2(dot(f, cross(s, around)), dot(f, around)) * 180 / M_PI;
    const double t = (angle - options.helix_endo) / (options.helix_epi - options.helix_endo);
    const double a = 17 + 10 * t, c = 47 + 7 * t;
    ASSERT_NEAR(radius * radius / (a * a) + p.z * p.z / (c * c), 1, 1e-4);
    ASSERT_NEAR(norm(cross(s, Vec3d{p.x / (a * a), p.y / (a * a), p.z / (c * c)})), 0, 1e-5);  // tangent layers
    ASSERT_GT(t, -0.01);
    ASSERT_LT(t, 1.01);
  }
}

TEST(Ventricle, DoesNotDependOnThreads) {
  const Ventricle one = generate_ventricle({.edge = 3, .threads = 1}),
                  two = generate_ventricle({.edge = 3, .threads = 2});
  EXPECT_EQ(one.mesh.points, two.mesh.points);
  EXPECT_EQ(one.mesh.elements, two.mesh.elements);
  EXPECT_EQ(one.fiber, two.fiber);
}

TEST(Ventricle, RefusesNonsense) {
  EXPECT_THROW(generate_ventricle({.epi_short = 10}), UsageError);
  EXPECT_THROW(generate_ventricle({.base = 47}), UsageError);
  EXPECT_THROW(generate_ventricle({.edge = 0}), UsageError);
  EXPECT_THROW(generate_ventricle({.edge = 0.01}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
