#include "isochron/solve/simplex/obtuse_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "isochron/generate.h"
#include "isochron/solve/schedules/banded/banded.h"
#include "isochron/solve/simplex/relax.h"
#include "solve/samples.h"
#include "support/cut_mesh.h"

namespace isochron {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

template <int Corners>
SimplexProblem<double, Corners> prepare(const SimplexMesh<Corners>& mesh, const Metric& metric) {
  SimplexProblem<double, Corners> problem = prepare_topology<double>(mesh, KeepOrder::no, 1);
  apply_metric(problem, mesh, metric, 1);
  return problem;
}

/// Times from one vertex, in the caller's order and unit.
template <int Corners>
std::vector<double> solve_from(const SimplexProblem<double, Corners>& problem, VertexId seed) {
  SolveState<double> state;
  state.time.assign(problem.vertex_count, inf);
  state.time[problem.internal(seed)] = 0;
  state.seeds = {problem.internal(seed)};
  state.tolerance = 1e-9;
  banded_serial(Relaxer<double, Corners, PlainTimes<double>>(problem, {state.time.data()}), state, {1.0, 64});
  std::vector<double> times(problem.vertex_count);
  for (std::size_t v = 0; v < times.size(); ++v) times[v] = state.time[problem.internal(VertexId(v))] * problem.unit;
  return times;
}

struct Errors {
  double mean = 0;
  double earliest = inf;  ///< most negative
};

template <int Corners>
Errors errors(const SimplexMesh<Corners>& mesh, const SymTensor3d& m, VertexId seed, const std::vector<double>& times) {
  Errors e;
  for (std::size_t v = 0; v < times.size(); ++v) {
    const double error = times[v] - std::sqrt(squared_length(m, mesh.points[v] - mesh.point(seed)));
    e.mean += std::abs(error) / static_cast<double>(times.size());
    e.earliest = std::min(e.earliest, error);
  }
  return e;
}

/// All lengths are straight distances, corners differ, and the lists are complete.
template <int Corners>
void expect_consistent(const SimplexProblem<double, Corners>& problem, const SimplexMesh<Corners>& mesh,
                       const SymTensor3d& m) {
  const auto& extra = problem.virtual_elements;
  constexpr auto pairs = edge_corners<Corners>();
  std::vector<std::uint32_t> seen(extra.records.size(), 0);
  for (const auto& record : extra.records) {
    std::array<std::uint32_t, Corners> corners;
    std::copy(record.face.begin(), record.face.end(), corners.begin());
    corners.back() = record.target;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      ASSERT_NE(corners[pairs[k][0]], corners[pairs[k][1]]);
      const Vec3d d = mesh.point(problem.user(corners[pairs[k][0]])) - mesh.point(problem.user(corners[pairs[k][1]]));
      ASSERT_NEAR(std::sqrt(record.length[k]) * problem.unit, std::sqrt(squared_length(m, d)), 1e-9);
    }
  }
  ASSERT_EQ(extra.target_offsets.size(), problem.vertex_count + 1);
  ASSERT_EQ(extra.face_offsets.size(), problem.vertex_count + 1);
  for (std::uint32_t v = 0; v < problem.vertex_count; ++v) {
    for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
      ASSERT_EQ(extra.records[extra.target_list[i]].target, v);
      ++seen[extra.target_list[i]];
    }
    for (std::uint32_t i = extra.face_offsets[v]; i < extra.face_offsets[v + 1]; ++i) {
      ASSERT_EQ(extra.records[extra.face_list[i] >> 2].face[extra.face_list[i] & 3U], v);
      ++seen[extra.face_list[i] >> 2];
    }
  }
  for (const std::uint32_t count : seen) ASSERT_EQ(count, static_cast<std::uint32_t>(Corners));
}

/// Splits in a constant metric and checks everything; `gain` is the least fall of the mean error.
template <int Corners>
void expect_better(const SimplexMesh<Corners>& mesh, const SymTensor3d& m, VertexId seed, double gain) {
  const Metric metric = Metric::constant(m);
  SimplexProblem<double, Corners> problem = prepare(mesh, metric);
  const Errors plain = errors(mesh, m, seed, solve_from(problem, seed));
  problem.virtual_elements = split_obtuse(problem, mesh, metric);
  ASSERT_FALSE(problem.virtual_elements.empty());
  expect_consistent(problem, mesh, m);
  const Errors split = errors(mesh, m, seed, solve_from(problem, seed));
  EXPECT_LT(split.mean, (1 - gain) * plain.mean);
  EXPECT_GT(split.earliest, -1e-9);
}

const SymTensor3d turned{2.0, 1.2, 0.3, 1.5, -0.2, 4.0};

TEST(ObtuseSplit, ImprovesIrregularSquares) {
  TriangleMesh mesh = generate_irregular_square({.n = 33, .extent = 32});
  const VertexId seed = vertex_at(mesh, {16, 16, 0});
  for (const SymTensor3d m : {SymTensor3d::identity(), SymTensor3d::diagonal(1, 9, 1), turned})
    expect_better(mesh, m, seed, 0.3);
  tilt(mesh);
  expect_better(mesh, SymTensor3d::identity(), seed, 0.3);
}

TEST(ObtuseSplit, ImprovesCubes) {
  const TetMesh mesh = generate_cube({.nx = 13, .ny = 13, .nz = 13, .extent = {12, 12, 12}, .jitter = 0.3});
  const VertexId seed = vertex_at(mesh, {6, 6, 6});
  for (const SymTensor3d m : {SymTensor3d::identity(), SymTensor3d::diagonal(1, 4, 9), turned})
    expect_better(mesh, m, seed, 0.05);
}

/// M on every element, `factor` times as large on three of them.
Metric scaled(const SymTensor3d& m, std::size_t count, std::size_t first, double factor) {
  TensorMetric tensors;
  for (std::size_t e = 0; e < count; ++e)
    tensors.tensor.push_back(narrowed((e >= first && e < first + 3 ? factor : 1) * m));
  return Metric(std::move(tensors));
}

/// After a change of some elements, made again in part and as a whole.
template <int Corners>
void expect_same_again(const SimplexMesh<Corners>& mesh, const SymTensor3d& m) {
  const auto sorted = [](const VirtualElements<double, Corners>& all) {
    std::vector<std::tuple<std::uint32_t, std::array<std::uint32_t, Corners - 1>, std::vector<double>>> result;
    for (const auto& r : all.records)
      result.emplace_back(r.target, r.face, std::vector(r.length.begin(), r.length.end()));
    std::sort(result.begin(), result.end());
    return result;
  };
  const std::size_t count = mesh.element_count();
  const Adjacency adjacency = build_adjacency(mesh);
  const Metric before = scaled(m, count, 0, 1);
  for (const double factor : {0.8, 1.1, 9.0})
    for (std::size_t first = 0; first + 3 <= count; first += 1 + count / 20) {
      const Metric after = scaled(m, count, first, factor);
      const std::vector<ElementId> elements{ElementId(first), ElementId(first + 1), ElementId(first + 2)};
      SimplexProblem<double, Corners> problem = prepare(mesh, before);
      problem.virtual_elements = split_obtuse(problem, mesh, before);
      ASSERT_TRUE(change_metric(problem, mesh, after, elements));
      std::set<std::uint32_t> targets;
      for (const ElementId e : elements_split_by(mesh, adjacency, elements))
        for (const VertexId v : mesh.element(e)) targets.insert(problem.internal(v));
      EXPECT_LT(targets.size(), mesh.vertex_count() / 2);
      split_again(problem, mesh, after, std::vector(targets.begin(), targets.end()));
      EXPECT_EQ(sorted(problem.virtual_elements), sorted(split_obtuse(problem, mesh, after))) << first;
    }
}

TEST(ObtuseSplit, PartsMadeAgainAreThoseOfTheWhole) {
  expect_same_again(generate_square({.n = 25, .extent = 1, .jitter = 0.25}), turned);
  expect_same_again(generate_cube({.nx = 9, .ny = 9, .nz = 9, .jitter = 0.2}), turned);
}

TEST(ObtuseSplit, LeavesAcuteMeshesAlone) {
  const TriangleMesh sphere = generate_sphere({.frequency = 6});
  const TriangleMesh square = generate_square({.n = 9});
  const TetMesh cube = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  EXPECT_TRUE(split_obtuse(prepare(sphere, Metric{}), sphere, Metric{}).empty());
  EXPECT_TRUE(split_obtuse(prepare(square, Metric{}), square, Metric{}).empty());
  EXPECT_TRUE(split_obtuse(prepare(cube, Metric{}), cube, Metric{}).empty());
}

TEST(ObtuseSplit, PassesVerticesOutsideTheAngle) {
  // From (0,0) the next apex (6,1.5) lies outside the angle to (3,1) and (-3,1); the one behind it, (-1,6), lies
  // inside.
  const TriangleMesh mesh{{{0, 0, 0}, {3, 1, 0}, {-3, 1, 0}, {6, 1.5, 0}, {-1, 6, 0}},
                          {{VertexId(0), VertexId(1), VertexId(2)},
                           {VertexId(1), VertexId(3), VertexId(2)},
                           {VertexId(3), VertexId(4), VertexId(2)}}};
  const auto problem = prepare(mesh, Metric{});
  const auto extra = split_obtuse(problem, mesh, Metric{});
  int found = 0;
  for (const auto& record : extra.records) {
    if (problem.user(record.target) != VertexId(0)) continue;
    ++found;
    const std::array face{problem.user(record.face[0]), problem.user(record.face[1])};
    EXPECT_EQ(std::count(face.begin(), face.end(), VertexId(4)), 1);
    EXPECT_EQ(std::count(face.begin(), face.end(), VertexId(3)), 0);
  }
  EXPECT_EQ(found, 2);
}

TEST(ObtuseSplit, StopsAtBoundariesAndWhereManyMeet) {
  const std::vector<Vec3d> points{{0, 0, 0}, {3, 1, 0}, {-3, 1, 0}, {0, 5, 0}, {0, 1, 4}};
  const TriangleMesh alone{points, {{VertexId(0), VertexId(1), VertexId(2)}}};
  EXPECT_TRUE(split_obtuse(prepare(alone, Metric{}), alone, Metric{}).empty());
  TriangleMesh fins = alone;
  fins.elements.push_back({VertexId(1), VertexId(3), VertexId(2)});
  EXPECT_FALSE(split_obtuse(prepare(fins, Metric{}), fins, Metric{}).empty());
  fins.elements.push_back({VertexId(1), VertexId(4), VertexId(2)});
  EXPECT_TRUE(split_obtuse(prepare(fins, Metric{}), fins, Metric{}).empty());
}

TEST(ObtuseSplit, UnfoldsFoldedSurfaces) {
  // The second triangle stands upright on the shared edge: unfolded, the new vertex is straight ahead at distance 1
  // + 5.
  const TriangleMesh mesh{{{0, 0, 0}, {3, 1, 0}, {-3, 1, 0}, {0, 1, 5}},
                          {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(1), VertexId(3), VertexId(2)}}};
  const auto problem = prepare(mesh, Metric{});
  const auto extra = split_obtuse(problem, mesh, Metric{});
  ASSERT_EQ(extra.records.size(), 2U);
  for (const auto& record : extra.records) {
    const int place = problem.user(record.face[0]) == VertexId(3) ? 1 : 2;
    EXPECT_NEAR(std::sqrt(record.length[place]) * problem.unit, 6, 1e-12);
  }
}

TEST(ObtuseSplit, SumsThePiecesOfEachMetric) {
  const TriangleMesh mesh{{{0, 0, 0}, {3, 1, 0}, {-3, 1, 0}, {0, 5, 0}},
                          {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(1), VertexId(3), VertexId(2)}}};
  for (const double speed : {1.1, 2.0}) {
    const Metric metric(SpeedMetric{{1.0, speed}});
    const auto problem = prepare(mesh, metric);
    const auto extra = split_obtuse(problem, mesh, metric);
    if (speed > 1.25) {  // one virtual triangle cannot stand for both
      EXPECT_TRUE(extra.empty());
      continue;
    }
    ASSERT_EQ(extra.records.size(), 2U);
    for (const auto& record : extra.records) {
      const int place = problem.user(record.face[0]) == VertexId(3) ? 1 : 2;
      EXPECT_NEAR(std::sqrt(record.length[place]) * problem.unit, 1 + 4 / speed, 1e-12);
      EXPECT_NEAR(std::sqrt(record.length[0]) * problem.unit, 5 / speed, 1e-12);
    }
  }
}

/// Behind a face where it is slower, the triangle with the summed lengths would lead faster to the middle of its far
/// edge than the straight path does.
TEST(ObtuseSplit, IsNotFasterThanWhatItStandsFor) {
  const TriangleMesh triangles{{{0, 0.4, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1.5, 0}},
                               {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(1), VertexId(3), VertexId(2)}}};
  const Metric metric(SpeedMetric{{1.0, 1 / 1.2}});
  const auto problem = prepare(triangles, metric);
  const auto extra = split_obtuse(problem, triangles, metric);
  ASSERT_EQ(extra.records.size(), 2U);
  for (const auto& record : extra.records) {
    const double middle = 0.5 * (record.length[1] + record.length[2]) - 0.25 * record.length[0];
    const double straight = std::hypot(0.5, 1.15) * (0.4 + 1.2 * 0.75) / 1.15;
    EXPECT_GE(std::sqrt(middle) * problem.unit, 0.9899 * straight);
    EXPECT_LE(std::sqrt(middle) * problem.unit, 1.05 * straight);
  }
}

TEST(ObtuseSplit, TetrahedraAreNotFasterThanWhatTheyStandFor) {
  const double side = std::sqrt(0.75);
  const TetMesh mesh{
      {{0, 0, 0.3}, {1, 0, 0}, {-0.5, side, 0}, {-0.5, -side, 0}, {0, 0, -1.5}},
      {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)}, {VertexId(4), VertexId(1), VertexId(2), VertexId(3)}}};
  const Metric metric(SpeedMetric{{1.0, 1 / 1.2}});
  const auto problem = prepare(mesh, metric);
  const auto extra = split_obtuse(problem, mesh, metric);
  ASSERT_EQ(extra.records.size(), 3U);
  for (const auto& record : extra.records) {
    const auto& l = record.length;
    const double centre = (l[3] + l[4] + l[5]) / 3 - (l[0] + l[1] + l[2]) / 9;
    Vec3d at{};
    for (const std::uint32_t v : record.face) at += (1.0 / 3) * mesh.point(problem.user(v));
    const double above = 0.3 / (0.3 - at.z);
    const double straight = norm(at - mesh.points[0]) * (above + 1.2 * (1 - above));
    EXPECT_GE(std::sqrt(centre) * problem.unit, 0.9899 * straight);
    EXPECT_LE(std::sqrt(centre) * problem.unit, 1.1 * straight);
  }
}

/// Where neighbours' metrics have little in common, what is summed over them need not be a triangle; an update through
/// one that is none would jump up when a time falls, and the result would depend on the order of work.
TEST(ObtuseSplit, MakesTrianglesThatExist) {
  const TriangleMesh mesh = generate_irregular_square({.n = 81});
  const Metric metric = test::rough_fibers(mesh, 3, 300);
  auto problem = prepare(mesh, metric);
  problem.virtual_elements = split_obtuse(problem, mesh, metric);
  EXPECT_GT(problem.virtual_elements.records.size(), 500U);
  for (const auto& record : problem.virtual_elements.records) {
    const double ab = std::sqrt(record.length[0]), ax = std::sqrt(record.length[1]), bx = std::sqrt(record.length[2]);
    EXPECT_LE(ab, ax + bx);
    EXPECT_LE(std::abs(ax - bx), ab);
  }
  std::vector<double> times = solve_from(problem, VertexId(0));
  std::vector<double> inside(times.size());
  for (std::size_t v = 0; v < times.size(); ++v) inside[problem.internal(VertexId(v))] = times[v] / problem.unit;
  const Relaxer<double, 3, PlainTimes<double>> relax(problem, {inside.data()});
  std::uint64_t solves = 0;
  for (std::uint32_t v = 0; v < inside.size(); ++v)
    if (v != problem.internal(VertexId(0))) {
      EXPECT_NEAR(relax.pull(v, solves), inside[v], 1e-7 * problem.edge[v]) << v;
    }
}

TEST(ObtuseSplit, ThreadsGiveTheSame) {
  const TetMesh mesh = generate_cube({.nx = 9, .ny = 9, .nz = 9, .jitter = 0.3});
  const auto problem = prepare(mesh, Metric{});
  const auto one = split_obtuse(problem, mesh, Metric{}, {}, 1);
  const auto three = split_obtuse(problem, mesh, Metric{}, {}, 3);
  ASSERT_EQ(one.records.size(), three.records.size());
  EXPECT_EQ(one.target_list, three.target_list);
  EXPECT_EQ(one.face_list, three.face_list);
  for (std::size_t i = 0; i < one.records.size(); ++i) EXPECT_EQ(one.records[i].length, three.records[i].length);
}

}  // namespace TEST_FILE
}  // namespace isochron
