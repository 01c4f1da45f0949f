// Re-solving after a change against solving from nothing.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron {
namespace TEST_FILE {

using test::cube;
using test::from;
using test::from_two;
using test::square;
using test::vertex;

constexpr double inf = std::numeric_limits<double>::infinity();

SolveOptions options_of(Precision precision, int threads, ObtuseSplit obtuse = ObtuseSplit::automatic) {
  SolveOptions options;
  options.obtuse = obtuse;
  options.precision = precision;
  options.threads = threads;
  options.backend = threads > 1 ? Backend::threads : Backend::serial;
  options.verify = Keep::yes;
  return options;
}

/// Speeds between 1/e and e in blocks, by a seed.
Metric speeds(std::size_t elements, std::uint64_t seed) {
  Random random(seed);
  SpeedMetric speed;
  for (std::size_t e = 0; e < elements; ++e) speed.speed.push_back(std::exp(2 * random.uniform() - 1));
  return Metric(std::move(speed));
}

/// The metric with M multiplied by `factor` on the elements that `chosen` holds.
template <class Chosen>
Metric scaled(const Metric& metric, std::size_t elements, double factor, const Chosen& chosen) {
  if (const auto* given = std::get_if<SpeedMetric>(&metric.kind())) {
    SpeedMetric speed = *given;
    for (std::size_t e = 0; e < elements; ++e)
      if (chosen(e)) speed.speed[e] = given->speed[e] / std::sqrt(factor);
    return Metric(std::move(speed));
  }
  TensorMetric tensors;
  for (std::size_t e = 0; e < elements; ++e)
    tensors.tensor.push_back(narrowed((chosen(e) ? factor : 1) * metric.tensor(ElementId(e))));
  return Metric(std::move(tensors));
}

/// `after` of the domain by an update of what `before` gave, and from nothing.
template <class Shape>
void expect_updates(const Shape& shape, const Metric& before, const Sources& sources_before, const Metric& after,
                    const Sources& sources_after, const std::string& what,
                    ObtuseSplit obtuse = ObtuseSplit::automatic) {
  for (const Precision precision : {Precision::double_, Precision::single_})
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(what + (precision == Precision::single_ ? ", single, " : ", double, ") + std::to_string(threads));
      const SolveOptions options = options_of(precision, threads, obtuse);
      Solver solver(Domain(shape, before), options);
      const Arrival first = solver.solve(sources_before);
      ProblemChange change;
      change.sources = sources_after;
      change.metric = after;
      const Arrival updated = solver.update(first, sources_before, change);
      const Arrival solved = Solver(Domain(shape, after), options).solve(sources_after);
      EXPECT_TRUE(updated.converged) << updated.residual->worst << " of " << updated.residual->limit;
      EXPECT_TRUE(updated.residual->passed());
      ASSERT_TRUE(updated.changed);
      ASSERT_EQ(updated.times.size(), solved.times.size());
      const double tolerance = (precision == Precision::single_ ? 1e-4 : 1e-5) * (1 + solved.max_time);
      std::size_t other_sources = 0;
      for (std::size_t v = 0; v < solved.times.size(); ++v) {
        if (solved.times[v] == inf) {
          EXPECT_EQ(updated.times[v], inf) << v;
          EXPECT_EQ(updated.source[v], -1) << v;
          continue;
        }
        EXPECT_NEAR(updated.times[v], solved.times[v], tolerance) << v;
        EXPECT_GE(updated.source[v], 0) << v;
        other_sources += updated.source[v] != solved.source[v] ? 1 : 0;
      }
      EXPECT_LE(other_sources, solved.times.size() / 50);
      EXPECT_EQ(updated.point_sources, solved.point_sources);
      EXPECT_EQ(updated.source_balls, solved.source_balls);
      // The solver is that of the problem after the change.
      EXPECT_TRUE(solver.residual(updated, sources_after).passed());
    }
}

/// Changes of every kind, of a domain with so many elements and vertices.
template <class Shape>
void expect_all_updates(const Shape& shape, std::size_t elements, std::size_t vertices, const Metric& metric,
                        ObtuseSplit obtuse = ObtuseSplit::automatic) {
  const Sources two = from_two(3, vertices - 5);
  const auto some = [&](std::size_t e) { return e > elements / 3 && e < elements / 3 + elements / 12; };
  const auto every_fifth = [](std::size_t e) { return e % 5 == 2; };
  for (const double factor : {0.2, 0.9, 1.0, 1.2, 30.0}) {
    const std::string by = "M times " + std::to_string(factor);
    expect_updates(shape, metric, two, scaled(metric, elements, factor, some), two, by + " on some", obtuse);
    expect_updates(shape, metric, two, scaled(metric, elements, factor, every_fifth), two, by + " on every fifth",
                   obtuse);
  }
  Sources later = two, earlier = two, more = two, fewer = two, moved = two;
  later.vertices[1].time = 6;
  earlier.vertices[1].time = 1;
  more.vertices.push_back({vertex(vertices / 2), 2});
  fewer.vertices.erase(fewer.vertices.begin());
  moved.vertices[1].vertex = vertex(vertices / 2);
  for (const auto& [sources, what] :
       {std::pair(later, "later"), {earlier, "earlier"}, {more, "more"}, {fewer, "fewer"}, {moved, "moved"}}) {
    expect_updates(shape, metric, two, metric, sources, what, obtuse);
    expect_updates(shape, metric, two, scaled(metric, elements, 3, some), sources, std::string(what) + " and slower",
                   obtuse);
  }
}

TEST(Update, TrianglesFollowEachChange) {
  const TriangleMesh mesh = square(20, 0.2);
  expect_all_updates(mesh, mesh.element_count(), mesh.vertex_count(), speeds(mesh.element_count(), 3));
  expect_all_updates(mesh, mesh.element_count(), mesh.vertex_count(), test::rough_fibers(mesh, 4));
}

// Virtual elements stand for elements that are not at their corner.
TEST(Update, VirtualElementsFollowEachChange) {
  const auto expect_each = [](const auto& shape, ObtuseSplit obtuse) {
    const std::size_t elements = shape.element_count();
    const Metric stretched =
        scaled(Metric::constant(SymTensor3d::diagonal(1, 25, 4)), elements, 1, [](std::size_t) { return false; });
    const Sources two = from_two(3, shape.vertex_count() - 5);
    for (std::size_t one = 0; one < elements; one += 1 + elements / 12)
      for (const double factor : {0.8, 1.2})
        expect_updates(shape, stretched, two,
                       scaled(stretched, elements, factor, [&](std::size_t e) { return e == one; }), two,
                       "element " + std::to_string(one), obtuse);
  };
  expect_each(square(24, 0.2), ObtuseSplit::automatic);
  expect_each(cube(7, 0.2), ObtuseSplit::split);
}

TEST(Update, TetrahedraFollowEachChange) {
  const TetMesh mesh = cube(7, 0.2);
  expect_all_updates(mesh, mesh.element_count(), mesh.vertex_count(), speeds(mesh.element_count(), 3));
  expect_all_updates(mesh, mesh.element_count(), mesh.vertex_count(), test::rough_fibers(mesh, 4));
  expect_all_updates(mesh, mesh.element_count(), mesh.vertex_count(),
                     scaled(Metric::isotropic(1), mesh.element_count(), 1, [](std::size_t) { return false; }));
}

TEST(Update, ImagesFollowEachChange) {
  ImageGrid flat;
  flat.shape = {23, 17, 1};
  expect_all_updates(flat, flat.voxel_count(), flat.voxel_count(), speeds(flat.voxel_count(), 3));
  ImageGrid grid;
  grid.shape = {9, 8, 7};
  expect_all_updates(grid, grid.voxel_count(), grid.voxel_count(), speeds(grid.voxel_count(), 3));
  TensorMetric tensors;
  Random random(9);
  for (std::size_t e = 0; e < grid.voxel_count(); ++e) {
    const Vec3d f = [&] {
      const Vec3d g{random.normal(), random.normal(), random.normal()};
      return g / norm(g);
    }();
    tensors.tensor.push_back(narrowed(SymTensor3d::identity() + SymTensor3d::outer(f, -0.8)));
  }
  expect_all_updates(grid, grid.voxel_count(), grid.voxel_count(), Metric(std::move(tensors)));
}

template <int Corners>
void expect_scars_update(const SimplexMesh<Corners>& mesh, const Metric& healthy, ObtuseSplit obtuse) {
  const std::size_t count = mesh.element_count();
  Metric scar = healthy;
  const auto dead = [&](std::size_t e) { return e > count / 3 && e < count / 2; };
  if (const auto* given = std::get_if<SpeedMetric>(&healthy.kind())) {
    SpeedMetric speed = *given;
    for (std::size_t e = 0; e < count; ++e)
      if (dead(e)) speed.speed[e] = 0;
    scar = Metric(std::move(speed));
  } else {
    FiberMetric fibers;
    fibers.velocities = {{5, 1, 2}, {0, 0, 0}};
    for (std::size_t e = 0; e < count; ++e) {
      fibers.fiber.push_back({1, 0, 0});
      fibers.region.push_back(dead(e) ? 1 : 0);
    }
    scar = Metric(std::move(fibers));
  }
  const Sources two = from_two(3, mesh.vertex_count() - 5);
  Sources later = two;
  later.vertices[1].time = 2;
  expect_updates(mesh, healthy, two, scar, two, "a scar comes", obtuse);
  expect_updates(mesh, scar, two, healthy, two, "a scar goes", obtuse);
  expect_updates(mesh, scar, two, scar, later, "a scar stays", obtuse);
}

TEST(Update, ElementsThatStopAndStartToConduct) {
  const TetMesh solid = cube(7, 0.2);
  expect_scars_update(solid, speeds(solid.element_count(), 3), ObtuseSplit::automatic);
  // Fibres as those beside the scar: virtual elements go through it where it conducts.
  const auto fibers = [](std::size_t count) {
    FiberMetric all;
    all.velocities = {{5, 1, 2}};
    all.fiber.assign(count, {1, 0, 0});
    return Metric(std::move(all));
  };
  expect_scars_update(solid, fibers(solid.element_count()), ObtuseSplit::split);
  const TriangleMesh flat = square(20, 0.2);
  expect_scars_update(flat, fibers(flat.element_count()), ObtuseSplit::automatic);
}

TEST(Update, PointsThatMoveAndOneSource) {
  const TetMesh mesh = cube(8, 0.2);
  const Metric metric = speeds(mesh.element_count(), 6);
  Sources points;
  points.points = {{{1.2, 1.3, 1.4}, 0}, {{5.2, 5.3, 4.4}, 1}};
  Sources moved = points;
  moved.points[1].position = {5.3, 4.9, 4.4};
  expect_updates(mesh, metric, points, metric, moved, "a point moves");
  Sources one = points, other = moved;
  one.points.pop_back();
  other.points.erase(other.points.begin());
  expect_updates(mesh, metric, one, metric, other, "the only source moves");
}

TEST(Update, VerticesThatCoincideDoNotHoldEachOther) {
  // Two squares joined by edges of no length: where the front came from is cut off.
  TriangleMesh mesh = square(6);
  const std::size_t count = mesh.vertex_count();
  for (std::size_t v = 0; v < count; ++v) mesh.points.push_back(mesh.points[v]);
  for (std::size_t v = 0; v + 1 < count; ++v) mesh.elements.push_back({vertex(v), vertex(v + count), vertex(v + 1)});
  const Metric metric = Metric::isotropic(1);
  const Sources two = from_two(0, count - 1);
  Sources later = two;
  later.vertices[0].time = 100;
  SolveOptions options = options_of(Precision::double_, 1);
  Solver solver(Domain(mesh, metric), options);
  ProblemChange change;
  change.sources = later;
  const Arrival updated = solver.update(solver.solve(two), two, change);
  const Arrival solved = solver.solve(later);
  for (std::size_t v = 0; v < solved.times.size(); ++v)
    if (solved.times[v] < inf) EXPECT_NEAR(updated.times[v], solved.times[v], 1e-5) << v;
    else EXPECT_EQ(updated.times[v], inf) << v;
}

TEST(Update, ManyChangesDoNotAddUp) {
  const TetMesh mesh = cube(8, 0.2);
  const std::size_t count = mesh.element_count();
  Metric metric = test::rough_fibers(mesh, 8);
  metric = scaled(metric, count, 1, [](std::size_t) { return false; });
  const SolveOptions options = options_of(Precision::single_, 1);
  Sources sources = from_two(3, mesh.vertex_count() - 5);
  std::vector<Metric> metrics;  // a solver refers to the last one
  metrics.reserve(60);
  metrics.push_back(metric);
  Solver solver(Domain(mesh, metrics.back()), options);
  Arrival arrival = solver.solve(sources);
  Random random(2);
  for (int step = 0; step < 50; ++step) {
    const auto centre = static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
    const auto near = [&](std::size_t e) { return e > centre && e < centre + 40; };
    metrics.push_back(scaled(metrics.back(), count, std::exp(random.normal()), near));
    Sources next = sources;
    if (step % 7 == 3) next.vertices[1].time = 4 * random.uniform();
    ProblemChange change;
    change.sources = next;
    change.metric = metrics.back();
    for (std::size_t e = centre + 1; e < std::min(centre + 40, count); ++e) change.elements.emplace_back(e);
    arrival = solver.update(arrival, sources, change);
    sources = next;
    EXPECT_TRUE(arrival.residual->passed()) << step;
  }
  const Arrival solved = Solver(Domain(mesh, metrics.back()), options).solve(sources);
  for (std::size_t v = 0; v < solved.times.size(); ++v) EXPECT_NEAR(arrival.times[v], solved.times[v], 1e-3) << v;
}

TEST(Update, WhatIsOutOfReachKeepsItsTimeBitByBit) {
  const TetMesh mesh = cube(16, 0.2);
  const Metric before = speeds(mesh.element_count(), 3);
  const auto last = [&](std::size_t e) { return e + 50 > mesh.element_count(); };
  const Metric after = scaled(before, mesh.element_count(), 2, last);
  const SolveOptions options = options_of(Precision::automatic, 1);
  Solver solver(Domain(mesh, before), options);
  const Sources sources = from(vertex(0), 0.37);
  const Arrival first = solver.solve(sources);
  ProblemChange change;
  change.metric = after;
  const Arrival updated = solver.update(first, sources, change);
  EXPECT_GT(*updated.changed, 0U);
  EXPECT_LT(*updated.changed, mesh.vertex_count() / 10);
  EXPECT_LT(updated.counters.local_solves, first.counters.local_solves / 5);
  std::size_t same = 0;
  for (std::size_t v = 0; v < first.times.size(); ++v) same += first.times[v] == updated.times[v] ? 1 : 0;
  EXPECT_EQ(same + *updated.changed, mesh.vertex_count());
  const Arrival again = solver.update(updated, sources, {});
  EXPECT_EQ(again.times, updated.times);
  EXPECT_EQ(*again.changed, 0U);
}

TEST(Update, TimesOfSinglePrecisionAreNotKeptInDouble) {
  const TetMesh mesh = cube(7, 0.2);
  SpeedMetric slow = std::get<SpeedMetric>(speeds(mesh.element_count(), 3).kind());
  const Metric before(slow);
  for (std::size_t e = 200; e < 210; ++e) slow.speed[e] = 1e-5;
  const Metric after(slow);
  const SolveOptions options = options_of(Precision::single_, 1);
  Solver solver(Domain(mesh, before), options);
  const Sources two = from_two(3, mesh.vertex_count() - 5);
  ProblemChange change;
  change.metric = after;
  const Arrival updated = solver.update(solver.solve(two), two, change);
  EXPECT_EQ(updated.precision, Precision::double_);
  EXPECT_EQ(updated.times, Solver(Domain(mesh, after), options).solve(two).times);
}

TEST(Update, VoxelsOutsideTheMaskMayHaveAnything) {
  ImageGrid grid;
  grid.shape = {20, 20, 1};
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  SpeedMetric speed = std::get<SpeedMetric>(speeds(grid.voxel_count(), 3).kind());
  for (std::size_t v = 200; v < grid.voxel_count(); ++v) {
    mask[v] = 0;
    speed.speed[v] = std::nan("");
  }
  const Metric before(speed);
  speed.speed[150] *= 0.3;
  const Metric after(speed);
  const SolveOptions options = options_of(Precision::double_, 1);
  Solver solver(Domain(grid, before, mask), options);
  const Sources sources = from(vertex(0));
  const Arrival first = solver.solve(sources);
  ProblemChange change;
  change.metric = after;
  const Arrival updated = solver.update(first, sources, change);
  const Arrival solved = Solver(Domain(grid, after, mask), options).solve(sources);
  EXPECT_LT(updated.counters.local_solves, first.counters.local_solves / 2);
  EXPECT_GT(*updated.changed, 0U);
  for (std::size_t v = 0; v < 200; ++v) EXPECT_NEAR(updated.times[v], solved.times[v], 1e-5) << v;
}

TEST(Update, OtherSolvesAreDoneAgainWithANote) {
  const TetMesh mesh = cube(6, 0.2);
  const Metric before = speeds(mesh.element_count(), 3), after = speeds(mesh.element_count(), 4);
  const Sources two = from_two(3, mesh.vertex_count() - 5);
  for (const Method method : {Method::fim, Method::fmm}) {
    SolveOptions options = options_of(Precision::double_, 1);
    options.method = method;
    options.unordered = Unordered::hand_over;
    Solver solver(Domain(mesh, before), options);
    ProblemChange change;
    change.metric = after;
    const Arrival updated = solver.update(solver.solve(two), two, change);
    const Arrival solved = Solver(Domain(mesh, after), options).solve(two);
    EXPECT_EQ(updated.times, solved.times);
    ASSERT_FALSE(updated.notes.empty());
    EXPECT_NE(updated.notes.back().find("the method is not banded"), std::string::npos);
  }
}

TEST(Update, BadChangesAreRefusedAndTheMetricStays) {
  const TetMesh mesh = cube(6);
  const Metric metric = speeds(mesh.element_count(), 3);
  const Sources sources = from_two(3, mesh.vertex_count() - 5);
  Solver solver(Domain(mesh, metric), options_of(Precision::double_, 1));
  const Arrival first = solver.solve(sources);
  SpeedMetric negative = std::get<SpeedMetric>(metric.kind());
  negative.speed[7] = -1;
  ProblemChange change;
  change.metric = Metric(std::move(negative));
  EXPECT_THROW(solver.update(first, sources, change), InputError);
  change.metric = speeds(mesh.element_count() - 1, 3);
  EXPECT_THROW(solver.update(first, sources, change), InputError);
  change.metric.reset();
  change.elements.emplace_back(mesh.element_count());
  EXPECT_THROW(solver.update(first, sources, change), InputError);
  change.elements.clear();
  change.sources = from(vertex(mesh.vertex_count()));
  EXPECT_THROW(solver.update(first, sources, change), InputError);
  Arrival wrong = first;
  wrong.times.pop_back();
  EXPECT_THROW(solver.update(wrong, sources, {}), UsageError);
  EXPECT_EQ(solver.solve(sources).times, first.times);
}

}  // namespace TEST_FILE
}  // namespace isochron
