#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh/topology.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/material_samples.h"
#include "isochron/surface/triangulate/triangulate.h"
#include "surface/shapes.h"

namespace isochron {
namespace {

// A ball whose lower half is of another material than its upper half: 1 below, 2 above.
class TwoHalves final : public LabelField {
 public:
  static constexpr double radius = 8;
  static constexpr Vec3d centre{11.3, 11.6, 11.4};

  [[nodiscard]] Look look(Vec3d p) const override {
    const double outside = ball(p, centre, radius), above = p.z - centre.z;
    if (outside >= 0) return {0, outside};
    return {above < 0 ? 1 : 2, std::min(-outside, std::abs(above))};
  }
  [[nodiscard]] Vec3d project(Vec3d p) const override {
    const Vec3d d = p - centre;
    const double length = norm(d);
    if (length > radius - std::abs(d.z)) return centre + radius / length * d;
    return {p.x, p.y, centre.z};
  }
  [[nodiscard]] Vec3d normal(Vec3d p) const override {
    const Vec3d d = p - centre;
    const double length = norm(d);
    return length > radius - std::abs(d.z) ? d / length : Vec3d{0, 0, -1};
  }
  [[nodiscard]] Vec3d extent() const override { return {23, 23, 23}; }
};

// The border of one material, seen from outside of it.
TriangleMesh border_of(const MaterialSurface& surface, int label) {
  TriangleMesh border;
  border.points = surface.mesh.points;
  for (std::size_t t = 0; t < surface.labels.size(); ++t) {
    auto triangle = surface.mesh.elements[t];
    if (surface.labels[t][1] == label) std::swap(triangle[0], triangle[1]);
    if (surface.labels[t][0] == label || surface.labels[t][1] == label) border.elements.push_back(triangle);
  }
  return border;
}

TEST(TriangulateMaterials, TwoHalvesOfABall) {
  if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
  const TwoHalves field;
  const Lattice lattice{{24, 24, 24}, {1, 1, 1}};
  const double size = 1.4;
  const SizeField sizes = uniform_size(lattice, size);
  std::vector<Vec3d> points;
  const int around = static_cast<int>(2 * std::numbers::pi * TwoHalves::radius / (0.8 * size));
  for (int i = 0; i < around; ++i) {
    const double angle = 2 * std::numbers::pi * i / around;
    points.push_back(TwoHalves::centre + TwoHalves::radius * Vec3d{std::cos(angle), std::sin(angle), 0});
  }
  const std::size_t fixed = points.size();
  Random random(1);
  for (int i = 0; i < 60000; ++i) {
    const Vec3d p =
        field.project(TwoHalves::centre +
                      TwoHalves::radius * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
    if (std::none_of(points.begin(), points.end(), [&](Vec3d q) { return norm(p - q) < 0.8 * size; }))
      points.push_back(p);
  }
  TriangulateOptions options;
  options.threads = 2;
  TriangulateReport report;
  const MaterialSurface surface = triangulate_materials(field, sizes, points, fixed, options, &report);
  EXPECT_EQ(report.singular_points, 0U);
  EXPECT_TRUE(self_intersections(surface.mesh).empty());
  ASSERT_EQ(surface.labels.size(), surface.mesh.element_count());

  const double half = 2 * std::numbers::pi / 3 * std::pow(TwoHalves::radius, 3);
  for (const int label : {0, 1, 2}) {
    const SurfaceTopology topology = surface_topology(border_of(surface, label));
    SCOPED_TRACE(label);
    EXPECT_TRUE(topology.closed());
    EXPECT_TRUE(topology.manifold());
    EXPECT_TRUE(topology.oriented());
    ASSERT_EQ(topology.components.size(), 1U);
    EXPECT_EQ(topology.genus(), 0);
    EXPECT_NEAR(topology.volume, label == 0 ? -2 * half : half, 0.04 * half);
  }
  // Non-manifold only along the junction.
  for (const MeshEdge& edge : surface_topology(surface.mesh).non_manifold_edges)
    for (const VertexId v : edge) EXPECT_NEAR(surface.mesh.point(v).z, TwoHalves::centre.z, 1e-9);
}

// A ball in three parts, and a fourth material around its lower half, as a label map with gaps in its numbers.
TEST(TriangulateMaterials, LabelMap) {
  if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
  ImageGrid grid;
  grid.shape = {24, 24, 24};
  std::vector<std::int32_t> values(grid.voxel_count());
  for (std::size_t v = 0; v < values.size(); ++v) {
    const Vec3d p = grid.position(VertexId(v)), d = p - Vec3d{11.3, 11.6, 11.4};
    if (norm(d) < 7) values[v] = d.x < 0 ? 3 : (d.y < 0 ? 10 : 11);
    else if (norm(d) < 10 && d.z < 0) values[v] = 50;
  }
  const MultiLabelField field(grid, values);
  const MaterialLabels labels(field);
  const SizeField sizes = uniform_size(field.lattice(), 1.4);
  const MaterialSamples samples = sample_materials(labels, sizes, 2);
  ASSERT_GT(samples.fixed, 30U);
  for (std::size_t i = 0; i < samples.points.size(); ++i) {
    std::set<int> near;
    Random random(i);
    for (int n = 0; n < 200; ++n) {
      const Vec3d shift{random.normal(), random.normal(), random.normal()};
      near.insert(labels.look(samples.points[i] + 0.05 / norm(shift) * shift).label);
    }
    EXPECT_GE(near.size(), i < samples.fixed ? 3U : 2U);
  }
  TriangulateOptions options;
  options.threads = 2;
  TriangulateReport report;
  const MaterialSurface surface = triangulate_materials(labels, sizes, samples.points, samples.fixed, options, &report);
  EXPECT_TRUE(self_intersections(surface.mesh).empty());
  EXPECT_EQ(report.singular_points, 0U);
  for (const int label : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(labels.image_label(label == 0 ? 0 : label + 1));
    const SurfaceTopology topology = surface_topology(border_of(surface, label == 0 ? 0 : label + 1));
    ASSERT_FALSE(topology.components.empty());
    EXPECT_TRUE(topology.closed());
    EXPECT_TRUE(topology.manifold());
    EXPECT_TRUE(topology.oriented());
    EXPECT_EQ(topology.components.size(), 1U);
    if (label == 0) continue;
    const auto voxels = std::count(values.begin(), values.end(), labels.image_label(label + 1));
    EXPECT_NEAR(topology.volume, static_cast<double>(voxels), 0.1 * static_cast<double>(voxels));
  }
  EXPECT_EQ(labels.image_label(5), 50);
}

}  // namespace
}  // namespace isochron
