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
