// What only the GPU does. That it solves as the CPU does is in schedules_test.cpp and solver_test.cpp.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/capabilities.h"
#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/solve/simplex/cuda/volume.h"
#include "solve/samples.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;

SolveOptions on_device() {
  SolveOptions options;
  options.backend = Backend::cuda;
  options.verify = Keep::yes;
  return options;
}

using DeviceSolver = DeviceCase;

TEST_F(DeviceSolver, EndsWhenItTakesTooManyRounds) {
  const TetMesh mesh = cube(9, 0.2);
  StartSeeds start;
  start.seeds.push_back({VertexId(0), 0});
  double seconds = 0;
  cuda::PushTuning tuning = cuda::push_tunings[0];
  for (const std::uint32_t max_rounds : {3U, 0U}) {
    tuning.max_rounds = max_rounds;
    const auto solver = cuda::make_volume_solver<float>(mesh, Metric::isotropic(1), tuning);
    const Counters counters = solver->solve({&start, 1}, 1e-5F, 0, seconds);
    EXPECT_EQ(solver->converged(), max_rounds == 0);
    EXPECT_TRUE(max_rounds == 0 || counters.rounds == max_rounds);
  }
}

TEST_F(DeviceSolver, ByDefaultPushesInSinglePrecision) {
  const TetMesh mesh = cube(9, 0.2);
  SolveOptions options = on_device();
  options.source_init = SourceInit::plain;  // a ball would leave little to do
  const Arrival arrival = solve(mesh, Metric(), from(VertexId(0)), options);
  EXPECT_EQ(arrival.backend, Backend::cuda);
  EXPECT_EQ(arrival.method, Method::push);
  EXPECT_EQ(arrival.precision, Precision::single_);
  EXPECT_TRUE(arrival.residual->passed());
  EXPECT_GT(arrival.counters.rounds, 0U);
  EXPECT_GE(arrival.counters.vertex_updates, mesh.vertex_count());
  EXPECT_GT(arrival.counters.local_solves, mesh.vertex_count());
  EXPECT_GT(arrival.transfer_seconds, 0);
  EXPECT_GT(arrival.solve_seconds, 0);
}

TEST_F(DeviceSolver, SolvesVirtualTetrahedraWithTheActiveList) {
  SolveOptions options = on_device();
  options.obtuse = ObtuseSplit::split;
  const Arrival volume = solve(cube(9, 0.3), Metric(), from(VertexId(0)), options);
  EXPECT_EQ(volume.method, Method::active_list);
  EXPECT_TRUE(volume.residual->passed());
  const Arrival surface = solve(square(9, 0.3), Metric(), from(VertexId(0)), options);
  EXPECT_EQ(surface.method, Method::push);
  EXPECT_TRUE(surface.residual->passed());
}

TEST_F(DeviceSolver, TakesAFrontThatNeedsThousandsOfRounds) {
  // A full circle of ten thousand slivers: the front creeps along the rim, and each step also changes the centre's
  // star.
  const TriangleMesh disc = disc_of_slivers(10000);
  SolveOptions strict;
  strict.tolerance = 1e-12;
  const Arrival reference = solve(disc, Metric(), from(VertexId(1)), strict);
  const Arrival arrival = solve(disc, Metric(), from(VertexId(1)), on_device());
  EXPECT_TRUE(arrival.residual->passed());
  EXPECT_LT(worst_difference(arrival.times, reference.times), 3e-3);
}

TEST_F(DeviceSolver, FullMemoryIsSaidAndPasses) {
  const TetMesh mesh = cube(40), tiny = cube(3);
  const TriangleMesh surface = square(300, 0.3), small_surface = square(9, 0.3);
  ASSERT_TRUE(solve(tiny, Metric(), from(VertexId(0)), on_device()).converged);  // kernels are loaded now
  ASSERT_TRUE(solve(small_surface, Metric(), from(VertexId(0)), on_device()).converged);
  std::vector<cuda::DeviceArray<char>> taken;
  for (std::size_t bytes = std::size_t{8} << 30; bytes >= std::size_t{1} << 20;) {
    try {
      taken.emplace_back(bytes);
    } catch (const RuntimeError&) {
      bytes /= 2;
    }
  }
  const auto said = AllOf(HasSubstr("MiB needed"), HasSubstr("MiB free"), HasSubstr("backend threads"));
  EXPECT_THAT(failure([&] { solve(mesh, Metric(), from(VertexId(0)), on_device()); }), said);
  EXPECT_THAT(failure([&] { solve(surface, Metric(), from(VertexId(0)), on_device()); }), said);
  taken.clear();
  EXPECT_TRUE(solve(mesh, Metric(), from(VertexId(0)), on_device()).residual->passed());
  EXPECT_TRUE(solve(surface, Metric(), from(VertexId(0)), on_device()).residual->passed());
}

TEST_F(DeviceSolver, ADeviceErrorOfTheCallbackIsNoFallback) {
  const TetMesh mesh = cube(57);
  ASSERT_GT(mesh.element_count(), backend_thresholds.cuda_elements) << "the GPU is chosen";
  const Metric metric;
  Solver solver({mesh, metric}, {});
  std::size_t taken = 0;
  const auto run = [&] {
    solver.solve_many(std::vector<Sources>(3, from(VertexId(0))), [&](std::size_t, Arrival&&) {
      ++taken;
      throw DeviceError("of the callback");
    });
  };
  EXPECT_THROW(run(), DeviceError);
  EXPECT_EQ(taken, 1U);
  EXPECT_EQ(solver.solve(from(VertexId(0))).backend, Backend::cuda);
}

TEST_F(DeviceSolver, LeavesNoMemoryBehind) {
  const TetMesh mesh = cube(30);
  const TriangleMesh surface = square(150, 0.3);
  const auto solve_both = [&] {
    solve(mesh, Metric(), from(VertexId(0)), on_device());
    solve(surface, Metric(), from(VertexId(0)), on_device());
  };
  solve_both();
  const std::size_t before = cuda::free_bytes();
  for (int i = 0; i < 5; ++i) solve_both();
  EXPECT_GE(cuda::free_bytes() + (std::size_t{4} << 20), before);
}

TEST(DeviceSolverErrors, SaysWhatIsMissingOrDoesNotFit) {
  const TriangleMesh mesh = square(5);
  SolveOptions options = on_device();
  options.method = Method::fmm;
  EXPECT_THROW(solve(mesh, Metric(), from(VertexId(0)), options), UsageError);
  options.method = Method::push;
  options.backend = Backend::serial;
  EXPECT_THROW(solve(mesh, Metric(), from(VertexId(0)), options), UsageError);
  options.backend = Backend::cuda;
  if (no_device().empty()) return;
  try {
    solve(mesh, Metric(), from(VertexId(0)), options);
    FAIL() << "solved on a device that is not there";
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("backend threads"));
  }
}

TEST(DeviceSolverErrors, PushMakesNoVirtualTetrahedra) {
  SolveOptions options = on_device();
  options.method = Method::push;
  options.obtuse = ObtuseSplit::split;
  try {
    solve(cube(3), Metric(), from(VertexId(0)), options);
    FAIL() << "took virtual tetrahedra";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("method active-list"), HasSubstr("leave obtuse out")));
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
