// The GPU's schedule for surfaces against the CPU's times. Skips itself where there is no device.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/solve/simplex/cuda/surface.h"
#include "isochron/solver.h"
#include "solve/samples.h"
#include "support/device_case.h"

namespace isochron {
namespace TEST_FILE {

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

/// The schedule's own times, with any tuning, are the reference to the tolerance times the hops.
template <class T>
void expect_times(const TriangleMesh& mesh, const Metric& metric, const std::vector<Onset>& onsets,
                  const Arrival& reference) {
  const double hops = 3 * std::sqrt(static_cast<double>(mesh.vertex_count()));
  for (const SurfaceTuning& tuning : tunings()) {
    SCOPED_TRACE(testing::Message() << (sizeof(T) == 4 ? "single " : "double ") << tuning.patch_vertices);
    const auto solver = cuda::make_surface_solver<T>(mesh, metric, ObtuseSplit::automatic, tuning);
    const cuda::MeshSummary summary = solver->summary();
    StartSeeds start;
    for (const Onset& onset : onsets) start.seeds.push_back({VertexId(onset.vertex), onset.time / summary.unit});
    const T tolerance = sizeof(T) == 4 ? T(1e-5) : T(1e-6);
    double seconds = 0;
    const Counters counters = solver->solve({&start, 1}, tolerance, 0, seconds);
    std::vector<double> times(mesh.vertex_count());
    solver->times(0, 0, times);
    const double near = tolerance * summary.mean_edge * summary.unit * hops;
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
      if (std::isinf(reference.times[v])) {
        ASSERT_TRUE(std::isinf(times[v])) << v;
      } else {
        ASSERT_NEAR(times[v], reference.times[v], near) << v;
      }
    }
    EXPECT_GE(counters.vertex_updates + onsets.size(), reference.reached);
    EXPECT_GE(counters.local_solves, counters.vertex_updates);
  }
}

SolveOptions on_device() {
  SolveOptions options;
  options.backend = Backend::cuda;
  options.verify = Keep::yes;
  return options;
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

using DeviceSurface = test::DeviceCase;

TEST_F(DeviceSurface, EndsWhenItTakesTooManyTurns) {
  const TriangleMesh mesh = generate_square({.n = 201, .extent = 200});
  StartSeeds start;
  start.seeds.push_back({VertexId(0), 0});
  double seconds = 0;
  for (const std::uint32_t max_turns : {3U, 0U}) {
    const SurfaceTuning tuning{.max_turns = max_turns};
    const auto solver = cuda::make_surface_solver<float>(mesh, Metric::isotropic(1), ObtuseSplit::automatic, tuning);
    solver->solve({&start, 1}, 1e-5F, 0, seconds);
    EXPECT_EQ(solver->converged(), max_turns == 0);
  }
}

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
  const Metric stretched = Metric::constant(SymTensor3d::diagonal(1, 4, 1));
  expect_solved(mesh, stretched, {{450, 0}});
  expect_solved(mesh, test::rough_fibers(mesh, 8), {{0, 0}, {450, 1}});
  SolveOptions options = on_device();
  const Arrival with = solve(mesh, stretched, test::from(VertexId(450)), options);
  options.obtuse = ObtuseSplit::none;
  const Arrival without = solve(mesh, stretched, test::from(VertexId(450)), options);
  EXPECT_TRUE(without.converged);
  EXPECT_GT(test::worst_difference(with.times, without.times), 0.05);
}

TEST_F(DeviceSurface, LabelsAndResidualAreTheHosts) {
  TriangleMesh mesh = generate_irregular_square({.n = 25, .extent = 24});
  mesh.points.push_back({50, 0, 0});  // nobody reaches it
  const Metric metric = test::rough_fibers(mesh, 4);
  Sources sources;
  for (const std::uint32_t v : {0U, 24U, 300U, 624U}) sources.vertices.push_back({VertexId(v), 0.01 * v});
  SolveOptions options = on_device();
  options.sources = Keep::yes;
  options.precision = Precision::double_;
  options.tolerance = 1e-9;
  const Arrival arrival = solve(mesh, metric, sources, options);
  SolveOptions host = options;
  host.backend = Backend::serial;
  Solver reference({mesh, metric}, host);
  const Arrival expected = reference.solve(sources);
  EXPECT_TRUE(arrival.converged);
  EXPECT_LT(test::worst_difference(arrival.times, expected.times), 1e-6);
  // Where two sources arrive together either is right.
  std::size_t differ = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) differ += arrival.source[v] != expected.source[v] ? 1 : 0;
  EXPECT_LE(differ, mesh.vertex_count() / 100);
  EXPECT_EQ(arrival.source.back(), -1);
  // Each has the other's times pass, and finds the same fault in wrong ones.
  Solver solver({mesh, metric}, options);
  EXPECT_TRUE(solver.residual(expected, sources).passed());
  EXPECT_TRUE(reference.residual(arrival, sources).passed());
  for (const double wrong : {0.9, 1.1}) {
    Arrival changed = expected;
    changed.times[400] *= wrong;
    const Residual found = solver.residual(changed, sources), also = reference.residual(changed, sources);
    EXPECT_FALSE(found.passed());
    EXPECT_NEAR(found.worst, also.worst, 1e-4 * also.worst);
    EXPECT_EQ(found.worst_vertex, also.worst_vertex);
  }
}

TEST_F(DeviceSurface, AnotherMetricIsPreparedAgain) {
  const TriangleMesh mesh = generate_irregular_square({.n = 25, .extent = 24});
  const Metric first = Metric::isotropic(2), second = test::rough_fibers(mesh, 6), bad = Metric(SpeedMetric{{1, 2}});
  const Sources sources = test::from_two(3, 500);
  Solver solver({mesh, first}, on_device());
  const Arrival before = solver.solve(sources);
  solver.set_metric(second);
  const Arrival changed = solver.solve(sources);
  EXPECT_TRUE(changed.converged);
  EXPECT_LT(test::worst_difference(changed.times, solve(mesh, second, sources, on_device()).times), 1e-3);
  EXPECT_THROW(solver.set_metric(bad), InputError);
  EXPECT_LT(test::worst_difference(solver.solve(sources).times, changed.times), 1e-3);
  solver.set_metric(first);
  EXPECT_LT(test::worst_difference(solver.solve(sources).times, before.times), 1e-3);
  EXPECT_GT(before.device_bytes, mesh.element_count() * 72);
}

TEST_F(DeviceSurface, ManySetsAreSolvedOneByOne) {
  const TriangleMesh mesh = generate_square({.n = 40, .extent = 39, .jitter = 0.2});
  const Metric metric = random_speed_metric(mesh);
  std::vector<Sources> sets{test::from(VertexId(0)), test::from_two(3, 1500), test::from(VertexId(800), 2)};
  sets.emplace_back().points.push_back({{10.3, 20.1, 0}, 0});
  Solver solver({mesh, metric}, on_device());
  const std::vector<Arrival> all = solver.solve_many(sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    EXPECT_TRUE(all[i].converged);
    EXPECT_LT(test::worst_difference(all[i].times, solver.solve(sets[i]).times), 1e-3);
  }
}

/// What is thrown for a mesh, a metric and a source in vertex 0.
std::string refusal(const TriangleMesh& mesh, const Metric& metric, Backend backend) {
  SolveOptions options;
  options.backend = backend;
  try {
    solve(mesh, metric, test::from(VertexId(0)), options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_F(DeviceSurface, RefusesWhatTheHostRefusesInTheSameWords) {
  const auto expect_same = [](const TriangleMesh& mesh, const Metric& metric = {}) {
    const std::string expected = refusal(mesh, metric, Backend::serial);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(refusal(mesh, metric, Backend::cuda), expected);
  };
  const TriangleMesh good = test::square(9);
  TriangleMesh mesh = good;
  mesh.elements.clear();
  expect_same(mesh);
  expect_same(TriangleMesh{});
  mesh = good;
  mesh.elements[17][1] = VertexId(81);
  mesh.elements[40][2] = VertexId();
  expect_same(mesh);
  mesh = good;
  mesh.points[33].y = std::numeric_limits<double>::quiet_NaN();
  mesh.points[60].z = std::numeric_limits<double>::infinity();
  expect_same(mesh);
  SpeedMetric speed{std::vector<double>(good.element_count(), 1)};
  speed.speed[5] = -1;
  expect_same(good, Metric(speed));
  speed.speed.pop_back();
  expect_same(good, Metric(speed));
  TensorMetric tensor{std::vector<SymTensor3f>(good.element_count(), SymTensor3f::identity())};
  tensor.tensor[100] = SymTensor3f::diagonal(1, -1, 1);
  expect_same(good, Metric(tensor));
  FiberMetric fibers;
  fibers.fiber.assign(good.element_count(), {1, 0, 0});
  fibers.fiber[7].x = std::numeric_limits<float>::quiet_NaN();
  expect_same(good, Metric(fibers));
  mesh = good;
  mesh.points.insert(mesh.points.begin(), {4, 4, 4});  // the source is now in no element
  for (auto& element : mesh.elements)
    for (VertexId& v : element) v = VertexId(v.value + 1);
  expect_same(mesh);
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

}  // namespace TEST_FILE
}  // namespace isochron
