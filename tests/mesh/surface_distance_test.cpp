#include "isochron/mesh/surface_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/mesh/closest_point.h"
#include "support/surfaces.h"

namespace isochron {
namespace TEST_FILE {

TEST(SurfaceDistance, ParallelSquares) {
  const TriangleMesh low = generate_square({.n = 12});
  const SurfaceDistance found = surface_distance(low, moved(generate_square({.n = 7}), {0, 0, 0.25}), 2);
  for (const DistanceStatistics& way : {found.there, found.back}) {
    EXPECT_NEAR(way.mean, 0.25, 1e-12);
    EXPECT_NEAR(way.percentile_95, 0.25, 1e-12);
    EXPECT_NEAR(way.max, 0.25, 1e-12);
  }
  EXPECT_EQ(found.there.samples, 144U + 242U);
  EXPECT_LT(distance_to_surface(low, low).max, 1e-14);
}

TEST(SurfaceDistance, WaysDiffer) {
  // A part is on the whole, but not the whole on the part.
  const TriangleMesh part = generate_sphere({.frequency = 10});
  const TriangleMesh whole = together(part, moved(part, {10, 0, 0}));
  const SurfaceDistance found = surface_distance(part, whole);
  EXPECT_LT(found.there.max, 1e-14);
  EXPECT_GT(found.back.max, 9.9);
  EXPECT_LT(found.back.mean, 5);
  EXPECT_EQ(found.hausdorff(), found.back.max);
}

TEST(SurfaceDistance, Spheres) {
  const SurfaceDistance found =
      surface_distance(generate_sphere({.frequency = 16}), generate_sphere({.frequency = 16, .radius = 1.5}));
  EXPECT_NEAR(found.there.mean, 0.5, 0.01);
  EXPECT_NEAR(found.back.mean, 0.5, 0.01);
  EXPECT_LE(found.there.mean, found.there.max);
  EXPECT_LE(found.there.percentile_95, found.there.max);
}

TEST(SurfaceDistance, EachSampleIsTheNearest) {
  const TriangleMesh from = torus(2, 0.8, 20, 14), to = generate_sphere({.frequency = 5});
  double sum = 0, most = 0;
  Array<Vec3d> samples = from.points;
  for (std::size_t e = 0; e < from.element_count(); ++e) {
    const auto x = corner_points(from, ElementId(e));
    samples.push_back((x[0] + x[1] + x[2]) / 3.0);
  }
  for (const Vec3d& p : samples) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t e = 0; e < to.element_count(); ++e)
      nearest = std::min(nearest, std::sqrt(closest_point(corner_points(to, ElementId(e)), p).squared_distance));
    sum += nearest;
    most = std::max(most, nearest);
  }
  const DistanceStatistics found = distance_to_surface(from, to, 2);
  EXPECT_EQ(found.samples, samples.size());
  EXPECT_NEAR(found.mean, sum / static_cast<double>(samples.size()), 1e-12);
  EXPECT_NEAR(found.max, most, 1e-12);
}

TEST(SurfaceDistance, NeedsSurfaces) {
  const TriangleMesh square = generate_square({.n = 3});
  EXPECT_THROW(surface_distance(square, TriangleMesh{}), InputError);
  EXPECT_THROW(surface_distance(TriangleMesh{}, square), InputError);
  TriangleMesh spare = square;
  spare.points.push_back({50, 50, 50});  // no triangle has it
  EXPECT_LT(surface_distance(square, spare).back.max, 1e-14);
}

}  // namespace TEST_FILE
}  // namespace isochron
