// Meshes, metrics and images that lie in device memory are solved as those on the host. What needs a device skips
// itself where there is none.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/device.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/simplex/cuda/mesh_input.h"
#include "isochron/solve/simplex/problem.h"
#include "isochron/solver.h"
#include "solve/grid_samples.h"
#include "solve/samples.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

using cuda::DeviceArray;
using cuda::DeviceTable;
using cuda::NumberType;
using ::testing::HasSubstr;

class DeviceArrays : public DeviceCase {};
class DeviceSmallArrays : public DeviceCase {};

template <class Number>
constexpr NumberType type_of = std::is_same_v<Number, double>         ? NumberType::float64
                               : std::is_same_v<Number, float>        ? NumberType::float32
                               : std::is_same_v<Number, std::int64_t> ? NumberType::int64
                               : std::is_same_v<Number, std::int32_t> ? NumberType::int32
                                                                      : NumberType::uint32;

/// Rows of numbers in device memory, as somebody else would have them there.
template <class Number>
struct Sent {
  std::size_t columns;
  DeviceArray<Number> values;
  [[nodiscard]] DeviceTable table() const {
    return cuda::packed_table(values.data(), type_of<Number>, values.size() / columns, columns);
  }
};
template <class Number>
Sent<Number> sent(const std::vector<Number>& values, std::size_t columns) {
  return {columns, DeviceArray<Number>(std::span<const Number>(values))};
}

template <class Number, int Corners>
Sent<Number> sent_elements(const SimplexMesh<Corners>& mesh) {
  std::vector<Number> ids;
  for (const auto& element : mesh.elements)
    for (const VertexId v : element) ids.push_back(static_cast<Number>(v.value));
  return sent(ids, Corners);
}
template <class Number, int Corners>
Sent<Number> sent_points(const SimplexMesh<Corners>& mesh, int columns = 3) {
  std::vector<Number> numbers;
  for (const Vec3d& p : mesh.points)
    for (int k = 0; k < columns; ++k) numbers.push_back(static_cast<Number>(p[k]));
  return sent(numbers, static_cast<std::size_t>(columns));
}
template <class Number>
Sent<Number> sent_speeds(const Metric& metric) {
  std::vector<Number> numbers;
  for (const double f : std::get<SpeedMetric>(metric.kind()).speed) numbers.push_back(static_cast<Number>(f));
  return sent(numbers, 1);
}
template <class Number>
Sent<Number> sent_vectors(std::span<const Vec3f> vectors) {
  std::vector<Number> numbers;
  for (const Vec3f& v : vectors)
    for (int k = 0; k < 3; ++k) numbers.push_back(static_cast<Number>(v[k]));
  return sent(numbers, 3);
}
template <class Number>
Sent<Number> sent_tensors(std::span<const SymTensor3f> tensors, std::size_t columns) {
  std::vector<Number> numbers;
  for (const SymTensor3f& m : tensors) {
    const std::vector<float> row = columns == 6
                                       ? std::vector<float>{m.xx, m.xy, m.xz, m.yy, m.yz, m.zz}
                                       : std::vector<float>{m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz};
    for (const float x : row) numbers.push_back(static_cast<Number>(x));
  }
  return sent(numbers, columns);
}

/// Of two solves only the order of updates differs.
SolveOptions exact_options(SourceInit init = SourceInit::plain) {
  SolveOptions options;
  options.backend = Backend::cuda;
  options.precision = Precision::double_;
  options.tolerance = 1e-9;
  options.source_init = init;
  options.verify = Keep::yes;
  return options;
}
constexpr double exactly = 1e-6;

/// A solver whose times stay in device memory.
Solver device_solver(const Domain& domain, SolveOptions options = {}) {
  options.results = ResultMemory::device;
  return Solver(domain, std::move(options));
}

void expect_same(const Arrival& arrival, const Arrival& expected, double near = exactly) {
  ASSERT_TRUE(arrival.on_device);
  const DeviceResult& result = *arrival.on_device;
  EXPECT_EQ(result.device, cuda::current_device());
  EXPECT_EQ(cuda::device_of(result.times.data()), result.device);
  EXPECT_LE(worst_difference(cuda::fetch_all(result.times), expected.times), near);
  const std::vector<std::int32_t> source = cuda::fetch_all(result.source);
  ASSERT_EQ(source.size(), expected.source.size());
  std::size_t different = 0;
  for (std::size_t v = 0; v < source.size(); ++v) different += source[v] == expected.source[v] ? 0 : 1;
  EXPECT_LE(different, source.size() / 100) << "only where sources meet";
  EXPECT_TRUE(arrival.times.empty());
  EXPECT_EQ(arrival.reached, expected.reached);
  EXPECT_EQ(arrival.unreached, expected.unreached);
  EXPECT_NEAR(arrival.max_time, expected.max_time, near);
  EXPECT_TRUE(arrival.converged);
  ASSERT_TRUE(arrival.residual);
  EXPECT_TRUE(arrival.residual->passed()) << arrival.residual->worst;
  EXPECT_EQ(arrival.backend, Backend::cuda);
  EXPECT_EQ(arrival.method, Method::push);
  EXPECT_EQ(arrival.precision, expected.precision);
}

/// The mesh in several types of numbers, and the metric: all give what the host's arrays give.
template <int Corners>
void expect_solved(const SimplexMesh<Corners>& mesh, const AnyMetric& metric, const Metric& same,
                   const Sources& sources, SourceInit init = SourceInit::plain) {
  const SolveOptions options = exact_options(init);
  const Arrival expected = Solver({mesh, same}, options).solve(sources);
  expect_same(device_solver({mesh, metric}, options).solve(sources), expected);
  const auto points = sent_points<double>(mesh);
  const auto ids = sent_elements<std::int32_t>(mesh);
  const auto long_ids = sent_elements<std::int64_t>(mesh);
  expect_same(device_solver({DeviceMesh{points.table(), ids.table()}, metric}, options).solve(sources), expected);
  expect_same(device_solver({DeviceMesh{points.table(), long_ids.table()}, metric}, options).solve(sources), expected);
}

template <int Corners>
void expect_all_metrics_solved(const SimplexMesh<Corners>& mesh) {
  const Sources sources = from_two(1, mesh.vertex_count() / 2);
  const Metric speed = rough_speed(mesh);
  const auto speeds = sent_speeds<double>(speed);
  expect_solved(mesh, Metric(), Metric(), sources);
  expect_solved(mesh, speed, speed, sources);
  expect_solved(mesh, DeviceSpeed{speeds.table()}, speed, sources);
  expect_solved(mesh, DeviceSpeed{speeds.table()}, speed, from(vertex(0), -2), SourceInit::ball);

  const Metric fibers = rough_fibers(mesh, 3);
  const auto& directions = std::get<FiberMetric>(fibers.kind()).fiber;
  const auto single = sent_vectors<float>(directions);
  const auto wide = sent_vectors<double>(directions);
  DeviceFiber fiber{single.table(), {}, {3, 1, 1}};
  expect_solved(mesh, fiber, fibers, sources);
  fiber.fiber = wide.table();
  expect_solved(mesh, fiber, fibers, sources);
  FiberMetric with_sheets = std::get<FiberMetric>(fibers.kind());
  with_sheets.velocities = {{3, 2, 1}};
  for (const Vec3f& f : with_sheets.fiber) with_sheets.sheet.push_back({f.z + 0.5F, f.x, -f.y});
  const auto sheets = sent_vectors<float>(with_sheets.sheet);
  fiber.sheet = sheets.table();
  fiber.velocities = {3, 2, 1};
  expect_solved(mesh, fiber, Metric(with_sheets), sources);

  TensorMetric tensors;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    tensors.tensor.push_back(narrowed(fibers.tensor(ElementId(e))));
  const auto six = sent_tensors<float>(tensors.tensor, 6);
  const auto nine = sent_tensors<double>(tensors.tensor, 9);
  expect_solved(mesh, DeviceTensor{six.table()}, Metric(tensors), sources);
  expect_solved(mesh, DeviceTensor{nine.table()}, Metric(tensors), sources);
}

TEST_F(DeviceArrays, Tetrahedra) { expect_all_metrics_solved(cube(7, 0.2)); }
TEST_F(DeviceArrays, Triangles) { expect_all_metrics_solved(square(15, 0.2)); }

TEST_F(DeviceArrays, PartsThatAreNotReachedAndSourcesThatAreNotVertices) {
  const TetMesh mesh = beside(cube(6, 0.2), cube(3));
  const Metric speed = rough_speed(mesh);
  const auto speeds = sent_speeds<double>(speed);
  expect_solved(mesh, DeviceSpeed{speeds.table()}, speed, from(vertex(3)));
  Sources points = point_source({2.2, 1.7, 3.1}, 0.5);
  expect_solved(mesh, DeviceSpeed{speeds.table()}, speed, points);
  points.level_set.resize(mesh.vertex_count());
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) points.level_set[v] = mesh.points[v].z - 4.3;
  expect_solved(mesh, DeviceSpeed{speeds.table()}, speed, points);
}

TEST_F(DeviceArrays, FlatMeshesOfTwoColumnsAndOtherOrdersInMemory) {
  const TriangleMesh mesh = square(12, 0.2);
  const Sources sources = from(vertex(5));
  const SolveOptions options = exact_options();
  const Arrival expected = Solver({mesh, Metric()}, options).solve(sources);
  const auto ids = sent_elements<std::uint32_t>(mesh);
  const auto flat = sent_points<double>(mesh, 2);
  expect_same(device_solver({DeviceMesh{flat.table(), ids.table()}, Metric()}, options).solve(sources), expected);

  // All x, then all y; and every second row of a longer table, from its end.
  std::vector<double> columns;
  for (int k = 0; k < 2; ++k)
    for (const Vec3d& p : mesh.points) columns.push_back(p[k]);
  const auto by_column = sent(columns, 1);
  const auto rows = static_cast<std::ptrdiff_t>(mesh.vertex_count());
  DeviceTable table = by_column.table();
  table.shape[0] = mesh.vertex_count();
  table.columns = 2;
  table.column_stride = 8 * rows;
  expect_same(device_solver({DeviceMesh{table, ids.table()}, Metric()}, options).solve(sources), expected);
  std::vector<double> backwards(4 * mesh.vertex_count(), 77);
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    for (int k = 0; k < 2; ++k)
      backwards[4 * (mesh.vertex_count() - 1 - v) + static_cast<std::size_t>(k)] = mesh.points[v][k];
  const auto reversed = sent(backwards, 2);
  table = reversed.table();
  table.data = reversed.values.data() + 4 * (rows - 1);
  table.shape[0] = mesh.vertex_count();
  table.strides[0] = -32;
  expect_same(device_solver({DeviceMesh{table, ids.table()}, Metric()}, options).solve(sources), expected);
}

TEST_F(DeviceArrays, SinglePrecisionIsTheDefault) {
  const TetMesh mesh = cube(9, 0.2);
  const Metric speed = rough_speed(mesh);
  const auto points = sent_points<float>(mesh);
  const auto ids = sent_elements<std::int64_t>(mesh);
  const auto speeds = sent_speeds<float>(speed);
  SolveOptions options;
  options.source_init = SourceInit::plain;
  const Sources sources = from(vertex(4));
  const Arrival expected = Solver({mesh, speed}, options).solve(sources);
  const Arrival arrival =
      device_solver({DeviceMesh{points.table(), ids.table()}, DeviceSpeed{speeds.table()}}, options).solve(sources);
  EXPECT_EQ(arrival.precision, Precision::single_);
  EXPECT_LE(worst_difference(cuda::fetch_all(arrival.on_device->times), expected.times), 2e-3);
  EXPECT_EQ(cuda::fetch_all(arrival.on_device->source), expected.source);
}

TEST_F(DeviceArrays, AnInnerLoopOfNewSpeeds) {
  const TriangleMesh mesh = square(20, 0.2);
  const SolveOptions options = exact_options();
  const auto points = sent_points<double>(mesh);
  const auto ids = sent_elements<std::int32_t>(mesh);
  Metric speed = rough_speed(mesh);
  auto speeds = sent_speeds<double>(speed);
  Solver solver = device_solver({DeviceMesh{points.table(), ids.table()}, DeviceSpeed{speeds.table()}}, options);
  const Sources sources = from(vertex(0));
  for (int step = 0; step < 3; ++step) {
    expect_same(solver.solve(sources), Solver({mesh, speed}, options).solve(sources));
    SpeedMetric faster = std::get<SpeedMetric>(speed.kind());
    for (double& f : faster.speed) f *= 1 + 0.1 * f;
    speeds.values.upload_from(faster.speed);
    // What was given is not looked at again, so the array may change.
    expect_same(solver.solve(sources), Solver({mesh, speed}, options).solve(sources));
    speed = Metric(faster);
    solver.set_metric(DeviceSpeed{speeds.table()});
  }
  solver.set_metric(Metric::isotropic(3));
  expect_same(solver.solve(sources), Solver({mesh, Metric::isotropic(3)}, options).solve(sources));
}

TEST_F(DeviceArrays, LeaveNoMemoryBehind) {
  const TetMesh mesh = cube(30);
  const auto speeds = sent_speeds<double>(rough_speed(mesh));
  Solver solver = device_solver({mesh, DeviceSpeed{speeds.table()}});
  (void)solver.solve(from(vertex(0)));
  const std::size_t free = cuda::free_bytes();
  for (int i = 0; i < 20; ++i) {
    solver.set_metric(DeviceSpeed{speeds.table()});
    (void)solver.solve(from(vertex(0)));
  }
  EXPECT_GE(cuda::free_bytes() + (std::size_t{4} << 20), free);
}

/// What an action says that throws an InputError.
template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST_F(DeviceArrays, AreRefusedWithTheHostsWords) {
  TetMesh mesh = cube(4);
  const Metric speed = rough_speed(mesh);
  const auto good = sent_speeds<double>(speed);
  const auto build = [&](const TetMesh& broken, const Metric& metric) {
    const auto points = sent_points<double>(broken);
    const auto ids = sent_elements<std::int64_t>(broken);
    const auto speeds = sent_speeds<double>(metric);
    const std::string on_host = refusal([&] { Solver({broken, metric}, exact_options()); });
    EXPECT_NE(on_host, "nothing");
    EXPECT_EQ(refusal([&] {
                device_solver({DeviceMesh{points.table(), ids.table()}, DeviceSpeed{speeds.table()}}, exact_options());
              }),
              on_host);
  };
  TetMesh broken = mesh;
  broken.points[7].y = std::numeric_limits<double>::quiet_NaN();
  build(broken, speed);
  broken = mesh;
  broken.elements[5][2] = VertexId(64);
  build(broken, speed);
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    SpeedMetric wrong = std::get<SpeedMetric>(speed.kind());
    wrong.speed[3] = wrong.speed[9] = bad;
    build(mesh, Metric(wrong));
  }
  SpeedMetric few = std::get<SpeedMetric>(speed.kind());
  few.speed.pop_back();
  build(mesh, Metric(few));
  TetMesh empty = mesh;
  empty.points.clear();
  const auto points = sent_points<double>(mesh);
  auto negative = sent_elements<std::int32_t>(mesh);
  const std::vector<std::int32_t> minus{-1};
  negative.values.upload_from(minus);
  EXPECT_THAT(refusal([&] {
                device_solver({DeviceMesh{points.table(), negative.table()}, speed});
              }),
              HasSubstr("points that do not exist (1 times, first in element 0"));
  const auto fractions = sent(std::vector<float>(4 * mesh.element_count(), 0), 4);
  EXPECT_THAT(refusal([&] {
                device_solver({DeviceMesh{points.table(), fractions.table()}, speed});
              }),
              HasSubstr("integers"));
  const auto ids = sent_elements<std::int32_t>(mesh);
  const auto pairs = sent(std::vector<std::int32_t>(2 * mesh.element_count(), 0), 2);
  EXPECT_THAT(refusal([&] {
                device_solver({DeviceMesh{points.table(), pairs.table()}, speed});
              }),
              HasSubstr("elements have 2 corners; give 4"));
  DeviceTable on_host = cuda::packed_table(mesh.points.data(), NumberType::float64, mesh.vertex_count(), 3);
  EXPECT_THAT(refusal([&] {
                device_solver({DeviceMesh{on_host, ids.table()}, speed});
              }),
              HasSubstr("should be in the memory of a GPU"));
}

TEST_F(DeviceArrays, ARefusedMetricLeavesTheOneBefore) {
  const TetMesh mesh = cube(6, 0.2);
  const Metric speed = rough_speed(mesh);
  const auto good = sent_speeds<double>(speed);
  const auto bad = sent(std::vector<double>(mesh.element_count(), -1), 1);
  const auto few = sent(std::vector<double>(5, 1), 1);
  const SolveOptions options = exact_options();
  Solver solver = device_solver({mesh, DeviceSpeed{good.table()}}, options);
  const Arrival expected = Solver({mesh, speed}, options).solve(from(vertex(1)));
  EXPECT_THROW(solver.set_metric(DeviceSpeed{bad.table()}), InputError);
  expect_same(solver.solve(from(vertex(1))), expected);
  EXPECT_THROW(solver.set_metric(DeviceSpeed{few.table()}), InputError);
  expect_same(solver.solve(from(vertex(1))), expected);
  EXPECT_THROW(solver.solve(from(vertex(216))), InputError);
  EXPECT_THROW(solver.solve(Sources{}), InputError);
  expect_same(solver.solve(from(vertex(1))), expected);
}

// ---- images

SolveOptions exact_grid(int order = 1, SourceInit init = SourceInit::plain) {
  SolveOptions options;
  options = exact_options(init);
  options.order = order;
  return options;
}

Metric wavy_speed(const ImageGrid& grid) {
  SpeedMetric speed;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const Vec3d p = grid.position(VertexId(v));
    speed.speed.push_back(1.5 + std::sin(0.7 * p.x) * std::cos(0.4 * p.y + p.z));
  }
  return Metric(speed);
}

void expect_image_solved(const ImageGrid& grid, const Metric& speed, const Sources& sources,
                         const SolveOptions& options, const std::vector<std::uint8_t>& mask = {}) {
  const Arrival expected = Solver({grid, speed, mask}, options).solve(sources);
  const auto speeds = sent_speeds<double>(speed);
  Solver solver = device_solver({grid, DeviceSpeed{speeds.table()}, mask}, options);
  const Arrival arrival = solver.solve(sources);
  // Scales are rounded to single precision after other sums; of order 2 the choice of differences may be a close one.
  expect_same(arrival, expected, options.order == 2 ? 0.05 : 1e-5);
  EXPECT_TRUE(arrival.notes.empty());
}

TEST_F(DeviceArrays, Images) {
  ImageGrid solid = cube_grid(14);
  solid.axes = {Vec3d{0.5, 0, 0}, Vec3d{0, 2, 0}, Vec3d{0, 0, 1}};
  const ImageGrid flat = flat_grid(25);
  for (const ImageGrid& grid : {solid, flat}) {
    const Metric speed = wavy_speed(grid);
    Sources two = voxel_source(VertexId(3), 0.5);
    two.vertices.push_back({VertexId(grid.voxel_count() / 2), -1});
    for (const int order : {1, 2}) {
      expect_image_solved(grid, speed, centre_source(grid), exact_grid(order));
      expect_image_solved(grid, speed, centre_source(grid), exact_grid(order, SourceInit::ball));
      expect_image_solved(grid, speed, point_source(grid.position(Vec3d{4.3, 5.2, 0}), 2),
                          exact_grid(order, SourceInit::ball));
    }
    expect_image_solved(grid, speed, two, exact_grid());
    std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
    for (std::size_t v = 0; v < mask.size(); ++v) mask[v] = v % 5 != 2 || v % 7 == 0 ? 1 : 0;
    mask[3] = mask[grid.voxel_count() / 2] = 1;
    expect_image_solved(grid, speed, two, exact_grid(), mask);
    for (std::size_t v = 0; v < mask.size(); ++v) mask[v] = v < 60 ? 1 : 0;
    expect_image_solved(grid, speed, voxel_source(VertexId(3)), exact_grid(1, SourceInit::ball), mask);
  }
}

TEST_F(DeviceArrays, ImagesWhoseLastIndexRunsFastest) {
  ImageGrid grid = cube_grid(9);
  grid.shape = {7, 8, 9};
  const Metric speed = wavy_speed(grid);
  std::vector<float> last_fastest(grid.voxel_count());
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    last_fastest[(i * 8 + j) * 9 + k] = static_cast<float>(std::get<SpeedMetric>(speed.kind()).speed[v]);
  }
  const auto image = sent(last_fastest, 1);
  DeviceTable table = image.table();
  const std::size_t shape[3] = {7, 8, 9};
  const std::ptrdiff_t strides[3] = {4 * 72, 4 * 9, 4};
  std::copy(shape, shape + 3, table.shape);
  std::copy(strides, strides + 3, table.strides);
  const Arrival expected = Solver({grid, speed, {}}, exact_grid()).solve(centre_source(grid));
  expect_same(device_solver({grid, DeviceSpeed{table}, {}}, exact_grid()).solve(centre_source(grid)), expected, 1e-4);
}

TEST_F(DeviceArrays, NewSpeedsAndTensorsOnTheSameImage) {
  const ImageGrid grid = cube_grid(10);
  const Metric speed = wavy_speed(grid);
  SpeedMetric other = std::get<SpeedMetric>(speed.kind());
  for (double& f : other.speed) f = 30 / f;  // of another unit
  const auto first = sent_speeds<double>(speed);
  const auto second = sent_speeds<double>(Metric(other));
  const auto bad = sent(std::vector<double>(grid.voxel_count(), 0), 1);
  const Metric tensors = varying(grid, fiber_metric(4, {1, 0.4, 0.2}));
  const auto six = sent_tensors<float>(std::get<TensorMetric>(tensors.kind()).tensor, 6);
  const SolveOptions options = exact_grid();
  const Sources sources = centre_source(grid);
  const auto expected = [&](const Metric& metric) { return Solver({grid, metric, {}}, options).solve(sources); };
  Solver solver = device_solver({grid, DeviceSpeed{first.table()}, {}}, options);
  expect_same(solver.solve(sources), expected(speed), 1e-5);
  solver.set_metric(DeviceSpeed{second.table()});
  expect_same(solver.solve(sources), expected(Metric(other)), 1e-5);
  EXPECT_EQ(refusal([&] { solver.set_metric(DeviceSpeed{bad.table()}); }), refusal([&] {
              const Metric zeros(SpeedMetric{std::vector<double>(grid.voxel_count(), 0)});
              Solver({grid, zeros, {}}, options);
            }));
  expect_same(solver.solve(sources), expected(Metric(other)), 1e-5);
  solver.set_metric(DeviceTensor{six.table()});
  const Arrival arrival = solver.solve(sources);
  expect_same(arrival, expected(tensors), 1e-5);
  ASSERT_EQ(arrival.notes.size(), 1U);
  EXPECT_THAT(arrival.notes[0], HasSubstr("copied to the host"));
  solver.set_metric(Metric::isotropic(2));
  expect_same(solver.solve(sources), expected(Metric::isotropic(2)), 1e-5);
  solver.set_metric(DeviceSpeed{first.table()});
  expect_same(solver.solve(sources), expected(speed), 1e-5);
}

TEST_F(DeviceArrays, ImagesOnAxesThatAreNotOrthogonal) {
  ImageGrid grid = flat_grid(20);
  grid.axes[1] = {0.4, 1, 0};
  const Metric speed = wavy_speed(grid);
  const auto speeds = sent_speeds<double>(speed);
  const Arrival expected = Solver({grid, speed, {}}, exact_grid()).solve(centre_source(grid));
  expect_same(device_solver({grid, DeviceSpeed{speeds.table()}, {}}, exact_grid()).solve(centre_source(grid)), expected,
              1e-5);
}

TEST_F(DeviceArrays, OneTriangle) {
  const TriangleMesh triangle = one_triangle();
  const auto speed = sent(std::vector<float>{2}, 1);
  const SolveOptions options = exact_options();
  const Metric same = Metric::isotropic(2);
  const auto points = sent_points<float>(triangle);
  const auto ids = sent_elements<std::int64_t>(triangle);
  expect_same(device_solver({DeviceMesh{points.table(), ids.table()}, DeviceSpeed{speed.table()}}, options)
                  .solve(from_two(0, 3)),
              Solver({triangle, same}, options).solve(from_two(0, 3)));
}

// ---- small ones, for checkers of the device's memory

TEST_F(DeviceSmallArrays, OneTetrahedron) {
  const TetMesh tet = one_tet();
  const auto speed = sent(std::vector<float>{2}, 1);
  const SolveOptions options = exact_options();
  const Metric same = Metric::isotropic(2);
  expect_same(device_solver({tet, DeviceSpeed{speed.table()}}, options).solve(from(vertex(2))),
              Solver({tet, same}, options).solve(from(vertex(2))));
}

TEST_F(DeviceSmallArrays, AnImage) {
  const ImageGrid grid = flat_grid(6);
  const std::vector<std::uint8_t> mask{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1,
                                       1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
  expect_image_solved(grid, wavy_speed(grid), voxel_source(VertexId(0)), exact_grid(), mask);
}

// ---- what the host does for them

/// Needs no device: what a device's speeds are turned into is what the host makes of them.
template <class T, int Dim>
void expect_speed_stencils(const ImageGrid& grid, const std::vector<std::uint8_t>& mask) {
  const GridCells cells = make_cells(grid, mask);
  const Metric speed = wavy_speed(grid);
  const auto made = make_stencils<T>({grid, speed}, cells, 1);
  const auto& expected = std::get<AxisProblem<T, Dim>>(made);
  double slowness = 0;
  for (const std::uint32_t cell : cells.list)
    slowness += 1 / std::get<SpeedMetric>(speed.kind()).speed[cells.box.voxel(cells.box.index(cell)).index()];
  const auto found = speed_stencils<T, Dim>(grid, cells, slowness / static_cast<double>(cells.list.size()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problem.unit, expected.unit);
  EXPECT_EQ(found->problem.vertex_count, expected.vertex_count);
  EXPECT_EQ(found->problem.scale_stride, expected.scale_stride);
  EXPECT_NEAR(found->problem.mean_edge, expected.mean_edge, 1e-5);
  for (int i = 0; i < Dim; ++i) EXPECT_NEAR(found->problem.weight[i], expected.weight[i], 1e-6);
  for (const std::uint32_t cell : cells.list) {
    const double f = std::get<SpeedMetric>(speed.kind()).speed[cells.box.voxel(cells.box.index(cell)).index()];
    EXPECT_NEAR(found->factor * f * f, expected.scale[cell], 1e-6 * expected.scale[cell]);
  }
}

TEST(ArraysOfADevice, SpeedsMakeTheHostsStencils) {
  ImageGrid solid = cube_grid(6);
  solid.axes = {Vec3d{0, 0.5, 0}, Vec3d{-2, 0, 0}, Vec3d{0, 0, 3}};
  std::vector<std::uint8_t> mask(solid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); v += 4) mask[v] = 0;
  expect_speed_stencils<float, 3>(solid, {});
  expect_speed_stencils<double, 3>(solid, mask);
  expect_speed_stencils<float, 2>(flat_grid(9), {});
  ImageGrid skewed = flat_grid(9);
  skewed.axes[1] = {0.5, 1, 0};
  EXPECT_FALSE((speed_stencils<float, 2>(skewed, make_cells(skewed, {}), 1)));
}

TEST(ArraysOfADevice, SeedsNeedOnlyTheSpeedsAroundTheirSources) {
  const ImageGrid solid = cube_grid(15), flat = flat_grid(30);
  for (const ImageGrid& grid : {solid, flat}) {
    const Metric speed = wavy_speed(grid);
    std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
    for (std::size_t v = 0; v < mask.size(); v += 11) mask[v] = 0;
    const GridCells cells = make_cells(grid, mask);
    Sources sources = voxel_source(VertexId(16));
    sources.vertices.push_back({VertexId(17), 1});
    sources.vertices.push_back({VertexId(100), 1});
    sources.points.push_back({grid.position(Vec3d{9.4, 7.5, 0}), 0});
    sources.points.push_back({grid.position(Vec3d{2.5, 10.5, 0}), 0});
    const auto placed = place_grid_sources(grid, cells, sources);
    for (const SourceInit init : {SourceInit::plain, SourceInit::ball})
      for (const int radius : {0, 1, 4}) {
        const std::vector<Seed> expected = make_grid_seeds({grid, speed}, cells, placed, init, radius);
        SomeSpeeds some;
        for (const std::uint32_t v : voxels_of_seeds(grid, cells, placed, init, radius))
          some.emplace(v, std::get<SpeedMetric>(speed.kind()).speed[v]);
        EXPECT_LT(some.size(), grid.voxel_count() / 2);
        const Metric none(SpeedMetric{});
        const std::vector<Seed> found = make_grid_seeds({grid, none, &some}, cells, placed, init, radius);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].vertex, expected[i].vertex);
          EXPECT_EQ(found[i].time, expected[i].time);
          EXPECT_EQ(found[i].source, expected[i].source);
        }
      }
  }
}

TEST(ArraysOfADevice, ASampleOfTheMeshGivesItsUnitOfTime) {
  const TetMesh mesh = cube(11, 0.2);  // six thousand tetrahedra: not all are in the sample
  const Metric speed = rough_speed(mesh);
  EXPECT_EQ((cuda::time_unit<4>(mesh, speed)), time_unit(sample_edges(mesh, speed, unit_sample(mesh.element_count()))));
  EXPECT_EQ((cuda::time_unit<4>(mesh, Metric::isotropic(8))), 0.125);
}

TEST(ArraysOfADevice, OptionsOfTheCpuAreRefused) {
  const TetMesh mesh = cube(3);
  const auto refused = [&](auto&& change) {
    SolveOptions options;
    change(options);
    EXPECT_THROW(device_solver({cube_grid(3), Metric(), {}}, options), UsageError);
    if (options.scheme == GridScheme::automatic && options.order == 1) {
      EXPECT_THROW(device_solver({mesh, Metric()}, options), UsageError);
    }
  };
  refused([](SolveOptions& options) { options.backend = Backend::threads; });
  refused([](SolveOptions& options) { options.method = Method::banded; });
  refused([](SolveOptions& options) { options.method = Method::active_list; });
  refused([](SolveOptions& options) { options.source_init = SourceInit::factored; });
  refused([](SolveOptions& options) { options.weights = Keep::yes; });
  refused([](SolveOptions& options) { options.scheme = GridScheme::godunov; });
  refused([](SolveOptions& options) { options.order = 3; });
  SolveOptions split;
  split.obtuse = ObtuseSplit::split;
  EXPECT_THROW(device_solver({mesh, Metric()}, split), UsageError);
}

TEST(ArraysOfADevice, WithoutADeviceThatIsSaid) {
  if (no_device().empty()) GTEST_SKIP() << "there is a GPU";
  const double number = 1;
  const DeviceTable table = cuda::packed_table(&number, NumberType::float64, 1, 1);
  EXPECT_EQ(failure([&] { device_solver({cube(3), Metric()}); }), no_device());
  EXPECT_EQ(failure([&] { device_solver({cube(3), DeviceSpeed{table}}); }), no_device());
  EXPECT_EQ(failure([&] { device_solver({DeviceMesh{table, table}, Metric()}); }), no_device());
  EXPECT_EQ(failure([&] { device_solver({cube_grid(3), DeviceSpeed{table}, {}}); }), no_device());
}

}  // namespace TEST_FILE
}  // namespace isochron::test
