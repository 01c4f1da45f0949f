// Elements that do not conduct are as good as not there, for every way of solving and for paths.
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"
#include "isochron/path.h"
#include "solve/samples.h"
#include "solve/ways.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::HasSubstr;

/// Whether an element is part of the wall across the middle of a mesh as wide as `side`, which has a gap at one end.
template <int Corners>
bool in_wall(const SimplexMesh<Corners>& mesh, std::size_t e, double side) {
  Vec3d centre{};
  for (const VertexId v : mesh.elements[e]) centre = centre + (1.0 / Corners) * mesh.point(v);
  return std::abs(centre.x - side / 2) < side / 6 && centre.y < 0.8 * side;
}

template <int Corners>
SimplexMesh<Corners> without_wall(SimplexMesh<Corners> mesh, double side) {
  SimplexMesh<Corners> result{mesh.points, {}};
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    if (!in_wall(mesh, e, side)) result.elements.push_back(mesh.elements[e]);
  return result;
}

/// Speed 2 and a wall, in every form that a metric has.
template <int Corners>
std::vector<Metric> walls(const SimplexMesh<Corners>& mesh, double side) {
  SpeedMetric speeds;
  TensorMetric tensors;
  FiberMetric fibers;
  fibers.velocities = {{2, 2, 2}, {0, 0, 0}};
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const bool wall = in_wall(mesh, e, side);
    speeds.speed.push_back(wall ? 0 : 2);
    tensors.tensor.push_back(SymTensor3f::identity(wall ? std::numeric_limits<float>::infinity() : 0.25F));
    fibers.fiber.push_back({1, 0, 0});
    fibers.region.push_back(wall ? 1 : 0);
  }
  return {Metric(speeds), Metric(tensors), Metric(fibers)};
}

template <int Corners>
void expect_as_without_the_wall(const SimplexMesh<Corners>& mesh, double side, Where where) {
  const SimplexMesh<Corners> cut = without_wall(mesh, side);
  ASSERT_LT(cut.element_count(), mesh.element_count());
  for (const Way& way : ways_on(where, Corners)) {
    SCOPED_TRACE(name_of(way));
    const Arrival wanted = solve(cut, Metric::isotropic(2), from(vertex(0)), options_for(way));
    for (const Metric& metric : walls(mesh, side)) {
      if (!takes(way, metric)) continue;
      const Arrival arrival = solve(mesh, metric, from(vertex(0)), options_for(way));
      EXPECT_TRUE(arrival.converged);
      EXPECT_EQ(arrival.not_conducting, mesh.element_count() - cut.element_count());
      EXPECT_EQ(arrival.unreached, wanted.unreached);
      EXPECT_LE(worst_difference(arrival.times, wanted.times), 1e-4);
    }
  }
}

TEST(Conducting, AWallIsAsGoodAsNoElements) {
  expect_as_without_the_wall(square(13, 0.2), 12, Where::cpu);
  expect_as_without_the_wall(cube(7, 0.2), 6, Where::cpu);
}

using DeviceConducting = DeviceCase;

TEST_F(DeviceConducting, AWallIsAsGoodAsNoElements) {
  expect_as_without_the_wall(square(13, 0.2), 12, Where::cuda);
  expect_as_without_the_wall(cube(7, 0.2), 6, Where::cuda);
}

TEST(Conducting, TheMetricMayChange) {
  const TetMesh mesh = cube(7, 0.2);
  const Metric free = Metric::isotropic(2), wall = walls(mesh, 6)[0];
  Solver solver({mesh, free}, {});
  const std::vector<double> without = solver.solve(from(vertex(0))).times;
  solver.set_metric(wall);
  const Arrival behind = solver.solve(from(vertex(0)));
  EXPECT_EQ(behind.times, solve(mesh, wall, from(vertex(0))).times);
  EXPECT_GT(worst_difference(behind.times, without), 0.1);
  solver.set_metric(free);
  EXPECT_EQ(solver.solve(from(vertex(0))).times, without);
}

TEST(Conducting, NegativeSpeedsAndPlacesWhereNothingMovesAreRefused) {
  const TriangleMesh mesh = square(13);
  Metric wall = walls(mesh, 12)[0];
  const auto refusal = [&](const Metric& metric, const Sources& sources) -> std::string {
    try {
      solve(mesh, metric, sources);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(wall, from(vertex(6))), HasSubstr("not conduct"));
  Sources inside;
  inside.points.push_back({{6.1, 3.1, 0}, 0});
  EXPECT_THAT(refusal(wall, inside), HasSubstr("not conduct"));
  const SpeedMetric still{std::vector<double>(mesh.element_count(), 0)};
  EXPECT_THAT(refusal(Metric(still), from(vertex(0))), HasSubstr("no element conducts"));
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    SpeedMetric speeds = std::get<SpeedMetric>(wall.kind());
    speeds.speed.front() = bad;
    EXPECT_THAT(refusal(Metric(speeds), from(vertex(0))), HasSubstr("on 1 of 288 elements"));
  }
}

TEST(Conducting, PathsGoThroughTheGap) {
  const TriangleMesh mesh = square(25);
  const Metric wall = walls(mesh, 24)[0];
  const Arrival arrival = solve(mesh, wall, from(vertex(0)));
  const PathTracer<3> tracer({mesh, wall}, arrival.times, from(vertex(0)), {});
  const Path path = tracer.from(vertex(24));
  EXPECT_NEAR(path.travel_time, arrival.times[24], 0.05 * arrival.times[24]);
  double highest = 0;
  for (const Vec3d& p : path.points) highest = std::max(highest, p.y);
  EXPECT_GT(highest, 18);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
