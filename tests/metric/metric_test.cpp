#include "isochron/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron {
namespace TEST_FILE {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void expect_near(const SymTensor3d& a, const SymTensor3d& b, double tolerance = 1e-6) {
  EXPECT_NEAR(a.xx, b.xx, tolerance);
  EXPECT_NEAR(a.xy, b.xy, tolerance);
  EXPECT_NEAR(a.xz, b.xz, tolerance);
  EXPECT_NEAR(a.yy, b.yy, tolerance);
  EXPECT_NEAR(a.yz, b.yz, tolerance);
  EXPECT_NEAR(a.zz, b.zz, tolerance);
}

/// Seconds to cross `e` in the metric.
double crossing(const Metric& metric, Vec3d e) { return std::sqrt(squared_length(metric.tensor(ElementId(0)), e)); }

TEST(Metric, IsTheIdentityUnlessTold) {
  expect_near(Metric().tensor(ElementId(12)), SymTensor3d::identity());
  EXPECT_TRUE(Metric().isotropic());
  EXPECT_EQ(Metric().element_count(), 0U);
}

TEST(Metric, SpeedDividesLength) {
  EXPECT_DOUBLE_EQ(crossing(Metric::isotropic(4), {3, 0, 4}), 5.0 / 4);
  const Metric metric(SpeedMetric{{2, 5}});
  EXPECT_DOUBLE_EQ(crossing(metric, {0, 1, 0}), 0.5);
  expect_near(metric.tensor(ElementId(1)), SymTensor3d::identity(1.0 / 25));
  EXPECT_TRUE(metric.isotropic());
  EXPECT_EQ(metric.element_count(), 2U);
}

TEST(Metric, TensorsAreKept) {
  const Metric metric(TensorMetric{{SymTensor3f{2, 0.5F, 0, 3, 0, 4}}});
  expect_near(metric.tensor(ElementId(0)), {2, 0.5, 0, 3, 0, 4});
  EXPECT_FALSE(metric.isotropic());
  EXPECT_FALSE(Metric::constant(SymTensor3d::diagonal(1, 4, 9)).isotropic());
}

TEST(Metric, FibersWithoutSheetsAreTheSameAllAround) {
  FiberMetric fibers;
  fibers.fiber = {{0, 3, 4}};  // the length does not matter
  fibers.velocities = {{.fiber = 0.6, .sheet = 0.2, .normal = 99}};
  const Metric metric(fibers);
  EXPECT_NEAR(crossing(metric, {0, 0.6, 0.8}), 1 / 0.6, 1e-6);
  EXPECT_NEAR(crossing(metric, {1, 0, 0}), 1 / 0.2, 1e-6);
  EXPECT_NEAR(crossing(metric, {0, 0.8, -0.6}), 1 / 0.2, 1e-6);
}

TEST(Metric, SheetsGiveThreeVelocities) {
  FiberMetric fibers;
  fibers.fiber = {{1, 0, 0}};
  fibers.sheet = {{0.5F, 2, 0}};  // only its part across the fibre counts
  fibers.velocities = {{.fiber = 0.6, .sheet = 0.4, .normal = 0.2}};
  const Metric metric(fibers);
  expect_near(metric.tensor(ElementId(0)), SymTensor3d::diagonal(1 / 0.36, 1 / 0.16, 1 / 0.04), 1e-5);
  fibers.sheet = {{2, 0, 0}};  // along the fibre: no sheet
  expect_near(Metric(fibers).tensor(ElementId(0)), SymTensor3d::diagonal(1 / 0.36, 1 / 0.16, 1 / 0.16), 1e-5);
}

TEST(Metric, RegionsPickTheirRowAndZeroFibersAreIsotropic) {
  FiberMetric fibers;
  fibers.fiber = {{1, 0, 0}, {1, 0, 0}, {0, 0, 0}};
  fibers.region = {0, 1, 1};
  fibers.velocities = {{1, 1, 1}, {.fiber = 2, .sheet = 0.5, .normal = 0.5}};
  const Metric metric(fibers);
  expect_near(metric.tensor(ElementId(0)), SymTensor3d::identity());
  expect_near(metric.tensor(ElementId(1)), SymTensor3d::diagonal(0.25, 4, 4));
  expect_near(metric.tensor(ElementId(2)), SymTensor3d::identity(4));
}

TEST(Metric, EveryKindTakesAnotherUnit) {
  const Vec3d step{3, 4, 12};
  for (Metric metric :
       {Metric::isotropic(2), Metric(SpeedMetric{{0.5}}), Metric(TensorMetric{{SymTensor3f{2, 0.5F, 0, 3, 0, 4}}}),
        Metric(FiberMetric{{{1, 1, 0}}, {{0, 0, 1}}, {}, {Velocities{0.6, 0.3, 0.2}}})}) {
    const double before = squared_length(metric.tensor(ElementId(0)), step);
    metric.change_unit(1e-3);
    EXPECT_NEAR(squared_length(metric.tensor(ElementId(0)), 1000.0 * step), before, 1e-6 * before);
    EXPECT_NO_THROW(check_metric(metric, 1, "it"));
  }
}

TEST(Metric, SquaredLengthsComeInEdgeOrder) {
  const TetMesh mesh = generate_cube({.nx = 2, .ny = 2, .nz = 2});
  const auto lengths = squared_lengths(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), ElementId(0));
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) {
      const Vec3d e = mesh.point(mesh.elements[0][b]) - mesh.point(mesh.elements[0][a]);
      EXPECT_DOUBLE_EQ(lengths[edge_index(a, b)], e.x * e.x + 4 * e.y * e.y + 9 * e.z * e.z);
    }
}

TEST(CheckMetric, AcceptsWhatIsRight) {
  EXPECT_NO_THROW(check_metric(Metric(), 7, "metric"));
  EXPECT_NO_THROW(check_metric(Metric(SpeedMetric{{1, 2}}), 2, "speed"));
  EXPECT_NO_THROW(
      check_metric(Metric(FiberMetric{.fiber = {{1, 0, 0}, {0, 0, 0}}, .sheet = {}, .region = {}}), 2, "fibres"));
}

TEST(CheckMetric, ThreadsFindTheSame) {
  SpeedMetric speeds{std::vector<double>(50000, 1.0)};
  EXPECT_NO_THROW(check_metric(Metric(speeds), 50000, "speed", 4));
  EXPECT_FALSE(conducting_elements(Metric(speeds), 50000, "speed", 4));
  std::vector<double> some(50000, 1.0);
  some[40000] = some[20000] = 0;
  const auto conducting = conducting_elements(Metric(SpeedMetric{some}), 50000, "speed", 4);
  ASSERT_TRUE(conducting);
  EXPECT_EQ(conducting->size(), 49998U);
  EXPECT_EQ((*conducting)[20000], ElementId(20001));
  some[45000] = some[30000] = -1;
  EXPECT_THAT([&] { conducting_elements(Metric(SpeedMetric{some}), 50000, "speed", 4); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("2 of 50000"), HasSubstr("element 30000"))));
}

TEST(CheckMetric, CountsAndNamesTheFirst) {
  EXPECT_THAT(
      [] {
        check_metric(Metric(SpeedMetric{{1, 0, -2, nan}}), 4, "speed array 'cv'");
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("speed array 'cv'"), HasSubstr("3 of 4"), HasSubstr("element 1"))));
  EXPECT_THAT(
      [] {
        check_metric(Metric(SpeedMetric{{1, 1}}), 3, "speed");
      },
      ThrowsMessage<InputError>(HasSubstr("values: 2, elements: 3")));
  EXPECT_THROW(check_metric(Metric(SpeedMetric{}), 3, "speed"), InputError);
  EXPECT_THAT(
      [] {
        check_metric(Metric(TensorMetric{{{1, 0, 0, 1, 0, 1}, {1, 2, 0, 1, 0, 1}}}), 2, "tensors");
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("positive definite"), HasSubstr("element 1"))));
  EXPECT_THAT(
      [] {
        check_metric(Metric(TensorMetric{{{1, 0, 0, 1, 0, 1}, {0, 0, 0, 0, 0, 0}}}), 2, "tensors");
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("too large or too small"), HasSubstr("1 of 2"))));
  EXPECT_THROW(check_metric(Metric::constant(SymTensor3d::diagonal(1, 1, 0)), 2, "metric"), InputError);
  EXPECT_THROW(check_metric(Metric::isotropic(0), 2, "speed"), InputError);
}

TEST(CheckMetric, SpeedsMustBeOnesThatCanBeSquared) {
  for (const double speed : {1e-200, 1e200, 1e-160, 1e160})
    EXPECT_THAT(
        [&] {
          check_metric(Metric(SpeedMetric{{1, speed}}), 2, "speeds");
        },
        ThrowsMessage<InputError>(AllOf(HasSubstr("1 of 2"), HasSubstr("too large or too small"))))
        << speed;
  EXPECT_NO_THROW(check_metric(Metric(SpeedMetric{{1e-150, 1e150}}), 2, "speeds"));
}

TEST(CheckMetric, LooksIntoFibers) {
  FiberMetric good;
  good.fiber = {{1, 0, 0}, {0, 1, 0}};
  FiberMetric bad = good;
  bad.sheet = {{0, 1, 0}};
  EXPECT_THROW(check_metric(Metric(bad), 2, "fibres"), InputError);
  bad = good;
  bad.region = {0};
  EXPECT_THROW(check_metric(Metric(bad), 2, "fibres"), InputError);
  bad.region = {0, 1};
  EXPECT_THAT([&] { check_metric(Metric(bad), 2, "fibres"); }, ThrowsMessage<InputError>(HasSubstr("element 1")));
  bad = good;
  bad.fiber = {{1, 0, 0}, {std::numeric_limits<float>::quiet_NaN(), 1, 0}};
  EXPECT_THAT([&] { check_metric(Metric(bad), 2, "fibres"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("fibres is not finite"), HasSubstr("1 of 2"))));
  bad = good;
  bad.velocities = {{0.6, -0.3, 0.3}};
  EXPECT_THROW(check_metric(Metric(bad), 2, "fibres"), InputError);
  bad.velocities.clear();
  EXPECT_THROW(check_metric(Metric(bad), 2, "fibres"), InputError);
  bad = good;
  bad.fiber[1].y = static_cast<float>(nan);
  EXPECT_THAT([&] { check_metric(Metric(bad), 2, "fibres"); }, ThrowsMessage<InputError>(HasSubstr("1 of 2")));
}

}  // namespace TEST_FILE
}  // namespace isochron
