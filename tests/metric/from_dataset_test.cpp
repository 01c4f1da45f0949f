#include "isochron/metric_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Two tetrahedra on five points.
Dataset two_tets() {
  Dataset dataset;
  dataset.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  dataset.tets.cells = {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)},
                        {VertexId(1), VertexId(2), VertexId(3), VertexId(4)}};
  return dataset;
}

Dataset with_cells(const std::string& name, int components, std::vector<double> values) {
  Dataset dataset = two_tets();
  dataset.tets.data.set({name, components, std::move(values)});
  return dataset;
}

Metric build(const Dataset& dataset, const MetricRequest& request) { return metric_from_dataset<4>(dataset, request); }

/// Seconds to cross `e` in the metric of cell `cell`.
double crossing(const Metric& metric, std::size_t cell, Vec3d e) {
  return std::sqrt(squared_length(metric.tensor(ElementId(cell)), e));
}

TEST(MetricFromDataset, IsSpeedOneUnlessTold) {
  EXPECT_EQ(crossing(build(two_tets(), {}), 0, {2, 0, 0}), 2);
  EXPECT_EQ(crossing(build(two_tets(), {.speed = 4.0}), 1, {2, 0, 0}), 0.5);
  EXPECT_THROW(build(two_tets(), {.speed = 0.0}), UsageError);
  EXPECT_THROW(build(two_tets(), {.speed = nan}), UsageError);
}

TEST(MetricFromDataset, ReadsSpeedsOfCellsAndPoints) {
  Dataset dataset = with_cells("cv", 1, {2, 4});
  dataset.point_data.set({"cv", 1, std::vector<double>{9, 9, 9, 9, 9}});
  dataset.point_data.set({"nodal", 1, std::vector<std::int32_t>{1, 2, 3, 6, 5}});
  EXPECT_DOUBLE_EQ(crossing(build(dataset, {.speed_array = "cv"}), 1, {1, 0, 0}), 0.25);
  const Metric nodal = build(dataset, {.speed_array = "nodal"});
  EXPECT_DOUBLE_EQ(crossing(nodal, 0, {1, 0, 0}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(crossing(nodal, 1, {1, 0, 0}), 1.0 / 4);
}

TEST(MetricFromDataset, WorksOnAMeshTakenOut) {
  Dataset dataset = with_cells("cv", 1, {2, 4});
  dataset.point_data.set({"nodal", 1, std::vector<float>{1, 2, 3, 6, 5}});
  const TetMesh mesh = take_mesh<4>(dataset);
  EXPECT_DOUBLE_EQ(crossing(metric_from_dataset(mesh, dataset, {.speed_array = "nodal"}), 1, {1, 0, 0}), 0.25);
  EXPECT_EQ(metric_from_dataset(mesh, dataset, {.speed_array = "cv"}).element_count(), 2U);
}

TEST(MetricFromDataset, WhatDoesNotConductMayHoldAnything) {
  const auto expect_first_alone = [](const Dataset& dataset, const MetricRequest& request) {
    const Metric metric = build(dataset, request);
    EXPECT_TRUE(metric.conducts(ElementId(0)));
    EXPECT_FALSE(metric.conducts(ElementId(1)));
  };
  Dataset dataset = with_cells("cv", 1, {2, nan});
  dataset.tets.data.set({"region", 1, std::vector<std::int32_t>{1, 13}});
  dataset.tets.data.set({"open", 1, std::vector<std::uint8_t>{1, 0}});
  dataset.tets.data.set({"fiber", 3, std::vector<double>{1, 0, 0, 0, 0, 0}});
  dataset.tets.data.set({"tensor", 6, std::vector<double>{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  expect_first_alone(dataset, {.speed_array = "cv", .excluded_regions = {13}});
  expect_first_alone(dataset, {.speed_array = "cv", .mask_array = "open"});
  expect_first_alone(dataset, {.metric_array = "tensor", .mask_array = "open"});
  expect_first_alone(dataset, {.fiber_array = "fiber", .velocities = Velocities{2, 1, 1}, .mask_array = "open"});
  expect_first_alone(dataset, {.fiber_array = "fiber", .table = {{1, {2, 1, 1}}, {13, {0, 0, 0}}}});
  expect_first_alone(dataset, {.speed = 2, .excluded_regions = {13}});
}

/// A tensor that single precision cannot hold is not one of a cell that does not conduct.
TEST(MetricFromDataset, RefusesTensorsThatAreTooLarge) {
  const Dataset dataset = with_cells("tensor", 6, {1, 1, 1, 0, 0, 0, 1e-39, 1e-39, 1e-39, 0, 0, 0});
  EXPECT_THAT([&] { build(dataset, {.velocity_tensor_array = "tensor"}); },
              ThrowsMessage<InputError>(HasSubstr("on 1 of 2 cells")));
}

TEST(MetricFromDataset, SaysWhatIsWrongWithSpeeds) {
  EXPECT_THAT(
      [] {
        build(with_cells("cv", 1, {0, -1}), {.speed_array = "cv"});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("'cv'"), HasSubstr("1 of 2"), HasSubstr("cell 1"))));
  EXPECT_THAT(
      [] {
        build(with_cells("cv", 1, {1, nan}), {.speed_array = "cv"});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("1 of 2"), HasSubstr("cell 1"))));
  EXPECT_THAT(
      [] {
        build(with_cells("cv", 2, {1, 1, 1, 1}), {.speed_array = "cv"});
      },
      ThrowsMessage<InputError>(HasSubstr("components (2, not 1)")));
  EXPECT_THAT(
      [] {
        build(with_cells("cv", 1, {1, 1, 1}), {.speed_array = "cv"});
      },
      ThrowsMessage<InputError>(HasSubstr("values: 3, tetrahedra: 2")));
  Dataset dataset = with_cells("cv", 1, {1, 1});
  dataset.point_data.set({"still", 1, std::vector<float>{0, 1, 1, 1, 1}});  // the means are positive
  const Metric still = build(dataset, {.speed_array = "still"});
  EXPECT_FALSE(still.conducts(ElementId(0)));
  EXPECT_TRUE(still.conducts(ElementId(1)));
  dataset.point_data = {};
  dataset.point_data.set({"T", 1, std::vector<double>(4, 1)});
  EXPECT_THAT(
      [&] { build(dataset, {.speed_array = "speed"}); },
      ThrowsMessage<InputError>(AllOf(HasSubstr("'speed'"), HasSubstr("tetrahedra (cv)"), HasSubstr("points (T)"))));
  EXPECT_THAT([&] { build(dataset, {.speed_array = "T"}); }, ThrowsMessage<InputError>(HasSubstr("values: 4")));
}

TEST(MetricFromDataset, ReadsTensorsInEveryOrder) {
  // xx 1, yy 2, zz 3, xy .1, xz .2, yz .3
  const SymTensor3f expected{1, 0.1F, 0.2F, 2, 0.3F, 3};
  const auto read = [](int components, std::vector<double> one, TensorOrder order) {
    std::vector<double> values = one;
    values.insert(values.end(), one.begin(), one.end());
    const Metric metric = build(with_cells("M", components, values), {.metric_array = "M", .tensor_order = order});
    return std::get<TensorMetric>(metric.kind()).tensor[1];
  };
  EXPECT_EQ(read(6, {1, 2, 3, 0.1, 0.3, 0.2}, TensorOrder::vtk), expected);
  EXPECT_EQ(read(6, {1, 0.1, 0.2, 2, 0.3, 3}, TensorOrder::row), expected);
  EXPECT_EQ(read(6, {1, 2, 3, 0.1, 0.2, 0.3}, TensorOrder::mrtrix), expected);
  EXPECT_EQ(read(9, {1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3}, TensorOrder::mrtrix), expected);
}

TEST(MetricFromDataset, InvertsVelocityTensors) {
  const std::vector<double> d{4, 1, 0, 2, 0, 1, 9, 0, 0, 4, 0, 1};
  const Metric metric = build(with_cells("D", 6, d), {.velocity_tensor_array = "D", .tensor_order = TensorOrder::row});
  EXPECT_NEAR(crossing(metric, 1, {3, 0, 0}), 1, 1e-6);
  EXPECT_NEAR(crossing(metric, 1, {0, 0, 3}), 3, 1e-6);
  EXPECT_NEAR(metric.tensor(ElementId(0)).xx, 2.0 / 7, 1e-6);
  EXPECT_NEAR(metric.tensor(ElementId(0)).xy, -1.0 / 7, 1e-6);
}

TEST(MetricFromDataset, SaysWhatIsWrongWithTensors) {
  const std::vector<double> indefinite{1, 1, 1, 0, 0, 0, 1, 1, 1, 2, 0, 0};
  EXPECT_THAT(
      [&] { build(with_cells("M", 6, indefinite), {.metric_array = "M"}); },
      ThrowsMessage<InputError>(AllOf(HasSubstr("positive definite"), HasSubstr("1 of 2"), HasSubstr("cell 1"))));
  EXPECT_THAT(
      [&] {
        build(with_cells("M", 6, {1, 1, 1, nan, 0, 0, 1, 1, 1, 0, 0, 0}), {.velocity_tensor_array = "M"});
      },
      ThrowsMessage<InputError>(HasSubstr("cell 0")));
  EXPECT_THAT([] { build(with_cells("M", 3, std::vector<double>(6, 1)), {.metric_array = "M"}); },
              ThrowsMessage<InputError>(HasSubstr("components (3, not 6 or 9)")));
  const std::vector<double> lopsided{1, 0.5, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_THAT([&] { build(with_cells("M", 9, lopsided), {.metric_array = "M"}); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("not symmetric"), HasSubstr("cell 0"))));
}

TEST(MetricFromDataset, BuildsFibersWithTwoVelocities) {
  const Dataset dataset = with_cells("fiber", 3, {2, 0, 0, 0, 1, 0});
  const Metric metric = build(dataset, {.fiber_array = "fiber", .velocities = Velocities{0.6, 0.2, 0.1}});
  EXPECT_NEAR(crossing(metric, 0, {1, 0, 0}), 1 / 0.6, 1e-6);
  EXPECT_NEAR(crossing(metric, 0, {0, 1, 0}), 1 / 0.2, 1e-6);
  EXPECT_NEAR(crossing(metric, 0, {0, 0, 1}), 1 / 0.2, 1e-6);
  EXPECT_NEAR(crossing(metric, 1, {0, 1, 0}), 1 / 0.6, 1e-6);
  EXPECT_EQ(std::get<FiberMetric>(metric.kind()).velocities[0].normal, 0.2);
}

TEST(MetricFromDataset, AveragesFibersOfPoints) {
  Dataset dataset = two_tets();
  dataset.point_data.set({"f", 3, std::vector<float>{2, 1, 0, 4, 2, 0, 1, 2, 0, 2, 4, 0, 0, 0, 8}});
  const Metric metric = build(dataset, {.fiber_array = "f", .velocities = Velocities{1, 0.5, 0.5}});
  const Vec3f& f = std::get<FiberMetric>(metric.kind()).fiber[0];
  EXPECT_NEAR(f.x, std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(f.y, std::sqrt(0.5), 1e-6);
}

/// A fibre has no front end: f and −f are the same, and files have both.
TEST(MetricFromDataset, TheSignsOfFibersAndSheetsMeanNothing) {
  const std::vector<double> fiber{1, 0.1, 0, 1, -0.1, 0.2, 0.9, 0, 0.1, 1, 0, 0, 0, 1, 0.1};
  const std::vector<double> sheet{0, 1, 0.1, 0.1, 1, 0, 0, 1, -0.2, 0, 1, 0, 1, 0, 0};
  const auto tensors = [&](unsigned signs) {
    Dataset dataset = two_tets();
    std::vector<double> f = fiber, s = sheet;
    for (std::size_t i = 0; i < f.size(); ++i) {
      if ((signs >> (i / 3) & 1U) != 0) f[i] = -f[i];
      if ((signs >> (i / 3 + 5) & 1U) != 0) s[i] = -s[i];
    }
    dataset.point_data.set({"f", 3, std::move(f)});
    dataset.point_data.set({"s", 3, std::move(s)});
    const Metric metric =
        build(dataset, {.fiber_array = "f", .sheet_array = "s", .velocities = Velocities{1, 0.5, 0.25}});
    std::vector<double> crossings;
    for (const std::size_t cell : {0U, 1U})
      for (const Vec3d e : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}, Vec3d{1, 1, 1}})
        crossings.push_back(crossing(metric, cell, e));
    return crossings;
  };
  const std::vector<double> all_forward = tensors(0);
  EXPECT_NEAR(all_forward[0], 1.0, 0.05);  // the first cell's fibres are along x
  for (unsigned signs = 1; signs < 1024; ++signs) {
    const std::vector<double> mixed = tensors(signs);
    for (std::size_t i = 0; i < mixed.size(); ++i) ASSERT_NEAR(mixed[i], all_forward[i], 1e-5) << signs;
  }
}

TEST(MetricFromDataset, FibersOfPointsMayHaveAnyLengthButMustBeFinite) {
  const auto fiber = [](double x) {
    Dataset dataset = two_tets();
    dataset.point_data.set({"f", 3, std::vector<double>{x, 0, 0, 1, 0, 0, 0, 0, 0, -1e-3, 0, 0, 1, 0, 0}});
    return std::get<FiberMetric>(build(dataset, {.fiber_array = "f", .velocities = Velocities{1, 0.5, 0.5}}).kind())
        .fiber[0];
  };
  for (const double length : {1e-300, -1e-170, 1e200, 1e308}) EXPECT_NEAR(std::abs(fiber(length).x), 1, 1e-6) << length;
  EXPECT_THROW(fiber(nan), InputError);
  EXPECT_THROW(fiber(std::numeric_limits<double>::infinity()), InputError);
}

TEST(MetricFromDataset, NoMeanHidesATensorThatIsNotPositiveDefinite) {
  Dataset dataset = two_tets();
  std::vector<double> tensors;
  for (int p = 0; p < 5; ++p) {
    const double d = p == 4 ? -1 : 4;
    tensors.insert(tensors.end(), {d, d, d, 0, 0, 0});
  }
  dataset.point_data.set({"t", 6, std::move(tensors)});
  EXPECT_THAT([&] { build(dataset, {.metric_array = "t"}); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("not positive definite"), HasSubstr("1 of 2 cells"))));
}

TEST(MetricFromDataset, ARegionHasOneRow) {
  const Dataset dataset = with_cells("region", 1, {1, 2});
  EXPECT_THROW(build(dataset, {.table = {{1, {1, 1, 1}}, {1, {2, 2, 2}}, {2, {3, 3, 3}}}}), UsageError);
}

TEST(MetricFromDataset, BuildsSheetsAndRegions) {
  Dataset dataset = with_cells("fiber", 3, {1, 0, 0, 1, 0, 0});
  dataset.tets.data.set({"sheet", 3, std::vector<double>{0, 1, 0, 0, 0, 1}});
  dataset.tets.data.set({"gmsh:physical", 1, std::vector<std::int64_t>{12, -3}});
  MetricRequest request{.fiber_array = "fiber", .sheet_array = "sheet"};
  request.table = {{-3, {1, 1, 1}}, {12, {.fiber = 0.6, .sheet = 0.4, .normal = 0.2}}};
  const Metric metric = build(dataset, request);
  EXPECT_NEAR(crossing(metric, 0, {0, 1, 0}), 1 / 0.4, 1e-5);
  EXPECT_NEAR(crossing(metric, 0, {0, 0, 1}), 1 / 0.2, 1e-5);
  EXPECT_NEAR(crossing(metric, 1, {0, 1, 1}), std::sqrt(2.0), 1e-5);
  request.region_array = "tissue";
  EXPECT_THAT([&] { build(dataset, request); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("tissue"), HasSubstr("gmsh:physical"))));
  request.region_array.clear();
  request.table.pop_back();
  EXPECT_THAT([&] { build(dataset, request); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("table: 12,"), HasSubstr("1 of 2"), HasSubstr("cell 0"))));
}

TEST(MetricFromDataset, ListsAllRegionsWithoutARow) {
  EXPECT_THAT(
      [] {
        build(with_cells("region", 1, {7, 2}), {.table = {{1, {4, 4, 4}}}});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("table: 2, 7,"), HasSubstr("2 of 2"))));
  EXPECT_THAT(
      [] {
        build(with_cells("region", 1, {nan, 2}), {.table = {{2, {4, 4, 4}}}});
      },
      ThrowsMessage<InputError>(HasSubstr("table: nan,")));
}

TEST(MetricFromDataset, TakesSpeedsByRegion) {
  Dataset dataset = with_cells("region", 1, {1, 2});
  EXPECT_EQ(crossing(build(dataset, {.table = {{1, {4, 4, 4}}, {2, {2, 2, 2}}}}), 1, {1, 0, 0}), 0.5);
  EXPECT_THROW(build(dataset, {.table = {{1, {4, 2, 2}}, {2, {2, 2, 2}}}}), UsageError);
}

TEST(MetricFromDataset, SaysWhatIsWrongWithFibers) {
  MetricRequest request{.fiber_array = "f", .velocities = Velocities{1, 0.5, 0.5}};
  const Dataset zero = with_cells("f", 3, {1, 0, 0, 0, 0, 0});
  EXPECT_THAT([&] { build(zero, request); },
              ThrowsMessage<InputError>(
                  AllOf(HasSubstr("zero length on 1 of 2"), HasSubstr("cell 1"), HasSubstr("(allow_zero_fibers)"))));
  EXPECT_THAT(
      [&] {
        build(with_cells("f", 3, {1, 0, 0, nan, 0, 0}), request);
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("not finite"), HasSubstr("cell 1"))));
  Dataset along = with_cells("f", 3, {1, 0, 0, 0, 1, 0});
  along.tets.data.set({"s", 3, std::vector<double>{0, 0, 1, 0, 2, 0}});
  MetricRequest sheets = request;
  sheets.sheet_array = "s";
  EXPECT_THAT([&] { build(along, sheets); }, ThrowsMessage<InputError>(AllOf(HasSubstr("sheet"), HasSubstr("cell 1"))));
  request.zero_fibers = ZeroFibers::isotropic;
  EXPECT_DOUBLE_EQ(crossing(build(zero, request), 1, {0, 0, 1}), 2);
}

TEST(MetricFromDataset, RefusesContradictions) {
  const Dataset dataset = with_cells("f", 3, {1, 0, 0, 1, 0, 0});
  const Velocities v{1, 0.5, 0.5};
  EXPECT_THROW(build(dataset, {.speed = 1.0, .speed_array = "f"}), UsageError);
  EXPECT_THROW(build(dataset, {.speed = 1.0, .fiber_array = "f", .velocities = v}), UsageError);
  EXPECT_THROW(build(dataset, {.fiber_array = "f"}), UsageError);
  EXPECT_THROW(build(dataset, {.velocities = v}), UsageError);
  EXPECT_THROW(build(dataset, {.sheet_array = "f"}), UsageError);
  EXPECT_THROW(build(dataset, {.fiber_array = "f", .velocities = v, .table = {{1, v}}}), UsageError);
  EXPECT_THROW(build(dataset, {.fiber_array = "f", .velocities = Velocities{1, -1, 1}}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
