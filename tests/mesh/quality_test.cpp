#include "isochron/mesh_quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace TEST_FILE {

using Triangle = std::array<Vec3d, 3>;
using Tet = std::array<Vec3d, 4>;

const Triangle equilateral{{{0, 0, 0}, {1, 0, 0}, {0.5, std::sqrt(0.75), 0}}};
const Tet regular{{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}};

template <class Element>
Element placed(Element x, double scale, Vec3d by) {
  for (Vec3d& p : x) p = scale * p + by;
  return x;
}

TEST(Quality, EquilateralElementsAreOne) {
  for (const double scale : {1e-60, 1.0, 1e60}) {
    const ElementShape<3> flat = shape_of(placed(equilateral, scale, {}));
    EXPECT_NEAR(flat.radius_ratio, 1, 1e-12);
    EXPECT_NEAR(flat.aspect, 1, 1e-12);
    for (const double angle : flat.angles) EXPECT_NEAR(angle, 60, 1e-9);
    const ElementShape<4> solid = shape_of(placed(regular, scale, {}));
    EXPECT_NEAR(solid.radius_ratio, 1, 1e-12);
    EXPECT_NEAR(solid.aspect, 1, 1e-12);
    for (const double angle : solid.angles) EXPECT_NEAR(angle, std::acos(1.0 / 3) * 180 / M_PI, 1e-9);
  }
}

TEST(Quality, KnownShapes) {
  // Legs 3 and 4: inscribed radius 1, circumscribed 2.5.
  const ElementShape<3> right = shape_of(Triangle{{{0, 0, 0}, {3, 0, 0}, {0, 4, 0}}});
  EXPECT_NEAR(right.radius_ratio, 2 / 2.5, 1e-12);
  EXPECT_NEAR(right.angles[0], 90, 1e-9);
  EXPECT_NEAR(right.angles[1], std::atan2(4, 3) * 180 / M_PI, 1e-9);
  EXPECT_NEAR(right.aspect, 2.4 / 5 / std::sqrt(0.75), 1e-12);
  // The corner of a cube: r = 3V / A, R = √3 / 2.
  const Tet corner{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const ElementShape<4> cube = shape_of(corner);
  const double inscribed = 0.5 / (1.5 + std::sqrt(0.75));
  EXPECT_NEAR(cube.radius_ratio, 3 * inscribed / std::sqrt(0.75), 1e-12);
  EXPECT_NEAR(cube.angles[0], 90, 1e-9);
  EXPECT_NEAR(cube.angles[5], std::acos(1 / std::sqrt(3)) * 180 / M_PI, 1e-9);
  EXPECT_NEAR(cube.aspect, 1 / std::sqrt(3) / (std::sqrt(2) * std::sqrt(2.0 / 3)), 1e-12);
  const Tet mirrored{{corner[0], corner[2], corner[1], corner[3]}};
  EXPECT_NEAR(shape_of(mirrored).radius_ratio, cube.radius_ratio, 1e-12);
}

TEST(Quality, RadiiByTheirDefinition) {
  // The circumscribed centre solves a linear system; the inscribed radius is three volumes over all areas.
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    Tet x;
    for (Vec3d& p : x) p = {random.uniform(), random.uniform(), random.uniform()};
    const Vec3d a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
    const double det = dot(a, cross(b, c));
    if (std::abs(det) < 1e-3) continue;
    const Vec3d rhs{dot(a, a) / 2, dot(b, b) / 2, dot(c, c) / 2};
    const Vec3d center = (rhs.x * cross(b, c) + rhs.y * cross(c, a) + rhs.z * cross(a, b)) / det;
    EXPECT_NEAR(norm(center), norm(center - a), 1e-9 * (1 + norm(center)));
    double areas = 0;
    for (int k = 0; k < 4; ++k)
      areas += norm(cross(x[(k + 2) % 4] - x[(k + 1) % 4], x[(k + 3) % 4] - x[(k + 1) % 4])) / 2;
    EXPECT_NEAR(radius_ratio(x), 3 * (std::abs(det) / 2 / areas) / norm(center), 1e-9);
    EXPECT_EQ(radius_ratio(x), shape_of(x).radius_ratio);
  }
}

TEST(Quality, DegenerateElementsAreZero) {
  for (const Triangle& x :
       {Triangle{}, Triangle{{{1, 2, 3}, {1, 2, 3}, {4, 5, 6}}}, Triangle{{{0, 0, 0}, {1, 1, 1}, {3, 3, 3}}}}) {
    const ElementShape<3> shape = shape_of(x);
    EXPECT_TRUE(shape.radius_ratio >= 0 && shape.radius_ratio < 1e-14);
    EXPECT_TRUE(shape.aspect >= 0 && shape.aspect < 1e-14);
    for (const double angle : shape.angles) EXPECT_TRUE(angle >= 0 && angle <= 180);
  }
  for (const Tet& x :
       {Tet{}, Tet{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}}, Tet{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {5, 0, 0}}},
        Tet{{{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 1, 1}}}}) {
    const ElementShape<4> shape = shape_of(x);
    EXPECT_TRUE(shape.radius_ratio >= 0 && shape.radius_ratio < 1e-14);
    EXPECT_TRUE(shape.aspect >= 0 && shape.aspect < 1e-14);
    for (const double angle : shape.angles) EXPECT_TRUE(angle >= 0 && angle <= 180);
  }
}

TEST(Quality, DistributionCountsAndSorts) {
  Random random(9);
  std::vector<double> values(5000);
  Distribution all(0, 1), half(0, 1), rest(0, 1);
  EXPECT_EQ(all.mean(), 0);
  EXPECT_EQ(all.percentile(0.5), 0);
  for (double& value : values) {
    value = random.uniform() * random.uniform();
    all.add(value);
    (&value - values.data() < 2000 ? half : rest).add(value);
  }
  half.merge(rest);
  std::sort(values.begin(), values.end());
  for (const double share : {0.01, 0.05, 0.5, 0.95, 0.999}) {
    EXPECT_NEAR(all.percentile(share), values[static_cast<std::size_t>(share * 5000)], 2e-3);
    EXPECT_EQ(all.percentile(share), half.percentile(share));
  }
  EXPECT_EQ(all.min(), values.front());
  EXPECT_EQ(all.max(), values.back());
  EXPECT_NEAR(all.mean(), half.mean(), 1e-12);
  const auto bins = all.histogram(20);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const auto from = std::lower_bound(values.begin(), values.end(), i / 20.0);
    EXPECT_EQ(bins[i], static_cast<std::size_t>(std::lower_bound(from, values.end(), (i + 1) / 20.0) - from));
  }
}

TEST(Quality, OfMeshes) {
  const TriangleMesh sphere = generate_sphere({.frequency = 20});
  const ShapeStatistics surface = shape_statistics(sphere, 2);
  const auto ratios = radius_ratios(sphere);
  EXPECT_EQ(surface.radius_ratio.count(), sphere.element_count());
  EXPECT_EQ(surface.radius_ratio.min(), *std::min_element(ratios.begin(), ratios.end()));
  EXPECT_GT(surface.radius_ratio.mean(), 0.95);
  EXPECT_NEAR(surface.angles.mean(), 60, 1e-9);
  EXPECT_EQ(surface.angles.min(), surface.smallest_angle.min());
  EXPECT_EQ(surface.angles.max(), surface.largest_angle.max());
  EXPECT_EQ(surface.radius_ratio.mean(), shape_statistics(sphere, 1).radius_ratio.mean());

  const TetMesh cube = generate_irregular_cube({.n = 6, .seed = 4});
  const ShapeStatistics solid = shape_statistics(cube);
  EXPECT_EQ(solid.angles.count(), 6 * cube.element_count());
  EXPECT_LE(solid.smallest_angle.max(), std::acos(1.0 / 3) * 180 / M_PI + 1e-9);
  EXPECT_GE(solid.largest_angle.min(), std::acos(1.0 / 3) * 180 / M_PI - 1e-9);
}

TEST(Distribution, TakesWhatIsNoNumber) {
  Distribution values(0, 1);
  for (const double value : std::vector<double>{std::nan(""), INFINITY, -INFINITY, 0.5}) values.add(value);
  EXPECT_EQ(values.count(), 4U);
  EXPECT_EQ(values.histogram(2), (std::vector<std::size_t>{2, 2}));
}

TEST(WholeNumbers, AreTheLeastWhereThereIsNone) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const DataArray array{"ids", 1, std::vector<double>{3, -2.5, std::nan(""), 1e300, 0x1p63, INFINITY}};
  EXPECT_EQ(whole_numbers(array), (std::vector<std::int64_t>{3, -2, least, least, least, least}));
  EXPECT_EQ(whole_numbers({"ids", 1, std::vector<std::int64_t>{least, 7}}), (std::vector<std::int64_t>{least, 7}));
}

}  // namespace TEST_FILE
}  // namespace isochron
