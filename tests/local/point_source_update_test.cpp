// The front of a point, updated from the times at a face.
#include "isochron/local/point_source_update.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

double squared(Vec3d a, Vec3d b) { return dot(a - b, a - b); }

TetLengths<double> lengths(const std::array<Vec3d, 3>& f, Vec3d x) {
  return {squared(f[0], f[1]), squared(f[0], f[2]), squared(f[1], f[2]),
          squared(f[0], x),    squared(f[1], x),    squared(f[2], x)};
}

Vec3d random_point(Random& random) {
  const auto value = [&] { return 2 * random.uniform() - 1; };
  const double x = value(), y = value(), z = value();
  return {x, y, z};
}

TEST(PointSourceUpdate, IsExactThroughAFace) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::array<Vec3d, 3> face{random_point(random), random_point(random), random_point(random)};
    double w1 = random.uniform(), w2 = random.uniform();
    if (w1 + w2 > 1) w1 = 1 - w1, w2 = 1 - w2;
    const Vec3d through = w1 * face[0] + w2 * face[1] + (1 - w1 - w2) * face[2];
    const Vec3d way = random_point(random);
    const Vec3d normal = cross(face[1] - face[0], face[2] - face[0]);
    if (std::abs(dot(normal, way)) < 0.05 * norm(normal) || norm(normal) < 0.05) continue;
    const Vec3d source = through - (0.1 + 5 * random.uniform()) * way, x = through + way;
    const double time = point_source_tet_update(norm(face[0] - source), norm(face[1] - source), norm(face[2] - source),
                                                lengths(face, x))
                            .time;
    EXPECT_NEAR(time, norm(x - source), 1e-9 * norm(x - source));
  }
}

TEST(PointSourceUpdate, IsExactThroughAnEdge) {
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const Vec3d a = random_point(random), b = random_point(random);
    const double w = random.uniform();
    const Vec3d through = w * a + (1 - w) * b, way = random_point(random);
    if (norm(cross(b - a, way)) < 0.05 * norm(b - a) || norm(b - a) < 0.05) continue;
    const Vec3d source = through - (0.1 + 5 * random.uniform()) * way, x = through + way;
    const double time = point_source_triangle_update<double>(norm(a - source), norm(b - source),
                                                             {squared(a, b), squared(a, x), squared(b, x)})
                            .time;
    EXPECT_NEAR(time, norm(x - source), 1e-9 * norm(x - source));
  }
}

TEST(PointSourceUpdate, IsTheTimeOfAPathThroughTheFace) {
  // Never earlier than straight, and never later than through the best corner.
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const std::array<Vec3d, 3> face{random_point(random), random_point(random), random_point(random)};
    const Vec3d source = 3 * random_point(random), x = random_point(random);
    std::array<double, 3> u{};
    double through_corner = inf;
    for (int k = 0; k < 3; ++k) {
      u[k] = norm(face[k] - source);
      through_corner = std::min(through_corner, u[k] + norm(face[k] - x));
    }
    const double time = point_source_tet_update(u[0], u[1], u[2], lengths(face, x)).time;
    EXPECT_GE(time, norm(x - source) * (1 - 1e-6));
    EXPECT_LE(time, through_corner * (1 + 1e-12));
    const double by_edge = point_source_triangle_update<double>(
                               u[0], u[1], {squared(face[0], face[1]), squared(face[0], x), squared(face[1], x)})
                               .time;
    EXPECT_GE(by_edge, norm(x - source) * (1 - 1e-6));
  }
}

TEST(PointSourceUpdate, ASourceInThePlaneOfTheFaceStaysOneWhenItsTimesAreRounded) {
  Random random(5);
  for (int i = 0; i < 5000; ++i) {
    const std::array<Vec3d, 3> face{random_point(random), random_point(random), random_point(random)};
    const Vec3d x = random_point(random);
    const double w0 = 4 * random.uniform() - 2, w1 = 4 * random.uniform() - 2;
    const Vec3d source = w0 * face[0] + w1 * face[1] + (1 - w0 - w1) * face[2];
    const auto time = [&](double rounding) {
      std::array<double, 3> u{};
      for (int k = 0; k < 3; ++k) u[k] = norm(face[k] - source) * (k == 0 ? 1 + rounding : 1);
      return point_source_tet_update(u[0], u[1], u[2], lengths(face, x)).time;
    };
    const double area = norm(cross(face[1] - face[0], face[2] - face[0]));
    if (area > 0.1) {
      EXPECT_NEAR(time(1e-14), time(-1e-14), 1e-4) << i;
    }
  }
}

TEST(PointSourceUpdate, CornersWithoutTimesDropOut) {
  const std::array<Vec3d, 3> face{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  const Vec3d source{0.5, 0, -1}, x{0.5, 0, 1};
  const double a = norm(face[0] - source), b = norm(face[1] - source);
  EXPECT_NEAR(point_source_tet_update(a, b, inf, lengths(face, x)).time, 2, 1e-12);
  EXPECT_NEAR(point_source_tet_update(a, inf, inf, lengths(face, x)).time, a + norm(x), 1e-12);
  EXPECT_EQ(point_source_tet_update(inf, inf, inf, lengths(face, x)).time, inf);
}

TEST(PointSourceUpdate, TimesOfNoPointGetThePlainUpdate) {
  // A front parallel to the face: no point is nearer to the corners than half an edge.
  const std::array<Vec3d, 3> face{{{0, 0, 0}, {10, 0, 0}, {0, 10, 0}}};
  const TetLengths<double> l = lengths(face, {3, 3, 1});
  EXPECT_DOUBLE_EQ(point_source_tet_update(0.1, 0.1, 0.1, l).time, tet_update(0.1, 0.1, 0.1, l).time);
  const TriangleLengths<double> edge{100, 26, 26};
  EXPECT_DOUBLE_EQ(point_source_triangle_update(0.1, 0.1, edge).time, triangle_update(0.1, 0.1, edge).time);
}

}  // namespace TEST_FILE
}  // namespace isochron
