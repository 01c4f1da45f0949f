#include "isochron/surface/triangulate/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isochron/surface/field/isosurface.h"
#include "surface/shapes.h"

namespace isochron {
namespace TEST_FILE {

using Kind = SurfaceDifference::Kind;

const Lattice lattice{{50, 24, 24}, {1, 1, 1}};

template <class Function>
TriangleMesh surface(Function&& function) {
  return marching_tetrahedra(lattice, sampled(lattice, function));
}
double left(Vec3d p) { return ball(p, {8.3, 11.6, 11.4}, 5); }
double middle(Vec3d p) { return ball(p, {21.2, 11.7, 11.3}, 5); }
double ring(Vec3d p) { return torus(p, {37.4, 11.5, 11.6}, 6, 2.5); }

class Compare : public testing::Test {
 protected:
  const TriangleMesh all_ = surface([](Vec3d p) { return std::min({left(p), middle(p), ring(p)}); });
  const ExpectedSurface expected_{all_, 2};
};

TEST_F(Compare, EqualSurfacesDoNotDiffer) {
  EXPECT_TRUE(expected_.differences(all_).empty());
  TriangleMesh same = all_;
  EXPECT_EQ(expected_.drop_specks(same, 1e9), 0U);
}

TEST_F(Compare, LostComponent) {
  const auto found = expected_.differences(surface([](Vec3d p) { return std::min(middle(p), ring(p)); }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::lost);
  EXPECT_LT(found[0].place.x, 14);
}

TEST_F(Compare, MergedComponents) {
  const auto bridge = [](Vec3d p) { return plate_distance(p, {14.7, 11.6, 11.4}, {4, 1.5, 1.5}, 1); };
  const auto found = expected_.differences(surface([&](Vec3d p) {
    return std::min({left(p), middle(p), bridge(p), ring(p)});
  }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::merged);
}

TEST_F(Compare, DividedComponent) {
  const auto cut = [](Vec3d p) { return std::max(ring(p), 2 - std::abs(p.y - 11.5)); };
  const auto found = expected_.differences(surface([&](Vec3d p) { return std::min({left(p), middle(p), cut(p)}); }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::divided);
}

TEST_F(Compare, FilledHandle) {
  const auto disc = [](Vec3d p) { return plate_distance(p, {37.4, 11.5, 11.6}, {6, 6, 2.4}, 2); };
  const auto found = expected_.differences(surface([&](Vec3d p) {
    return std::min({left(p), middle(p), ring(p), disc(p)});
  }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::handles);
  EXPECT_EQ(found[0].expected_euler, 0);
  EXPECT_EQ(found[0].found_euler, 2);
}

TEST_F(Compare, SpecksAreDroppedAndNothingElse) {
  const auto speck = [](Vec3d p) { return ball(p, {28, 3, 3}, 0.6); };
  TriangleMesh found = surface([&](Vec3d p) { return std::min({left(p), middle(p), ring(p), speck(p)}); });
  const std::size_t with_speck = found.vertex_count();
  EXPECT_EQ(expected_.drop_specks(found, 0.01), 0U);
  EXPECT_EQ(expected_.drop_specks(found, 1), 1U);
  EXPECT_LT(found.vertex_count(), with_speck);
  EXPECT_EQ(found.vertex_count(), all_.vertex_count());
  EXPECT_TRUE(expected_.differences(found).empty());
}

TEST_F(Compare, UncoveredPointsLieOnWhatIsMissing) {
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return std::min({left(p), middle(p), ring(p)}); }));
  const SizeField sizes = uniform_size(lattice, 1.5);
  const auto missing = expected_.uncovered(surface([](Vec3d p) { return std::min(middle(p), ring(p)); }),
                                           SplineLabels(field), sizes.view());
  ASSERT_GT(missing.size(), 100U);
  for (const Vec3d p : missing) EXPECT_NEAR(left(p), 0, 0.1);
}

}  // namespace TEST_FILE
}  // namespace isochron
