// The GPU's schedule against the CPU's on the same problems. Skips itself where there is no device.
#include <gtest/gtest.h>

#include <cmath>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/mesh/generate/cube.h"
#include "isochron/mesh/generate/irregular_square.h"
#include "isochron/mesh/generate/random_fields.h"
#include "isochron/mesh/generate/sphere.h"
#include "isochron/mesh/generate/square.h"
#include "isochron/solve/solver.h"

namespace isochron {
namespace {

bool device_missing() {
  cuda::NoDevice why;
  return !cuda::find_device(why).has_value();
}

SolveOptions on_device(Precision precision) {
  SolveOptions options;
  options.backend = Backend::cuda;
  options.precision = precision;
  options.verify = Keep::yes;
  return options;
}

/// The GPU's times pass the residual check and are the CPU's, to the tolerance times the hops.
template <int Corners>
void expect_same(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources) {
  SolveOptions strict;
  strict.tolerance = 1e-12;
  strict.backend = Backend::serial;
  const Arrival reference = solve(mesh, metric, sources, strict);
  const double hops = 3.0 * std::pow(static_cast<double>(mesh.vertex_count()), 1.0 / (Corners - 1));
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    const Arrival arrival = solve(mesh, metric, sources, on_device(precision));
    EXPECT_EQ(arrival.backend, Backend::cuda);
    EXPECT_EQ(arrival.method, Method::push);
    EXPECT_EQ(arrival.precision, precision);
    EXPECT_TRUE(arrival.converged);
    ASSERT_TRUE(arrival.residual.has_value());
    EXPECT_LE(arrival.residual->worst, arrival.residual->limit);
    EXPECT_EQ(arrival.unreached, reference.unreached);
    const double tolerance = precision == Precision::single_ ? 1e-5 : 1e-6;
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
      if (std::isinf(reference.times[v])) {
        ASSERT_TRUE(std::isinf(arrival.times[v])) << v;
      } else {
        ASSERT_NEAR(arrival.times[v], reference.times[v], tolerance * hops) << v;
      }
    }
  }
}

Sources two_sources(std::uint32_t a, std::uint32_t b) {
  Sources sources;
  sources.vertices.push_back({VertexId(a), 0.5});
  sources.vertices.push_back({VertexId(b), 3});
  return sources;
}

class DeviceSolver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_missing()) GTEST_SKIP() << "there is no GPU to use";
  }
};

TEST_F(DeviceSolver, AgreesOnCubes) {
  const TetMesh regular = generate_cube({.nx = 15, .ny = 14, .nz = 13, .extent = {14, 13, 12}});
  const TetMesh jittered = generate_cube({.nx = 14, .ny = 14, .nz = 14, .extent = {13, 13, 13}, .jitter = 0.25});
  for (const TetMesh& mesh : {regular, jittered}) {
    expect_same(mesh, Metric::isotropic(2), two_sources(0, 1200));
    expect_same(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), two_sources(700, 3));
    FiberMetric fibers;
    fibers.fiber = random_fibers(mesh, 1);
    fibers.velocities = {{3, 1, 1}};
    expect_same(mesh, Metric(std::move(fibers)), two_sources(700, 3));
  }
}

TEST_F(DeviceSolver, AgreesOnSurfaces) {
  expect_same(generate_square({.n = 60, .extent = 59}), Metric(), two_sources(1800, 0));
  expect_same(generate_square({.n = 50, .extent = 49, .jitter = 0.3}), Metric::constant(SymTensor3d::diagonal(1, 9, 1)),
              two_sources(1000, 2400));
  expect_same(generate_sphere({.frequency = 12}), Metric::isotropic(3), two_sources(0, 700));
}

TEST_F(DeviceSolver, VirtualElementsTakePart) {
  SolveOptions options = on_device(Precision::double_);
  options.obtuse = ObtuseSplit::split;
  const TetMesh mesh = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}, .jitter = 0.3});
  const Arrival gpu = solve(mesh, Metric(), two_sources(0, 300), options);
  EXPECT_LE(gpu.residual->worst, gpu.residual->limit);
  options.backend = Backend::serial;
  const Arrival cpu = solve(mesh, Metric(), two_sources(0, 300), options);
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) EXPECT_NEAR(gpu.times[v], cpu.times[v], 1e-4);
}

TEST_F(DeviceSolver, SolvesAgainWithOtherSources) {
  const TetMesh mesh = generate_cube({.nx = 12, .ny = 12, .nz = 12, .extent = {11, 11, 11}, .jitter = 0.2});
  const Metric metric;
  Solver<4> solver({mesh, metric}, on_device(Precision::single_));
  const Arrival first = solver.solve(two_sources(0, 9));
  solver.solve(two_sources(1700, 3));
  const Arrival again = solver.solve(two_sources(0, 9));
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) EXPECT_NEAR(first.times[v], again.times[v], 1e-3);
}

TEST_F(DeviceSolver, TakesOddMeshes) {
  TriangleMesh one;
  one.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}};  // and a vertex without an element
  one.elements = {{VertexId(0), VertexId(1), VertexId(2)}};
  Sources sources;
  sources.vertices.push_back({VertexId(0), 0});
  expect_same(one, Metric(), sources);
  // Ten thousand triangles around one vertex.
  TriangleMesh fan;
  constexpr std::uint32_t count = 10000;
  fan.points.push_back({0, 0, 0});
  for (std::uint32_t i = 0; i < count; ++i) {
    const double angle = 6.283185307179586 * i / count;
    fan.points.push_back({std::cos(angle), std::sin(angle), 0});
    fan.elements.push_back({VertexId(0), VertexId(1 + i), VertexId(1 + (i + 1) % count)});
  }
  sources.vertices[0].vertex = VertexId(1);
  expect_same(fan, Metric(), sources);
}

TEST(DeviceSolverErrors, SaysWhatIsMissingOrDoesNotFit) {
  const TriangleMesh mesh = generate_square({.n = 5});
  Sources sources;
  sources.vertices.push_back({VertexId(0), 0});
  SolveOptions options = on_device(Precision::single_);
  options.method = Method::fmm;
  EXPECT_THROW(solve(mesh, Metric(), sources, options), UsageError);
  options.method = Method::push;
  options.backend = Backend::serial;
  EXPECT_THROW(solve(mesh, Metric(), sources, options), UsageError);
  options.backend = Backend::cuda;
  if (!device_missing()) return;
  try {
    solve(mesh, Metric(), sources, options);
    FAIL() << "solved on a device that is not there";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("--backend threads"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace isochron
