// The public solver: exact answers and properties every first-arrival field has, on every back end.
#include "isochron/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "isochron/generate.h"
#include "solve/each_backend.h"
#include "solve/samples.h"
#include "solve/ways.h"

namespace isochron::test {
namespace TEST_FILE {

class EachBackend : public OnEachBackend {};

INSTANTIATE_TEST_SUITE_P(, EachBackend, all_places(), place_name);

template <int Corners>
VertexId nearest_vertex(const SimplexMesh<Corners>& mesh, Vec3d p) {
  std::size_t best = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    if (norm(mesh.points[v] - p) < norm(mesh.points[best] - p)) best = v;
  return VertexId(best);
}

TEST_P(EachBackend, PlaneWaveIsExact) {
  // A whole face as source: times are distances from it, for any consistent first-order scheme without error.
  const TetMesh mesh = cube(9, 0.2);
  Sources sources;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    if (mesh.points[v].z == 0) sources.vertices.push_back({VertexId(v), 0});
  const Arrival arrival = solve_here(mesh, Metric::isotropic(0.5), sources);
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    EXPECT_NEAR(arrival.times[v], 2 * mesh.points[v].z, limit(1e-5));
}

TEST_P(EachBackend, PointSourceOnJitteredCubeMeetsTheStatedErrors) {
  const TetMesh mesh = cube(33, 0.2);
  const VertexId center = nearest_vertex(mesh, {16, 16, 16});
  const auto error = [&](SourceInit init) {
    SolveOptions with_init = options();
    with_init.source_init = init;
    return mean_error(mesh, SymTensor3d::identity(), solve(mesh, Metric(), from(center), with_init),
                      mesh.point(center));
  };
  const double plain = error(SourceInit::plain);
  EXPECT_LT(plain, 1.0);
  EXPECT_LT(error(SourceInit::ball), 0.5 * plain);
  if (GetParam().backend == Backend::cuda) EXPECT_THROW(error(SourceInit::factored), UsageError);
  else EXPECT_LT(error(SourceInit::factored), 1e-3);
}

TEST_P(EachBackend, EllipsoidMetricConverges) {
  double previous = 0;
  for (const std::size_t n : {9U, 17U, 33U}) {
    const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n, .extent = {32, 32, 32}});
    // An octant of the ellipsoid x²+4y²+9z² = 8² and what is up to 12 later start exact.
    Sources sources;
    const auto exact = [](Vec3d p) { return std::sqrt(squared_length(diag149, p)) - 8; };
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
      if (const double t = exact(mesh.points[v]); t < 12) sources.vertices.push_back({VertexId(v), t});
    const Arrival arrival = solve_here(mesh, Metric::constant(diag149), sources);
    double sum = 0;
    std::size_t outside = 0;
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
      if (const double t = exact(mesh.points[v]); t >= 12) {
        sum += std::abs(arrival.times[v] - t);
        ++outside;
      }
    const double error = sum / static_cast<double>(outside);
    if (previous > 0) {
      EXPECT_GT(std::log2(previous / error), 0.6) << "n = " << n;
    }
    previous = error;
  }
}

TEST_P(EachBackend, SphereDistanceIsGreatCircle) {
  const TriangleMesh mesh = generate_sphere({.frequency = 24, .radius = 10});
  const Arrival arrival = solve_here(mesh, Metric::isotropic(1), from(VertexId(0)));
  double sum = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const double c = dot(mesh.points[v], mesh.points[0]) / 100;
    sum += std::abs(arrival.times[v] - 10 * std::acos(std::clamp(c, -1.0, 1.0)));
  }
  EXPECT_LT(sum / static_cast<double>(mesh.vertex_count()), 0.25);  // half an edge
  EXPECT_EQ(arrival.unreached, 0U);
}

TEST_P(EachBackend, TimesAreMonotoneInTheMetric) {
  const TetMesh mesh = cube(9, 0.2);
  const Metric slow = rough_fibers(mesh, 3);
  FiberMetric faster = std::get<FiberMetric>(slow.kind());
  faster.velocities = {{3.3, 1.2, 1.2}};
  const Arrival a = solve_here(mesh, slow, from(VertexId(0)));
  const Arrival b = solve_here(mesh, Metric(faster), from(VertexId(0)));
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) EXPECT_LE(b.times[v], a.times[v] + limit(1e-5));
}

TEST_P(EachBackend, SymmetryAndTriangleInequalityHoldToDiscretisation) {
  const TetMesh mesh = cube(17, 0.2);
  const Metric metric = Metric::constant(diag149);
  const VertexId a(0), b(2500), c(4912);
  const Arrival from_a = solve_here(mesh, metric, from(a)), from_b = solve_here(mesh, metric, from(b)),
                from_c = solve_here(mesh, metric, from(c));
  const double slack = 0.08;
  EXPECT_NEAR(from_a.times[b.index()], from_b.times[a.index()], slack * from_a.times[b.index()]);
  EXPECT_NEAR(from_a.times[c.index()], from_c.times[a.index()], slack * from_a.times[c.index()]);
  EXPECT_LE(from_a.times[c.index()], (from_a.times[b.index()] + from_b.times[c.index()]) * (1 + slack));
}

TEST_P(EachBackend, SeveralSourcesGiveTheLeastOfEach) {
  const TriangleMesh mesh = square(31, 0.2);
  Sources both = from(VertexId(0), 2.0);
  both.vertices.push_back({VertexId(960), 5.0});
  SolveOptions plain = options();
  plain.source_init = SourceInit::plain;
  const Arrival a = solve(mesh, Metric(), from(VertexId(0), 2.0), plain);
  const Arrival b = solve(mesh, Metric(), from(VertexId(960), 5.0), plain);
  const Arrival together = solve(mesh, Metric(), both, plain);
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    EXPECT_LE(together.times[v], std::min(a.times[v], b.times[v]) + limit(1e-4));
    if (std::abs(a.times[v] - b.times[v]) < 3) continue;  // beside the meeting line elements mix both fronts
    EXPECT_NEAR(together.times[v], std::min(a.times[v], b.times[v]), limit(1e-4));
    EXPECT_EQ(together.source[v], a.times[v] < b.times[v] ? 0 : 1) << v;
  }
}

TEST_P(EachBackend, ASourceThatStartsTooLateIsOverrun) {
  const TriangleMesh mesh = square(21);
  Sources sources = from(VertexId(0), 0.0);
  sources.vertices.push_back({VertexId(440), 1000.0});
  const Arrival arrival = solve_here(mesh, Metric(), sources);
  EXPECT_LT(arrival.times[440], 40);
  EXPECT_EQ(arrival.source[440], 0);
}

TEST_P(EachBackend, LateOnsetsAreNotLostInSinglePrecision) {
  const TriangleMesh mesh = square(21, 0.2);
  SolveOptions single = options();
  single.precision = Precision::single_;
  const Arrival zero = solve(mesh, Metric(), from(VertexId(3), 0), single);
  const Arrival late = solve(mesh, Metric(), from(VertexId(3), 1e9), single);
  // One thread does the same twice; others order their work as it comes.
  const double near = GetParam().backend == Backend::serial ? 1e-5 : 4e-4;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) EXPECT_NEAR(late.times[v] - 1e9, zero.times[v], near);
}

/// Shuffles vertices and elements; `place[v]` is where vertex v went.
TetMesh shuffled(const TetMesh& mesh, std::vector<std::uint32_t>& place) {
  Random random(77);
  place.resize(mesh.vertex_count());
  std::iota(place.begin(), place.end(), 0U);
  for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[random.below(i)]);
  TetMesh result;
  result.points.resize(mesh.vertex_count());
  for (std::size_t v = 0; v < place.size(); ++v) result.points[place[v]] = mesh.points[v];
  for (auto element : mesh.elements) {
    for (VertexId& v : element) v = VertexId(place[v.index()]);
    std::swap(element[0], element[2]);
    result.elements.push_back(element);
  }
  for (std::size_t i = result.elements.size(); i > 1; --i)
    std::swap(result.elements[i - 1], result.elements[random.below(i)]);
  return result;
}

TEST_P(EachBackend, RenumberingDoesNotMatter) {
  const TetMesh mesh = cube(11, 0.2);
  std::vector<std::uint32_t> place;
  const TetMesh other = shuffled(mesh, place);
  const Metric metric = Metric::constant(diag149);
  for (const Reorder reorder : {Reorder::automatic, Reorder::always, Reorder::never}) {
    SolveOptions ordered = options();
    ordered.reorder = reorder;
    ordered.verify = Keep::yes;
    const Arrival a = solve_here(mesh, metric, from(VertexId(665)));
    const Arrival b = solve(other, metric, from(VertexId(place[665])), ordered);
    EXPECT_TRUE(b.converged);
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) ASSERT_NEAR(a.times[v], b.times[place[v]], limit(1e-5));
  }
}

TEST_P(EachBackend, RigidMotionDoesNotMatter) {
  const TetMesh mesh = cube(9, 0.2);
  const double c = std::cos(0.7), s = std::sin(0.7);
  const auto turn = [&](Vec3d p) { return Vec3d{c * p.x - s * p.y, s * p.x + c * p.y, p.z}; };
  TetMesh moved = mesh;
  for (Vec3d& p : moved.points) p = turn(p) + Vec3d{100, -50, 7};
  // M' = R M Rᵀ, column by column.
  const auto column = [&](Vec3d e) { return turn(diag149 * Vec3d{c * e.x + s * e.y, -s * e.x + c * e.y, e.z}); };
  const Vec3d x = column({1, 0, 0}), y = column({0, 1, 0}), z = column({0, 0, 1});
  const SymTensor3d turned{x.x, x.y, x.z, y.y, y.z, z.z};
  const Arrival a = solve_here(mesh, Metric::constant(diag149), from(VertexId(364)));
  const Arrival b = solve_here(moved, Metric::constant(turned), from(VertexId(364)));
  EXPECT_LT(worst_difference(a.times, b.times), limit(1e-5));
}

TEST_P(EachBackend, ScaleOfLengthAndSpeedOnlyScalesTimes) {
  const TetMesh mesh = cube(9, 0.2);
  for (const double scale : {1e-9, 1e9}) {
    TetMesh scaled = mesh;
    for (Vec3d& p : scaled.points) p = scale * p;
    const Arrival a = solve_here(mesh, Metric(), from(VertexId(0)));
    const Arrival b = solve_here(scaled, Metric::isotropic(1e-3), from(VertexId(0)));
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) ASSERT_NEAR(b.times[v] / scale * 1e-3, a.times[v], 4e-4);
  }
}

TEST(Solver, OneThreadIsBitwiseRepeatable) {
  const TetMesh mesh = cube(17, 0.2);
  const Metric metric = rough_fibers(mesh, 12);
  for (const Method method : {Method::banded, Method::fim}) {
    SolveOptions options;
    options.method = method;
    options.backend = Backend::serial;
    const Arrival a = solve(mesh, metric, from(VertexId(100)), options);
    const Arrival b = solve(mesh, metric, from(VertexId(100)), options);
    EXPECT_EQ(a.times, b.times);
    EXPECT_EQ(a.counters.local_solves, b.counters.local_solves);
  }
}

TEST_P(EachBackend, RoughMetricsEndInAFixedPoint) {
  const TetMesh tets = cube(12, 0.2);
  const TriangleMesh triangles = square(40, 0.2);
  const Metric in_tets = rough_speed(tets), in_triangles = rough_speed(triangles);
  SolveOptions split = options(), factored = options();
  split.obtuse = ObtuseSplit::split;
  split.verify = factored.verify = Keep::yes;
  factored.source_init = SourceInit::factored;
  std::vector<SolveOptions> all{split};
  if (GetParam().backend == Backend::serial) all.push_back(factored);
  for (const SolveOptions& each : all) {
    const Arrival volume = solve(tets, in_tets, from(VertexId(100)), each);
    EXPECT_LE(volume.residual->worst, volume.residual->limit);
    EXPECT_EQ(*std::min_element(volume.times.begin(), volume.times.end()), 0);
    const Arrival surface = solve(triangles, in_triangles, from(VertexId(100)), each);
    EXPECT_LE(surface.residual->worst, surface.residual->limit);
    EXPECT_EQ(*std::min_element(surface.times.begin(), surface.times.end()), 0);
  }
}

TEST_P(EachBackend, PointSourceInsideAnElementIsNotSnapped) {
  const TetMesh mesh = cube(17);
  Sources sources;
  const Vec3d p{7.3, 8.45, 6.2};
  sources.points.push_back({p, 0});
  const Arrival arrival = solve_here(mesh, Metric(), sources);
  EXPECT_LT(mean_error(mesh, SymTensor3d::identity(), arrival, p), 0.45);
  const VertexId near = nearest_vertex(mesh, {7, 8, 6});
  EXPECT_NEAR(arrival.times[near.index()], norm(mesh.point(near) - p), limit(1e-9));
}

TEST_P(EachBackend, LevelSetSourceIsExactForAPlane) {
  const TetMesh mesh = cube(13, 0.2);
  const Vec3d normal = Vec3d{1, 2, 2} / 3.0;
  Sources sources;
  for (const Vec3d& p : mesh.points) sources.level_set.push_back(dot(normal, p) - 9.3);
  const Arrival arrival = solve_here(mesh, Metric(), sources);
  std::size_t exact = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const double d = sources.level_set[v];
    EXPECT_GE(arrival.times[v], std::abs(d) - limit(1e-9)) << v;
    // The box cuts the plane off: where the nearest point lies outside, and some elements beside that, times are later.
    const Vec3d foot = mesh.points[v] - d * normal;
    const double margin = std::min({foot.x, foot.y, foot.z, 12 - foot.x, 12 - foot.y, 12 - foot.z});
    if (margin < 1) continue;
    const bool undisturbed = std::abs(d) < 2 || (std::abs(d) < 4 && margin > 2);
    EXPECT_NEAR(arrival.times[v], std::abs(d), undisturbed ? limit(1e-6) : 1e-2) << v;
    exact += undisturbed ? 1 : 0;
  }
  EXPECT_GT(exact, 600U);
}

TEST_P(EachBackend, LevelSetCircleConvergesAtFirstOrder) {
  double previous = 0;
  for (const std::size_t n : {33U, 65U, 129U}) {
    const TriangleMesh mesh = generate_square({.n = n, .extent = 2, .jitter = 0.25});
    Sources sources;
    for (const Vec3d& p : mesh.points) sources.level_set.push_back(norm(p - Vec3d{1, 1, 0}) - 0.5);
    const Arrival arrival = solve_here(mesh, Metric(), sources);
    double sum = 0;
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
      sum += std::abs(arrival.times[v] - std::abs(sources.level_set[v]));
    const double error = sum / static_cast<double>(mesh.vertex_count());
    EXPECT_LT(error, 0.1 * 2 / static_cast<double>(n - 1)) << "a tenth of an edge";
    if (previous > 0) {
      EXPECT_GT(std::log2(previous / error), 0.8) << "n = " << n;
    }
    previous = error;
  }
}

TEST(Solver, FmmRefusesWhereItsOrderDoesNotHold) {
  const TetMesh mesh = cube(7, 0.2);
  SolveOptions options;
  options.method = Method::fmm;
  try {
    solve(mesh, Metric::constant(diag149), from(VertexId(0)), options);
    FAIL() << "must refuse";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("obtuse"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("banded"), std::string::npos);
  }
  options.unordered = Unordered::run;
  const Arrival labelled = solve(mesh, Metric::constant(diag149), from(VertexId(0)), options);
  ASSERT_EQ(labelled.notes.size(), 1U);
  EXPECT_NE(labelled.notes[0].find("unordered"), std::string::npos);
}

TEST_P(EachBackend, TakesANewMetricWithoutANewSolver) {
  const TetMesh mesh = cube(9);
  const Metric first = Metric::isotropic(1), second = Metric::constant(diag149);
  Solver solver({mesh, first}, options());
  const Arrival a = solver.solve(from(VertexId(0)));
  solver.set_metric(second);
  const Arrival b = solver.solve(from(VertexId(0)));
  const double near = GetParam().backend == Backend::serial ? 0 : limit(1e-5);  // one thread does the same twice
  EXPECT_LE(worst_difference(a.times, solve_here(mesh, first, from(VertexId(0))).times), near);
  EXPECT_LE(worst_difference(b.times, solve_here(mesh, second, from(VertexId(0))).times), near);
  EXPECT_TRUE(solver.residual(b, from(VertexId(0))).passed());
  EXPECT_FALSE(solver.residual(a, from(VertexId(0))).passed());
}

TEST_P(EachBackend, SolvesAgainWithOtherSources) {
  const TetMesh mesh = cube(12, 0.2);
  const Metric metric;
  Solver solver({mesh, metric}, options());
  const Arrival first = solver.solve(from_two(0, 9));
  const Arrival other = solver.solve(from_two(1700, 3));
  const Arrival again = solver.solve(from_two(0, 9));
  EXPECT_LE(worst_difference(first.times, again.times), limit(2e-5));
  EXPECT_LE(worst_difference(other.times, solve_here(mesh, metric, from_two(1700, 3)).times), limit(2e-5));
  EXPECT_GT(worst_difference(first.times, other.times), 1);
}

TEST_P(EachBackend, ResidualCheckCatchesAWrongTime) {
  const TetMesh mesh = cube(9);
  const Metric metric;
  Solver solver({mesh, metric}, options());
  Arrival arrival = solver.solve(from(VertexId(0)));
  ASSERT_TRUE(solver.residual(arrival, from(VertexId(0))).passed());
  arrival.times[700] += 0.01;
  const Residual late = solver.residual(arrival, from(VertexId(0)));
  EXPECT_FALSE(late.passed());
  arrival.times[700] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(solver.residual(arrival, from(VertexId(0))).passed());
}

TEST_P(EachBackend, ResidualCheckCatchesALateSource) {
  const TetMesh mesh = cube(9);
  const Metric metric;
  Solver solver({mesh, metric}, options());
  const Arrival right = solver.solve(from(VertexId(0), 3));
  ASSERT_TRUE(solver.residual(right, from(VertexId(0), 3)).passed());
  Arrival wrong = right;
  for (double& time : wrong.times) time += 1;  // consistent, but not from this source
  EXPECT_FALSE(solver.residual(wrong, from(VertexId(0), 3)).passed());
  for (double& time : wrong.times) time = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(solver.residual(wrong, from(VertexId(0), 3)).passed());
}

TEST_P(EachBackend, ARefusedMetricLeavesTheOneBefore) {
  const TetMesh mesh = cube(9);
  const Metric first = Metric::isotropic(2);
  SpeedMetric speeds{std::vector<double>(mesh.element_count(), 100)};
  speeds.speed.back() = -1;
  const Metric bad(speeds);
  Solver solver({mesh, first}, options());
  const Arrival before = solver.solve(from(VertexId(0)));
  EXPECT_THROW(solver.set_metric(bad), InputError);
  const Arrival after = solver.solve(from(VertexId(0)));
  EXPECT_LE(worst_difference(before.times, after.times), limit(1e-5));
  EXPECT_TRUE(solver.residual(after, from(VertexId(0))).passed());
}

TEST_P(EachBackend, UpwindWeightsExplainTheTimes) {
  const TetMesh mesh = cube(9, 0.2);
  SolveOptions weighted = options();
  weighted.weights = Keep::yes;
  weighted.source_init = SourceInit::plain;
  const Arrival arrival = solve(mesh, Metric(), from(VertexId(364)), weighted);
  ASSERT_EQ(arrival.upwind.size(), mesh.vertex_count());
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    if (v == 364) continue;
    const Upwind& upwind = arrival.upwind[v];
    Vec3d entry{};
    double time = 0, sum = 0;
    for (int k = 0; k < 3; ++k) {
      const double w = upwind.weights[k];
      EXPECT_GE(w, 0);
      if (w == 0) continue;
      entry += w * mesh.point(upwind.vertices[k]);
      time += w * arrival.times[upwind.vertices[k].index()];
      sum += w;
    }
    ASSERT_NEAR(sum, 1, 1e-5);
    ASSERT_NEAR(time + norm(mesh.points[v] - entry), arrival.times[v], limit(1e-4));
  }
}

TEST(Solver, ThreadsLeaveTogetherWhenCancelledOrInterrupted) {
  // Whatever phase the others are in: nobody may wait at a barrier for ever.
  const TetMesh mesh = cube(20, 0.2);
  SolveOptions options = options_for({Method::banded, Precision::single_, 4});
  options.verify = Keep::no;
  options.band_width = 2;
  const Metric metric;
  int cancelled = 0;
  for (int late = 0; late < 60; ++late) {
    std::atomic<int> looks = 0;
    std::atomic<bool> cancel = false;
    options.progress = {};
    options.progress.cancel = &cancel;
    options.progress.report = [&](double) {
      if (++looks > late % 3) cancel = true;
    };
    Solver solver({mesh, metric}, options);
    try {
      solver.solve(from(VertexId(0)));
    } catch (const Cancelled&) {
      ++cancelled;
    }
  }
  EXPECT_GT(cancelled, 0);
  options.progress = {};
  options.progress.report = [](double) { throw std::runtime_error("enough"); };
  EXPECT_THROW(solve(mesh, metric, from(VertexId(0)), options), std::runtime_error);
}

TEST(Solver, ProgressRisesToOne) {
  const TetMesh mesh = cube(25);
  double last = 0;
  SolveOptions options;
  options.progress.report = [&](double fraction) {
    EXPECT_GE(fraction, last);
    EXPECT_LE(fraction, 1);
    last = fraction;
  };
  solve(mesh, Metric(), from(VertexId(0)), options);
  EXPECT_GT(last, 0.5);
}

TEST_P(EachBackend, SinglePrecisionIsRaisedWhereItCannotHoldTheLengths) {
  TetMesh mesh = cube(5);
  for (Vec3d& p : mesh.points) p.x = std::pow(10.0, 3 * p.x);  // edges from 1 to 1e12
  SolveOptions single = options();
  single.precision = Precision::single_;
  single.verify = Keep::yes;
  const Arrival arrival = solve(mesh, Metric(), from(VertexId(0)), single);
  EXPECT_EQ(arrival.precision, Precision::double_);
  EXPECT_EQ(arrival.backend, GetParam().backend);
  EXPECT_TRUE(arrival.converged);
  ASSERT_FALSE(arrival.notes.empty());
}

TEST_P(EachBackend, BadSourcesAreNamed) {
  TetMesh mesh = cube(4);
  mesh.points.push_back({9, 9, 9});
  const auto message = [&](const Sources& sources) {
    try {
      solve_here(mesh, Metric(), sources);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_NE(message({}).find("no source"), std::string::npos);
  EXPECT_NE(message(from(VertexId(1000))).find("out of range"), std::string::npos);
  EXPECT_NE(message(from(VertexId(64))).find("not a vertex of any element"), std::string::npos);
  EXPECT_NE(message(from(VertexId(0), std::nan(""))).find("finite"), std::string::npos);
  Sources far;
  far.points.push_back({{50, 0, 0}, 0});
  EXPECT_NE(message(far).find("away from the mesh"), std::string::npos);
}

TEST(Solver, TimesTooLargeOrTooSmallAreRefused) {
  TetMesh mesh = cube(4);
  for (Vec3d& p : mesh.points) p = 1e20 * p;
  EXPECT_THROW(solve(mesh, Metric::isotropic(1e-150), from(VertexId(0))), InputError);
  for (Vec3d& p : mesh.points) p = 1e-40 * p;
  EXPECT_THROW(solve(mesh, Metric::isotropic(1e150), from(VertexId(0))), InputError);
  EXPECT_NO_THROW(solve(mesh, Metric::isotropic(1e-100), from(VertexId(0))));
}

TEST_P(EachBackend, BadMeshesAndMetricsAreRefused) {
  TetMesh mesh = cube(4);
  EXPECT_THROW(solve_here(mesh, Metric(SpeedMetric{{1.0}}), from(VertexId(0))), InputError);
  EXPECT_THROW(solve_here(mesh, Metric::constant(SymTensor3d::diagonal(1, -1, 1)), from(VertexId(0))), InputError);
  EXPECT_THROW(solve_here(TetMesh{}, Metric(), from(VertexId(0))), InputError);
  TetMesh points_only = mesh;
  points_only.elements.clear();
  EXPECT_THROW(solve_here(points_only, Metric(), from(VertexId(0))), InputError);
  mesh.points[3].x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve_here(mesh, Metric(), from(VertexId(0))), InputError);
  mesh.points[3].x = 0;
  mesh.elements[0][0] = VertexId(5000);
  EXPECT_THROW(solve_here(mesh, Metric(), from(VertexId(0))), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
