#include "isochron/surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "isochron/error.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/field/spline.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::HasSubstr;

template <class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// A grid whose axes are turned, of the given spacings, with its middle at the world's origin.
ImageGrid turned_grid(std::array<std::uint32_t, 3> shape, const Vec3d& spacing, double handed = 1) {
  const double a = 0.4, b = -0.7;
  const Vec3d x{std::cos(a), std::sin(a), 0}, y{-std::sin(a) * std::cos(b), std::cos(a) * std::cos(b), std::sin(b)};
  ImageGrid grid{shape, {}, {spacing.x * x, spacing.y * y, handed * spacing.z * cross(x, y)}};
  grid.origin = -grid.position(Vec3d{0.5 * (shape[0] - 1), 0.5 * (shape[1] - 1), 0.5 * (shape[2] - 1)});
  return grid;
}

// The largest differences from the true distance near the surface and anywhere, in world lengths.
struct Differences {
  double near = 0, anywhere = 0;
};
template <class Exact>
Differences compare(const ImplicitSurface& surface, double near, Exact&& exact) {
  Differences worst;
  const Lattice& lattice = surface.lattice;
  for (int k = 0; k < lattice.shape[2]; ++k)
    for (int j = 0; j < lattice.shape[1]; ++j)
      for (int i = 0; i < lattice.shape[0]; ++i) {
        const double value = surface.distance[lattice.index(i, j, k)];
        const double true_value = exact(surface.frame.to_world(lattice.position(i, j, k)));
        const double difference = std::abs(value - true_value);
        EXPECT_TRUE((value < 0) == (true_value < 0) || std::abs(true_value) < 1e-3);
        worst.anywhere = std::max(worst.anywhere, difference);
        if (std::abs(true_value) < near) worst.near = std::max(worst.near, difference);
      }
  return worst;
}

TEST(FromIsovalue, BallOfAnyScaleIsExactNearItsSurface) {
  const ImageGrid grid{{36, 36, 36}, {-17, -18, -17.5}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  // Smooth data that is no distance: brightness that falls off from a centre.
  const Vec3d centre{0.3, -0.4, 0.2};
  const auto values = sampled(grid, [&](Vec3d p) { return 500 * std::exp(-dot(p - centre, p - centre) / 200); });
  const double isovalue = 500 * std::exp(-0.5);
  const ImplicitSurface surface = from_isovalue(grid, values, isovalue);
  const Differences worst = compare(surface, 2, [&](Vec3d p) { return ball(p, centre, 10); });
  EXPECT_LT(worst.near, 0.01);
  EXPECT_LT(worst.anywhere, 0.4);  // the centre
  EXPECT_TRUE(surface.notes.empty());
  EXPECT_GT(surface.inside_count, 4000U);
}

TEST(FromIsovalue, BelowIsTheOtherSide) {
  const ImageGrid grid{{20, 20, 20}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const auto distance = [](Vec3d p) { return ball(p, {9.5, 9.6, 9.4}, 6); };
  FieldOptions options;
  options.inside = InsideIs::below;
  const ImplicitSurface surface = from_isovalue(grid, sampled(grid, distance), 0, options);
  EXPECT_LT(compare(surface, 2, distance).near, 0.02);
}

TEST(FromIsovalue, TorusInATurnedAnisotropicFrame) {
  for (const double handed : {1.0, -1.0}) {
    const ImageGrid grid = turned_grid({48, 40, 40}, {0.8, 1, 1.2}, handed);
    const auto distance = [](Vec3d p) { return torus(p, {0.1, 0.2, -0.3}, 11, 4); };
    FieldOptions options;
    options.reach = 40;
    const ImplicitSurface surface =
        from_isovalue(grid, sampled(grid, [&](Vec3d p) { return -distance(p); }), 0, options);
    const Differences worst = compare(surface, 1.5, distance);
    EXPECT_LT(worst.near, 0.02);
    EXPECT_LT(worst.anywhere, 0.35);  // the medial circle
    EXPECT_EQ(surface.frame.mirrors(), handed < 0);
    const Vec3d p{1, 2, 3};
    EXPECT_NEAR(norm(surface.frame.to_world(surface.frame.to_lattice(p)) - p), 0, 1e-12);
    // The zero set of the spline is that of the torus.
    const SplineField field(surface.lattice, surface.distance);
    for (const Vec3d& q : marching_tetrahedra(surface.lattice, surface.distance).points) {
      const Jet<double> jet = field.view().slope(q);
      EXPECT_NEAR(norm(jet.gradient), 1, 0.05);
      EXPECT_NEAR(distance(surface.frame.to_world(q - jet.value * jet.gradient)), 0, 0.02);
    }
  }
}

TEST(FromIsovalue, ThreadsMakeNoDifference) {
  const ImageGrid grid = turned_grid({30, 30, 16}, {1, 1, 1.2});
  const auto values = sampled(grid, [](Vec3d p) { return -torus(p, {0.1, 0.2, -0.3}, 8, 4); });
  FieldOptions options;
  options.threads = 1;
  const ImplicitSurface one = from_isovalue(grid, values, 0, options);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    const ImplicitSurface other = from_isovalue(grid, values, 0, options);
    ASSERT_EQ(one.distance.size(), other.distance.size());
    for (std::size_t v = 0; v < one.distance.size(); ++v) EXPECT_NEAR(one.distance[v], other.distance[v], 1e-3);
  }
}

TEST(FromIsovalue, ThickSlicesAreAsGood) {
  const ImageGrid grid = turned_grid({40, 40, 12}, {1, 1, 4});
  for (const Vec3d center : {Vec3d{0.3, 0.1, -0.7}, Vec3d{-0.2, 0.4, 0.6}, Vec3d{0.1, -0.3, 1.9}}) {
    const auto distance = [&](Vec3d p) { return ball(p, center, 15); };
    const ImplicitSurface surface = from_isovalue(grid, sampled(grid, [&](Vec3d p) { return -distance(p); }), 0);
    EXPECT_LT(compare(surface, 2, distance).near, 0.1);  // of slices that are 4 apart
  }
}

TEST(FromIsovalue, ValuesStopAtTheReach) {
  const ImageGrid grid{{40, 40, 40}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const auto distance = [](Vec3d p) { return ball(p, {20, 20, 20}, 15); };
  FieldOptions options;
  options.inside = InsideIs::below;
  options.reach = 5;
  const ImplicitSurface surface = from_isovalue(grid, sampled(grid, distance), 0, options);
  EXPECT_EQ(surface.reach, 5);
  const Differences worst = compare(surface, 4, [&](Vec3d p) { return std::clamp(distance(p), -5.0, 5.0); });
  EXPECT_LT(worst.anywhere, 0.1);
}

TEST(FromIsovalue, ObjectThatLeavesTheImageIsClosedAtItsFace) {
  const ImageGrid grid{{20, 20, 20}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const auto values = sampled(grid, [](Vec3d p) { return 8 - norm(p - Vec3d{9.5, 9.5, 0}); });
  const ImplicitSurface surface = from_isovalue(grid, values, 0);
  ASSERT_EQ(surface.notes.size(), 1U);
  EXPECT_THAT(surface.notes[0], HasSubstr("border"));
  const TriangleMesh mesh = marching_tetrahedra(surface.lattice, surface.distance);
  EXPECT_EQ(static_cast<long>(mesh.vertex_count()) - static_cast<long>(mesh.element_count()) / 2, 2);
  double lowest = 0;
  for (const Vec3d& p : mesh.points) lowest = std::min(lowest, surface.frame.to_world(p).z);
  EXPECT_NEAR(lowest, -0.5, 0.1);
  FieldOptions options;
  options.border = AtBorder::refuse;
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, 0, options); }), HasSubstr("touches the border"));
}

// Values that are barely inside at the border must not let the surface wander behind it.
TEST(FromIsovalue, BorderIsFlatWhateverTheValuesThere) {
  const ImageGrid grid{{24, 24, 24}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const auto values = sampled(grid, [](Vec3d p) {
    const bool inside = std::hypot(p.x - 11.5, p.y - 11.5) < 5;
    return !inside ? 0.0 : p.z < 0.5 ? 305.0 : 1000.0;
  });
  const ImplicitSurface surface = from_isovalue(grid, values, 300);
  const TriangleMesh mesh = marching_tetrahedra(surface.lattice, surface.distance);
  EXPECT_EQ(static_cast<long>(mesh.vertex_count()) - static_cast<long>(mesh.element_count()) / 2, 2);
  for (const Vec3d& p : mesh.points) {
    EXPECT_GT(surface.frame.to_world(p).z, -0.51);
    EXPECT_LT(surface.frame.to_world(p).z, 23.51);
  }
}

// Through the centres of all voxels with that value the surface would be a foam.
TEST(FromIsovalue, PassesBetweenWholeValues) {
  const ImageGrid grid{{24, 24, 24}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  auto values = sampled(grid, [](Vec3d p) { return std::floor(20 - norm(p - Vec3d{11.4, 11.6, 11.5})); });
  for (const InsideIs inside : {InsideIs::above, InsideIs::below}) {
    FieldOptions options;
    options.inside = inside;
    const ImplicitSurface between = from_isovalue(grid, values, 12.5, options);
    EXPECT_EQ(between.isovalue, 12.5);
    const ImplicitSurface surface = from_isovalue(grid, values, 13, options);
    EXPECT_EQ(surface.isovalue, 12.5);
    EXPECT_EQ(surface.distance, between.distance);
    EXPECT_EQ(surface.inside_count, between.inside_count);
    ASSERT_EQ(surface.notes.size(), between.notes.size() + 1);
    EXPECT_THAT(surface.notes[0], HasSubstr("the isovalue 13 is the value of"));
  }
  values[0] += 0.25F;
  EXPECT_EQ(from_isovalue(grid, values, 13).isovalue, 13);
}

TEST(FromIsovalue, SaysWhatIsWrong) {
  ImageGrid grid{{8, 8, 8}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  auto values = sampled(grid, [](Vec3d p) { return p.x; });
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, 9); }),
              HasSubstr("nothing inside (the values of the image go from 0 to 7)"));
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, -1); }), HasSubstr("everything inside"));
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, std::nan("")); }), HasSubstr("inside"));
  EXPECT_THAT(message_of([&] { from_isovalue(grid, std::vector<float>(512, 3), 3); }), HasSubstr("same value"));
  EXPECT_THAT(message_of([&] { from_isovalue(grid, std::vector<float>(511, 3), 3); }), HasSubstr("511 values"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of([&] { from_isovalue(grid, std::vector<float>(512, nan), 3); }), HasSubstr("no finite"));
  FieldOptions options;
  options.reach = 1;
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, 3, options); }), HasSubstr("too short"));
  values[100] = nan;
  const ImplicitSurface surface = from_isovalue(grid, values, 3.5);
  ASSERT_EQ(surface.notes.size(), 2U);
  EXPECT_THAT(surface.notes[0], HasSubstr("1 voxels are not finite"));
  for (const float distance : surface.distance) EXPECT_TRUE(std::isfinite(distance));
  grid.axes[1] = {0.3, 1, 0};
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, 3); }), HasSubstr("sheared"));
  grid = {{8, 64, 1}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  EXPECT_THAT(message_of([&] { from_isovalue(grid, values, 3); }), HasSubstr("flat"));
}

template <class Distance>
std::vector<std::int32_t> labels_of(const ImageGrid& grid, std::int32_t label, Distance&& distance) {
  std::vector<std::int32_t> labels(grid.voxel_count(), 0);
  for (std::size_t v = 0; v < labels.size(); ++v)
    if (distance(grid.position(VertexId(v))) < 0) labels[v] = label;
  return labels;
}

TEST(FromLabels, BallIsSmoothWithinHalfAVoxelAndKeepsItsArea) {
  for (const double spacing : {1.0, 0.7}) {
    const ImageGrid grid = turned_grid({34, 34, 40}, {1, 1, spacing});
    const auto distance = [](Vec3d p) { return ball(p, {0.2, -0.3, 0.1}, 12); };
    const auto labels = labels_of(grid, 5, distance);
    const ImplicitSurface surface = from_labels(grid, labels, {5});
    const TriangleMesh mesh = marching_tetrahedra(surface.lattice, surface.distance);
    double area = 0, worst = 0, mean = 0;
    for (const auto& [a, b, c] : mesh.elements)
      area += 0.5 * norm(cross(mesh.point(b) - mesh.point(a), mesh.point(c) - mesh.point(a)));
    for (const Vec3d& p : mesh.points) {
      const double off = distance(surface.frame.to_world(p));
      worst = std::max(worst, std::abs(off));
      mean += off / static_cast<double>(mesh.vertex_count());
    }
    EXPECT_NEAR(area / (4 * std::numbers::pi * 144), 1, 0.015);
    EXPECT_LT(worst, 0.5);
    EXPECT_NEAR(mean, 0, 0.05);
  }
}

TEST(FromLabels, StaysBetweenTheVoxelsOfBothSides) {
  const ImageGrid grid{{24, 24, 24}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  // A sheet and a needle of a single voxel's width, and a block.
  const auto labels = labels_of(grid, 1, [](Vec3d p) {
    const bool sheet = p.z == 4 && p.x > 3 && p.x < 20 && p.y > 3 && p.y < 20;
    const bool needle = p.z > 4 && p.z < 12 && p.x == 8 && p.y == 9;
    const bool block = p.z >= 12 && p.z < 20 && p.x > 3 && p.x < 20 && p.y > 3 && p.y < 20;
    return sheet || needle || block ? -1.0 : 1.0;
  });
  const ImplicitSurface surface = from_labels(grid, labels, {1});
  const Lattice& lattice = surface.lattice;
  std::size_t inside = 0;
  for (int k = 0; k < lattice.shape[2]; ++k)
    for (int j = 0; j < lattice.shape[1]; ++j)
      for (int i = 0; i < lattice.shape[0]; ++i) {
        const auto voxel = grid.voxel_at(surface.frame.to_world(lattice.position(i, j, k)));
        const bool labelled = voxel && labels[voxel->index()] == 1;
        EXPECT_EQ(surface.distance[lattice.index(i, j, k)] < 0, labelled);
        inside += labelled ? 1 : 0;
      }
  EXPECT_EQ(inside, surface.inside_count);
  const TriangleMesh mesh = marching_tetrahedra(lattice, surface.distance);
  EXPECT_EQ(static_cast<long>(mesh.vertex_count()) - static_cast<long>(mesh.element_count()) / 2, 2);
}

TEST(FromLabels, SeveralLabelsAreOneObject) {
  const ImageGrid grid{{20, 20, 20}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const auto whole = labels_of(grid, 3, [](Vec3d p) { return ball(p, {9, 9, 9}, 6); });
  auto halves = whole;
  for (std::size_t v = 0; v < halves.size(); ++v)
    if (halves[v] == 3 && grid.position(VertexId(v)).x > 8) halves[v] = 7;
  EXPECT_EQ(from_labels(grid, halves, {3, 7}).distance, from_labels(grid, whole, {3}).distance);
}

TEST(FromLabels, EnlargedMapsAreTheCoarseOnes) {
  const ImageGrid coarse = turned_grid({26, 24, 25}, {1.5, 1.5, 1.5});
  const auto labels = labels_of(coarse, 1, [](Vec3d p) { return ball(p, {0.2, 0.1, 0.3}, 13); });
  // Two by two by three voxels each, cut in the middle of a block at both ends of the first axis.
  ImageGrid fine = coarse;
  fine.shape = {50, 48, 75};
  fine.axes = {0.5 * coarse.axes[0], 0.5 * coarse.axes[1], (1.0 / 3) * coarse.axes[2]};
  fine.origin = coarse.position(Vec3d{0.25, -0.25, -1.0 / 3});
  std::vector<std::int32_t> enlarged;
  for (std::uint32_t k = 0; k < 75; ++k)
    for (std::uint32_t j = 0; j < 48; ++j)
      for (std::uint32_t i = 0; i < 50; ++i)
        enlarged.push_back(labels[coarse.voxel((i + 1) / 2, j / 2, k / 3).index()]);
  const ImplicitSurface one = from_labels(coarse, labels, {1}), other = from_labels(fine, enlarged, {1});
  EXPECT_TRUE(one.notes.empty());
  ASSERT_EQ(other.notes.size(), 1U);
  EXPECT_THAT(other.notes[0], HasSubstr("blocks of 2 x 2 x 3 voxels"));
  ASSERT_EQ(one.distance.size(), other.distance.size());
  for (std::size_t v = 0; v < one.distance.size(); ++v) EXPECT_NEAR(one.distance[v], other.distance[v], 1e-4);
  EXPECT_NEAR(norm(one.frame.origin - other.frame.origin), 0, 1e-9);
  FieldOptions keep;
  keep.blocks = Blocks::keep;
  EXPECT_EQ(from_labels(fine, enlarged, {1}, keep).lattice.spacing.x, fine.spacing(0));
}

TEST(FromLabels, SaysWhatIsWrong) {
  const ImageGrid grid{{6, 6, 6}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const auto labels = labels_of(grid, 4, [](Vec3d p) { return p.x - 2.5; });
  EXPECT_THAT(message_of([&] { from_labels(grid, labels, {5}); }),
              HasSubstr("label 5 is not in the image; it has 0, 4"));
  EXPECT_THAT(message_of([&] { from_labels(grid, labels, {}); }), HasSubstr("no label"));
  auto holes = labels;
  holes[7] = no_label;
  EXPECT_THAT(message_of([&] { from_labels(grid, holes, {5}); }),
              HasSubstr("label 5 is not in the image; it has 0, 4"));
}

TEST(FromLabels, AnImageFullOfTheLabelIsABox) {
  const ImageGrid grid{{6, 7, 8}, {}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  const std::vector<std::int32_t> labels(grid.voxel_count(), 4);
  const ImplicitSurface surface = from_labels(grid, labels, {4});
  EXPECT_EQ(surface.inside_count, grid.voxel_count());
  ASSERT_FALSE(surface.notes.empty());
  EXPECT_THAT(surface.notes.back(), HasSubstr("closed there"));
  const Lattice& lattice = surface.lattice;
  for (int k = 0; k < lattice.shape[2]; ++k)
    for (int j = 0; j < lattice.shape[1]; ++j)
      for (int i = 0; i < lattice.shape[0]; ++i) {
        // The lattice begins four voxels before the image, whose faces are half a voxel outside the centres.
        const double behind = std::max({3.5 - i, i - (3.5 + 6), 3.5 - j, j - (3.5 + 7), 3.5 - k, k - (3.5 + 8)});
        const double found = surface.distance[lattice.index(i, j, k)];
        EXPECT_NEAR(found, std::min(behind, surface.reach), 1e-4);
      }
  FieldOptions refuse;
  refuse.border = AtBorder::refuse;
  EXPECT_THAT(message_of([&] { from_labels(grid, labels, {4}, refuse); }), HasSubstr("touches the border"));
}

}  // namespace TEST_FILE
}  // namespace isochron
