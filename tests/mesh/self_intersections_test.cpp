#include "isochron/mesh/self_intersections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <utility>

#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "support/surfaces.h"

namespace isochron {
namespace TEST_FILE {

TriangleMesh::Element ids(std::size_t a, std::size_t b, std::size_t c) {
  return {VertexId(a), VertexId(b), VertexId(c)};
}

bool meet(const std::vector<Vec3d>& points, TriangleMesh::Element a, TriangleMesh::Element b) {
  const TriangleMesh mesh{points, {a, b}};
  const bool result = triangles_meet(mesh, ElementId(0), ElementId(1));
  EXPECT_EQ(triangles_meet(mesh, ElementId(1), ElementId(0)), result);
  EXPECT_EQ(self_intersections(mesh).size(), result ? 1U : 0U);
  return result;
}

TEST(SelfIntersections, SeparateTriangles) {
  const Vec3d a{0, 0, 0}, b{2, 0, 0}, c{0, 2, 0};
  const auto with = [&](Vec3d p, Vec3d q, Vec3d r) { return meet({a, b, c, p, q, r}, ids(0, 1, 2), ids(3, 4, 5)); };
  EXPECT_TRUE(with({0.5, 0.5, -1}, {0.5, 0.5, 1}, {5, 5, 1}));       // pierces
  EXPECT_FALSE(with({3, 3, -1}, {3, 3, 1}, {5, 5, 1}));              // beside
  EXPECT_FALSE(with({0, 0, 1}, {2, 0, 1}, {0, 2, 1}));               // above, parallel
  EXPECT_FALSE(with({0.5, 0.5, 1e-300}, {0.5, 0.5, 1}, {5, 5, 1}));  // above by a hair
  EXPECT_TRUE(with({0.5, 0.5, 0}, {0.5, 0.5, 1}, {5, 5, 1}));        // stands on it
  EXPECT_TRUE(with({1, 1, 0}, {5, 5, 1}, {5, 5, -1}));               // touches an edge
  EXPECT_TRUE(with({0, 0, 0}, {-1, -1, 1}, {-1, -1, -1}));           // a corner in the same place with another id
  EXPECT_TRUE(with({0.2, 0.2, 0}, {0.4, 0.2, 0}, {0.2, 0.4, 0}));    // inside, same plane
  EXPECT_TRUE(with({-9, -9, 0}, {30, -9, 0}, {-9, 30, 0}));          // around, same plane
  EXPECT_TRUE(with({1, -1, 0}, {1, 3, 0}, {3, 3, 0}));               // across, same plane
  EXPECT_FALSE(with({2, 2, 0}, {3, 2, 0}, {2, 3, 0}));               // beside, same plane
  EXPECT_TRUE(with({2, 0, 0}, {3, -1, 0}, {3, 1, 0}));               // corner on corner, same plane
}

TEST(SelfIntersections, TrianglesWithASharedCorner) {
  const Vec3d v{0, 0, 0}, b{2, 0, 0}, c{0, 2, 0};
  const auto with = [&](Vec3d p, Vec3d q) { return meet({v, b, c, p, q}, ids(0, 1, 2), ids(3, 0, 4)); };
  EXPECT_FALSE(with({-1, -1, 1}, {-1, -1, -1}));
  EXPECT_FALSE(with({1, 1, 1}, {2, 2, 1}));
  EXPECT_TRUE(with({1, 1, 1}, {1, 1, -1}));  // cuts it in two
  EXPECT_TRUE(with({0.1, 0.1, 1}, {0.1, 0.1, -1}));
  EXPECT_TRUE(with({1, 0, 0}, {1, 0, 1}));      // half an edge in common
  EXPECT_TRUE(with({1, 1, 0}, {1, 0, 1}));      // an edge inside
  EXPECT_FALSE(with({-1, 0, 0}, {0, -1, 0}));   // same plane, opposite
  EXPECT_FALSE(with({-1, 0, 0}, {-1, 5, 0}));   // same plane, neighbours with a gap
  EXPECT_TRUE(with({-1, 0, 0}, {0, 5, 0}));     // same plane, along an edge
  EXPECT_TRUE(with({1, 0.5, 0}, {0.5, 1, 0}));  // same plane, inside
}

TEST(SelfIntersections, TrianglesWithASharedEdge) {
  const Vec3d a{0, 0, 0}, b{2, 0, 0}, c{0, 2, 0};
  const auto with = [&](Vec3d p) { return meet({a, b, c, p}, ids(0, 1, 2), ids(1, 3, 0)); };
  EXPECT_FALSE(with({0, -1, 0}));
  EXPECT_FALSE(with({0, -1, 1}));
  EXPECT_FALSE(with({0, 2, 1e-300}));  // folded, but not flat
  EXPECT_TRUE(with({1, 5, 0}));        // folded flat
  EXPECT_FALSE(with({1, 0, 0}));       // no area: meets nothing
  EXPECT_TRUE(meet({a, b, c}, ids(0, 1, 2), ids(2, 1, 0)));
}

// Polygons with integer corners: disjoint exactly when one of these directions separates them.
using Point = std::array<std::int64_t, 3>;
Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point times(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
std::int64_t along(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

bool polygons_meet(const std::vector<Point>& a, const std::vector<Point>& b) {
  std::vector<Point> directions;
  const auto normal = [](const std::vector<Point>& p) { return times(minus(p[1], p[0]), minus(p.back(), p[0])); };
  const auto edge = [](const std::vector<Point>& p, std::size_t k) { return minus(p[(k + 1) % p.size()], p[k]); };
  for (const auto* p : {&a, &b}) {
    directions.push_back(normal(*p));
    for (std::size_t k = 0; k < p->size(); ++k) directions.push_back(times(normal(*p), edge(*p, k)));
  }
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) directions.push_back(times(edge(a, i), edge(b, j)));
  const auto range = [](const std::vector<Point>& p, const Point& direction) {
    std::int64_t low = along(p[0], direction), high = low;
    for (const Point& corner : p) {
      low = std::min(low, along(corner, direction));
      high = std::max(high, along(corner, direction));
    }
    return std::pair(low, high);
  };
  return std::none_of(directions.begin(), directions.end(), [&](const Point& direction) {
    const auto [a_low, a_high] = range(a, direction);
    const auto [b_low, b_high] = range(b, direction);
    return a_high < b_low || b_high < a_low;
  });
}

Point integers(Vec3d p) {
  return {static_cast<std::int64_t>(p.x), static_cast<std::int64_t>(p.y), static_cast<std::int64_t>(p.z)};
}

/// Triangles with a common corner: do the rest of the triangles, prolonged from that corner, meet?
bool reference_meet(const TriangleMesh& mesh, const TriangleMesh::Element& a, const TriangleMesh::Element& b) {
  std::vector<VertexId> shared;
  for (const VertexId v : a)
    if (std::find(b.begin(), b.end(), v) != b.end()) shared.push_back(v);
  const auto polygon = [&](const TriangleMesh::Element& t) {
    std::vector<Point> corners;
    if (shared.empty()) {
      for (const VertexId v : t) corners.push_back(integers(mesh.point(v)));
      return corners;
    }
    std::vector<Point> far;
    for (const VertexId v : t)
      if (v != shared[0]) far.push_back(minus(integers(mesh.point(v)), integers(mesh.point(shared[0]))));
    const auto further = [](Point p) { return Point{1000 * p[0], 1000 * p[1], 1000 * p[2]}; };
    return std::vector<Point>{far[0], far[1], further(far[1]), further(far[0])};
  };
  return polygons_meet(polygon(a), polygon(b));
}

bool has_area(const TriangleMesh& mesh, const TriangleMesh::Element& t) {
  return !(cross(mesh.point(t[1]) - mesh.point(t[0]), mesh.point(t[2]) - mesh.point(t[0])) == Vec3d{});
}

/// Small integer coordinates make every kind of touching frequent.
TriangleMesh soup(std::size_t points, std::size_t triangles, std::uint64_t size, std::uint64_t seed) {
  Random random(seed);
  TriangleMesh mesh;
  const auto number = [&] { return static_cast<double>(random.below(size)); };
  for (std::size_t i = 0; i < points; ++i) mesh.points.push_back({number(), number(), number()});
  while (mesh.element_count() < triangles) {
    const auto t = ids(random.below(points), random.below(points), random.below(points));
    if (has_area(mesh, t)) mesh.elements.push_back(t);
  }
  return mesh;
}

std::vector<TrianglePair> all_pairs(const TriangleMesh& mesh) {
  std::vector<TrianglePair> all;
  for (std::size_t i = 0; i < mesh.element_count(); ++i)
    for (std::size_t j = i + 1; j < mesh.element_count(); ++j)
      if (triangles_meet(mesh, ElementId(i), ElementId(j))) all.push_back({ElementId(i), ElementId(j)});
  return all;
}

TEST(SelfIntersections, AgreesWithSeparatingDirectionsOnSoups) {
  std::size_t met = 0, tested = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TriangleMesh mesh = soup(60, 120, seed % 2 == 0 ? 5 : 16, seed);
    const auto found = self_intersections(mesh, 2);
    for (std::size_t i = 0; i < mesh.element_count(); ++i)
      for (std::size_t j = i + 1; j < mesh.element_count(); ++j) {
        const auto& a = mesh.elements[i];
        const auto& b = mesh.elements[j];
        std::size_t shared = 0;
        for (const VertexId v : a) shared += std::count(b.begin(), b.end(), v);
        if (shared > 1) continue;  // see TrianglesWithASharedEdge
        const bool expected = reference_meet(mesh, a, b);
        ASSERT_EQ(std::binary_search(found.begin(), found.end(), TrianglePair{ElementId(i), ElementId(j)}), expected)
            << "seed " << seed << ", triangles " << i << " and " << j;
        met += expected ? 1 : 0;
        ++tested;
      }
  }
  EXPECT_GT(met, 1000U);
  EXPECT_GT(tested - met, 1000U);
}

TEST(SelfIntersections, FindsTheSameInAnyOrderAndWithThreads) {
  Random random(3);
  TriangleMesh mesh;
  for (int i = 0; i < 2000; ++i) {
    const Vec3d at{random.uniform(), random.uniform(), random.uniform()};
    for (int k = 0; k < 3; ++k)
      mesh.points.push_back(at + 0.1 * Vec3d{random.uniform(), random.uniform(), random.uniform()});
    mesh.elements.push_back(ids(3 * i, 3 * i + 1, 3 * i + 2));
  }
  const auto found = self_intersections(mesh, 1);
  EXPECT_EQ(self_intersections(mesh, 3), found);
  EXPECT_EQ(found, all_pairs(mesh));
  EXPECT_GT(found.size(), 100U);
}

/// Triangles from the middle to a wavy rim.
TriangleMesh wavy_fan(std::size_t count) {
  TriangleMesh mesh;
  mesh.points.push_back({});
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
    mesh.points.push_back({std::cos(angle), std::sin(angle), 0.1 * std::sin(7 * angle)});
    mesh.elements.push_back(ids(0, 1 + i, 1 + (i + 1) % count));
  }
  return mesh;
}

TEST(SelfIntersections, FindsAllAroundVerticesOfManyTriangles) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const TriangleMesh mesh = soup(12, 200, 7, seed);  // each vertex has about fifty
    const auto found = self_intersections(mesh, 2);
    EXPECT_EQ(found, all_pairs(mesh));
    EXPECT_GT(found.size(), 1000U);
    EXPECT_EQ(count_self_intersections(mesh, 2, {}, 1'000'000), found.size());
    EXPECT_EQ(count_self_intersections(mesh, 2, {}, 100), std::nullopt);
  }
  // A fan and the same turned a little, with another and with the same middle.
  for (const bool one_middle : {false, true}) {
    TriangleMesh mesh = together(wavy_fan(150), moved(wavy_fan(170), one_middle ? Vec3d{} : Vec3d{0.05, 0.02, 0.01}));
    if (one_middle)
      for (auto& corners : mesh.elements)
        for (VertexId& v : corners)
          if (v.value == 151) v = VertexId(0);
    const auto found = self_intersections(mesh, 1);
    EXPECT_EQ(found, all_pairs(mesh));
    EXPECT_FALSE(found.empty());
  }
}

TEST(SelfIntersections, FewTrianglesAroundAVertexAreCompared) {
  for (const std::size_t count : {1000U, 20'000U})
    EXPECT_EQ(count_self_intersections(wavy_fan(count), 1, {}, 400 * count), 0U) << count;
}

TEST(SelfIntersections, EmbeddedSurfacesHaveNone) {
  EXPECT_TRUE(self_intersections(generate_sphere({.frequency = 20}), 2).empty());
  EXPECT_TRUE(self_intersections(torus(3, 1, 60, 30)).empty());
  EXPECT_TRUE(self_intersections(generate_square({.n = 30, .jitter = 0.3})).empty());
  TriangleMesh tilted = generate_square({.n = 30, .jitter = 0.3});
  for (Vec3d& p : tilted.points) p.z = p.x / 3 + p.y / 7;  // coplanar only up to rounding
  EXPECT_TRUE(self_intersections(tilted).empty());
  EXPECT_TRUE(self_intersections(TriangleMesh{}).empty());
}

TEST(SelfIntersections, CrossingSurfaces) {
  // Two spheres that cross in a circle, and a torus so thick that it runs through itself.
  const TriangleMesh one = generate_sphere({.frequency = 12});
  const auto found = self_intersections(together(one, moved(one, {0.7, 0.1, 0.2})));
  EXPECT_GT(found.size(), 60U);
  for (const auto& [a, b] : found) {
    EXPECT_LT(a.index(), one.element_count());
    EXPECT_GE(b.index(), one.element_count());
  }
  EXPECT_FALSE(self_intersections(torus(0.7, 1, 40, 40)).empty());
  // The same surface twice: each triangle lies on its copy and touches the copy's neighbours.
  EXPECT_GE(self_intersections(together(one, one)).size(), 7 * one.element_count());
}

TEST(SelfIntersections, StopsWhenAsked) {
  const std::atomic<bool> cancel{true};
  EXPECT_THROW(self_intersections(torus(3, 1, 30, 30), 2, {.report = {}, .cancel = &cancel}), Cancelled);
}

}  // namespace TEST_FILE
}  // namespace isochron
