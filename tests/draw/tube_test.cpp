#include "isochron/draw/shaded_mesh.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/mesh_quality.h"

namespace isochron {
namespace TEST_FILE {

double polygon_area(const TubeOptions& o) {
  return 0.5 * o.sides * o.radius * o.radius * std::sin(2 * std::numbers::pi / o.sides);
}

/// Of both half balls: slices between polygons of which one is the other, smaller.
double cap_volume(const TubeOptions& o) {
  const int rings = std::max(2, o.sides / 4);
  double sum = 0;
  for (int r = 0; r < rings; ++r) {
    const double low = std::numbers::pi / 2 * r / rings, high = std::numbers::pi / 2 * (r + 1) / rings;
    const double a = std::cos(low), b = r + 1 == rings ? 0 : std::cos(high);
    sum += o.radius * (std::sin(high) - std::sin(low)) / 3 * (a * a + a * b + b * b);
  }
  return 2 * sum * polygon_area(o);
}

double length_of(const std::vector<Vec3d>& path) {
  double sum = 0;
  for (std::size_t i = 1; i < path.size(); ++i) sum += norm(path[i] - path[i - 1]);
  return sum;
}

void expect_closed_ball(const Tube& tube) {
  const SurfaceTopology topology = surface_topology(tube.mesh);
  EXPECT_TRUE(topology.closed());
  EXPECT_TRUE(topology.manifold());
  EXPECT_TRUE(topology.oriented());
  EXPECT_EQ(topology.components.size(), 1U);
  EXPECT_EQ(topology.euler_characteristic(), 2);
  ASSERT_EQ(tube.normals.size(), tube.mesh.vertex_count());
  ASSERT_EQ(tube.point_of.size(), tube.mesh.vertex_count());
}

/// Turns gently all the way, in pieces that are long against radius times angle.
std::vector<Vec3d> wandering_path(std::uint64_t seed) {
  Random random(seed);
  std::vector<Vec3d> path{{1, 2, 3}};
  Vec3d along{0.3, -0.8, 0.5};
  for (int i = 0; i < 40; ++i) {
    along += 0.35 * Vec3d{random.normal(), random.normal(), random.normal()};
    along = along / norm(along);
    path.push_back(path.back() + random.uniform(0.8, 2) * along);
  }
  return path;
}

TEST(Tube, AStraightOneHasItsVolume) {
  for (const int sides : {3, 8, 12, 25}) {
    const TubeOptions options{0.7, sides};
    const std::vector<Vec3d> path{{1, 1, 1}, {3, 4, 7}};
    const Tube tube = make_tube(path, options);
    expect_closed_ball(tube);
    EXPECT_NEAR(surface_topology(tube.mesh).volume, polygon_area(options) * 7 + cap_volume(options), 1e-11);
  }
}

TEST(Tube, ABentOneHasTheVolumeOfItsPieces) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TubeOptions options{0.2, 10};
    const std::vector<Vec3d> path = wandering_path(seed);
    const Tube tube = make_tube(path, options);
    expect_closed_ball(tube);
    const double exact = polygon_area(options) * length_of(path) + cap_volume(options);
    EXPECT_NEAR(surface_topology(tube.mesh).volume, exact, 1e-10 * exact);
  }
}

TEST(Tube, CornersLieOnTheRoundTubeAndNormalsPointOut) {
  const TubeOptions options{0.2, 8};
  const std::vector<Vec3d> path = wandering_path(3);
  const Tube tube = make_tube(path, options);
  for (std::size_t v = 0; v < tube.mesh.vertex_count(); ++v) {
    const std::size_t at = tube.point_of[v];
    const Vec3d offset = tube.mesh.points[v] - path[at];
    const Vec3d n{tube.normals[v].x, tube.normals[v].y, tube.normals[v].z};
    EXPECT_NEAR(norm(n), 1, 1e-6);
    EXPECT_GT(dot(n, offset), 0.9 * norm(offset));
    if (at == 0 || at + 1 == path.size()) {
      EXPECT_NEAR(norm(offset), options.radius, 1e-12);
      continue;
    }
    for (const Vec3d& piece : {path[at] - path[at - 1], path[at + 1] - path[at]})
      EXPECT_NEAR(norm(cross(offset, piece)) / norm(piece), options.radius, 1e-9);
  }
}

// A plane curve's frame keeps its height above the plane: it does not turn about the path.
TEST(Tube, DoesNotTwist) {
  std::vector<Vec3d> path;
  for (int i = 0; i <= 300; ++i) path.push_back({5 * std::cos(0.02 * i), 8 * std::sin(0.02 * i), 2});
  const TubeOptions options{0.5, 12};
  const Tube tube = make_tube(path, options);
  const std::size_t rings = (tube.mesh.vertex_count() - 2) / 12;
  const std::size_t first = 1 + 12 * 2, last = 1 + 12 * (rings - 3);  // the bases of the half balls
  for (std::size_t s = 0; s < 12; ++s)
    for (std::size_t at = first; at <= last; at += 12)
      ASSERT_NEAR(tube.mesh.points[at + s].z, tube.mesh.points[first + s].z, 1e-10);
}

TEST(Tube, RepeatedPointsMakeNoDifference) {
  const std::vector<Vec3d> path{{0, 0, 0}, {1, 0, 0}, {2, 1, 0}};
  const std::vector<Vec3d> stuttering{{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {2, 1, 0}, {2, 1, 0}};
  const TubeOptions options{0.1, 6};
  EXPECT_EQ(make_tube(path, options).mesh.points, make_tube(stuttering, options).mesh.points);
}

TEST(Tube, OnePlaceIsABallAndNoneIsNothing) {
  const TubeOptions options{2, 16};
  const std::vector<Vec3d> place{{1, 2, 3}, {1, 2, 3}};
  const Tube ball = make_tube(place, options);
  expect_closed_ball(ball);
  EXPECT_NEAR(surface_topology(ball.mesh).volume, cap_volume(options), 1e-11);
  for (const Vec3d& p : ball.mesh.points) EXPECT_NEAR(norm(p - place[0]), 2, 1e-12);
  EXPECT_EQ(make_tube({}, options).mesh.vertex_count(), 0U);
}

TEST(Tube, SharpTurnsStayNearThePath) {
  const std::vector<Vec3d> path{{0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {1, 0.001, 0}, {1, 1, 0}};
  const Tube tube = make_tube(path, {0.1, 12});
  expect_closed_ball(tube);
  for (std::size_t v = 0; v < tube.mesh.vertex_count(); ++v)
    EXPECT_LE(norm(tube.mesh.points[v] - path[tube.point_of[v]]), 0.2 + 1e-12);
}

TEST(Tube, RefusesWhatCannotBeDrawn) {
  const std::vector<Vec3d> path{{0, 0, 0}, {1, 0, 0}};
  EXPECT_THROW(make_tube(path, {0, 8}), UsageError);
  EXPECT_THROW(make_tube(path, {std::numeric_limits<double>::quiet_NaN(), 8}), UsageError);
  EXPECT_THROW(make_tube(path, {1, 2}), UsageError);
  const std::vector<Vec3d> lost{{0, 0, 0}, {std::numeric_limits<double>::infinity(), 0, 0}};
  EXPECT_THROW(make_tube(lost, {1, 8}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
