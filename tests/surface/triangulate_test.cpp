#include "isochron/surface/triangulate/triangulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "isochron/core/error.h"
#include "isochron/mesh/quality.h"
#include "isochron/mesh/topology.h"
#include "surface/shapes.h"

namespace isochron {
namespace {

struct Made {
  TriangleMesh mesh;
  TriangulateReport report;
  SurfaceTopology topology;
  ShapeStatistics shapes;
};

Made made(const SplineField& field, const SizeField& sizes, const std::vector<Vec3d>& particles) {
  Made result;
  TriangulateOptions options;
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
}

SplineField sphere_field(const Lattice& lattice, Vec3d centre, double radius) {
  return {lattice, sampled(lattice, [&](Vec3d p) { return ball(p, centre, radius); })};
}

TEST(Triangulate, SpiralPointsOnASphere) {
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

TEST(Triangulate, ScatteredPointsOnATorus) {
  const Lattice lattice{{40, 40, 24}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return torus(p, {19.4, 19.7, 11.6}, 11, 5); }));
  const SizeField sizes = uniform_size(lattice, 1.3);
  const Made m = made(field, sizes, scattered(field, sizes, 0.8, 1));
  expect_sound(m);
  ASSERT_EQ(m.topology.components.size(), 1U);
  EXPECT_EQ(m.topology.genus(), 1);
  const double area = 4 * std::numbers::pi * std::numbers::pi * 11 * 5;
  EXPECT_NEAR(m.topology.area, area, 0.02 * area);
  EXPECT_GT(m.shapes.radius_ratio.min(), 0.45);
}

TEST(Triangulate, SpheresThatNearlyTouchStayTwo) {
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

TEST(Triangulate, PlateThinnerThanAnEdge) {
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

TEST(Triangulate, TooFewPointsOnATorusAreCompleted) {
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
TEST(Triangulate, RandomBlobsAreAlwaysSound) {
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

TEST(Triangulate, TheSameTwice) {
  const Lattice lattice{{24, 24, 24}, {1, 1, 1}};
  const SplineField field = sphere_field(lattice, {11.3, 11.6, 11.1}, 8);
  const SizeField sizes = uniform_size(lattice, 1.5);
  std::vector<Vec3d> points = scattered(field, sizes, 0.5, 5);
  const Made first = made(field, sizes, points), second = made(field, sizes, points);
  EXPECT_EQ(first.mesh.points, second.mesh.points);
  EXPECT_EQ(first.mesh.elements, second.mesh.elements);
}

TEST(Triangulate, RefusesParticlesOutside) {
  const Lattice lattice{{8, 8, 8}, {1, 1, 1}};
  const SplineField field = sphere_field(lattice, {3.5, 3.5, 3.5}, 2);
  const SizeField sizes = uniform_size(lattice, 1);
  EXPECT_THROW(triangulate(field, sizes, {{3, 3, 9}}), InputError);
  EXPECT_THROW(triangulate(field, sizes, {{3, std::nan(""), 3}}), InputError);
}

TEST(Triangulate, NothingFromNothing) {
  const Lattice lattice{{8, 8, 8}, {1, 1, 1}};
  const SplineField field = sphere_field(lattice, {3.5, 3.5, 3.5}, 2);
  EXPECT_THROW(triangulate(field, uniform_size(lattice, 1), {}), NoAnswerError);
}

}  // namespace
}  // namespace isochron
