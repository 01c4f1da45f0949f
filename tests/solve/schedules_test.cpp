// All schedules, of the CPU and of the GPU, give one field on any mesh that can be solved.
#include <algorithm>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "isochron/generate.h"
#include "solve/samples.h"
#include "solve/ways.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

/// Options that a whole comparison shares.
struct Shared {
  ObtuseSplit obtuse = ObtuseSplit::automatic;
  SourceInit source_init = SourceInit::ball;
};

template <int Corners>
Arrival strict_reference(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                         const Shared& shared) {
  SolveOptions strict = options_for({Method::banded, Precision::double_, 1});
  strict.tolerance = 1e-12;
  strict.obtuse = shared.obtuse;
  strict.source_init = shared.source_init;
  return solve(mesh, metric, sources, strict);
}

/// One way gives the reference's field, to the tolerance times the hops, and says how it was found.
template <int Corners>
void expect_agrees(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources, const Way& way,
                   const Arrival& reference, const Shared& shared = {}) {
  SCOPED_TRACE(name_of(way));
  SolveOptions options = options_for(way);
  options.obtuse = shared.obtuse;
  options.source_init = shared.source_init;
  const Arrival arrival = solve(mesh, metric, sources, options);
  EXPECT_TRUE(arrival.converged);
  ASSERT_TRUE(arrival.residual.has_value());
  EXPECT_LE(arrival.residual->worst, arrival.residual->limit);
  EXPECT_EQ(arrival.unreached, reference.unreached);
  const double hops = 3.0 * std::pow(static_cast<double>(mesh.vertex_count()), 1.0 / (Corners - 1));
  const double tolerance = way.precision == Precision::single_ ? 1e-5 : 1e-6;
  EXPECT_LT(worst_difference(arrival.times, reference.times), tolerance * hops);
  EXPECT_EQ(arrival.method, way.method);
  EXPECT_EQ(arrival.backend, options.backend);
  EXPECT_EQ(arrival.precision, way.precision);
}

/// The parameter says whose schedules.
class Schedules : public ::testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (GetParam() == Where::cuda && !no_device().empty()) GTEST_SKIP() << no_device();
  }

  template <int Corners>
  static void expect_all_agree(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                               const Shared& shared = {}) {
    const Arrival reference = strict_reference(mesh, metric, sources, shared);
    ASSERT_TRUE(reference.converged);
    for (const Way& way : ways_on(GetParam(), Corners, shared.obtuse))
      if (takes(way, metric)) expect_agrees(mesh, metric, sources, way, reference, shared);
  }
};

INSTANTIATE_TEST_SUITE_P(, Schedules, ::testing::Values(Where::cpu, Where::cuda),
                         [](const auto& of) { return of.param == Where::cpu ? "cpu" : "cuda"; });

TEST_P(Schedules, AgreeOnSquare) { expect_all_agree(square(40, 0.3), Metric::isotropic(1), from(VertexId(820))); }

TEST_P(Schedules, AgreeOnAnisotropicSquare) {
  const TriangleMesh mesh = square(30, 0.2);
  expect_all_agree(mesh, rough_fibers(mesh, 4), from(VertexId(17)));
}

TEST_P(Schedules, AgreeOnSphere) {
  expect_all_agree(generate_sphere({.frequency = 12}), Metric::isotropic(3), from_two(0, 700));
}

TEST_P(Schedules, AgreeOnCube) { expect_all_agree(cube(13), Metric::isotropic(2), from(VertexId(0))); }

TEST_P(Schedules, AgreeOnJitteredAnisotropicCube) {
  expect_all_agree(cube(13, 0.2), Metric::constant(diag149), from(VertexId(1098)));
}

TEST_P(Schedules, AgreeWithRandomFibers) {
  const TetMesh mesh = cube(11, 0.2);
  Sources sources = from(VertexId(5));
  sources.vertices.push_back({VertexId(1200), 1.5});
  expect_all_agree(mesh, rough_fibers(mesh, 9), sources);
}

TEST_P(Schedules, AgreeOnVirtualElements) {
  const Shared split{.obtuse = ObtuseSplit::split};
  expect_all_agree(generate_irregular_square({.n = 20, .extent = 19}), Metric(), from_two(0, 300), split);
  expect_all_agree(cube(8, 0.3), Metric(), from_two(0, 300), split);
}

TEST_P(Schedules, AgreeOnOneElement) {
  expect_all_agree(one_triangle(), Metric(), from(VertexId(2), 7));
  expect_all_agree(one_tet(), Metric(), from(VertexId(2), 7));
}

TEST_P(Schedules, AgreeAroundAVertexOfTenThousandElements) {
  // Straight lines do not know which sheet they are on: no ball.
  const Shared plain{.source_init = SourceInit::plain};
  expect_all_agree(fan_of_triangles(10000), Metric(), from(VertexId(5000)), plain);
  expect_all_agree(fan_of_tets(10000), Metric(), from(VertexId(5000)), plain);
}

TEST_P(Schedules, AgreeOnFlatAndRepeatedElements) {
  TriangleMesh flat = square(12, 0.2);
  flat.elements[30][1] = flat.elements[30][0];  // an edge that claims to be a triangle
  flat.elements.push_back(flat.elements[50]);   // twice the same
  flat.points[40] = flat.points[41];            // edges without a length
  expect_all_agree(flat, Metric(), from(VertexId(0)));
  TetMesh solid = cube(6, 0.2);
  solid.elements[30][1] = solid.elements[30][0];
  solid.elements.push_back(solid.elements[50]);
  solid.points[40] = solid.points[41];
  expect_all_agree(solid, Metric(), from(VertexId(0)));
}

TEST_P(Schedules, LeaveDisconnectedPartsUnreached) {
  const TetMesh far = cube(4);
  TetMesh mesh = beside(cube(5), far);
  const std::size_t first = cube(5).vertex_count();
  mesh.points.push_back({500, 0, 0});  // and one vertex without elements
  for (const Way& way : ways_on(GetParam(), 4)) {
    SCOPED_TRACE(name_of(way));
    const Arrival arrival = solve(mesh, Metric(), from(VertexId(0)), options_for(way));
    EXPECT_TRUE(arrival.converged);
    EXPECT_EQ(arrival.reached, first);
    EXPECT_EQ(arrival.unreached, far.vertex_count() + 1);
    EXPECT_TRUE(std::isinf(arrival.times.back()));
    EXPECT_EQ(arrival.source.back(), -1);
    EXPECT_EQ(arrival.source[0], 0);
  }
}

TEST_P(Schedules, EndWhenOnsetsAreFarApart) {
  // Far more bands between the onsets than any front could need, and more than numbers of a band's kind can count.
  const TetMesh part = cube(5);
  const TetMesh mesh = beside(part, part);
  const auto first = static_cast<std::uint32_t>(part.vertex_count());
  for (const Way& way : ways_on(GetParam(), 4)) {
    if (GetParam() == Where::cpu && (way.method != Method::banded || way.threads > 2)) continue;
    for (const double onset : {4e4, 1e12}) {
      if (onset > 1e6 && way.precision == Precision::single_) continue;
      SCOPED_TRACE(name_of(way) + " from " + std::to_string(onset));
      Sources sources = from(VertexId(0));
      sources.vertices.push_back({VertexId(first), onset});
      const Arrival arrival = solve(mesh, Metric(), sources, options_for(way));
      EXPECT_TRUE(arrival.converged);
      EXPECT_EQ(arrival.reached, mesh.vertex_count());
      const double ulp = onset * (way.precision == Precision::single_ ? 6e-8 : 1e-16);
      for (std::uint32_t v = 0; v < first; ++v)
        ASSERT_NEAR(arrival.times[first + v] - onset, arrival.times[v], 20 * ulp + 1e-4);  // each hop rounds
    }
  }
}

TEST_P(Schedules, RefuseOnsetsThatHideTravelTimes) {
  const TetMesh part = cube(3);
  const std::vector<VertexSource> late{{VertexId(0), 0}, {VertexId(part.vertex_count()), 1e41}};
  const std::vector<VertexSource> early{{VertexId(0), -1e15}};
  const std::vector<VertexSource> in_single{{VertexId(0), 0}, {VertexId(part.vertex_count()), 1e7}};
  for (const Way& way : ways_on(GetParam(), 4)) {
    const auto solve_from = [&](const std::vector<VertexSource>& vertices) {
      Sources sources;
      sources.vertices = vertices;
      solve(beside(part, part), Metric(), sources, options_for(way));
    };
    EXPECT_THROW(solve_from(late), InputError) << name_of(way);
    EXPECT_THROW(solve_from(early), InputError) << name_of(way);
    if (way.precision == Precision::single_) EXPECT_THROW(solve_from(in_single), InputError) << name_of(way);
    else EXPECT_NO_THROW(solve_from(in_single)) << name_of(way);
  }
}

TEST_P(Schedules, HonourCancellation) {
  const TetMesh mesh = cube(17);
  std::atomic<bool> cancel{true};
  for (const Way& way : ways_on(GetParam(), 4)) {
    SolveOptions options = options_for(way);
    options.progress.cancel = &cancel;
    options.band_width = 0.05;  // many bands, so that there is a moment to notice
    EXPECT_THROW(solve(mesh, Metric(), from(VertexId(0)), options), Cancelled) << name_of(way);
  }
}

/// Every kernel once on tiny meshes: what a memory or race checker can get through in seconds.
class DeviceSmall : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (!no_device().empty()) GTEST_SKIP() << no_device();
  }

  template <int Corners>
  static void expect_agreement(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                               Shared shared) {
    shared.source_init = SourceInit::plain;  // a ball would leave nothing to do
    expect_agrees(mesh, metric, sources, GetParam(), strict_reference(mesh, metric, sources, shared), shared);
  }
};

std::string test_name(const ::testing::TestParamInfo<Way>& of) {
  std::string name = name_of(of.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

using DeviceSmallTets = DeviceSmall;
INSTANTIATE_TEST_SUITE_P(, DeviceSmallTets, ::testing::ValuesIn(device_ways(4)), test_name);

TEST_P(DeviceSmallTets, Agree) {
  TetMesh mesh = cube(5, 0.2);
  mesh.points.push_back({9, 9, 9});
  const Metric metric = Metric::constant(diag149);
  expect_agreement(mesh, takes(GetParam(), metric) ? metric : rough_speed(mesh), from_two(0, 77), {});
}

using DeviceSmallTriangles = DeviceSmall;
INSTANTIATE_TEST_SUITE_P(, DeviceSmallTriangles, ::testing::ValuesIn(device_ways(3)), test_name);

TEST_P(DeviceSmallTriangles, AgreeWithVirtualElements) {
  const TriangleMesh mesh = square(9, 0.3);
  const Metric metric = rough_fibers(mesh, 2);
  expect_agreement(mesh, takes(GetParam(), metric) ? metric : rough_speed(mesh), from_two(0, 44),
                   {.obtuse = ObtuseSplit::split});
}

}  // namespace TEST_FILE
}  // namespace isochron::test
