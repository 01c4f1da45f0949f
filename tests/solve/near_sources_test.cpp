// Seeds from a part of the mesh are those from all of it.
#include "isochron/solve/simplex/near_sources.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron {
namespace TEST_FILE {

/// What a device gives, by going through all elements once a ring.
template <int Corners>
MeshParts<Corners> searched(const SimplexMesh<Corners>& mesh, const Metric& metric, int* calls) {
  const auto pick = [](const auto& values) {
    return [&values](auto ids) {
      std::decay_t<decltype(values)> some;
      for (const auto id : ids) some.push_back(values[id.index()]);
      return some;
    };
  };
  MeshParts<Corners> parts;
  parts.vertex_count = mesh.vertex_count();
  parts.elements = pick(mesh.elements);
  parts.points = pick(mesh.points);
  parts.metric = [&metric](std::span<const ElementId> ids) { return metric.of(ids); };
  parts.elements_near = [&mesh, calls](std::span<const VertexId> vertices, int rings) {
    ++*calls;
    std::vector<std::uint8_t> marked(mesh.vertex_count(), 0);
    for (const VertexId v : vertices) marked[v.index()] = 1;
    const auto has_mark = [&](const auto& e) {
      return std::any_of(e.begin(), e.end(), [&](VertexId v) { return marked[v.index()] != 0; });
    };
    for (int ring = 0; ring < rings; ++ring) {
      std::vector<std::uint8_t> grown = marked;
      for (const auto& e : mesh.elements)
        if (has_mark(e))
          for (const VertexId v : e) grown[v.index()] = 1;
      marked = grown;
    }
    std::vector<ElementId> result;
    for (std::size_t e = 0; e < mesh.element_count(); ++e)
      if (has_mark(mesh.elements[e])) result.push_back(ElementId(e));
    return result;
  };
  return parts;
}

std::vector<Seed> sorted(std::vector<Seed> seeds) {
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) {
    return a.vertex != b.vertex ? a.vertex < b.vertex : (a.time != b.time ? a.time < b.time : a.source < b.source);
  });
  return seeds;
}

/// Returns how often the part was cut out.
template <int Corners>
int expect_same_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources, SourceInit init,
                      int rings) {
  const Adjacency adjacency = build_adjacency(mesh);
  const PlacedSources placed = place_sources(mesh, adjacency, sources);
  const BallLimits limits = ball_limits(rings, placed.points.size(), mesh.vertex_count(), Corners - 1);
  const auto expected = sorted(make_seeds(mesh, metric, adjacency, sources, placed, init, limits));
  int calls = 0;
  const std::vector<Sources> sets{sources, sources};
  const auto both = seeds_near(searched(mesh, metric, &calls), sets, init, rings);
  EXPECT_EQ(both.size(), 2U);
  for (const auto& seeds : both) {
    const auto near = sorted(seeds);
    EXPECT_EQ(near.size(), expected.size());
    for (std::size_t i = 0; i < std::min(near.size(), expected.size()); ++i) {
      EXPECT_EQ(near[i].vertex, expected[i].vertex);
      EXPECT_NEAR(near[i].time, expected[i].time, 1e-12);
      EXPECT_EQ(near[i].source, expected[i].source);
    }
  }
  return calls;
}

Sources at(std::initializer_list<std::uint32_t> vertices) {
  Sources sources;
  for (const std::uint32_t v : vertices) sources.vertices.push_back({VertexId(v), 0.25 * v});
  return sources;
}

TEST(NearSources, AreTheSeedsOfTheWholeMesh) {
  const TetMesh mesh = generate_cube({.nx = 22, .ny = 21, .nz = 20, .extent = {21, 20, 19}, .jitter = 0.2});
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
    EXPECT_EQ(expect_same_seeds(mesh, Metric(), at({4321}), init, 3), 1);
    expect_same_seeds(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), at({4321, 0}), init, 4);
    for (const int rings : {-4, 0, 1 << 30}) expect_same_seeds(mesh, Metric(), at({4321}), init, rings);
    expect_same_seeds(mesh, Metric(), at({4321, 4322, 8000}), init, 3);  // two side by side have no ball
    FiberMetric fibers;
    fibers.fiber = random_fibers(mesh, 1);
    fibers.velocities = {{3, 1, 1}};
    expect_same_seeds(mesh, Metric(std::move(fibers)), at({4321}), init, 3);
  }
}

TEST(NearSources, OfASurfaceAreTheSeedsOfTheWholeMesh) {
  const TriangleMesh sphere = generate_sphere({.frequency = 12, .radius = 10});
  const TriangleMesh flat = generate_irregular_square({.n = 30, .extent = 29});
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
    expect_same_seeds(sphere, Metric(), at({700, 3}), init, 4);
    expect_same_seeds(flat, Metric(), at({465}), init, 5);
    expect_same_seeds(flat, Metric::constant(SymTensor3d::diagonal(1, 25, 1)), at({465, 0, 1}), init, 3);
    expect_same_seeds(flat, Metric(SpeedMetric{random_speed(flat, {0.5, 2}, {})}), at({465}), init, 3);
  }
}

TEST(NearSources, ThePartGrowsUntilTheBallFits) {
  // Cells ten times longer than wide: the ball is round, so it goes through many of them sideways.
  const TetMesh mesh = generate_cube({.nx = 12, .ny = 60, .nz = 12, .extent = {110, 59, 110}});
  EXPECT_GT(expect_same_seeds(mesh, Metric(), at({6 * 720 + 30 * 12 + 6}), SourceInit::ball, 4), 1);
}

TEST(NearSources, BadSourcesAreNamed) {
  TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3, .extent = {2, 2, 2}});
  mesh.points.push_back({9, 9, 9});
  int calls = 0;
  const Metric metric;
  const auto seeds = [&](const Sources& sources) {
    return seeds_near(searched(mesh, metric, &calls), {&sources, 1}, SourceInit::plain, 0);
  };
  EXPECT_EQ(seeds(at({26})).front().size(), 1U);
  EXPECT_THROW(seeds(at({27})), InputError);  // in no element
  EXPECT_THROW(seeds(at({28})), InputError);  // not there
}

}  // namespace TEST_FILE
}  // namespace isochron
