#include "isochron/surface/field/multi_label.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "isochron/error.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

// Random seeds, each voxel with the label of the nearest one: cells that meet in threes and fours. Label 0 outside a
// ball.
std::vector<std::int32_t> cells(const ImageGrid& grid, int count) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> at(0, grid.shape[0]);
  std::vector<Vec3d> seeds;
  for (int s = 0; s < count; ++s) seeds.push_back({at(random), at(random), at(random)});
  std::vector<std::int32_t> labels(grid.voxel_count(), 0);
  const double half = 0.5 * grid.shape[0];
  for (std::size_t v = 0; v < labels.size(); ++v) {
    const Vec3d p = grid.position(VertexId(v));
    if (ball(p, {half, half, half}, 0.9 * half) > 0) continue;
    const auto nearest = std::min_element(seeds.begin(), seeds.end(),
                                          [&](const Vec3d& a, const Vec3d& b) { return norm(a - p) < norm(b - p); });
    labels[v] = 10 + 2 * static_cast<std::int32_t>(nearest - seeds.begin());
  }
  return labels;
}

TEST(MultiLabel, VoxelsKeepTheirLabels) {
  ImageGrid grid;
  grid.shape = {26, 26, 26};
  const auto labels = cells(grid, 9);
  const MultiLabelField field(grid, labels);
  EXPECT_GE(field.labels().size(), 8U);
  EXPECT_EQ(field.labels()[0], 0);
  for (std::size_t v = 0; v < labels.size(); ++v)
    ASSERT_EQ(field.label_at(field.frame().to_lattice(grid.position(VertexId(v)))), labels[v]);
  EXPECT_EQ(field.label_at({-100, 3, 3}), 0);
  EXPECT_EQ(field.label_at(field.frame().to_lattice({-3, 30, 12})), 0);
}

TEST(MultiLabel, ContactsAreTheFacesBetweenLabels) {
  ImageGrid grid;
  grid.shape = {4, 4, 4};
  std::vector<std::int32_t> labels(64, 2);
  for (std::size_t v = 0; v < 64; ++v)
    if (grid.index(VertexId(v))[0] > 1) labels[v] = 3;
  const MultiLabelField field(grid, labels);  // with 0 outside
  ASSERT_EQ(field.contacts().size(), 3U);
  EXPECT_EQ(field.contacts()[0].faces, 48U);  // 0 and 2: 16 + 4 * 8
  EXPECT_EQ(field.contacts()[1].faces, 48U);
  EXPECT_EQ(field.contacts()[2].a, 1U);
  EXPECT_EQ(field.contacts()[2].b, 2U);
  EXPECT_EQ(field.contacts()[2].faces, 16U);
}

TEST(MultiLabel, DifferenceIsZeroOnTheSurfaceBetween) {
  // Two half balls that meet in an oblique plane.
  ImageGrid grid;
  grid.shape = {30, 30, 30};
  const Vec3d middle{14.6, 14.8, 14.3}, normal = Vec3d{3, 1, 1} / std::sqrt(11.0);
  std::vector<std::int32_t> labels(grid.voxel_count(), 0);
  for (std::size_t v = 0; v < labels.size(); ++v) {
    const Vec3d p = grid.position(VertexId(v)) - middle;
    if (norm(p) < 12) labels[v] = dot(p, normal) < 0 ? 1 : 2;
  }
  const MultiLabelField field(grid, labels);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> at(-6, 6);
  for (int n = 0; n < 300; ++n) {
    Vec3d p{at(random), at(random), at(random)};
    p -= dot(p, normal) * normal;
    for (const double off : {-0.6, -0.3, 0.0, 0.4, 0.8}) {
      const Vec3d q = field.frame().to_lattice(middle + p + off * normal);
      const Jet<double> jet = field.difference(1, 2, q);
      EXPECT_NEAR(jet.value, off, 0.25);
      EXPECT_NEAR(norm(jet.gradient - normal), 0, 0.35);
      EXPECT_EQ(jet.value < 0, field.label_at(q) == 1);
      EXPECT_NEAR(jet.value, 0.5 * (field.level(1, q) - field.level(2, q)), 1e-9);
    }
  }
}

TEST(MultiLabel, OutsideHasNoGrooveWhereTwoMeet) {
  // A slab whose halves have two labels: its faces stay flat.
  ImageGrid grid;
  grid.shape = {24, 24, 12};
  std::vector<std::int32_t> labels(grid.voxel_count(), 0);
  for (std::size_t v = 0; v < labels.size(); ++v)
    if (const auto at = grid.index(VertexId(v)); at[2] >= 4 && at[2] < 8) labels[v] = at[0] < 12 ? 1 : 2;
  const MultiLabelField field(grid, labels);
  const auto place = [&](double x, double z) { return field.frame().to_lattice({x, 11.7, z}); };
  double low = 3, high = 4;  // where the face is, away from the meeting
  for (int step = 0; step < 20; ++step) {
    const double z = 0.5 * (low + high);
    (field.label_at(place(6, z)) == 0 ? low : high) = z;
  }
  EXPECT_NEAR(low, 3.5, 0.2);
  for (double x = 7; x < 16; x += 0.1) {
    EXPECT_EQ(field.label_at(place(x, low - 0.01)), 0) << x;
    EXPECT_NE(field.label_at(place(x, low + 0.01)), 0) << x;
    EXPECT_NEAR(field.difference(0, x < 11.5 ? 1 : 2, place(x, low)).value, 0, 0.01);
  }
}

TEST(MultiLabel, NearestAndBorderLevelAgreeWithTheLabel) {
  ImageGrid grid;
  grid.shape = {20, 20, 20};
  const MultiLabelField field(grid, cells(grid, 9));
  std::mt19937 random(2);
  std::uniform_real_distribution<double> at(0, field.lattice().shape[0] - 1);
  for (int n = 0; n < 3000; ++n) {
    const Vec3d p{at(random), at(random), at(random)};
    const MultiLabelField::Nearest near = field.nearest(p);
    ASSERT_EQ(near.index[0], field.index_at(p));
    EXPECT_TRUE(std::is_sorted(std::begin(near.away), std::end(near.away)));
    for (std::size_t label = 0; label < field.labels().size(); ++label)
      if (label != field.outside()) {
        EXPECT_EQ(field.border_level(label, p) <= 0, label == near.index[0]);
      }
    // Far away there may be ties; near a border the difference is how far it is.
    if (near.away[1] < 0.5) {
      EXPECT_NEAR(std::abs(field.difference(near.index[0], near.index[1], p).value), near.away[1], 1e-6);
    }
  }
}

TEST(MultiLabel, FieldsAreKeptAroundTheirLabelsOnly) {
  ImageGrid grid;
  grid.shape = {100, 40, 40};
  std::vector<std::int32_t> labels(grid.voxel_count(), 0);
  for (int n = 0; n < 40; ++n) labels[grid.voxel(2 * n + 5, 20, 20).index()] = n + 1;
  const MultiLabelField field(grid, labels);
  EXPECT_EQ(field.labels().size(), 41U);
  const std::size_t whole = field.lattice().point_count() * sizeof(float);
  EXPECT_LT(field.bytes(), 3 * whole);
}

TEST(MultiLabel, SaysWhatIsWrong) {
  ImageGrid grid;
  grid.shape = {4, 4, 4};
  EXPECT_THROW(MultiLabelField(grid, std::vector<std::int32_t>(64, 0)), InputError);
  EXPECT_THROW(MultiLabelField(grid, std::vector<std::int32_t>(63, 1)), InputError);
  grid.axes[0] = {1, 1, 0};
  EXPECT_THROW(MultiLabelField(grid, std::vector<std::int32_t>(64, 1)), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron
