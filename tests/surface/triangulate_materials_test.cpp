#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <set>

#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/material_samples.h"
#include "isochron/surface/triangulate/triangulate.h"
#include "surface/shapes.h"

namespace isochron {
namespace TEST_FILE {

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
std::vector<std::int32_t> four_materials(ImageGrid& grid) {
  grid.shape = {24, 24, 24};
  std::vector<std::int32_t> values(grid.voxel_count());
  for (std::size_t v = 0; v < values.size(); ++v) {
    const Vec3d p = grid.position(VertexId(v)), d = p - Vec3d{11.3, 11.6, 11.4};
    if (norm(d) < 7) values[v] = d.x < 0 ? 3 : (d.y < 0 ? 10 : 11);
    else if (norm(d) < 10 && d.z < 0) values[v] = 50;
  }
  return values;
}

/// The four of them, sampled evenly.
class FourMaterials : public testing::Test {
 protected:
  const double size = 0.8;
  ImageGrid grid;
  const MultiLabelField field{grid, four_materials(grid)};
  const MaterialLabels labels{field};
  const SizeField sizes = uniform_size(field.lattice(), size);
  const MaterialSamples samples = sample_materials(labels, sizes, 2);
};

TEST_F(FourMaterials, JunctionsAreSampledEvenly) {
  const auto on = [&](std::size_t i) { return labels.meeting(samples.points[i]); };
  std::size_t corners = 0;
  for (std::size_t i = 0; i < samples.fixed; ++i) {
    const auto own = on(i);
    ASSERT_GE(own.size(), 3U);
    corners += own.size() > 3 ? 1 : 0;
    if (own.size() > 3) continue;
    // The nearest two on its curve, or at the ends of it, are on both sides and about a size away.
    std::vector<Vec3d> near;
    for (std::size_t j = 0; j < samples.fixed; ++j) {
      const auto other = on(j);
      if (j != i && std::includes(other.begin(), other.end(), own.begin(), own.end()))
        near.push_back(samples.points[j] - samples.points[i]);
    }
    ASSERT_GE(near.size(), 2U);
    std::partial_sort(near.begin(), near.begin() + 2, near.end(), [](Vec3d a, Vec3d b) { return norm(a) < norm(b); });
    EXPECT_LT(dot(near[0], near[1]), 0);
    EXPECT_GT(norm(near[0]), 0.6 * size);
    EXPECT_LT(norm(near[1]), 1.5 * size);
    EXPECT_LT(norm(near[1]) / norm(near[0]), 1.35);
  }
  // The axis leaves the ball above and below; each of the three planes and the fourth one's rim make one more.
  EXPECT_EQ(corners, 5U);
}

TEST_F(FourMaterials, BordersRelax) {
  ParticleOptions options;
  options.threads = 2;
  const MaterialSamples relaxed = relax_materials(labels, sizes, samples, options);
  ASSERT_EQ(relaxed.fixed, samples.fixed);
  EXPECT_TRUE(std::equal(samples.points.begin(), samples.points.begin() + static_cast<std::ptrdiff_t>(samples.fixed),
                         relaxed.points.begin()));
  // Thinned points are as close as they may be; relaxed ones have found their distance. All stay on borders.
  const auto nearest = [&](const std::vector<Vec3d>& points) {
    double sum = 0;
    for (std::size_t i = samples.fixed; i < points.size(); ++i) {
      EXPECT_LT(labels.look(points[i]).clearance, 1e-3);
      double least = 10;
      for (std::size_t j = 0; j < points.size(); ++j)
        if (j != i) least = std::min(least, norm(points[i] - points[j]));
      sum += least;
    }
    return sum / (size * static_cast<double>(points.size() - samples.fixed));
  };
  EXPECT_LT(nearest(samples.points), 0.89);
  EXPECT_NEAR(nearest(relaxed.points), 0.94, 0.04);
  options.threads = 1;
  EXPECT_EQ(relax_materials(labels, sizes, samples, options).points, relaxed.points);
}

TEST(SampleMaterials, CanBeStopped) {
  ImageGrid grid;
  const MultiLabelField field(grid, four_materials(grid));
  const MaterialLabels labels(field);
  const SizeField sizes = uniform_size(field.lattice(), 1.4);
  const std::atomic<bool> stop = true;
  const Progress stopped{{}, &stop};
  EXPECT_THROW(sample_materials(labels, sizes, 2, stopped), Cancelled);
  EXPECT_THROW(relax_materials(labels, sizes, sample_materials(labels, sizes), {}, stopped), Cancelled);
}

TEST(TriangulateMaterials, LabelMap) {
  if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
  ImageGrid grid;
  const std::vector<std::int32_t> values = four_materials(grid);
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

}  // namespace TEST_FILE
}  // namespace isochron
