#include "isochron/surface/triangulate/triangulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "isochron/error.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "surface/shapes.h"

namespace isochron {
namespace TEST_FILE {

class Triangulate : public testing::Test {
 protected:
  void SetUp() override {
    if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
  }
};

TEST(TriangulateBare, SaysWhatIsMissing) {
  if (delaunay_available()) GTEST_SKIP() << "built with CGAL";
  const Lattice lattice{{8, 8, 8}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return ball(p, {3.5, 3.5, 3.5}, 2); }));
  try {
    triangulate(field, uniform_size(lattice, 1), {{3.5, 3.5, 1.5}});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("libcgal-dev"), std::string::npos);
  }
}

struct Made {
  TriangleMesh mesh;
  TriangulateReport report;
  SurfaceTopology topology;
  ShapeStatistics shapes;
};

Made made(const SplineField& field, const SizeField& sizes, const std::vector<Vec3d>& particles,
          TriangulateOptions options = {}) {
  Made result;
  options.threads = 2;
  result.mesh = triangulate(field, sizes, particles, options, &result.report);
  result.topology = surface_topology(result.mesh);
  result.shapes = shape_statistics(result.mesh);
  return result;
}

// What every result must be, whatever went in.
void expect_sound(const Made& m) {
  EXPECT_TRUE(m.topology.closed());
  EXPECT_TRUE(m.topology.manifold());
  EXPECT_TRUE(m.topology.oriented());
  EXPECT_EQ(m.report.singular_points, 0U);
  EXPECT_GT(m.topology.volume, 0);
  EXPECT_TRUE(self_intersections(m.mesh).empty());
}

SplineField sphere_field(const Lattice& lattice, Vec3d centre, double radius) {
  return {lattice, sampled(lattice, [&](Vec3d p) { return ball(p, centre, radius); })};
}

TEST_F(Triangulate, SpiralPointsOnASphere) {
  const Lattice lattice{{32, 32, 32}, {1, 1, 1}};
  const Vec3d centre{15.3, 15.6, 15.1};
  const double radius = 11;
  const SplineField field = sphere_field(lattice, centre, radius);
  constexpr int count = 1500;
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2 * i + 1.0) / count, angle = i * std::numbers::pi * (3 - std::sqrt(5.0));
    const double across = std::sqrt(1 - z * z);
    points.push_back(centre + radius * Vec3d{across * std::cos(angle), across * std::sin(angle), z});
  }
  const double area = 4 * std::numbers::pi * radius * radius;
  const SizeField sizes = uniform_size(lattice, std::sqrt(area / count * 2 / std::sqrt(3.0)));
  const Made m = made(field, sizes, points);
  expect_sound(m);
  ASSERT_EQ(m.topology.components.size(), 1U);
  EXPECT_EQ(m.topology.genus(), 0);
  EXPECT_EQ(m.mesh.vertex_count(), points.size());
  EXPECT_NEAR(m.topology.area, area, 0.01 * area);
  EXPECT_NEAR(m.topology.volume, area * radius / 3, 0.01 * area * radius / 3);
  EXPECT_GT(m.shapes.radius_ratio.min(), 0.5);
}

TEST_F(Triangulate, ScatteredPointsOnATorus) {
  const Lattice lattice{{40, 40, 24}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return torus(p, {19.4, 19.7, 11.6}, 11, 5); }));
  const SizeField sizes = uniform_size(lattice, 1.3);
  const Made m = made(field, sizes, scattered(field, sizes, 0.8, 1));
  expect_sound(m);
  ASSERT_EQ(m.topology.components.size(), 1U);
  EXPECT_EQ(m.topology.genus(), 1);
  const double area = 4 * std::numbers::pi * std::numbers::pi * 11 * 5;
  EXPECT_NEAR(m.topology.area, area, 0.02 * area);
  EXPECT_GT(m.shapes.radius_ratio.min(), 0.5);
  EXPECT_GT(m.shapes.radius_ratio.mean(), 0.94);
}

TEST_F(Triangulate, SpheresThatNearlyTouchStayTwo) {
  const Lattice lattice{{48, 26, 26}, {1, 1, 1}};
  // 0.8 apart, half of an edge.
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) {
                            return std::min(ball(p, {13.1, 12.6, 12.4}, 9.5), ball(p, {32.9, 12.6, 12.4}, 9.5));
                          }));
  const SizeField sizes = uniform_size(lattice, 1.6);
  const Made m = made(field, sizes, scattered(field, sizes, 0.8, 2));
  expect_sound(m);
  ASSERT_EQ(m.topology.components.size(), 2U);
  EXPECT_EQ(m.topology.genus(), 0);
  EXPECT_GT(m.shapes.smallest_angle.min(), 20);
}

TEST_F(Triangulate, PlateThinnerThanAnEdge) {
  const Lattice lattice{{40, 40, 12}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) {
                            return plate_distance(p, {19.6, 19.3, 5.7}, {14, 13, 0.9}, 0.85);
                          }));
  const SizeField sizes = uniform_size(lattice, 2.2);
  const Made m = made(field, sizes, scattered(field, sizes, 0.8, 3));
  expect_sound(m);
  ASSERT_EQ(m.topology.components.size(), 1U);
  EXPECT_EQ(m.topology.genus(), 0);
}

TEST_F(Triangulate, TooFewPointsOnATorusAreCompleted) {
  const Lattice lattice{{40, 40, 24}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return torus(p, {19.4, 19.7, 11.6}, 11, 5); }));
  const SizeField sizes = uniform_size(lattice, 2);
  std::vector<Vec3d> few = scattered(field, sizes, 0.8, 4);
  few.resize(40);
  const Made m = made(field, sizes, few);
  expect_sound(m);
  ASSERT_EQ(m.topology.components.size(), 1U);
  EXPECT_EQ(m.topology.genus(), 1);
  EXPECT_GT(m.report.added, 200U);
  EXPECT_GT(m.shapes.smallest_angle.min(), 15);
}

// Sums of random waves have thin bridges, gaps and small pieces everywhere.
TEST_F(Triangulate, RandomBlobsAreAlwaysSound) {
  const Lattice lattice{{28, 28, 28}, {1, 1, 1}};
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    std::vector<std::array<double, 4>> waves(30);
    for (auto& w : waves)
      w = {0.4 * random.normal(), 0.4 * random.normal(), 0.4 * random.normal(), random.uniform(0, 7)};
    const SplineField field(lattice, sampled(lattice, [&](Vec3d p) {
                              double sum = 0;
                              for (const auto& w : waves) sum += std::cos(w[0] * p.x + w[1] * p.y + w[2] * p.z + w[3]);
                              const double box = plate_distance(p, {13.5, 13.5, 13.5}, {11, 11, 11}, 2);
                              return std::max(std::clamp(0.6 * sum, -3.0, 3.0), box);
                            }));
    for (const double size : {1.0, 2.5}) {
      const SizeField sizes = uniform_size(lattice, size);
      const Made m = made(field, sizes, scattered(field, sizes, 0.8, seed));
      SCOPED_TRACE(seed);
      expect_sound(m);
      EXPECT_GT(m.shapes.smallest_angle.min(), 12);
      EXPECT_GT(m.shapes.radius_ratio.min(), 0.2);
    }
  }
}

// The field has two balls, the particles know of one.
TEST_F(Triangulate, WhatParticlesMissIsSampledAgain) {
  const Lattice lattice{{36, 20, 20}, {1, 1, 1}};
  const auto values = sampled(lattice, [](Vec3d p) {
    return std::min(ball(p, {9.4, 9.6, 9.3}, 6), ball(p, {25.3, 9.2, 9.7}, 5));
  });
  const SplineField field(lattice, values);
  const SizeField sizes = uniform_size(lattice, 1.5);
  std::vector<Vec3d> half = scattered(field, sizes, 0.8, 6);
  std::erase_if(half, [](Vec3d p) { return p.x > 17; });
  EXPECT_EQ(made(field, sizes, half).topology.components.size(), 1U);
  const TriangleMesh expected = marching_tetrahedra(lattice, values);
  TriangulateOptions options;
  options.expected = &expected;
  const Made m = made(field, sizes, half, options);
  expect_sound(m);
  EXPECT_EQ(m.topology.components.size(), 2U);
  EXPECT_TRUE(m.report.differences.empty());
  options.refinements = 0;
  const Made lost = made(field, sizes, half, options);
  ASSERT_EQ(lost.report.differences.size(), 1U);
  EXPECT_EQ(lost.report.differences[0].kind, SurfaceDifference::Kind::lost);
  EXPECT_NEAR(lost.report.differences[0].area, 100 * std::numbers::pi, 10);
  EXPECT_GT(lost.report.differences[0].place.x, 17);
}

// Two balls whose nearest lattice points are neighbours in marching tetrahedra: joined there, apart in the field.
TEST_F(Triangulate, TheFieldDecidesWhereTheLatticeIsWrong) {
  const Lattice lattice{{24, 24, 24}, {1, 1, 1}};
  const Vec3d diagonal = Vec3d{1, 1, 1} / std::sqrt(3.0), low{11, 11, 11}, high{12, 12, 12};
  const auto values = sampled(
      lattice, [&](Vec3d p) { return std::min(ball(p, low - 3.8 * diagonal, 4), ball(p, high + 3.8 * diagonal, 4)); });
  const TriangleMesh expected = marching_tetrahedra(lattice, values);
  ASSERT_EQ(surface_topology(expected).components.size(), 1U);
  const SplineField field(lattice, values);
  const SizeField sizes = uniform_size(lattice, 0.9);
  TriangulateOptions options;
  options.expected = &expected;
  const Made m = made(field, sizes, scattered(field, sizes, 0.8, 3), options);
  expect_sound(m);
  EXPECT_EQ(m.topology.components.size(), 2U);
  EXPECT_TRUE(m.report.differences.empty());
}

TEST_F(Triangulate, TheSameTwice) {
  const Lattice lattice{{24, 24, 24}, {1, 1, 1}};
  const SplineField field = sphere_field(lattice, {11.3, 11.6, 11.1}, 8);
  const SizeField sizes = uniform_size(lattice, 1.5);
  std::vector<Vec3d> points = scattered(field, sizes, 0.5, 5);
  const Made first = made(field, sizes, points), second = made(field, sizes, points);
  EXPECT_EQ(first.mesh.points, second.mesh.points);
  EXPECT_EQ(first.mesh.elements, second.mesh.elements);
}

TEST_F(Triangulate, RefusesParticlesOutside) {
  const Lattice lattice{{8, 8, 8}, {1, 1, 1}};
  const SplineField field = sphere_field(lattice, {3.5, 3.5, 3.5}, 2);
  const SizeField sizes = uniform_size(lattice, 1);
  EXPECT_THROW(triangulate(field, sizes, {{3, 3, 9}}), InputError);
  EXPECT_THROW(triangulate(field, sizes, {{3, std::nan(""), 3}}), InputError);
}

TEST_F(Triangulate, NothingFromNothing) {
  const Lattice lattice{{8, 8, 8}, {1, 1, 1}};
  const SplineField field = sphere_field(lattice, {3.5, 3.5, 3.5}, 2);
  EXPECT_THROW(triangulate(field, uniform_size(lattice, 1), {}), NoAnswerError);
}

}  // namespace TEST_FILE
}  // namespace isochron
