#include "isochron/surface/triangulate/delaunay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "isochron/surface/triangulate/smooth.h"
#include "surface/shapes.h"

namespace isochron {
namespace TEST_FILE {

// Facets by the places of their corners, so that ids do not matter.
using Place = std::array<double, 3>;
std::set<std::set<Place>> surface_of(const Delaunay& tets, std::vector<DelaunayFacet> facets) {
  std::set<std::set<Place>> result;
  for (const DelaunayFacet& facet : facets) {
    std::set<Place> corners;
    for (const VertexId v : facet.corners) corners.insert({tets.point(v).x, tets.point(v).y, tets.point(v).z});
    result.insert(corners);
  }
  return result;
}

TEST(Delaunay, ChangesGiveWhatANewOneWould) {
  if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
  const Lattice lattice{{20, 20, 20}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return torus(p, {9.4, 9.7, 9.6}, 5.2, 2.3); }));
  const SplineLabels labels(field);
  const std::vector<Vec3d> points = scattered(field, uniform_size(lattice, 1.2), 0.8, 1);
  Delaunay tets(std::span<const Vec3d>(points).first(points.size() / 2), labels.extent());
  tets.label(labels, 1);
  Random random(3);
  for (std::size_t i = points.size() / 2; i < points.size(); ++i) {
    ASSERT_TRUE(tets.insert(points[i], VertexId(random.below(i))).valid());
    if (i % 7 == 0) tets.label(labels, 2);
  }
  EXPECT_FALSE(tets.insert(points[3], VertexId(std::size_t{0})).valid());
  for (std::size_t i = 0; i < points.size(); i += 3) {
    const Vec3d shift{random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3)};
    ASSERT_TRUE(tets.move(VertexId(i), labels.project(points[i] + shift)));
    if (i % 5 == 0) tets.label(labels, 1);
  }
  for (std::size_t i = 1; i < points.size(); i += 9) tets.remove(VertexId(i));
  tets.label(labels, 1);

  std::vector<Vec3d> left;
  for (std::size_t i = 0; i < tets.id_count(); ++i)
    if (tets.contains(VertexId(i))) left.push_back(tets.point(VertexId(i)));
  EXPECT_EQ(left.size(), points.size() - (points.size() + 7) / 9);
  Delaunay fresh(left, labels.extent());
  fresh.label(labels, 1);
  EXPECT_EQ(surface_of(tets, tets.facets()), surface_of(fresh, fresh.facets()));

  // The facets at some points are those of all that have these as corners.
  const std::vector<VertexId> some{VertexId(std::size_t{0}), VertexId(std::size_t{5}), VertexId(std::size_t{6})};
  std::vector<DelaunayFacet> at_some = tets.facets();
  std::erase_if(at_some, [&](const DelaunayFacet& facet) {
    return std::none_of(some.begin(), some.end(), [&](VertexId v) {
      return std::find(facet.corners.begin(), facet.corners.end(), v) != facet.corners.end();
    });
  });
  EXPECT_EQ(surface_of(tets, tets.facets_at(some)), surface_of(tets, at_some));
}

std::vector<DelaunayFacet> tetrahedron(std::array<std::size_t, 4> v) {
  std::vector<DelaunayFacet> facets;
  for (std::size_t skip = 0; skip < 4; ++skip) {
    DelaunayFacet facet;
    facet.labels = {1, 0};
    for (std::size_t i = 0, k = 0; i < 4; ++i)
      if (i != skip) facet.corners[k++] = VertexId(v[i]);
    facets.push_back(facet);
  }
  return facets;
}

TEST(Fans, TellHowSurfacesTouch) {
  const auto two = [](std::array<std::size_t, 4> a, std::array<std::size_t, 4> b) {
    std::vector<DelaunayFacet> facets = tetrahedron(a);
    for (const DelaunayFacet& facet : tetrahedron(b)) facets.push_back(facet);
    return facets;
  };
  const std::vector<DelaunayFacet> apart = two({0, 1, 2, 3}, {4, 5, 6, 7});
  const std::vector<DelaunayFacet> at_a_point = two({0, 1, 2, 3}, {3, 5, 6, 7});
  const std::vector<DelaunayFacet> at_an_edge = two({0, 1, 2, 3}, {2, 3, 6, 7});
  const Fans fine(apart, 9), point(at_a_point, 9), edge(at_an_edge, 9);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(fine.fault(VertexId(i)), Fans::Fault::none);
    EXPECT_EQ(point.fault(VertexId(i)), i == 3 ? Fans::Fault::point : Fans::Fault::none);
    EXPECT_EQ(edge.fault(VertexId(i)), i == 2 || i == 3 ? Fans::Fault::edge : Fans::Fault::none);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
