#include "isochron/solve/simplex/source_ball.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/mesh/locator.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/common/seed_rows.h"
#include "isochron/solver.h"
#include "support/cut_mesh.h"

namespace isochron {
namespace TEST_FILE {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Ball {
  std::map<VertexId, double> times;
  double radius = 0;
};

template <int Corners>
Ball ball(const SimplexMesh<Corners>& mesh, const Metric& metric, Vec3d position, std::span<const ElementId> seeds,
          int rings, double onset = 0) {
  Ball result;
  const SetBallTime set = [&](VertexId v, double time, SeedKind) { EXPECT_TRUE(result.times.emplace(v, time).second); };
  result.radius =
      ball_times(mesh, metric, build_adjacency(mesh), position, seeds, onset, {rings, 1U << 20, 1U << 20}, set);
  return result;
}

template <int Corners>
Ball vertex_ball(const SimplexMesh<Corners>& mesh, const Metric& metric, VertexId v, int rings) {
  return ball(mesh, metric, mesh.point(v), elements_at(build_adjacency(mesh), v), rings);
}

template <int Corners>
Ball point_ball(const SimplexMesh<Corners>& mesh, const Metric& metric, Vec3d p, int rings) {
  const auto at = PointLocator<Corners>(mesh).nearest(p);
  return ball(mesh, metric, at.point, std::span(&at.element, 1), rings);
}

Metric turning_fibers(const TetMesh& mesh) {
  FiberMetric fibers;
  fibers.fiber = rotating_fibers(mesh, 0.5, 2);
  fibers.velocities = {{3, 1, 1}};
  return Metric(std::move(fibers));
}

Sources at_vertex(VertexId v) {
  Sources sources;
  sources.vertices.push_back({v, 0});
  return sources;
}

/// A vertex that is hidden from the source is reached round an edge, with the errors of first order.
void expect_time(const Ball& found, VertexId v, double exact, bool hidden) {
  const auto place = found.times.find(v);
  const double error = hidden ? 0.3 : 1e-9;
  EXPECT_TRUE(place != found.times.end() || exact > found.radius - error) << "vertex " << v.value;
  if (place == found.times.end()) return;
  EXPECT_GE(place->second, exact - 1e-9) << "vertex " << v.value;
  EXPECT_LE(place->second, exact + error) << "vertex " << v.value;
}

/// Every vertex within the radius is set, and every time set is √(dᵀMd).
template <int Corners>
void expect_complete_and_exact(const SimplexMesh<Corners>& mesh, SymTensor3d m, Vec3d source, const Ball& found) {
  for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
    const double exact = std::sqrt(squared_length(m, mesh.points[i] - source));
    const auto place = found.times.find(VertexId(i));
    if (exact < found.radius * (1 - 1e-9)) {
      EXPECT_TRUE(place != found.times.end()) << "vertex " << i;
    }
    if (place != found.times.end()) {
      EXPECT_NEAR(place->second, exact, 1e-10 * (1 + exact)) << "vertex " << i;
    }
  }
}

const std::array<SymTensor3d, 3> metrics{SymTensor3d::identity(), SymTensor3d::diagonal(1, 4, 9),
                                         SymTensor3d{2.0, 0.9, 0.3, 1.0, -0.2, 4.0}};

TEST(SourceBall, IsExactAndCompleteInACube) {
  for (const double jitter : {0.0, 0.3})
    for (const SymTensor3d m : metrics) {
      const TetMesh mesh = generate_cube({.nx = 17, .ny = 17, .nz = 17, .extent = {16, 16, 16}, .jitter = jitter});
      for (const Vec3d where : {Vec3d{8, 8, 8}, Vec3d{0, 0, 0}, Vec3d{16, 3, 0}}) {
        const VertexId v = vertex_at(mesh, where);
        const Ball found = vertex_ball(mesh, Metric::constant(m), v, 4);
        expect_complete_and_exact(mesh, m, mesh.point(v), found);
        EXPECT_EQ(found.times.at(v), 0.0);
        if (jitter == 0) {
          EXPECT_NEAR(found.radius, 4 * std::cbrt(std::sqrt(determinant(m))), 1e-9);
        }
      }
      for (const Vec3d p : {Vec3d{7.3, 8.4, 6.6}, Vec3d{8, 8.5, 7.5}, Vec3d{8.25, 8, 8}, Vec3d{0.1, 16, 4.7}})
        expect_complete_and_exact(mesh, m, p, point_ball(mesh, Metric::constant(m), p, 4));
    }
}

TEST(SourceBall, IsExactAndCompleteInIrregularMeshes) {
  const TetMesh mesh = generate_irregular_cube({.n = 15, .extent = 14, .jitter = 0.3});
  for (const SymTensor3d m : metrics)
    for (const Vec3d p : {Vec3d{7, 7.3, 6.8}, Vec3d{0, 3.1, 9.9}}) {
      expect_complete_and_exact(mesh, m, p, point_ball(mesh, Metric::constant(m), p, 5));
      const VertexId v = vertex_at(mesh, p);
      expect_complete_and_exact(mesh, m, mesh.point(v), vertex_ball(mesh, Metric::constant(m), v, 5));
    }
}

TEST(SourceBall, SeesRoundNoCorner) {
  const TetMesh mesh = without(generate_cube({.nx = 17, .ny = 5, .nz = 17, .extent = {16, 4, 16}}),
                               [](Vec3d c) { return c.x > 8 && c.z > 8; });
  const Adjacency adjacency = build_adjacency(mesh);
  const Vec3d source{6, 2, 11};
  const Ball found = vertex_ball(mesh, Metric{}, vertex_at(mesh, source), 8);
  for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
    const Vec3d d = mesh.points[i] - source;
    if (adjacency.valence(VertexId(i)) == 0 || std::abs(norm(d) - found.radius) < 1e-9) continue;
    const bool hidden = mesh.points[i].x > 8 && source.z + 2 / d.x * d.z > 8 + 1e-12;
    // Unfolded round the edge at x = 8, z = 8.
    const double round = std::hypot(std::hypot(2, 3) + std::hypot(mesh.points[i].x - 8, mesh.points[i].z - 8), d.y);
    expect_time(found, VertexId(i), hidden ? round : norm(d), hidden);
  }
}

TEST(SourceBall, HoldsTheVerticesOfItsRings) {
  const TetMesh mesh = generate_cube({.nx = 21, .ny = 21, .nz = 21, .extent = {20, 20, 20}});
  const Ball found = vertex_ball(mesh, Metric{}, vertex_at(mesh, {10, 10, 10}), 8);
  std::size_t expected = 0;
  for (const Vec3d& p : mesh.points) expected += norm(p - Vec3d{10, 10, 10}) <= 8 ? 1 : 0;
  EXPECT_EQ(found.times.size(), expected);
}

TEST(SourceBall, StaysWholeUnderStrongAnisotropy) {
  const SymTensor3d m = SymTensor3d::diagonal(1, 400, 1);
  const TetMesh mesh = generate_cube({.nx = 41, .ny = 9, .nz = 41, .extent = {40, 8, 40}, .jitter = 0.2});
  const VertexId v = vertex_at(mesh, {20, 4, 20});
  const Ball found = vertex_ball(mesh, Metric::constant(m), v, 6);
  EXPECT_GT(found.radius, 14);
  expect_complete_and_exact(mesh, m, mesh.point(v), found);
}

TEST(SourceBall, AddsTheOnset) {
  const TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  const VertexId v(31);
  const Adjacency adjacency = build_adjacency(mesh);
  const Ball plain = ball(mesh, Metric{}, mesh.point(v), elements_at(adjacency, v), 2);
  const Ball late = ball(mesh, Metric{}, mesh.point(v), elements_at(adjacency, v), 2, 7.5);
  ASSERT_EQ(plain.times.size(), late.times.size());
  for (const auto& [vertex, time] : plain.times) EXPECT_DOUBLE_EQ(late.times.at(vertex), time + 7.5);
}

TEST(SourceBall, IsExactOnFlatPatches) {
  for (const double jitter : {0.0, 0.3}) {
    TriangleMesh mesh = generate_square({.n = 25, .extent = 24, .jitter = jitter});
    tilt(mesh);
    for (const SymTensor3d m : metrics) {
      const VertexId v = VertexId(12 * 25 + 11);
      const Ball found = vertex_ball(mesh, Metric::constant(m), v, 6);
      EXPECT_GT(found.times.size(), 80U);
      expect_complete_and_exact(mesh, m, mesh.point(v), found);
      const Vec3d p = 0.3 * mesh.points[200] + 0.3 * mesh.points[201] + 0.4 * mesh.points[226];
      expect_complete_and_exact(mesh, m, p, point_ball(mesh, Metric::constant(m), p, 6));
    }
  }
}

TEST(SourceBall, WithoutRingsSetsTheCornersOfTheSeeds) {
  const TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  const Ball inside = point_ball(mesh, Metric{}, {0.4, 0.45, 0.42}, 0);
  EXPECT_EQ(inside.times.size(), 4U);
  const Ball corner = vertex_ball(mesh, Metric{}, vertex_at(mesh, {0.5, 0.5, 0.5}), 0);
  EXPECT_EQ(corner.times.size(), 15U);
}

TEST(SourceBall, DoesNotSeeThroughASlit) {
  const TetMesh whole = generate_cube({.nx = 17, .ny = 17, .nz = 17, .extent = {16, 16, 16}});
  const TetMesh mesh = slit(
      whole, [](Vec3d p) { return p.z == 8 && p.x < 9; }, [](Vec3d c) { return c.z > 8; });
  for (const Vec3d source : {Vec3d{7, 8, 6}, Vec3d{7.2, 8.1, 7.6}, Vec3d{6, 8, 7}}) {
    const Ball found = point_ball(mesh, Metric{}, source, 6);
    EXPECT_NEAR(found.radius, 6, 1e-9);
    for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
      const Vec3d d = mesh.points[i] - source;
      if (std::abs(norm(d) - found.radius) < 1e-9) continue;
      const bool upper = mesh.points[i].z > 8 || i >= whole.vertex_count();
      const bool hidden = upper && source.x + (8 - source.z) / d.z * d.x < 9 - 1e-12;
      // Unfolded round the slit's edge at x = 9, z = 8.
      const double round = std::hypot(
          std::hypot(source.x - 9, source.z - 8) + std::hypot(mesh.points[i].x - 9, mesh.points[i].z - 8), d.y);
      expect_time(found, VertexId(i), hidden ? round : norm(d), hidden);
    }
  }
}

TEST(SourceBall, OnASlitReachesTheOtherSideRoundItsEnd) {
  const TetMesh whole = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}});
  const TetMesh mesh = slit(
      whole, [](Vec3d p) { return p.z == 4 && p.x < 5; }, [](Vec3d c) { return c.z > 4; });
  const VertexId lower = vertex_at(mesh, {4, 4, 4});
  const Ball at_vertex = vertex_ball(mesh, Metric{}, lower, 4);
  EXPECT_NEAR(at_vertex.radius, 4, 1e-9);
  const auto expect_round = [&](const Ball& found, Vec3d from) {
    for (const auto& [v, time] : found.times) {
      const Vec3d d = mesh.point(v) - from;
      const bool upper = mesh.point(v).z > 4 || v.index() >= whole.vertex_count();
      const double round = 5 - from.x + std::hypot(mesh.point(v).x - 5, d.z);
      EXPECT_GE(time, (upper ? std::hypot(round, d.y) : norm(d)) - 1e-9);
    }
  };
  expect_round(at_vertex, mesh.point(lower));
  // A point on the slit, given by the element under it: those over it hold the point too but are not connected there.
  const Adjacency adjacency = build_adjacency(mesh);
  const Vec3d p{3.6, 4.3, 4};
  for (const ElementId e : elements_at(adjacency, lower)) {
    if (closest_point(corner_points(mesh, e), p).squared_distance > 0) continue;
    expect_round(ball(mesh, Metric{}, p, std::span(&e, 1), 4), p);
  }
}

TEST(SourceBall, OnASphereFollowsIt) {
  const TriangleMesh mesh = generate_sphere({.frequency = 20});
  const VertexId v(1000);
  const Ball found = vertex_ball(mesh, Metric::isotropic(2), v, 8);
  EXPECT_GT(found.times.size(), 120U);
  // Edges are about 0.06 long. The plain update is late by 0.01 at the ball's edge.
  for (const auto& [other, time] : found.times)
    EXPECT_NEAR(time, std::acos(std::min(1.0, dot(mesh.point(other), mesh.point(v)))) / 2, 5e-4);
}

TEST(SourceBall, UnfoldsAFold) {
  // Two half planes that meet at a sharp angle: the far one is close through the air.
  TriangleMesh mesh = generate_square({.n = 17, .extent = 16});
  const TriangleMesh unfolded = mesh;
  for (Vec3d& p : mesh.points)
    if (p.x > 8) p = {8 - 0.8 * (p.x - 8), p.y, 0.6 * (p.x - 8)};
  const VertexId source(8 * 17 + 4);
  const Ball found = vertex_ball(mesh, Metric{}, source, 8);
  EXPECT_GT(found.times.size(), 120U);
  for (const auto& [v, time] : found.times)
    EXPECT_NEAR(time, norm(unfolded.point(v) - unfolded.point(source)), 1e-9) << "vertex " << v.value;
}

TEST(SourceBall, StopsWhereTheMetricChanges) {
  const TetMesh mesh = generate_cube({.nx = 17, .ny = 17, .nz = 17, .extent = {16, 16, 16}});
  SpeedMetric speed;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    speed.speed.push_back(centroid(mesh, ElementId(e)).x > 10 ? 3.0 : 1.0);
  const Metric metric(speed);
  const Vec3d source{7, 8, 8};
  const Ball found = vertex_ball(mesh, metric, vertex_at(mesh, source), 6);
  EXPECT_DOUBLE_EQ(found.radius, 6);
  for (std::size_t i = 0; i < mesh.vertex_count(); ++i) {
    const double exact = norm(mesh.points[i] - source);
    if (mesh.points[i].x > 10) EXPECT_FALSE(found.times.contains(VertexId(i)));
    else expect_time(found, VertexId(i), exact, false);
  }

  // At the interface itself only edges are set, each at the speed of the faster of its elements.
  const VertexId between = vertex_at(mesh, {10, 8, 8});
  const Ball edges = vertex_ball(mesh, metric, between, 6);
  EXPECT_EQ(edges.times.size(), 15U);
  for (const auto& [v, time] : edges.times) {
    const Vec3d d = mesh.point(v) - mesh.point(between);
    EXPECT_DOUBLE_EQ(time, norm(d) / (d.x >= 0 ? 3 : 1));
  }
}

// Whatever the order of the elements: the speeds of both sides are met.
TEST(SourceBall, IsWholeBesideASlowRegion) {
  const TetMesh mesh = generate_cube({.nx = 17, .ny = 17, .nz = 17, .extent = {16, 16, 16}});
  for (const double side : {-1.0, 1.0})
    for (const double slow : {0.5, 0.9}) {
      SpeedMetric speeds;
      for (std::size_t e = 0; e < mesh.element_count(); ++e) {
        const auto x = corner_points(mesh, ElementId(e));
        speeds.speed.push_back((0.25 * (x[0].x + x[1].x + x[2].x + x[3].x) - 8) * side > 0 ? 1 : slow);
      }
      const Vec3d source{8 + 0.3 * side, 8.2, 8.1};
      const Ball found = point_ball(mesh, Metric(std::move(speeds)), source, 5);
      EXPECT_GT(found.radius, 4);
      for (std::size_t i = 0; i < mesh.vertex_count(); ++i)
        if ((mesh.points[i].x - 8) * side >= 0)  // the straight way does not leave the fast side
          expect_time(found, VertexId(i), norm(mesh.points[i] - source), false);
    }
}

TEST(SourceBall, IsTheSameWithRows) {
  const TetMesh whole = generate_cube({.nx = 13, .ny = 13, .nz = 13, .extent = {12, 12, 12}, .jitter = 0.3});
  const TetMesh cut = slit(
      generate_cube({.nx = 13, .ny = 13, .nz = 13, .extent = {12, 12, 12}}),
      [](Vec3d p) { return p.z == 6 && p.x < 7; }, [](Vec3d c) { return c.z > 6; });
  for (const TetMesh* mesh : {&whole, &cut})
    for (const SymTensor3d m : {SymTensor3d::identity(), SymTensor3d::diagonal(1, 400, 1), metrics[2]})
      for (const Vec3d source : {Vec3d{5.2, 6.1, 5.3}, mesh->points[6 * 13 * 13 + 6 * 13 + 5]}) {
        const auto at = PointLocator<4>(*mesh).nearest(source);
        std::vector<std::pair<VertexId, double>> plain, with_rows;
        const auto run = [&](auto& times, BallRows rows) {
          ball_times(
              *mesh, Metric::constant(m), build_adjacency(*mesh), at.point, std::span(&at.element, 1), 0,
              {6, 2000, 2000}, [&](VertexId v, double time, SeedKind) { times.emplace_back(v, time); }, rows);
        };
        SeedRows rows;
        run(plain, {});
        run(with_rows, {&rows, 0});
        EXPECT_EQ(plain, with_rows);
        EXPECT_EQ(rows.row_of.size(), plain.size());
      }
}

TEST(SourceBall, IsNearlyExactWhereTheSpeedDrifts) {
  const TetMesh mesh = generate_cube({.nx = 17, .ny = 17, .nz = 17, .extent = {16, 16, 16}, .jitter = 0.2});
  constexpr double gradient = 0.02;
  SpeedMetric speed;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    speed.speed.push_back(1 + gradient * (centroid(mesh, ElementId(e)).x - 8));
  const VertexId source = vertex_at(mesh, {8, 8, 8});
  const Ball found = vertex_ball(mesh, Metric(speed), source, 8);
  EXPECT_GT(found.radius, 7.9);
  EXPECT_GT(found.times.size(), 2000U);
  // Exact for speed 1 + g x: acosh(1 + g² r² / (2 s₀ s₁)) / g.
  double sum = 0;
  const double at_source = 1 + gradient * (mesh.point(source).x - 8);
  for (const auto& [v, time] : found.times) {
    const Vec3d d = mesh.point(v) - mesh.point(source);
    const double s = at_source + gradient * d.x;
    const double exact = std::acosh(1 + gradient * gradient * dot(d, d) / (2 * at_source * s)) / gradient;
    EXPECT_NEAR(time, exact, 0.1);
    sum += std::abs(time - exact);
  }
  EXPECT_LT(sum / static_cast<double>(found.times.size()), 0.04);
}

/// The mean difference from the times on a mesh with edges a quarter as long, whose vertices hold those of this one.
double mean_error(SourceInit init, const Arrival& fine, Backend backend = Backend::serial) {
  constexpr std::size_t n = 13, finer = 4 * (n - 1) + 1;
  const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n, .extent = {12, 12, 12}});
  SolveOptions options;
  options.backend = backend;
  options.source_init = init;
  const Arrival arrival = solve(mesh, turning_fibers(mesh), at_vertex(vertex_at(mesh, {5, 6, 7})), options);
  EXPECT_EQ(arrival.source_init, init);
  EXPECT_EQ(arrival.point_sources, 1U);
  EXPECT_EQ(arrival.source_balls, init == SourceInit::ball ? 1U : 0U);
  double sum = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const std::size_t i = v % n, j = v / n % n, k = v / n / n;
    sum += std::abs(arrival.times[v] - fine.times[((4 * k) * finer + 4 * j) * finer + 4 * i]);
  }
  return sum / static_cast<double>(mesh.vertex_count());
}

TEST(SourceBall, LowersTheErrorWhereFibersTurn) {
  const TetMesh mesh = generate_cube({.nx = 49, .ny = 49, .nz = 49, .extent = {12, 12, 12}});
  const Arrival fine = solve(mesh, turning_fibers(mesh), at_vertex(vertex_at(mesh, {5, 6, 7})));
  const double plain = mean_error(SourceInit::plain, fine), ball = mean_error(SourceInit::ball, fine);
  RecordProperty("plain", std::to_string(plain));
  RecordProperty("ball", std::to_string(ball));
  EXPECT_LT(ball, 0.75 * plain);
  EXPECT_NEAR(mean_error(SourceInit::ball, fine, Backend::threads), ball, 1e-4);
}

TEST(SourceBall, ManySourcesShareWhatBallsMayHold) {
  const BallLimits one = ball_limits(8, 1, 1000000, 3), many = ball_limits(8, 307, 1000000, 3);
  EXPECT_GE(one.vertices, 2200U);
  EXPECT_LT(one.vertices, 10000U);
  EXPECT_NEAR(307.0 * static_cast<double>(many.varying), 25000, 400);
  EXPECT_NEAR(307.0 * static_cast<double>(many.vertices), 250000, 400);
  EXPECT_EQ(ball_limits(8, 1000, 100, 2).varying, 0U);
  const TetMesh mesh = generate_cube({.nx = 21, .ny = 21, .nz = 21, .extent = {20, 20, 20}});
  const Adjacency adjacency = build_adjacency(mesh);
  const VertexId v = vertex_at(mesh, {10, 10, 10});
  std::size_t set = 0;
  ball_times(mesh, Metric{}, adjacency, mesh.point(v), elements_at(adjacency, v), 0, {8, 100, 100},
             [&](VertexId, double, SeedKind) { ++set; });
  EXPECT_LE(set, 100U);
  EXPECT_GE(set, 30U);
}

TEST(SourceBall, StandsInForFactoringOfManySources) {
  const TriangleMesh mesh = generate_square({.n = 41, .extent = 40});
  Sources sources;
  for (std::uint32_t i = 0; i < 81; ++i)
    sources.vertices.push_back({VertexId(41 * (2 + 4 * (i / 9)) + 2 + 4 * (i % 9)), 0.01 * i});
  SolveOptions options;
  options.source_init = SourceInit::factored;
  options.verify = Keep::yes;
  const Arrival arrival = solve(mesh, Metric{}, sources, options);
  EXPECT_EQ(arrival.source_init, SourceInit::ball);
  EXPECT_EQ(arrival.point_sources, 81U);
  EXPECT_TRUE(arrival.residual->passed());
  ASSERT_EQ(arrival.notes.size(), 1U);
  EXPECT_NE(arrival.notes[0].find("more than 64"), std::string::npos);
}

TEST(SourceBall, IsNotDrownedByAFineRegion) {
  TetMesh mesh = generate_cube({.nx = 40, .ny = 40, .nz = 40});
  for (Vec3d& p : mesh.points) p.x = p.x * p.x * p.x;  // the far end is coarse
  const VertexId v = vertex_at(mesh, {1, 0.5, 0.5});
  const Ball found = vertex_ball(mesh, Metric{}, v, 4);
  expect_complete_and_exact(mesh, SymTensor3d::identity(), mesh.point(v), found);
}

std::map<VertexId, double> zero_times(const auto& mesh, const Metric& metric, const std::vector<double>& values) {
  std::map<VertexId, double> result;
  levelset_times(mesh, metric, build_adjacency(mesh), values,
                 [&](VertexId v, double time) { EXPECT_TRUE(result.emplace(v, time).second); });
  return result;
}

/// Signed distance, in the metric, to the plane n·x = offset.
std::vector<double> plane(const auto& mesh, SymTensor3d m, Vec3d n, double offset) {
  const double scale = 1 / std::sqrt(dot(n, inverse(m) * n));
  std::vector<double> values;
  for (const Vec3d& p : mesh.points) values.push_back(scale * (dot(n, p) - offset));
  return values;
}

/// Every corner of every element that is cut has a time.
template <int Corners>
void expect_complete(const SimplexMesh<Corners>& mesh, const std::vector<double>& values,
                     const std::map<VertexId, double>& times) {
  for (const auto& element : mesh.elements) {
    double low = infinity, high = -infinity;
    for (const VertexId v : element) {
      low = std::min(low, values[v.index()]);
      high = std::max(high, values[v.index()]);
    }
    if (low > 0 || high < 0) continue;
    for (const VertexId v : element) EXPECT_TRUE(times.contains(v));
  }
}

/// In a box with a corner at the origin and a constant metric: exact wherever the nearest point is in the box.
template <int Corners>
void expect_plane_times(const SimplexMesh<Corners>& mesh, SymTensor3d m, Vec3d n, double offset, double side) {
  const std::vector<double> exact = plane(mesh, m, n, offset);
  const auto times = zero_times(mesh, Metric::constant(m), exact);
  expect_complete(mesh, exact, times);
  std::size_t sharp = 0;
  for (const auto& [v, time] : times) {
    EXPECT_GE(time, std::abs(exact[v.index()]) - 1e-12);
    const Vec3d direction = inverse(m) * n;
    const Vec3d foot = mesh.point(v) - ((dot(n, mesh.point(v)) - offset) / dot(n, direction)) * direction;
    if (std::min({foot.x, foot.y, foot.z}) < 0 || std::max({foot.x, foot.y, foot.z}) > side) continue;
    EXPECT_NEAR(time, std::abs(exact[v.index()]), 1e-8) << "vertex " << v.value;
    ++sharp;
  }
  EXPECT_GT(sharp, times.size() / 2);
}

TEST(LevelSet, ObliquePlanesAreExactBesideThem) {
  for (const SymTensor3d m : metrics)
    for (const double jitter : {0.0, 0.3}) {
      const TetMesh cube = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}, .jitter = jitter});
      expect_plane_times(cube, m, {1, 0.7, -0.4}, 4.3, 8);
      expect_plane_times(cube, m, {0, 0, 1}, 3.25, 8);
      const TriangleMesh square = generate_square({.n = 17, .extent = 16, .jitter = jitter});
      expect_plane_times(square, SymTensor3d::diagonal(m.xx, m.yy, m.zz), {1, 0.6, 0}, 9.7, 16);
    }
}

TEST(LevelSet, PlanesAreExactInIrregularAndFlatMeshes) {
  for (const SymTensor3d m : metrics) {
    expect_plane_times(generate_irregular_cube({.n = 11, .extent = 10, .jitter = 0.3}), m, {1, 2, 2}, 24.1, 10);
    // Elements ten times as wide as high, so that the nearest point is often several elements away.
    const TetMesh flat = generate_cube({.nx = 5, .ny = 5, .nz = 41, .extent = {8, 8, 8}, .jitter = 0.25});
    expect_plane_times(flat, m, {0.2, 0.1, 1}, 4.9, 8);
  }
}

TEST(LevelSet, SeedsOfACircleConvergeQuadratically) {
  double previous = 0;
  for (const std::size_t n : {33U, 65U, 129U}) {
    const TriangleMesh mesh = generate_square({.n = n, .extent = 2, .jitter = 0.25});
    std::vector<double> values;
    for (const Vec3d& p : mesh.points) values.push_back(norm(p - Vec3d{1, 1, 0}) - 0.6);
    const auto times = zero_times(mesh, Metric{}, values);
    double sum = 0;
    for (const auto& [v, time] : times) sum += std::abs(time - std::abs(values[v.index()]));
    const double error = sum / static_cast<double>(times.size());
    if (previous > 0) {
      EXPECT_NEAR(std::log2(previous / error), 2, 0.3) << "n = " << n;
    }
    previous = error;
  }
}

TEST(LevelSet, SurfacesAreUnfolded) {
  // A sheet folded like a fan, at every second line of the mesh: times on it are those of the flat sheet.
  TriangleMesh mesh = generate_square({.n = 25, .extent = 24});
  const std::vector<double> exact = plane(mesh, SymTensor3d::identity(), {1, 0.45, 0}, 15.7);
  const auto flat = zero_times(mesh, Metric{}, exact);
  for (Vec3d& p : mesh.points) p = {0.6 * p.x, p.y, 0.8 * std::abs(std::remainder(p.x, 4.0))};
  const auto folded = zero_times(mesh, Metric{}, exact);
  ASSERT_EQ(folded.size(), flat.size());
  for (const auto& [v, time] : flat) EXPECT_NEAR(folded.at(v), time, 1e-9);
}

TEST(LevelSet, IsNotSeenThroughASlit) {
  // The zero set is just above the slit: from below the way leads round its end.
  const TetMesh whole = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}});
  const TetMesh mesh = slit(
      whole, [](Vec3d p) { return p.z == 4 && p.x < 5; }, [](Vec3d c) { return c.z > 4; });
  std::vector<double> values = plane(mesh, SymTensor3d::identity(), {0, 0, 1}, 4.25);
  for (const auto& [v, time] : zero_times(mesh, Metric{}, values)) {
    const Vec3d p = mesh.point(v);
    const bool below = v.index() < whole.vertex_count() && p.z <= 4 && p.x < 5;
    const double around = p.x < 5 ? std::hypot(5 - p.x, p.z - 4) + 0.25 : 0;
    if (below) {
      EXPECT_GE(time, around - 1e-12);
    } else {
      EXPECT_NEAR(time, std::abs(p.z - 4.25), 1e-12);
    }
  }
}

TEST(LevelSet, InAChangingMetricIsTheTimeOfAPath) {
  // Slow below, fast above: refracted paths are faster than straight ones, but none is faster than the fast side.
  const TetMesh mesh = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}, .jitter = 0.25});
  SpeedMetric speed;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    speed.speed.push_back(centroid(mesh, ElementId(e)).z > 4 ? 3.0 : 1.0);
  const std::vector<double> values = plane(mesh, SymTensor3d::identity(), {0.3, 0.2, 1}, 6.1);
  const auto times = zero_times(mesh, Metric(speed), values);
  expect_complete(mesh, values, times);
  for (const auto& [v, time] : times) {
    EXPECT_GE(time, std::abs(values[v.index()]) / 3 - 1e-12);
    EXPECT_LE(time, 2.5);
  }
}

TEST(LevelSet, ThroughVerticesIsZeroThere) {
  const TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5, .extent = {4, 4, 4}});
  const auto times = zero_times(mesh, Metric::isotropic(2), plane(mesh, SymTensor3d::identity(), {0, 0, 1}, 2));
  EXPECT_EQ(times.size(), 75U);
  for (const auto& [v, time] : times) EXPECT_DOUBLE_EQ(time, std::abs(mesh.point(v).z - 2) / 2);
}

TEST(LevelSet, OfOneSignWithZerosStartsThere) {
  const TriangleMesh mesh = generate_square({.n = 5, .extent = 4});
  std::vector<double> values(mesh.vertex_count(), 1.0);
  values[12] = 0;
  const auto times = zero_times(mesh, Metric{}, values);
  EXPECT_EQ(times.size(), 7U);
  for (const auto& [v, time] : times) EXPECT_DOUBLE_EQ(time, norm(mesh.point(v) - mesh.points[12]));
  EXPECT_EQ(times.at(VertexId(12)), 0.0);
}

TEST(LevelSet, AllZeroIsAllSource) {
  const TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3});
  const auto times = zero_times(mesh, Metric{}, std::vector<double>(mesh.vertex_count(), 0.0));
  EXPECT_EQ(times.size(), mesh.vertex_count());
  for (const auto& [v, time] : times) EXPECT_EQ(time, 0.0);
}

/// Through elements that lie on top of each other one could look for ever.
TEST(LevelSet, RepeatedElementsAreNotLookedThroughForEver) {
  TetMesh mesh = generate_cube({.nx = 4, .ny = 4, .nz = 4, .extent = {3, 3, 0.006}});
  const std::vector<double> values = plane(mesh, SymTensor3d::identity(), {1, 0.3, 0.2}, 1.6);
  const auto once = zero_times(mesh, Metric{}, values);
  for (std::size_t e = 0, count = mesh.element_count(); e < count; e += 3)
    for (int repeat = 0; repeat < 2; ++repeat) mesh.elements.push_back(TetMesh::Element(mesh.elements[e]));
  const auto repeated = zero_times(mesh, Metric{}, values);
  ASSERT_EQ(repeated.size(), once.size());
  for (const auto& [v, time] : once) {
    EXPECT_GE(repeated.at(v), time - 1e-9);
    EXPECT_LE(repeated.at(v), time + 1);  // an edge: not all ways are looked for
  }
}

TEST(LevelSet, RefusesWhatHasNoZeroSet) {
  const TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3});
  std::vector<double> values(mesh.vertex_count(), 1.0);
  EXPECT_THROW(zero_times(mesh, Metric{}, values), InputError);
  values[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(zero_times(mesh, Metric{}, values), InputError);
  values.pop_back();
  EXPECT_THROW(zero_times(mesh, Metric{}, values), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron
