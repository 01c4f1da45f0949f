#include "isochron/mesh/locator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/mesh/closest_point.h"
#include "support/cut_mesh.h"

namespace isochron {
namespace TEST_FILE {

Vec3d random_point(Random& random, double low, double high) {
  const double x = random.uniform(low, high), y = random.uniform(low, high);
  return {x, y, random.uniform(low, high)};
}

template <int Corners>
double brute_force_distance(const SimplexMesh<Corners>& mesh, Vec3d p) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    best = std::min(best, closest_point(corner_points(mesh, ElementId(e)), p).squared_distance);
  return std::sqrt(best);
}

template <int Corners>
void expect_consistent(const SimplexMesh<Corners>& mesh, const Location<Corners>& found, Vec3d p) {
  ASSERT_LT(found.element.index(), mesh.element_count());
  for (const double w : found.weights) EXPECT_GE(w, 0.0);
  EXPECT_NEAR(std::accumulate(found.weights.begin(), found.weights.end(), 0.0), 1.0, 1e-12);
  const Vec3d point = weighted_point(corner_points(mesh, found.element), found.weights);
  EXPECT_LT(norm(point - found.point), 1e-12);
  EXPECT_NEAR(norm(point - p), found.distance, 1e-12);
}

template <int Corners>
void expect_nearest_like_brute_force(const SimplexMesh<Corners>& mesh, double low, double high) {
  const PointLocator<Corners> locator(mesh);
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Vec3d p = random_point(random, low, high);
    const auto found = locator.nearest(p);
    expect_consistent(mesh, found, p);
    EXPECT_NEAR(found.distance, brute_force_distance(mesh, p), 1e-12);
  }
}

TEST(Locator, FindsTheTetrahedronThatContainsAPoint) {
  for (const double jitter : {0.0, 0.3}) {
    const TetMesh mesh = generate_cube({.nx = 9, .ny = 7, .nz = 8, .jitter = jitter});
    const PointLocator<4> locator(mesh);
    Random random(3);
    for (int i = 0; i < 500; ++i) {
      const Vec3d p = random_point(random, 0, 1);
      const auto found = locator.locate(p, 1e-12);
      ASSERT_TRUE(found);
      expect_consistent(mesh, *found, p);
      EXPECT_LT(found->distance, 1e-12);
    }
  }
}

TEST(Locator, FindsEveryVertexAndFaceCentre) {
  const TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  const PointLocator<4> locator(mesh);
  for (const Vec3d& p : mesh.points) {
    const auto found = locator.locate(p, 1e-12);
    ASSERT_TRUE(found);
    expect_consistent(mesh, *found, p);
  }
  for (const auto& element : mesh.elements) {
    const Vec3d p = (mesh.point(element[0]) + mesh.point(element[1]) + mesh.point(element[2])) / 3.0;
    EXPECT_TRUE(locator.locate(p, 1e-12));
  }
}

TEST(Locator, NearestAgreesWithBruteForce) {
  expect_nearest_like_brute_force(generate_cube({.nx = 6, .ny = 6, .nz = 6, .jitter = 0.2}), -1, 2);
  expect_nearest_like_brute_force(generate_sphere({.frequency = 6}), -2, 2);
  TriangleMesh square = generate_square({.n = 9, .jitter = 0.2});
  tilt(square);
  expect_nearest_like_brute_force(square, -3, 6);
}

TEST(Locator, KeepsToTheTolerance) {
  const TetMesh mesh = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  const PointLocator<4> locator(mesh);
  const Vec3d outside{0.5, 0.4, 1.25};
  EXPECT_FALSE(locator.locate(outside, 0.2));
  const auto found = locator.locate(outside, 0.25);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->distance, 0.25);
  EXPECT_LT(norm(found->point - Vec3d{0.5, 0.4, 1}), 1e-14);

  TriangleMesh square = generate_square({.n = 5});
  const PointLocator<3> flat(square);
  EXPECT_FALSE(flat.locate({0.5, 0.5, 0.1}, 0.09));
  EXPECT_TRUE(flat.locate({0.5, 0.5, 0.1}, 0.11));
}

TEST(Locator, RefusesWhatIsNotAPoint) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TetMesh mesh = generate_cube({.nx = 2, .ny = 2, .nz = 2});
  const PointLocator<4> locator(mesh);
  EXPECT_FALSE(locator.locate({nan, 0, 0}, 1));
  EXPECT_THROW((void)locator.nearest({0, nan, 0}), InputError);
  const TetMesh empty;
  const PointLocator<4> nothing(empty);
  EXPECT_FALSE(nothing.locate({0, 0, 0}, 1));
  EXPECT_THROW((void)nothing.nearest({0, 0, 0}), InputError);
}

TEST(Locator, SurvivesFlatElements) {
  TetMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)}}};
  const auto found = PointLocator<4>(mesh).nearest({0.5, 0.25, 2});
  expect_consistent(mesh, found, {0.5, 0.25, 2});
  EXPECT_DOUBLE_EQ(found.distance, 2);
}

TEST(Locator, IsTheSameOnSeveralThreads) {
  const TetMesh mesh = generate_cube({.nx = 30, .ny = 30, .nz = 30, .jitter = 0.2});
  const PointLocator<4> one(mesh, 1), two(mesh, 2);
  Random random(11);
  for (int i = 0; i < 100; ++i) {
    const Vec3d p = random_point(random, -0.2, 1.2);
    EXPECT_EQ(one.nearest(p).element, two.nearest(p).element);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
