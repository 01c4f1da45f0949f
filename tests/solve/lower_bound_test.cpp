// The check that no time is below what the largest speed takes along a straight line.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/solve/common/lower_bound.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron::test {
namespace TEST_FILE {

SolveOptions verified(SourceInit init = SourceInit::plain) {
  SolveOptions options;
  options.source_init = init;
  options.verify = Keep::yes;
  return options;
}

template <int Corners>
BoundGeometry geometry(const SimplexMesh<Corners>& mesh, double slowness) {
  return {[&mesh](std::size_t v) { return mesh.points[v]; }, slowness};
}

TEST(LowerBound, IsSharpForOneSource) {
  const TetMesh mesh = cube(5);
  const std::vector<Seed> seed{{GlobalVertexId(0), 3}};
  const LowerBound bound(geometry(mesh, 0.5), seed);
  for (const Vec3d& p : mesh.points) EXPECT_DOUBLE_EQ(bound.at(p), 3 + 0.5 * norm(p - mesh.points[0]));
}

TEST(LowerBound, IsConvexAndBelowAllSeeds) {
  const TetMesh mesh = cube(6, 0.2);
  const std::vector<Seed> seeds{{GlobalVertexId(0), 1}, {GlobalVertexId(77), 0}, {GlobalVertexId(215), 2}};
  const LowerBound bound(geometry(mesh, 1), seeds);
  for (const Seed& seed : seeds) EXPECT_LE(bound.at(mesh.points[seed.vertex.index()]), seed.time + 1e-12);
  for (std::size_t i = 0; i < mesh.vertex_count(); i += 7)
    for (std::size_t j = 0; j < i; j += 5) {
      const Vec3d &p = mesh.points[i], &q = mesh.points[j];
      EXPECT_LE(bound.at(0.5 * (p + q)), 0.5 * (bound.at(p) + bound.at(q)) + 1e-12);
      EXPECT_LE(std::abs(bound.at(p) - bound.at(q)), norm(p - q) + 1e-12);
    }
}

/// Two seeds in one place each: a box around them, and a cone around the earlier one that the later one lowers.
TEST(LowerBound, IsTheLargerOfBoxAndCone) {
  const Vec3d corner{100, 200, 300};
  const std::vector<Vec3d> points{corner, corner + Vec3d{4, 2, 1}};
  const BoundGeometry place{[&](std::size_t v) { return points[v]; }, 0.5};
  const std::vector<Seed> seeds{{GlobalVertexId(0), 3}, {GlobalVertexId(1), 3.25}};
  const LowerBound bound(place, seeds);
  EXPECT_EQ(bound.earliest(), 3);
  const auto at = [&](const Vec3d& p) { return bound.at(corner + p); };
  EXPECT_DOUBLE_EQ(at({-2, 1, 0.5}), 4) << "along x from the box";
  EXPECT_DOUBLE_EQ(at({2, 6, 0.5}), 5);
  EXPECT_DOUBLE_EQ(at({2, -4, 0.5}), 5);
  EXPECT_DOUBLE_EQ(at({2, 1, -4}), 5);
  EXPECT_DOUBLE_EQ(at({2, 1, 0.5}), 3) << "in the box";
  const double cone = 3.25 - 0.5 * std::sqrt(21);
  EXPECT_NEAR(at({40, 20, 10}), cone + 0.5 * 10 * std::sqrt(21), 1e-9);
  const LowerBound before(place, seeds, 2);
  EXPECT_EQ(before.earliest(), 2);
  EXPECT_DOUBLE_EQ(before.at(corner + Vec3d{-2, 1, 0.5}), 3);
}

TEST(LowerBound, CountsFromTheFirstOnset) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  const BoundGeometry place{[&](std::size_t v) { return points[v]; }, 1};
  for (const double onset : {3.0, -3.0}) {
    Residual found;
    const std::vector<double> times{onset, onset + 0.9, onset + 1.5};
    check_lower_bound(place, std::vector<Seed>{{GlobalVertexId(0), onset}}, times, {}, 1e-3, found);
    EXPECT_NEAR(found.share_below, 0.25, 1e-5);
    EXPECT_EQ(found.vertex_below.value, 2U);
    EXPECT_EQ(found.max_share_below, 1e-3);
  }
  // Less than the rounding of such onsets.
  for (const double onset : {1e9, -1e9}) {
    Residual found;
    const std::vector<double> times{onset, onset + 1 - 5e-4, onset + 2 - 5e-4};
    check_lower_bound(place, std::vector<Seed>{{GlobalVertexId(0), onset}}, times, {}, 1e-3, found);
    EXPECT_EQ(found.share_below, 0);
  }
  Residual unreached;
  const double inf = std::numeric_limits<double>::infinity();
  check_lower_bound(place, std::vector<Seed>{{GlobalVertexId(0), 0}}, std::vector<double>{0, 0.5, inf}, {}, 1e-3,
                    unreached);
  EXPECT_NEAR(unreached.share_below, 0.5, 1e-5) << "what is not reached is not late";
}

TEST(LowerBound, RoundingIsAMillionthOfTheTimes) {
  const BoundGeometry place{[](std::size_t v) { return Vec3d{static_cast<double>(v), 0, 0}; }, 1};
  const auto share_below = [&](const BoundGeometry& geometry, double lost) {
    Residual found;
    const std::vector<double> times{0, 1 - lost, 2};
    check_lower_bound(geometry, std::vector<Seed>{{GlobalVertexId(0), 0}}, times, {}, 1e-3, found);
    return found.share_below;
  };
  EXPECT_EQ(share_below(place, 1.9e-6), 0);
  EXPECT_NEAR(share_below(place, 3e-6), 1e-6, 1e-9);
  EXPECT_EQ(share_below({place.position}, 0.5), 0) << "of an unknown slowness nothing is said";
}

/// Times that are too early in a way that the neighbours agree on pass the first check and not the second.
TEST(LowerBound, FindsTimesThatAreTooEarly) {
  const TetMesh mesh = cube(7, 0.2);
  const Metric metric = Metric::isotropic(2);
  Solver solver({mesh, metric}, verified());
  Arrival arrival = solver.solve(from(vertex(0)));
  ASSERT_TRUE(arrival.residual->passed());
  EXPECT_GT(arrival.residual->max_share_below, 0);
  EXPECT_TRUE(arrival.residual->not_too_early());
  for (double& time : arrival.times) time *= 0.9;
  const Residual early = solver.residual(arrival, from(vertex(0)));
  EXPECT_FALSE(early.not_too_early());
  EXPECT_NEAR(early.share_below, 0.1, 0.05);
  Residual alone;
  check_lower_bound(geometry(mesh, 0.5), std::vector<Seed>{{GlobalVertexId(0), 0}}, arrival.times, {}, 1e-3, alone);
  EXPECT_EQ(alone.share_below, early.share_below);
  EXPECT_EQ(alone.vertex_below, early.vertex_below);
}

/// Where all that is reached starts at one time, there is no travel time that rounding could be measured by.
TEST(LowerBound, AllowsForRoundingAtItsSeeds) {
  for (int n = 1; n < 200; ++n) {
    TetMesh mesh;
    mesh.points = {{0, 0, 0}, {0.1 * n, 0.3, 0.7}};
    const std::vector<Seed> seeds{{GlobalVertexId(0), 0}, {GlobalVertexId(1), 0}};
    Residual residual;
    check_lower_bound(geometry(mesh, 0.37 * n), seeds, std::vector<double>{0, 0}, {}, 1e-3, residual);
    EXPECT_EQ(residual.share_below, 0) << n;
  }
}

TEST(LowerBound, HoldsForEverythingThatIsSolved) {
  const TetMesh tets = cube(9, 0.3);
  const TriangleMesh triangles = square(20, 0.3);
  const Metric stretched = Metric::constant(diag149);
  Sources sources = from(vertex(0));
  sources.vertices.push_back({VertexId(200), 0.3});
  sources.points.push_back({{3.3, 2.1, 0}, 0.1});
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored}) {
    EXPECT_TRUE(solve(tets, stretched, sources, verified(init)).residual->not_too_early());
    EXPECT_TRUE(solve(triangles, stretched, sources, verified(init)).residual->not_too_early());
    EXPECT_TRUE(solve(tets, rough_fibers(tets, 8), sources, verified(init)).residual->not_too_early());
  }
  ImageGrid grid;
  grid.shape = {17, 15, 13};
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(1 + 0.5 * std::sin(0.1 * double(v)));
  for (const int order : {1, 2}) {
    SolveOptions options = verified();
    options.order = order;
    EXPECT_TRUE(solve(grid, Metric(speeds), from(vertex(100)), options).residual->not_too_early());
    EXPECT_TRUE(solve(grid, stretched, from(vertex(100)), options).residual->not_too_early());
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
