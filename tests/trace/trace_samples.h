// What the tests of paths share: solving and tracing in one go, and measures of a path.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/path.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron::test {

/// A mesh with times from its sources, and what traces them.
template <int Corners>
struct Traced {
  SimplexMesh<Corners> mesh;
  Metric metric;
  Sources sources;
  Arrival arrival = solve(mesh, metric, sources);

  [[nodiscard]] PathTracer<Corners> tracer(Shorten shorten = Shorten::yes) const {
    return PathTracer<Corners>({mesh, metric}, arrival.times, sources, {shorten});
  }
};

inline double distance_to_segment(Vec3d p, Vec3d a, Vec3d b) {
  const Vec3d d = b - a;
  const double t = dot(d, d) > 0 ? std::clamp(dot(p - a, d) / dot(d, d), 0.0, 1.0) : 0;
  return norm(p - (a + t * d));
}

/// The largest distance of the path's points from the straight line between its ends.
inline double bend(const Path& path) {
  double worst = 0;
  for (const Vec3d& p : path.points)
    worst = std::max(worst, distance_to_segment(p, path.points.front(), path.points.back()));
  return worst;
}

/// Checks what holds for every path that a solution gives.
inline void expect_sound(const Path& path) {
  EXPECT_EQ(path.end, PathEnd::source) << path.why;
  ASSERT_FALSE(path.points.empty());
  ASSERT_EQ(path.points.size(), path.times.size());
  for (std::size_t i = 1; i < path.times.size(); ++i) ASSERT_LT(path.times[i], path.times[i - 1]) << "point " << i;
  double length = 0;
  for (std::size_t i = 1; i < path.points.size(); ++i) length += norm(path.points[i] - path.points[i - 1]);
  EXPECT_NEAR(path.length, length, 1e-9 * (1 + length));
}

/// Largest and mean share by which paths from every `stride`-th vertex take longer than `exact(vertex)`, and their
/// largest distance from the exact curve.
struct PathErrors {
  double worst_excess = 0, mean_excess = 0, worst_distance = 0, mean_distance = 0;
};

template <int Corners, class Exact, class Distance>
PathErrors path_errors(const Traced<Corners>& on, std::size_t stride, Exact&& exact, Distance&& distance,
                       Shorten shorten = Shorten::yes) {
  PathErrors errors;
  std::size_t count = 0;
  const PathTracer<Corners> tracer = on.tracer(shorten);
  for (std::size_t v = 0; v < on.mesh.vertex_count(); v += stride) {
    const double time = exact(vertex(v));
    if (!(time > 0)) continue;
    const Path path = tracer.from(vertex(v));
    expect_sound(path);
    double far = 0;
    for (const Vec3d& p : path.points) far = std::max(far, distance(path, p));
    const double excess = path.travel_time / time - 1;
    errors.worst_excess = std::max(errors.worst_excess, excess);
    errors.mean_excess += excess;
    errors.worst_distance = std::max(errors.worst_distance, far);
    errors.mean_distance += far;
    ++count;
  }
  errors.mean_excess /= static_cast<double>(count);
  errors.mean_distance /= static_cast<double>(count);
  ::testing::Test::RecordProperty("worst_excess", std::to_string(errors.worst_excess));
  ::testing::Test::RecordProperty("mean_excess", std::to_string(errors.mean_excess));
  ::testing::Test::RecordProperty("worst_distance", std::to_string(errors.worst_distance));
  ::testing::Test::RecordProperty("mean_distance", std::to_string(errors.mean_distance));
  return errors;
}

}  // namespace isochron::test
