// Pushes through tetrahedra in vector lanes: what they leave out cannot gain, and what they offer is what solving
// everything one by one finds.
#include "isochron/solve/simplex/tet_push.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "isochron/solve/simplex/leads.h"
#include "isochron/solve/simplex/relax.h"
#include "isochron/solver.h"

namespace isochron {
namespace TEST_FILE {

template <class T>
SimplexProblem<T, 4> prepare(const TetMesh& mesh, const Metric& metric) {
  auto problem = prepare_topology<T>(mesh, KeepOrder::yes, 1);
  apply_metric(problem, mesh, metric, 1);
  return problem;
}

TetMesh jittered_cube() { return generate_cube({.nx = 7, .ny = 7, .nz = 7, .extent = {6, 6, 6}, .jitter = 0.3}); }
Metric fibers_of(const TetMesh& mesh) {
  FiberMetric fibers;
  fibers.fiber = random_fibers(mesh, 3);
  fibers.velocities = {{3, 1, 1}};
  return Metric(std::move(fibers));
}

/// The centre of a sphere and all triangles of it: many more elements at one vertex than a push takes at once.
TetMesh hedgehog() {
  const TriangleMesh sphere = generate_sphere({.frequency = 5});
  TetMesh mesh;
  mesh.points = sphere.points;
  const VertexId centre(mesh.points.size());
  mesh.points.push_back({0, 0, 0});
  for (const auto& triangle : sphere.elements) mesh.elements.push_back({triangle[0], triangle[1], triangle[2], centre});
  return mesh;
}

/// Times within a few edges of one another, a tenth of them infinite.
template <class T>
std::vector<T> random_times(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> times(count);
  for (T& time : times)
    time = random.below(10) == 0 ? std::numeric_limits<T>::infinity() : static_cast<T>(random.uniform(0, 2.5));
  return times;
}

/// The earliest arrivals at the neighbours of x through its elements, and of those the ones from another vertex alone,
/// by the scalar update.
template <class T>
struct Reached {
  T any = std::numeric_limits<T>::infinity();
  T without_x = std::numeric_limits<T>::infinity();
};
template <class T>
std::map<std::uint32_t, Reached<T>> reach_all(const SimplexProblem<T, 4>& problem, const std::vector<T>& times,
                                              std::uint32_t x, T horizon) {
  std::map<std::uint32_t, Reached<T>> result;
  for (const std::uint32_t incidence : problem.adjacency.at(VertexId(x))) {
    const auto& record = problem.elements[incidence >> 2];
    const int corner = Adjacency::corner_of(incidence);
    for (int k = 1; k < 4; ++k) {
      const int t = (corner + k) & 3, b = (corner + k % 3 + 1) & 3, c = (corner + (k + 1) % 3 + 1) & 3;
      const auto seen = [&](int of) {
        const T time = times[record.vertex(of)];
        return record.acute(t) && time >= horizon ? std::numeric_limits<T>::infinity() : time;
      };
      const auto length = [&](int p, int q) { return record.length[edge_index(p, q)]; };
      Reached<T>& reached = result[record.vertex(t)];
      reached.any =
          std::min(reached.any, detail::push_time(times[x], seen(b), seen(c), length(corner, b), length(corner, c),
                                                  length(b, c), length(corner, t), length(b, t), length(c, t)));
      for (const int other : {b, c})
        reached.without_x = std::min(reached.without_x, seen(other) + std::sqrt(length(other, t)));
    }
  }
  return result;
}

template <class T>
void expect_offers_of_all(const SimplexProblem<T, 4>& problem, T horizon, double tolerance) {
  const std::vector<T> start = random_times<T>(problem.vertex_count, 7);
  std::vector<T> times = start;
  const Relaxer<T, 4, PlainTimes<T>> relax(problem, PlainTimes<T>{times.data()});
  std::uint64_t all = 0, solves = 0, gains = 0;
  for (std::uint32_t x = 0; x < problem.vertex_count; ++x) {
    if (!std::isfinite(times[x])) continue;
    std::map<std::uint32_t, T> offered;
    solves += relax.push(x, horizon, [&](std::uint32_t target, T time) {
      const auto [place, first] = offered.emplace(target, time);
      if (!first) place->second = std::min(place->second, time);
    });
    all += 3 * problem.adjacency.valence(VertexId(x));
    for (const auto& [target, reached] : reach_all(problem, times, x, horizon)) {
      const T before = std::min(times[target], reached.without_x);
      const T found = offered.contains(target) ? std::min(before, offered[target]) : before;
      const T expected = std::min(before, reached.any);
      if (std::isinf(expected)) {
        EXPECT_TRUE(std::isinf(found)) << x << " to " << target;
      } else {
        ASSERT_NEAR(found, expected, tolerance) << x << " to " << target;
      }
      gains += expected < before ? 1 : 0;
    }
    for (const auto& [target, time] : offered) EXPECT_LT(time, times[target]);
  }
  EXPECT_EQ(times, start);
  EXPECT_GT(gains, problem.vertex_count / 2);
  EXPECT_LT(3 * solves, 2 * all);  // at least a third is left out
}

TEST(TetPush, OffersWhatSolvingAllFinds) {
  const TetMesh mesh = jittered_cube();
  const TetMesh regular = generate_cube({.nx = 7, .ny = 7, .nz = 7, .extent = {6, 6, 6}});
  for (const double horizon : {1.2, std::numeric_limits<double>::infinity()}) {
    for (const Metric& metric : {Metric(), fibers_of(mesh)}) {
      expect_offers_of_all(prepare<double>(mesh, metric), horizon, 1e-11);
      expect_offers_of_all(prepare<float>(mesh, metric), static_cast<float>(horizon), 5e-5);
    }
    expect_offers_of_all(prepare<double>(regular, Metric()), horizon, 1e-11);  // not in lanes: all corners are acute
    expect_offers_of_all(prepare<float>(regular, Metric()), static_cast<float>(horizon), 5e-5);
  }
}

TEST(TetPush, TakesManyElementsInTurns) {
  const TetMesh mesh = hedgehog();
  ASSERT_GT(mesh.elements.size(), 3 * TetPush<double>::max_elements);
  expect_offers_of_all(prepare<double>(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9))),
                       std::numeric_limits<double>::infinity(), 1e-10);
  SolveOptions options;
  options.precision = Precision::double_;
  options.verify = Keep::yes;
  const Metric metric;
  Solver solver({mesh, metric}, options);
  Sources sources;
  sources.vertices.push_back({VertexId(mesh.points.size() - 1)});
  const Arrival arrival = solver.solve(sources);
  EXPECT_TRUE(arrival.residual->passed());
  for (std::size_t v = 0; v + 1 < mesh.points.size(); ++v) ASSERT_NEAR(arrival.times[v], 1, 1e-6) << v;
}

TEST(TetPush, PushesToItsTargetsOnly) {
  const TetMesh mesh = jittered_cube();
  const auto problem = prepare<double>(mesh, fibers_of(mesh));
  std::vector<double> times = random_times<double>(problem.vertex_count, 3);
  const auto half = static_cast<std::uint32_t>(problem.vertex_count / 2);
  const Relaxer<double, 4, PlainTimes<double>> all(problem, {times.data()});
  const Relaxer<double, 4, PlainTimes<double>, FirstTargets> some(problem, {times.data()}, {half});
  std::size_t left_out = 0;
  for (std::uint32_t x = 0; x < problem.vertex_count; ++x) {
    if (!std::isfinite(times[x])) continue;
    std::map<std::uint32_t, double> expected, found;
    all.push(x, 1.2, [&](std::uint32_t target, double time) {
      if (target < half) expected.emplace(target, time);
      else ++left_out;
    });
    some.push(x, 1.2, [&](std::uint32_t target, double time) { found.emplace(target, time); });
    EXPECT_EQ(found, expected) << x;
  }
  EXPECT_GT(left_out, 100U);
}

/// The lead of corner 3 over corner 0, of a tetrahedron with these squared lengths.
template <class T, class Length>
T lead_of(const Length& length) {
  return min_lead<T>(length(0, 3), length(1, 3), length(2, 3), length(0, 1), length(0, 2), length(1, 2),
                     1 / std::sqrt(length(1, 3)), 1 / std::sqrt(length(2, 3)));
}

/// Tetrahedra of any shape: nothing comes through x earlier than its lead, and leads are of use.
template <class T>
void expect_leads_hold() {
  Random random(11);
  const auto uniform = [&] { return static_cast<T>(random.uniform()); };
  std::size_t checked = 0, obtuse = 0, near = 0;
  for (int round = 0; round < 20000; ++round) {
    Vec3d p[4];
    const double flat = round % 3 == 0 ? 0.05 : 1;
    for (Vec3d& q : p) q = {random.uniform(), random.uniform(), flat * random.uniform()};
    if (round % 5 == 1) p[1] = p[3] + 0.01 * (p[1] - p[0]);  // an edge that is short, at the corner that is reached
    if (round % 5 == 2) p[2] = 0.5 * (p[1] + p[3]) + 0.01 * (p[2] - p[0]);  // b, c and t nearly in a row
    const auto length = [&](int a, int b) { return static_cast<T>(dot(p[a] - p[b], p[a] - p[b])); };
    const T lead = std::max(lead_of<T>(length), -std::sqrt(length(0, 3)));
    obtuse += lead < 0 ? 1 : 0;
    T nearest = std::numeric_limits<T>::infinity();
    for (int i = 0; i < 20; ++i) {
      const T ux = uniform(), ub = uniform(), uc = uniform();
      bool thin = false;
      const T time = detail::push_time_lane(ux, ub, uc, length(0, 1), length(0, 2), length(1, 2), length(0, 3),
                                            length(1, 3), length(2, 3), thin);
      if (thin || !std::isfinite(time)) continue;
      ++checked;
      ASSERT_GE(time - ux, lead - T(1e-5)) << round;
      nearest = std::min(nearest, time - ux - lead);
    }
    near += nearest < T(0.1) ? 1 : 0;
  }
  EXPECT_GT(checked, 50000U);
  EXPECT_GT(obtuse, 2000U);
  EXPECT_GT(near, 2000U);
}

TEST(Leads, NothingComesEarlier) {
  expect_leads_hold<double>();
  expect_leads_hold<float>();
}

TEST(Leads, AreRoundedDownWithinTheLongestEdge) {
  const TetMesh mesh = jittered_cube();
  const auto problem = prepare<double>(mesh, fibers_of(mesh));
  std::size_t above = 0, below = 0;
  for (std::uint32_t x = 0; x < problem.vertex_count; ++x) {
    double longest = 0;
    for (std::uint32_t i = problem.adjacency.offsets[x]; i < problem.adjacency.offsets[x + 1]; ++i) {
      const std::uint32_t incidence = problem.adjacency.incidences[i];
      const auto& record = problem.elements[incidence >> 2];
      const int corner = Adjacency::corner_of(incidence);
      EXPECT_EQ(problem.leads[i].of_corner[corner], 0);
      for (int k = 1; k < 4; ++k) {
        const int t = (corner + k) & 3;
        const int seen[] = {corner, (corner + k % 3 + 1) & 3, (corner + (k + 1) % 3 + 1) & 3, t};
        const auto length = [&](int p, int q) { return record.length[edge_index(seen[p], seen[q])]; };
        longest = std::max(longest, std::sqrt(length(0, 3)));
        const double exact = std::max(lead_of<double>(length), -problem.lead_step[x] * Leads::most);
        const double stored = problem.lead_step[x] * problem.leads[i].of_corner[t];
        EXPECT_LE(stored, record.acute(t) ? std::max(exact, 0.0) : exact);
        EXPECT_TRUE(!record.acute(t) || stored >= 0);
        EXPECT_GE(stored, exact - 1.02 * problem.lead_step[x]);
        (stored > 0 ? above : below) += 1;
      }
    }
    EXPECT_NEAR(problem.lead_step[x] * Leads::most, longest, 0.01 * longest);
  }
  EXPECT_GT(above, 1000U);
  EXPECT_GT(below, 1000U);
}

TEST(Leads, AreMadeWhereTheyAreAskedFor) {
  const TetMesh mesh = jittered_cube();
  auto problem = prepare_topology<double>(mesh, KeepOrder::yes, 1, ForPushes::no);
  apply_metric(problem, mesh, fibers_of(mesh), 1);
  EXPECT_TRUE(problem.leads.empty());
  EXPECT_TRUE(problem.lead_step.empty());
  const auto with_leads = prepare<double>(mesh, fibers_of(mesh));
  EXPECT_EQ(with_leads.leads.size(), problem.adjacency.incidences.size());
  EXPECT_EQ(problem.mean_edge, with_leads.mean_edge);
}

/// Leads are computed in single precision, whose range is smaller: beyond it there are none.
TEST(Leads, AreLeftOutWhereLengthsAreOutOfRange) {
  const TetMesh mesh = jittered_cube();
  auto problem = prepare<double>(mesh, fibers_of(mesh));
  for (const double scale : {1e-60, 1e-30, 1e30, 1e60}) {
    for (auto& record : problem.elements)
      for (double& length : record.length) length *= scale;
    for (std::uint32_t x = 0; x < problem.vertex_count; ++x) {
      fill_leads(problem, x, scale);
      for (std::uint32_t i = problem.adjacency.offsets[x]; i < problem.adjacency.offsets[x + 1]; ++i) {
        const std::uint32_t incidence = problem.adjacency.incidences[i];
        for (int k = 1; k < 4; ++k) {
          const int t = (Adjacency::corner_of(incidence) + k) & 3;
          const int least = problem.elements[incidence >> 2].acute(t) ? 0 : -Leads::most;
          ASSERT_EQ(problem.leads[i].of_corner[t], least) << scale;
        }
      }
    }
    for (auto& record : problem.elements)
      for (double& length : record.length) length /= scale;
  }
}

/// Where two corners are one point there is no angle: nothing is left out of pushes to them.
TEST(Leads, OfDegenerateElementsLeaveNothingOut) {
  TetMesh mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}};
  mesh.elements = {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)},
                   {VertexId(0), VertexId(1), VertexId(4), VertexId(3)}};
  auto problem = prepare<double>(mesh, Metric());
  for (auto& corner : problem.elements[1].corner) corner |= ElementRecord<double, 4>::obtuse_flag;
  for (std::uint32_t x = 0; x < 5; ++x) fill_leads(problem, x, 2.0);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < problem.adjacency.incidences.size(); ++i) {
    if (problem.adjacency.incidences[i] >> 2 != 1) continue;
    ++seen;
    EXPECT_LE(problem.leads[i].of_corner[2], 0) << i;
    EXPECT_LE(problem.leads[i].of_corner[3], 0) << i;
  }
  EXPECT_EQ(seen, 4U);
}

}  // namespace TEST_FILE
}  // namespace isochron
