// Every step of preparing and of reading off the result looks at the flag while it runs, not only before.
#include "isochron/progress.h"

#include <gtest/gtest.h>

#include "isochron/mesh.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/locator.h"
#include "isochron/mesh/ordering.h"
#include "isochron/papers/axis_schemes.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/problem.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron {
namespace TEST_FILE {

template <class Step>
void expect_stopped(const Step& step) {
  EXPECT_NO_THROW(step());
  const std::atomic<bool> flag{true};
  const StopScope scope(&flag);
  EXPECT_THROW(step(), Cancelled);
}

class StopInSetUp : public ::testing::TestWithParam<int> {};

TEST_P(StopInSetUp, OfMeshes) {
  const int threads = GetParam();
  const TetMesh mesh = test::cube(9, 0.3);
  const Metric uniform = Metric::constant(test::diag149);
  const Metric speeds(SpeedMetric{std::vector<double>(mesh.element_count(), 2.0)});
  expect_stopped([&] { check_mesh(mesh); });
  expect_stopped([&] { check_mesh(mesh, MeshIds::in_range); });
  expect_stopped([&] { check_metric(speeds, mesh.element_count(), "the metric"); });
  expect_stopped([&] { hilbert_order(mesh.points, CurveDetail::points, threads); });
  expect_stopped([&] { build_adjacency(mesh, threads); });
  expect_stopped([&] { PointLocator<4>(mesh, threads); });
  const Permutation order = hilbert_order(mesh.points, CurveDetail::points, threads);
  expect_stopped([&] { prepare_topology<double>(mesh, order, threads); });
  auto problem = prepare_topology<double>(mesh, order, threads);
  expect_stopped([&] { apply_metric(problem, mesh, uniform, threads); });
  ASSERT_GT(problem.obtuse_corners, 0U);
  expect_stopped([&] { split_obtuse(problem, mesh, uniform, SplitLimits{}, threads); });
}

TEST_P(StopInSetUp, OfImages) {
  const int threads = GetParam();
  ImageGrid grid;
  grid.shape = {12, 11, 10};
  const GridCells cells = make_cells(grid, {});
  const Metric speeds(SpeedMetric{std::vector<double>(grid.voxel_count(), 2.0)});
  TensorMetric turned;
  turned.tensor.assign(grid.voxel_count(), SymTensor3f{1, 0.3F, 0, 2, 0, 3});
  const Metric tensors(std::move(turned));
  expect_stopped([&] { check_grid_metric({grid, speeds}, cells); });
  expect_stopped([&] { make_stencils<float>({grid, speeds}, cells, threads); });
  expect_stopped([&] { make_stencils<double>({grid, tensors}, cells, threads); });
  expect_stopped([&] { make_tensors<double>({grid, tensors}, cells, threads); });
}

INSTANTIATE_TEST_SUITE_P(Threads, StopInSetUp, ::testing::Values(1, 3));

/// A solver that is stopped while it checks times or takes another metric can be used again, with the metric before.
template <class AnySolver>
void expect_usable_after_stops(AnySolver& solver, std::atomic<bool>& flag, const Metric& other) {
  Sources sources;
  sources.vertices.push_back({VertexId(0)});
  const Arrival arrival = solver.solve(sources);
  flag = true;
  EXPECT_THROW(solver.residual(arrival, sources), Cancelled);
  EXPECT_THROW(solver.set_metric(other), Cancelled);
  EXPECT_THROW(solver.solve(sources), Cancelled);
  flag = false;
  EXPECT_TRUE(solver.residual(arrival, sources).passed());
  EXPECT_EQ(solver.solve(sources).times, arrival.times);
}

TEST(Stop, AMeshSolverIsUsableAfterwards) {
  const TetMesh mesh = test::cube(6);
  const Metric slow = Metric::isotropic(1), fast = Metric::isotropic(2);
  std::atomic<bool> flag{false};
  SolveOptions options;
  options.backend = Backend::serial;
  options.progress.cancel = &flag;
  Solver solver({mesh, slow}, options);
  expect_usable_after_stops(solver, flag, fast);
}

TEST(Stop, AnImageSolverIsUsableAfterwards) {
  ImageGrid grid;
  grid.shape = {12, 11, 10};
  const Metric slow(SpeedMetric{std::vector<double>(grid.voxel_count(), 1.0)});
  const Metric fast(SpeedMetric{std::vector<double>(grid.voxel_count(), 2.0)});
  std::atomic<bool> flag{false};
  SolveOptions options;
  options.backend = Backend::serial;
  options.progress.cancel = &flag;
  Solver solver({grid, slow, {}}, options);
  expect_usable_after_stops(solver, flag, fast);
}

}  // namespace TEST_FILE
}  // namespace isochron
