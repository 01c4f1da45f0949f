// Paper 001's subdomains: who has which elements and copies, and which copies are of the same vertex.
#include "isochron/papers/subdomains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "isochron/error.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/pull_candidate.h"
#include "isochron/solve/simplex/relax.h"
#include "solve/samples.h"

namespace isochron::test {
namespace TEST_FILE {

template <class T, int Corners>
SimplexProblem<T, Corners> problem_of(const SimplexMesh<Corners>& mesh, ObtuseSplit split) {
  auto problem = prepare_topology<T>(mesh, KeepOrder::no, 1);
  apply_metric(problem, mesh, Metric(), 1);
  if (split == ObtuseSplit::split) problem.virtual_elements = split_obtuse(problem, mesh, Metric(), SplitLimits{}, 1);
  return problem;
}

template <class T, int Corners>
std::uint32_t subdomain_of(const Subdomains<T, Corners>& parts, std::uint32_t copy) {
  return static_cast<std::uint32_t>(std::upper_bound(parts.begin.begin(), parts.begin.end(), copy) -
                                    parts.begin.begin() - 1);
}

/// The vertices of the problem at the corners of a record, sorted.
template <class T, int Corners>
std::vector<std::uint32_t> vertices_of(const Subdomains<T, Corners>& parts, std::uint32_t d, std::uint32_t record) {
  std::vector<std::uint32_t> vertices;
  for (int k = 0; k < Corners; ++k) {
    const std::uint32_t copy = parts.begin[d] + parts.records[record].vertex(k);
    EXPECT_LT(copy, parts.begin[d + 1]) << "the corners of a record are copies of its own subdomain";
    vertices.push_back(parts.vertex[copy]);
  }
  std::sort(vertices.begin(), vertices.end());
  return vertices;
}

template <class T, int Corners>
void expect_every_element_once(const SimplexProblem<T, Corners>& problem, const Subdomains<T, Corners>& parts) {
  std::multiset<std::vector<std::uint32_t>> wanted, found;
  const auto add = [&](std::vector<std::uint32_t> vertices) {
    std::sort(vertices.begin(), vertices.end());
    wanted.insert(std::move(vertices));
  };
  for (const auto& element : problem.elements) {
    std::vector<std::uint32_t> vertices;
    for (int k = 0; k < Corners; ++k) vertices.push_back(element.vertex(k));
    add(vertices);
  }
  for (const auto& record : problem.virtual_elements.records) {
    std::vector<std::uint32_t> vertices(record.face.begin(), record.face.end());
    vertices.push_back(record.target);
    add(vertices);
  }
  for (std::uint32_t d = 0; d < parts.count(); ++d)
    for (std::uint32_t r = parts.record_begin[d]; r < parts.record_begin[d + 1]; ++r)
      found.insert(vertices_of(parts, d, r));
  EXPECT_EQ(found, wanted);
}

/// A subdomain has one copy of each vertex of its elements and of no other, and the interface maps join the copies of a
/// vertex.
template <class T, int Corners>
void expect_copies(const SimplexProblem<T, Corners>& problem, const Subdomains<T, Corners>& parts) {
  std::vector<std::vector<std::uint32_t>> copies(problem.vertex_count);
  for (std::uint32_t d = 0; d < parts.count(); ++d) {
    std::set<std::uint32_t> used, held;
    for (std::uint32_t r = parts.record_begin[d]; r < parts.record_begin[d + 1]; ++r)
      for (const std::uint32_t v : vertices_of(parts, d, r)) used.insert(v);
    for (std::uint32_t c = parts.begin[d]; c < parts.begin[d + 1]; ++c) {
      EXPECT_TRUE(held.insert(parts.vertex[c]).second) << "a vertex has two copies in one subdomain";
      copies[parts.vertex[c]].push_back(c);
    }
    EXPECT_EQ(held, used);
  }
  for (std::uint32_t v = 0; v < problem.vertex_count; ++v) {
    const VertexCopy first = parts.first_copy[v];
    EXPECT_EQ(first.subdomain == VertexCopy::none, copies[v].empty());
    if (copies[v].empty()) continue;
    EXPECT_EQ(parts.copy_at(first), copies[v].front());
    for (const std::uint32_t c : copies[v]) {
      const std::uint32_t group = parts.group_of[c];
      ASSERT_EQ(group == parts.alone, copies[v].size() == 1);
      if (group == parts.alone) continue;
      std::vector<std::uint32_t> joined;
      for (std::uint32_t g = parts.group_begin[group]; g < parts.group_begin[group + 1]; ++g) {
        joined.push_back(parts.copy_at(parts.group[g]));
        EXPECT_EQ(parts.group[g].subdomain, subdomain_of(parts, joined.back()));
      }
      EXPECT_EQ(joined, copies[v]);
    }
  }
}

/// Each copy has the incidences of its subdomain's records, so that those of all copies of a vertex together give what
/// the whole one-ring gives.
template <class T, int Corners>
void expect_incidences(const SimplexProblem<T, Corners>& problem, const Subdomains<T, Corners>& parts) {
  const bool split = !problem.virtual_elements.empty();
  EXPECT_EQ(parts.wakes.list.empty(), !split);
  const auto corners = Corners * problem.elements.size(), extra = problem.virtual_elements.records.size();
  EXPECT_EQ(parts.pulls.list.size(), corners + extra);
  if (split) {
    EXPECT_EQ(parts.wakes.list.size(), corners + (Corners - 1) * extra);
  }
  std::vector<T> time(problem.vertex_count), found(problem.vertex_count, std::numeric_limits<T>::infinity());
  for (std::size_t v = 0; v < time.size(); ++v) time[v] = static_cast<T>(v * 37 % 11) / T(10);
  std::vector<T> local(parts.vertex.size());
  for (std::size_t c = 0; c < local.size(); ++c) local[c] = time[parts.vertex[c]];
  for (std::uint32_t c = 0; c < parts.vertex.size(); ++c) {
    const std::uint32_t d = subdomain_of(parts, c);
    for (const CopyIncidences* lists : {&parts.pulls, &parts.wakes})
      for (std::uint32_t i = lists->list.empty() ? 0 : lists->offsets[c];
           i < (lists->list.empty() ? 0 : lists->offsets[c + 1]); ++i) {
        const std::uint32_t record = lists->list[i] >> 2;
        EXPECT_GE(record, parts.record_begin[d]);
        EXPECT_LT(record, parts.record_begin[d + 1]);
        ASSERT_EQ(parts.records[record].vertex(static_cast<int>(lists->list[i] & 3U)), c - parts.begin[d]);
        if (lists == &parts.wakes) continue;
        const PlainTimes<T> times{local.data() + parts.begin[d]};
        T& best = found[parts.vertex[c]];
        best = std::min(best, candidate(parts.records[record], static_cast<int>(lists->list[i] & 3U), times));
      }
  }
  const Relaxer<T, Corners, PlainTimes<T>> whole(problem, {time.data()});
  std::uint64_t solves = 0;
  for (std::uint32_t v = 0; v < problem.vertex_count; ++v) {
    const T expected = whole.pull(v, solves);
    if (std::isinf(expected)) {
      EXPECT_TRUE(std::isinf(found[v]));
    } else {
      EXPECT_NEAR(found[v], expected, 1e-12);
    }
  }
}

template <int Corners>
void expect_right(const SimplexMesh<Corners>& mesh) {
  for (const ObtuseSplit split : {ObtuseSplit::none, ObtuseSplit::split}) {
    const auto problem = problem_of<double>(mesh, split);
    for (const int wanted : {0, 1, 2, 7, 64, 5000}) {
      SCOPED_TRACE(wanted);
      const auto parts = make_subdomains(problem, mesh, wanted, Partitioner::automatic);
      EXPECT_EQ(parts.count(), wanted == 0 ? 1 : std::min<std::size_t>(wanted, mesh.vertex_count()));
      expect_every_element_once(problem, parts);
      expect_copies(problem, parts);
      expect_incidences(problem, parts);
    }
  }
}

TEST(Subdomains, CopyTheVerticesOfTheirTetrahedra) { expect_right(cube(9, 0.3)); }

TEST(Subdomains, CopyTheVerticesOfTheirTriangles) {
  TriangleMesh mesh = square(20, 0.3);
  mesh.points.push_back({50, 50, 0});  // a vertex without an element has no copy
  expect_right(mesh);
}

TEST(Subdomains, AreOfAboutAThousandVertices) {
  const TetMesh mesh = cube(13);
  const auto problem = problem_of<float>(mesh, ObtuseSplit::none);
  EXPECT_EQ(make_subdomains(problem, mesh, 0, Partitioner::curve).count(), 2U);
  EXPECT_THROW(make_subdomains(problem, mesh, -3, Partitioner::automatic), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
