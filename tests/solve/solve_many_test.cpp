// Several sets of sources in one go: each result is that of its own solve.
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/solver.h"
#include "solve/each_backend.h"
#include "solve/samples.h"

namespace isochron::test {
namespace TEST_FILE {

const Metric unit_speed;

class SolveMany : public OnEachBackend {
 protected:
  /// Bitwise on one thread. Elsewhere work is ordered as it comes: beside the line where fronts meet, labels may
  /// differ.
  static void expect_same(const Arrival& one, const Arrival& of_many) {
    EXPECT_EQ(one.reached, of_many.reached);
    EXPECT_EQ(one.unreached, of_many.unreached);
    EXPECT_EQ(one.method, of_many.method);
    EXPECT_EQ(one.precision, of_many.precision);
    if (GetParam().backend == Backend::serial) {
      EXPECT_EQ(one.times, of_many.times);
      EXPECT_EQ(one.source, of_many.source);
      EXPECT_EQ(one.max_time, of_many.max_time);
      return;
    }
    ASSERT_EQ(one.times.size(), of_many.times.size());
    ASSERT_EQ(one.source.size(), of_many.source.size());
    EXPECT_LT(worst_difference(one.times, of_many.times), limit(1e-4));
    std::size_t other_labels = 0;
    for (std::size_t v = 0; v < one.source.size(); ++v) other_labels += one.source[v] != of_many.source[v] ? 1 : 0;
    EXPECT_LE(other_labels, one.source.size() / 50);
  }

  template <int Corners>
  static void expect_each_is_its_own_solve(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                           const std::vector<Sources>& sets, const SolveOptions& options) {
    Solver solver({mesh, metric}, options);
    const std::vector<Arrival> many = solver.solve_many(sets);
    ASSERT_EQ(many.size(), sets.size());
    for (std::size_t i = 0; i < sets.size(); ++i) {
      SCOPED_TRACE(i);
      expect_same(solver.solve(sets[i]), many[i]);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, SolveMany, all_places(), place_name);

/// One of everything: vertices, onsets, points, level sets, and all together.
template <int Corners>
std::vector<Sources> mixed_sets(const SimplexMesh<Corners>& mesh) {
  const std::size_t last = mesh.vertex_count() - 1;
  std::vector<Sources> sets{from(vertex(0)), from_two(1, last), from(vertex(last / 2), 1000), from(vertex(last), -3)};
  Sources point, level, all = from_two(3, last - 3);
  point.points.push_back({{2.3, 3.1, Corners == 4 ? 1.7 : 0}, 0.25});
  for (const Vec3d& p : mesh.points) level.level_set.push_back(p.x - 2.4);
  all.points = point.points;
  for (std::size_t v = 5; v < last; v += last / 7) all.vertices.push_back({vertex(v), 2.0});
  sets.insert(sets.end(), {point, level, all});
  return sets;
}

/// From each of the first vertices.
std::vector<Sources> first_vertices(std::size_t count) {
  std::vector<Sources> sets;
  for (std::size_t v = 0; v < count; ++v) sets.push_back(from(vertex(v), 0.1 * static_cast<double>(v)));
  return sets;
}

TEST_P(SolveMany, OnTetrahedraEachIsItsOwnSolve) {
  const TetMesh mesh = cube(8, 0.2);
  expect_each_is_its_own_solve(mesh, rough_fibers(mesh, 4), mixed_sets(mesh), options());
}

TEST_P(SolveMany, OnTrianglesEachIsItsOwnSolve) {
  const TriangleMesh mesh = square(21, 0.2);
  expect_each_is_its_own_solve(mesh, rough_speed(mesh), mixed_sets(mesh), options());
}

TEST_P(SolveMany, UnreachedPartsStayUnreachedInEach) {
  const TetMesh mesh = beside(cube(4), cube(4));
  const std::vector<Sources> sets{from(vertex(0)), from(vertex(100)), from_two(5, 70), from(vertex(127))};
  expect_each_is_its_own_solve(mesh, Metric(), sets, options());
}

TEST_P(SolveMany, ChecksAndWeighsEach) {
  const TetMesh mesh = cube(7, 0.2);
  SolveOptions all = options();
  all.verify = all.weights = Keep::yes;
  const Metric metric = Metric::constant(diag149);
  Solver solver({mesh, metric}, all);
  for (const Arrival& arrival : solver.solve_many(mixed_sets(mesh))) {
    ASSERT_TRUE(arrival.residual.has_value());
    EXPECT_TRUE(arrival.residual->passed());
    EXPECT_TRUE(arrival.converged);
    EXPECT_EQ(arrival.upwind.size(), mesh.vertex_count());
  }
}

TEST_P(SolveMany, ManySetsComeOnceAndInOrder) {
  const TetMesh mesh = cube(6, 0.2);
  const Metric metric = Metric::constant(diag149);
  const std::vector<Sources> sets = first_vertices(150);
  Solver solver({mesh, metric}, options());
  std::size_t next = 0;
  solver.solve_many(sets, [&](std::size_t i, Arrival&& arrival) {
    ASSERT_EQ(i, next++);
    EXPECT_NEAR(arrival.times[i], 0.1 * static_cast<double>(i), limit(1e-9));
    if (i % 13 == 0) expect_same(solve_here(mesh, metric, sets[i]), arrival);
  });
  EXPECT_EQ(next, sets.size());
}

TEST_P(SolveMany, NoSetsGiveNothing) {
  const TetMesh mesh = cube(4);
  Solver solver({mesh, unit_speed}, options());
  EXPECT_TRUE(solver.solve_many({}).empty());
  solver.solve_many({}, [](std::size_t, Arrival&&) { FAIL() << "there is nothing to take"; });
}

TEST_P(SolveMany, OneBadSetIsNamed) {
  const TetMesh mesh = cube(4);
  Solver solver({mesh, unit_speed}, options());
  Sources outside;
  outside.points.push_back({{50, 0, 0}, 0});
  std::vector<Sources> all_bad{from(vertex(9999)), from(vertex(0), std::numeric_limits<double>::infinity()), outside,
                               Sources{}};
  if (GetParam().precision == Precision::single_) {
    all_bad.push_back(from_two(0, 5));
    all_bad.back().vertices[1].time = 1e300;  // more than the precision can hold
  }
  for (const Sources& bad : all_bad) {
    std::string of_one;
    try {
      solver.solve(bad);
    } catch (const InputError& error) {
      of_one = error.what();
    }
    ASSERT_FALSE(of_one.empty());
    std::vector<Sources> sets = first_vertices(20);
    sets[7] = bad;
    std::size_t taken = 0;
    try {
      solver.solve_many(sets, [&](std::size_t, Arrival&&) { ++taken; });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), "source set 7: " + of_one);
    }
    if (GetParam().backend == Backend::cuda) EXPECT_LE(taken, 7U);
    else EXPECT_EQ(taken, 7U);
  }
  EXPECT_EQ(solver.solve_many(first_vertices(3)).size(), 3U);  // nothing is left of the failure
}

TEST_P(SolveMany, WhatTheCallbackThrowsEndsIt) {
  struct Enough {
    int why;
  };
  const TetMesh mesh = cube(5);
  Solver solver({mesh, unit_speed}, options());
  std::size_t taken = 0;
  try {
    solver.solve_many(first_vertices(100), [&](std::size_t i, Arrival&&) {
      ++taken;
      if (i == 4) throw Enough{17};
    });
    FAIL() << "nothing was thrown";
  } catch (const Enough& enough) {
    EXPECT_EQ(enough.why, 17);
  }
  EXPECT_EQ(taken, 5U);
  EXPECT_EQ(solver.solve_many(first_vertices(3)).size(), 3U);
}

TEST_P(SolveMany, CanBeCancelled) {
  const TetMesh mesh = cube(5);
  std::atomic<bool> cancel{false};
  SolveOptions cancellable = options();
  cancellable.progress.cancel = &cancel;
  Solver solver({mesh, unit_speed}, cancellable);
  std::size_t taken = 0;
  const auto run = [&] {
    solver.solve_many(first_vertices(120), [&](std::size_t i, Arrival&&) {
      ++taken;
      if (i == 2) cancel = true;
    });
  };
  EXPECT_THROW(run(), Cancelled);
  EXPECT_GE(taken, 3U);
  EXPECT_LT(taken, 120U);
  cancel = false;
  EXPECT_EQ(solver.solve_many(first_vertices(3)).size(), 3U);
}

TEST_P(SolveMany, ProgressIsThatOfAllTogether) {
  const TetMesh mesh = cube(6);
  double last = 0;
  std::size_t reports = 0;
  SolveOptions told = options();
  told.progress.report = [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
    ++reports;
  };
  Solver solver({mesh, unit_speed}, told);
  solver.solve_many(first_vertices(210), [](std::size_t, Arrival&&) {});
  EXPECT_EQ(last, 1.0);
  EXPECT_GT(reports, 1U);
  EXPECT_LE(reports, 300U);
}

TEST_P(SolveMany, StreamedResultsAreNotKeptSlow) {
  TetMesh mesh = one_tet();
  mesh.points.resize(400'000, {9, 9, 9});  // in no element: large results of small solves
  const std::vector<Sources> sets(200, from(vertex(2)));
  Solver solver({mesh, unit_speed}, options());
  solver.solve(sets.front());
  const std::size_t before = peak_resident_bytes();
  solver.solve_many(sets, [](std::size_t, Arrival&& arrival) { EXPECT_EQ(arrival.reached, 4U); });
  const std::size_t one_result = mesh.vertex_count() * (sizeof(double) + sizeof(std::int32_t));
  EXPECT_LT(peak_resident_bytes() - before, 30 * one_result);
}

/// Vertices and weights in one list.
std::vector<double> flat(const std::vector<Upwind>& upwind) {
  std::vector<double> values;
  for (const Upwind& from : upwind)
    for (int k = 0; k < 3; ++k) values.insert(values.end(), {double(from.vertices[k].value), from.weights[k]});
  return values;
}

TEST(SolveManyOnThreads, OneSetAThreadGivesTheBitsOfASerialSolve) {
  const TetMesh mesh = cube(9, 0.2);
  const Metric metric = rough_fibers(mesh, 8);
  const std::vector<Sources> sets = mixed_sets(mesh);
  SolveOptions base;
  base.threads = 3;
  base.verify = base.weights = Keep::yes;
  base.unordered = Unordered::hand_over;
  std::vector<SolveOptions> all;
  for (const Method method : {Method::banded, Method::fim, Method::fmm, Method::fsm, Method::relabel_async}) {
    base.method = method;
    all.push_back(base);
  }
  base.method = Method::automatic;
  base.source_init = SourceInit::factored;
  all.push_back(base);
  for (SolveOptions options : all) {
    options.backend = Backend::serial;
    Solver alone({mesh, metric}, options);
    for (const Backend backend : {Backend::threads, Backend::automatic}) {
      options.backend = backend;
      const std::vector<Arrival> many = Solver({mesh, metric}, options).solve_many(sets);
      for (std::size_t i = 0; i < sets.size(); ++i) {
        SCOPED_TRACE(std::string(name_of(options.method)) + " " + std::to_string(i));
        const Arrival one = alone.solve(sets[i]);
        EXPECT_EQ(one.times, many[i].times);
        EXPECT_EQ(one.source, many[i].source);
        EXPECT_EQ(flat(one.upwind), flat(many[i].upwind));
        EXPECT_EQ(one.residual->worst, many[i].residual->worst);
        EXPECT_EQ(one.counters.local_solves, many[i].counters.local_solves);
        EXPECT_EQ(one.notes, many[i].notes);
        EXPECT_EQ(many[i].threads, 3);
        EXPECT_EQ(many[i].backend, Backend::threads);
      }
    }
  }
}

TEST(SolveManyOnThreads, FewSetsShareAllThreadsOneAfterTheOther) {
  const TetMesh mesh = cube(8, 0.2);
  SolveOptions options;
  options.backend = Backend::threads;
  options.threads = 4;
  const int granted = granted_threads(4);
  Solver solver({mesh, unit_speed}, options);
  for (const Arrival& arrival : solver.solve_many(first_vertices(3))) EXPECT_EQ(arrival.threads, granted);
  for (const Arrival& arrival : solver.solve_many(first_vertices(4))) EXPECT_EQ(arrival.threads, 4);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
