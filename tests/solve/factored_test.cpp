#include "isochron/solve/simplex/factored.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "isochron/generate.h"
#include "isochron/solve/schedules/banded/banded.h"
#include "isochron/solve/schedules/banded/banded_team.h"
#include "support/cut_mesh.h"

namespace isochron {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr BandTuning tuning{1.0, 64};

/// A point source at a vertex or inside an element, whose corners are then the seeds.
template <int Corners>
struct PointSource {
  const SimplexMesh<Corners>& mesh;
  Metric metric;
  Vec3d source;
  SymTensor3d m0;
  double onset = 0;
  double tolerance = 1e-6;
  SimplexProblem<double, Corners> problem;

  PointSource(const SimplexMesh<Corners>& m, Metric element_metric, Vec3d where, SymTensor3d metric_there,
              double begin = 0)
      : mesh(m), metric(std::move(element_metric)), source(where), m0(metric_there), onset(begin) {
    problem = prepare_topology<double>(mesh, KeepOrder::no, 1);
    apply_metric(problem, mesh, metric, 1);
  }

  [[nodiscard]] SolveState<double> start(std::span<const VertexId> seeds) const {
    SolveState<double> state;
    state.time.assign(problem.vertex_count, inf);
    state.tolerance = tolerance;
    for (const VertexId seed : seeds) {
      const std::uint32_t v = problem.internal(seed);
      state.time[v] = (onset + std::sqrt(squared_length(m0, mesh.point(seed) - source))) / problem.unit;
      state.seeds.push_back(v);
    }
    return state;
  }

  /// Times in the caller's order and unit.
  [[nodiscard]] std::vector<double> times(const SolveState<double>& state) const {
    std::vector<double> result(state.time.size());
    for (std::size_t v = 0; v < result.size(); ++v)
      result[v] = state.time[problem.internal(VertexId(v))] * problem.unit;
    return result;
  }

  [[nodiscard]] std::vector<double> plain(std::span<const VertexId> seeds) const {
    SolveState<double> state = start(seeds);
    banded_serial(Relaxer<double, Corners, PlainTimes<double>>(problem, {state.time.data()}), state, tuning);
    return times(state);
  }
  [[nodiscard]] std::vector<double> factored(std::span<const VertexId> seeds) const {
    SolveState<double> state = start(seeds);
    const std::vector<SourceView> views = view_from_source(problem, mesh, source, m0);
    banded_serial(FactoredRelaxer<Corners, PlainTimes<double>>(problem, {state.time.data()}, views), state, tuning);
    return times(state);
  }
};

double mean_error(const std::vector<double>& times, const std::function<double(std::size_t)>& exact) {
  double sum = 0;
  for (std::size_t v = 0; v < times.size(); ++v) sum += std::abs(times[v] - exact(v));
  return sum / static_cast<double>(times.size());
}

TetMesh jittered_cube(std::size_t n) {
  const auto size = static_cast<double>(n - 1);
  return generate_cube({.nx = n, .ny = n, .nz = n, .extent = {size, size, size}, .jitter = 0.3});
}

TEST(Factored, IsExactInAConstantMetric) {
  const TetMesh mesh = jittered_cube(17);
  const VertexId seed = vertex_at(mesh, {8, 8, 8});
  for (const SymTensor3d m :
       {SymTensor3d::identity(), SymTensor3d::diagonal(1, 4, 9), SymTensor3d{2, 0.9, 0.3, 1, -0.2, 4}}) {
    PointSource<4> run(mesh, Metric::constant(m), mesh.point(seed), m);
    const auto exact = [&](std::size_t v) { return std::sqrt(squared_length(m, mesh.points[v] - mesh.point(seed))); };
    const std::vector<VertexId> seeds{seed};
    EXPECT_GT(mean_error(run.plain(seeds), exact), 0.1);
    EXPECT_LT(mean_error(run.factored(seeds), exact), 1e-6);  // what the tolerance drops
    run.tolerance = 0;
    EXPECT_LT(mean_error(run.factored(seeds), exact), 1e-12);
  }
}

TEST(Factored, IsExactFromInsideAnElementWithAnOnset) {
  const TetMesh mesh = jittered_cube(9);
  const SymTensor3d m = SymTensor3d::diagonal(1, 4, 9);
  const ElementId element(1500);
  const Vec3d source = centroid(mesh, element);
  const PointSource<4> run(mesh, Metric::constant(m), source, m, 3.5);
  const auto exact = [&](std::size_t v) { return 3.5 + std::sqrt(squared_length(m, mesh.points[v] - source)); };
  EXPECT_LT(mean_error(run.factored(mesh.element(element)), exact), 1e-6);
}

TEST(Factored, IsExactOnATiltedSquare) {
  TriangleMesh mesh = generate_square({.n = 33, .extent = 32, .jitter = 0.3});
  tilt(mesh);
  const VertexId seed(16 * 33 + 15);
  for (const SymTensor3d m : {SymTensor3d::identity(), SymTensor3d::diagonal(1, 4, 9)}) {
    const PointSource<3> run(mesh, Metric::constant(m), mesh.point(seed), m);
    const auto exact = [&](std::size_t v) { return std::sqrt(squared_length(m, mesh.points[v] - mesh.point(seed))); };
    EXPECT_LT(mean_error(run.factored(std::vector<VertexId>{seed}), exact), 2e-6);
  }
}

/// Velocity v0 + g·z, one per element from its centroid, and the time along its circular rays.
template <int Corners>
struct LinearVelocity {
  double v0, g;
  [[nodiscard]] double speed(Vec3d x) const { return v0 + g * x.z; }
  [[nodiscard]] Metric metric(const SimplexMesh<Corners>& mesh) const {
    SpeedMetric result;
    for (std::size_t e = 0; e < mesh.element_count(); ++e) result.speed.push_back(speed(centroid(mesh, ElementId(e))));
    return Metric(std::move(result));
  }
  [[nodiscard]] double time(Vec3d s, Vec3d x) const {
    return std::acosh(1 + g * g * dot(x - s, x - s) / (2 * speed(x) * speed(s))) / g;
  }
};

TEST(Factored, QuartersTheErrorInALinearVelocity) {
  const TetMesh mesh = jittered_cube(17);
  const VertexId seed = vertex_at(mesh, {8, 8, 3});
  const Vec3d source = mesh.point(seed);
  const LinearVelocity<4> medium{1.0, 0.05};
  const PointSource<4> run(mesh, medium.metric(mesh), source,
                           SymTensor3d::identity(1 / (medium.speed(source) * medium.speed(source))));
  const auto exact = [&](std::size_t v) { return medium.time(source, mesh.points[v]); };
  const std::vector<VertexId> seeds{seed};
  const double plain = mean_error(run.plain(seeds), exact);
  const double factored = mean_error(run.factored(seeds), exact);
  RecordProperty("plain_error", std::to_string(plain));
  RecordProperty("factored_error", std::to_string(factored));
  EXPECT_LT(factored, plain / 4);
}

class FactoredFixedPoint : public testing::Test {
 protected:
  TetMesh mesh_ = jittered_cube(11);
  VertexId seed_ = vertex_at(mesh_, {5, 5, 3});
  LinearVelocity<4> medium_{1.0, 0.2};
  PointSource<4> run_{mesh_, medium_.metric(mesh_), mesh_.point(seed_),
                      SymTensor3d::identity(1 / std::pow(medium_.speed(mesh_.point(seed_)), 2))};
  std::vector<VertexId> seeds_{seed_};
  std::vector<SourceView> views_ = view_from_source(run_.problem, mesh_, run_.source, run_.m0);
};

TEST_F(FactoredFixedPoint, PullFindsNothingBetterAndWeightsExplainIt) {
  SolveState<double> state = run_.start(seeds_);
  const FactoredRelaxer<4, PlainTimes<double>> relax(run_.problem, {state.time.data()}, views_);
  banded_serial(relax, state, tuning);
  EXPECT_LT(state.counters.local_solves, 150 * mesh_.vertex_count());
  for (std::uint32_t v = 0; v < state.time.size(); ++v) {
    if (v == state.seeds[0]) continue;
    std::uint64_t solves = 0;
    const double edge = run_.problem.edge[v];
    EXPECT_NEAR(relax.pull(v, solves), state.time[v], 1e-5 * edge);
    const PullResult<double> found = relax.pull_with_weights(v);
    ASSERT_EQ(found.count, 3);
    EXPECT_NEAR(found.time, state.time[v], 1e-5 * edge);
    EXPECT_NEAR(found.weight[0] + found.weight[1] + found.weight[2], 1, 1e-12);
    Vec3d x;
    double tau = 0;
    for (int k = 0; k < 3; ++k) {
      if (!(found.weight[k] > 0)) continue;
      x += found.weight[k] * views_[found.vertex[k]].position;
      tau += found.weight[k] * (state.time[found.vertex[k]] - views_[found.vertex[k]].time);
    }
    EXPECT_LE(norm(x) + tau, found.time);
  }
}

TEST_F(FactoredFixedPoint, ThreadsAgree) {
  const std::vector<double> serial = run_.factored(seeds_);
  SolveState<double> state = run_.start(seeds_);
  const FactoredRelaxer<4, SharedTimes<double>> relax(run_.problem, {state.time.data()}, views_);
  BandedTeam<FactoredRelaxer<4, SharedTimes<double>>>(relax, state, tuning, 3).run();
  const std::vector<double> team = run_.times(state);
  for (std::size_t v = 0; v < serial.size(); ++v) EXPECT_NEAR(team[v], serial[v], 2e-5);
}

}  // namespace TEST_FILE
}  // namespace isochron
