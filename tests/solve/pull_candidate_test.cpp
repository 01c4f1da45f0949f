// What pulling schedules on the GPU read, checked on the CPU against the relax step of the others.
#include "isochron/solve/simplex/pull_candidate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "isochron/papers/neighbors.h"
#include "isochron/solve/simplex/coordinates.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/pull_lists.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {
namespace TEST_FILE {

enum class Virtual { no, yes };

template <class T, int Corners>
SimplexProblem<T, Corners> prepare(const SimplexMesh<Corners>& mesh, const Metric& metric, Virtual virtual_elements) {
  auto problem = prepare_topology<T>(mesh, KeepOrder::no, 1);
  apply_metric(problem, mesh, metric, 1);
  if (virtual_elements == Virtual::yes)
    problem.virtual_elements = split_obtuse(problem, mesh, metric, SplitLimits{}, 1);
  return problem;
}

/// Times within a few edges of one another, a tenth of them infinite.
template <class T>
std::vector<T> random_times(std::size_t count) {
  Random random(7);
  std::vector<T> times(count);
  for (T& time : times)
    time = random.below(10) == 0 ? std::numeric_limits<T>::infinity() : static_cast<T>(random.below(1000)) / T(400);
  return times;
}

template <class T, int Corners>
ElementRecord<T, Corners> record_at(const SimplexProblem<T, Corners>& problem, const PullLists<T, Corners>& lists,
                                    std::uint32_t record) {
  const std::size_t real = problem.elements.size();
  return record < real ? problem.elements[record] : lists.virtual_records()[record - real];
}

template <class T, int Corners>
void expect_pulls_as_relaxer(const SimplexProblem<T, Corners>& problem, double tolerance) {
  const PullLists<T, Corners> lists(problem);
  EXPECT_EQ(lists.shared(), problem.virtual_elements.empty());
  std::vector<T> times = random_times<T>(problem.vertex_count);
  const PlainTimes<T> access{times.data()};
  const Relaxer<T, Corners, PlainTimes<T>> relaxer(problem, access);
  for (std::uint32_t v = 0; v < problem.vertex_count; ++v) {
    T found = std::numeric_limits<T>::infinity(), by_products = found;
    const auto [offsets, list] = lists.pulls();
    for (std::uint32_t i = offsets[v]; i < offsets[v + 1]; ++i) {
      const auto record = record_at(problem, lists, list[i] >> 2);
      const int corner = Adjacency::corner_of(list[i]);
      ASSERT_EQ(detail::vertex_at(record.corner[corner]), v);
      found = std::min(found, candidate(record, corner, access));
      if constexpr (Corners == 4) by_products = std::min(by_products, candidate(with_products(record), corner, access));
    }
    std::uint64_t solves = 0;
    const T expected = relaxer.pull(v, solves);
    EXPECT_EQ(solves, offsets[v + 1] - offsets[v]);
    ASSERT_NEAR(found, expected, tolerance) << v;
    if constexpr (Corners == 4) {
      ASSERT_NEAR(by_products, expected, tolerance) << v;
    }
  }
}

/// Everyone whose time may depend on v's is in one of the elements that v wakes others through.
template <class T, int Corners>
void expect_wakes_all_neighbors(const SimplexProblem<T, Corners>& problem) {
  const PullLists<T, Corners> lists(problem);
  NeighborVisitor<T, Corners> neighbors(problem);
  const auto [offsets, list] = lists.wakes();
  for (std::uint32_t v = 0; v < problem.vertex_count; ++v) {
    std::vector<std::uint32_t> woken;
    for (std::uint32_t i = offsets[v]; i < offsets[v + 1]; ++i) {
      const auto record = record_at(problem, lists, list[i] >> 2);
      ASSERT_EQ(detail::vertex_at(record.corner[Adjacency::corner_of(list[i])]), v);
      for (const std::uint32_t corner : record.corner) woken.push_back(detail::vertex_at(corner));
    }
    neighbors.around(v, [&](std::uint32_t n) {
      EXPECT_NE(std::find(woken.begin(), woken.end(), n), woken.end()) << v << " does not wake " << n;
    });
  }
}

template <int Corners>
void expect_right_lists(const SimplexMesh<Corners>& mesh, const Metric& metric) {
  for (const Virtual virtual_elements : {Virtual::no, Virtual::yes}) {
    const auto exact = prepare<double>(mesh, metric, virtual_elements);
    EXPECT_EQ(exact.virtual_elements.empty(), virtual_elements == Virtual::no);
    expect_pulls_as_relaxer(exact, 1e-12);
    expect_pulls_as_relaxer(prepare<float>(mesh, metric, virtual_elements), 2e-5);
    expect_wakes_all_neighbors(exact);
  }
}

TEST(PullCandidate, IsTheRelaxersOnTetrahedra) {
  const TetMesh mesh = generate_cube({.nx = 7, .ny = 7, .nz = 7, .extent = {6, 6, 6}, .jitter = 0.3});
  expect_right_lists(mesh, Metric());
  FiberMetric fibers;
  fibers.fiber = random_fibers(mesh, 3);
  fibers.velocities = {{3, 1, 1}};
  expect_right_lists(mesh, Metric(std::move(fibers)));
}

TEST(PullCandidate, IsTheRelaxersOnTriangles) {
  const TriangleMesh mesh = generate_square({.n = 15, .extent = 14, .jitter = 0.3});
  expect_right_lists(mesh, Metric::constant(SymTensor3d::diagonal(1, 9, 1)));
}

template <class T>
void expect_coordinates_give_the_same(const TetMesh& mesh, const Metric& metric, double tolerance) {
  const auto problem = prepare<T>(mesh, metric, Virtual::no);
  const CoordinateStorage<T> storage = coordinates_of(problem, mesh, metric);
  std::vector<T> times = random_times<T>(problem.vertex_count);
  const PlainTimes<T> access{times.data()};
  for (std::size_t e = 0; e < problem.elements.size(); ++e)
    for (int k = 0; k < 4; ++k) {
      const T expected = candidate(problem.elements[e], k, access);
      const T found = candidate(storage.records[e], storage.points.data(), k, access);
      if (std::isinf(expected)) {
        ASSERT_TRUE(std::isinf(found));
      } else {
        ASSERT_NEAR(found, expected, tolerance) << e << " at corner " << k;
      }
    }
}

TEST(PullCandidate, FormsLengthsFromCoordinates) {
  TetMesh mesh = generate_cube({.nx = 7, .ny = 7, .nz = 7, .extent = {6, 6, 6}, .jitter = 0.3});
  FiberMetric fibers;
  fibers.fiber = random_fibers(mesh, 3);
  fibers.velocities = {{3, 1, 1}};
  const Metric metric(std::move(fibers));
  expect_coordinates_give_the_same<double>(mesh, metric, 1e-12);
  expect_coordinates_give_the_same<float>(mesh, metric, 1e-4);
  for (Vec3d& p : mesh.points) p = p + Vec3d{1e6, -2e6, 3e6};  // as on a map
  expect_coordinates_give_the_same<float>(mesh, metric, 1e-4);
  for (Vec3d& p : mesh.points) p = 1e-30 * p;
  expect_coordinates_give_the_same<float>(mesh, metric, 1e-4);
}

}  // namespace TEST_FILE
}  // namespace isochron
