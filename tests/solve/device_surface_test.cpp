// The GPU's schedule for surfaces against the CPU's times. Skips itself where there is no device.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "isochron/core/cuda/device.h"
#include "isochron/mesh/generate/irregular_square.h"
#include "isochron/mesh/generate/random_fields.h"
#include "isochron/mesh/generate/sphere.h"
#include "isochron/mesh/generate/square.h"
#include "isochron/solve/simplex/cuda/schedule.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/solver.h"
#include "solve/samples.h"

namespace isochron {
namespace {

using cuda::SurfaceTuning;

struct Onset {
  std::uint32_t vertex;
  double time;
};

/// Patches of one warp and of many, few hops and many, narrow bands and wide ones.
std::vector<SurfaceTuning> tunings() {
  return {{},
          {.patch_vertices = 256, .hops = 24, .warp_hops = 2, .band_width = 1},
          {.patch_vertices = 32, .hops = 3, .warp_hops = 1, .band_width = 4},
          {.patch_vertices = 64, .hops = 1000, .warp_hops = 4, .band_width = 1e6}};
}

/// A problem as the solver prepares it.
template <class T>
SimplexProblem<T, 3> prepare(const TriangleMesh& mesh, const Metric& metric) {
  auto problem = prepare_topology<T>(mesh, KeepOrder::no, 1);
  apply_metric(problem, mesh, metric, 1);
  if (problem.obtuse_corners > 0) problem.virtual_elements = split_obtuse(problem, mesh, metric);
  return problem;
}

template <class T>
SolveState<T> start(const SimplexProblem<T, 3>& problem, const std::vector<Onset>& onsets) {
  SolveState<T> state;
  state.time.assign(problem.vertex_count, std::numeric_limits<T>::infinity());
  state.tolerance = sizeof(T) == 4 ? T(1e-5) : T(1e-6);
  for (const Onset& onset : onsets) {
    const std::uint32_t v = problem.internal(VertexId(onset.vertex));
    state.time[v] = static_cast<T>(onset.time / problem.unit);
    state.seeds.push_back(v);
  }
  return state;
}

/// The schedule's own times, with any tuning, are the reference to the tolerance times the hops.
template <class T>
void expect_times(const TriangleMesh& mesh, const Metric& metric, const std::vector<Onset>& onsets,
                  const Arrival& reference) {
  const auto problem = prepare<T>(mesh, metric);
  const double hops = 3 * std::sqrt(static_cast<double>(mesh.vertex_count()));
  for (const SurfaceTuning& tuning : tunings()) {
    SCOPED_TRACE(testing::Message() << (sizeof(T) == 4 ? "single " : "double ") << tuning.patch_vertices);
    auto state = start(problem, onsets);
    cuda::make_surface(problem, mesh, tuning)->run(state);
    const double near = static_cast<double>(state.tolerance * problem.mean_edge) * problem.unit * hops;
    for (std::uint32_t v = 0; v < mesh.vertex_count(); ++v) {
      const double expected = reference.times[problem.user(v)];
      if (std::isinf(expected)) {
        ASSERT_TRUE(std::isinf(state.time[v])) << v;
      } else {
        ASSERT_NEAR(static_cast<double>(state.time[v]) * problem.unit, expected, near) << v;
      }
    }
    EXPECT_GE(state.counters.vertex_updates + onsets.size(), reference.reached);
    EXPECT_GE(state.counters.local_solves, state.counters.vertex_updates);
  }
}

/// And what the solver makes of it passes the residual check.
void expect_solved(const TriangleMesh& mesh, const Metric& metric, const std::vector<Onset>& onsets) {
  Sources sources;
  for (const Onset& onset : onsets) sources.vertices.push_back({VertexId(onset.vertex), onset.time});
  SolveOptions options;
  options.source_init = SourceInit::plain;
  options.backend = Backend::serial;
  options.tolerance = 1e-12;
  const Arrival reference = solve(mesh, metric, sources, options);
  expect_times<float>(mesh, metric, onsets, reference);
  expect_times<double>(mesh, metric, onsets, reference);
  options.backend = Backend::cuda;
  options.verify = Keep::yes;
  options.tolerance.reset();
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    options.precision = precision;
    const Arrival arrival = solve(mesh, metric, sources, options);
    EXPECT_TRUE(arrival.converged) << arrival.residual->worst;
    EXPECT_EQ(arrival.method, Method::push);
    EXPECT_EQ(arrival.unreached, reference.unreached);
  }
}

Metric random_speed_metric(const TriangleMesh& mesh) {
  return Metric(SpeedMetric{random_speed(mesh, {0.3, 2}, {.smoothing = 2})});
}

class DeviceSurface : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda::NoDevice why;
    if (!cuda::find_device(why)) GTEST_SKIP() << why.reason;
  }
};

TEST_F(DeviceSurface, Squares) {
  const TriangleMesh regular = generate_square({.n = 41, .extent = 40});
  expect_solved(regular, Metric::isotropic(2), {{840, 0}});
  expect_solved(regular, Metric::constant(SymTensor3d::diagonal(1, 9, 1)), {{0, 0}, {1600, 5}});
  const TriangleMesh jittered = generate_square({.n = 40, .extent = 39, .jitter = 0.3});
  expect_solved(jittered, Metric(), {{0, 0}});
  expect_solved(jittered, random_speed_metric(jittered), {{0, 0}, {777, 1}, {1599, 30}});
}

TEST_F(DeviceSurface, Spheres) {
  const TriangleMesh mesh = generate_sphere({.frequency = 12});
  expect_solved(mesh, Metric::isotropic(3), {{0, 0}, {700, 0.1}});
  expect_solved(mesh, random_speed_metric(mesh), {{5, 0}});
}

TEST_F(DeviceSurface, VirtualElementsTakePart) {
  const TriangleMesh mesh = generate_irregular_square({.n = 30, .extent = 29});
  ASSERT_FALSE(prepare<double>(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 1))).virtual_elements.empty());
  expect_solved(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 1)), {{450, 0}});
}

TEST_F(DeviceSurface, PartsThatNothingReaches) {
  TriangleMesh mesh = generate_square({.n = 20, .extent = 19});
  const auto count = static_cast<std::uint32_t>(mesh.vertex_count());
  const TriangleMesh other = mesh;
  for (const Vec3d& p : other.points)
    mesh.points.push_back(p + Vec3d{7, 3, 0.5});  // woven into the first part's patches
  for (const auto& e : other.elements)
    mesh.elements.push_back({VertexId(e[0].value + count), VertexId(e[1].value + count), VertexId(e[2].value + count)});
  for (int i = 0; i < 40; ++i) mesh.points.push_back({i * 0.4, 1, 2});  // without an element
  expect_solved(mesh, Metric(), {{3, 2}});
}

TEST_F(DeviceSurface, FansOfAnyValence) {
  expect_solved(test::disc_of_slivers(9), Metric(), {{1, 0}});
  expect_solved(test::disc_of_slivers(2000), Metric(), {{1, 0}, {500, 0.5}});
}

TEST_F(DeviceSurface, FanOfTenThousandSlow) { expect_solved(test::disc_of_slivers(10000), Metric(), {{1, 0}}); }

TEST_F(DeviceSurface, SheetsThatShareAnEdge) {
  // Five sheets like the pages of a book: every edge of the spine has five triangles.
  TriangleMesh mesh;
  constexpr std::uint32_t rows = 12, columns = 9, pages = 5;
  for (std::uint32_t y = 0; y < rows; ++y) mesh.points.push_back({0, double(y), 0});
  const auto at = [&](std::uint32_t page, std::uint32_t x, std::uint32_t y) {
    return VertexId(x == 0 ? y : rows + (page * (columns - 1) + x - 1) * rows + y);
  };
  for (std::uint32_t page = 0; page < pages; ++page)
    for (std::uint32_t x = 1; x < columns; ++x)
      for (std::uint32_t y = 0; y < rows; ++y)
        mesh.points.push_back({x * std::cos(0.6 * page), double(y), x * std::sin(0.6 * page)});
  for (std::uint32_t page = 0; page < pages; ++page)
    for (std::uint32_t x = 0; x + 1 < columns; ++x)
      for (std::uint32_t y = 0; y + 1 < rows; ++y) {
        mesh.elements.push_back({at(page, x, y), at(page, x + 1, y), at(page, x, y + 1)});
        mesh.elements.push_back({at(page, x + 1, y + 1), at(page, x, y + 1), at(page, x + 1, y)});
      }
  expect_solved(mesh, Metric(), {{at(3, 8, 2).value, 0}});
}

TEST_F(DeviceSurface, OneTriangle) {
  TriangleMesh mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.elements = {{VertexId(0), VertexId(1), VertexId(2)}};
  expect_solved(mesh, Metric(), {{2, 1}});
  expect_solved(mesh, Metric(), {{0, 0}, {1, 0.25}, {2, 9}});
}

TEST_F(DeviceSurface, SolvesAgainWithOtherSources) {
  const TriangleMesh mesh = generate_square({.n = 40, .extent = 39, .jitter = 0.2});
  const auto problem = prepare<double>(mesh, Metric());
  const auto schedule = cuda::make_surface(problem, mesh, SurfaceTuning{.patch_vertices = 64});
  auto first = start(problem, {{0, 0}}), between = start(problem, {{1200, 2}}), again = first;
  schedule->run(first);
  schedule->run(between);
  schedule->run(again);
  for (std::uint32_t v = 0; v < mesh.vertex_count(); ++v) ASSERT_NEAR(first.time[v], again.time[v], 1e-3);
}

}  // namespace
}  // namespace isochron
