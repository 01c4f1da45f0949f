#include "isochron/linearization.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adjoint/derivative_case.h"
#include "isochron/adjoint/system.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/solver.h"

namespace isochron::test {
namespace TEST_FILE {

/// What must hold for every solution: vjp is the transpose of jvp, times scale as slowness and onsets do together, and
/// the rows give the times again.
void expect_consistent(const Linearization& linear, const std::vector<double>& times, const Metric& metric,
                       double euler_limit) {
  const DerivativeCheck check = linear.verify(times, metric, 7);
  EXPECT_LE(check.transpose, 1e-12);
  EXPECT_LE(check.scaling, euler_limit);
  EXPECT_LE(check.fixed_point, euler_limit);
}

/// How exact the derivatives of a domain are, and the step at which differences are.
struct Limits {
  double euler = 1e-12;
  double step = 1e-6;
  double difference = 1e-6;
};
/// Images keep weights that vary in single precision.
constexpr Limits of_images{1e-6, 1e-4, 3e-3};

/// A cube in which no angle is right and no two faces lie in one plane: there the smallest change would make corners
/// obtuse, or hide what is behind them, and times would jump.
TetMesh crooked_cube(std::size_t n) {
  TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n});
  Random random(17);
  for (Vec3d& p : mesh.points) p += (0.2 / static_cast<double>(n)) * Vec3d{random(), random(), random()};
  return mesh;
}

/// The derivatives of one problem with a speed for each element. It changes smoothly: a ball's times depend on the
/// order in which it grows, which a smaller step would change where speeds are rough.
template <class Shape>
void check_speeds(const Shape& shape, std::size_t elements, const Sources& sources, const SolveOptions& options,
                  const Limits& limits = {}) {
  Random random(3);
  std::vector<double> speed(elements), direction(elements);
  for (std::size_t e = 0; e < elements; ++e) {
    const Vec3d p = middle_of(shape, e);
    speed[e] = 1 + 0.1 * std::sin(3 * p.x + p.y) + 0.1 * std::cos(2 * p.y - p.z);
    direction[e] = random();
  }
  const Metric metric(SpeedMetric{speed});
  std::vector<double> times;
  const Linearization linear = linearize(shape, metric, sources, options, times);
  expect_consistent(linear, times, metric, limits.euler);

  InputValues change;
  change.metric = metric_change_of_speed(speed, direction);
  expect_differences(
      [&](double step) {
        std::vector<double> changed = speed;
        for (std::size_t e = 0; e < elements; ++e) changed[e] += step * direction[e];
        return solve(shape, Metric(SpeedMetric{changed}), sources, options).times;
      },
      linear.jvp(change), limits.step, limits.difference);

  InputValues moved;
  moved.onset = {0.3, -0.2};
  moved.onset.resize(sources.count(), 0.1);
  moved.position.resize(sources.count());
  for (std::size_t s = sources.vertices.size(); s < sources.count(); ++s) moved.position[s] = Vec3d{0.3, -0.4, 0};
  const auto shifted = [&](double step) {
    Sources other = sources;
    std::size_t s = 0;
    for (auto& source : other.vertices) source.time += step * moved.onset[s++];
    for (auto& source : other.points) {
      source.position += step * *moved.position[s];
      source.time += step * moved.onset[s++];
    }
    return solve(shape, metric, other, options).times;
  };
  expect_differences(shifted, linear.jvp(moved), limits.step, limits.difference);
}

const Sources one_vertex{{{VertexId(0), 0.25}}, {}, {}};
const Sources points_in_a_square{{{VertexId(5), 0.1}}, {{{0.631, 0.572, 0}, 0.2}}, {}};
const Sources points_in_a_cube{{{VertexId(5), 0.1}}, {{{0.631, 0.572, 0.447}, 0.2}}, {}};

TEST(Linearization, OfTrianglesAgreesWithDifferences) {
  const TriangleMesh mesh = generate_irregular_square({.n = 25});
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball})
    for (const ObtuseSplit split : {ObtuseSplit::none, ObtuseSplit::split}) {
      SCOPED_TRACE(std::string(name_of(init)) + (split == ObtuseSplit::split ? ", split" : ""));
      SolveOptions options = options_of(init);
      options.obtuse = split;
      check_speeds(mesh, mesh.element_count(), one_vertex, options);
      check_speeds(mesh, mesh.element_count(), points_in_a_square, options);
    }
}

TEST(Linearization, OfTetrahedraAgreesWithDifferences) {
  const TetMesh mesh = generate_cube({.nx = 12, .ny = 12, .nz = 12, .jitter = 0.2});
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
    SCOPED_TRACE(name_of(init));
    check_speeds(mesh, mesh.element_count(), one_vertex, options_of(init));
    check_speeds(mesh, mesh.element_count(), points_in_a_cube, options_of(init));
  }
}

TEST(Linearization, OfVirtualTetrahedraAgreesWithDifferences) {
  const TetMesh mesh = crooked_cube(11);
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
    SCOPED_TRACE(name_of(init));
    SolveOptions options = options_of(init);
    options.obtuse = ObtuseSplit::split;
    check_speeds(mesh, mesh.element_count(), one_vertex, options);
    check_speeds(mesh, mesh.element_count(), points_in_a_cube, options);
  }
}

TEST(Linearization, OfImagesAgreesWithDifferences) {
  ImageGrid flat{{30, 25, 1}, {}, {Vec3d{0.05, 0, 0}, {0, 0.06, 0}, {0, 0, 1}}};
  ImageGrid solid{{14, 13, 12}, {}, {Vec3d{0.1, 0, 0}, {0, 0.11, 0}, {0, 0, 0.12}}};
  ImageGrid oblique = solid;
  oblique.axes[1] = {0.03, 0.11, 0.01};
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
    SCOPED_TRACE(name_of(init));
    check_speeds(flat, flat.voxel_count(), points_in_a_square, options_of(init), of_images);
    check_speeds(solid, solid.voxel_count(), points_in_a_cube, options_of(init), of_images);
    check_speeds(oblique, oblique.voxel_count(), points_in_a_cube, options_of(init), of_images);
  }
}

TEST(Linearization, OfImagesOfOneMetricIsAsExactAsOfMeshes) {
  const ImageGrid flat{{30, 25, 1}, {}, {Vec3d{0.05, 0, 0}, {0.01, 0.06, 0}, {0, 0, 1}}};
  const ImageGrid solid{{14, 13, 12}, {}, {Vec3d{0.1, 0, 0}, {0.03, 0.11, 0.01}, {0, 0, 0.12}}};
  const SymTensor3d m{1.4, 0.5, -0.3, 1.1, 0.2, 0.9}, change{0.3, -0.2, 0.1, 0.5, 0.4, -0.3};
  for (const ImageGrid& grid : {flat, solid}) {
    const Sources& sources = grid.flat() ? points_in_a_square : points_in_a_cube;
    for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
      std::vector<double> times;
      const Linearization linear = linearize(grid, Metric::constant(m), sources, options_of(init), times);
      expect_consistent(linear, times, Metric::constant(m), 1e-12);
      InputValues direction;
      direction.metric.assign(grid.voxel_count(), change);
      expect_differences(
          [&](double step) {
            return solve(grid, Metric::constant(m + step * change), sources, options_of(init)).times;
          },
          linear.jvp(direction), 1e-6, 1e-6);
    }
  }
}

/// Fibres that turn, with a table of velocities.
template <int Corners>
FiberMetric turning_fibers(const SimplexMesh<Corners>& mesh, bool sheets) {
  FiberMetric metric;
  metric.fiber = rotating_fibers(mesh, 0.3, 1);
  metric.region.resize(mesh.element_count());
  for (std::size_t e = 0; e < mesh.element_count(); ++e) metric.region[e] = e % 3 == 0 ? 1 : 0;
  metric.velocities = {{0.6, 0.25, 0.2}, {0.5, 0.3, 0.22}};
  if (sheets) metric.sheet.assign(mesh.element_count(), Vec3f{0.1F, 0.3F, 1});
  return metric;
}

TEST(Linearization, OfVelocitiesAndFibersAgreesWithDifferences) {
  const TetMesh mesh = generate_cube({.nx = 11, .ny = 11, .nz = 11, .jitter = 0.2});
  for (const bool sheets : {false, true}) {
    const FiberMetric fibers = turning_fibers(mesh, sheets);
    const Metric metric(fibers);
    std::vector<double> times;
    expect_consistent(linearize(mesh, metric, points_in_a_cube, options_of(SourceInit::ball), times), times, metric,
                      1e-12);
    const Linearization linear = linearize(mesh, metric, points_in_a_cube, options_of(SourceInit::plain), times);
    expect_consistent(linear, times, metric, 1e-12);

    const std::vector<Velocities> direction{{0.3, -0.2, 0.1}, {-0.1, 0.2, 0.3}};
    InputValues change;
    change.metric = metric_change_of_velocities(fibers, mesh.element_count(), direction);
    const std::vector<double> along = linear.jvp(change);
    expect_differences(
        [&](double step) {
          FiberMetric changed = fibers;
          for (std::size_t r = 0; r < 2; ++r) {
            changed.velocities[r].fiber += step * direction[r].fiber;
            changed.velocities[r].sheet += step * direction[r].sheet;
            changed.velocities[r].normal += step * direction[r].normal;
          }
          return solve(mesh, Metric(changed), points_in_a_cube, options_of(SourceInit::plain)).times;
        },
        along, 1e-6, 1e-6);

    // The gradient by velocities is the transpose of that direction.
    const std::vector<double> ones(times.size(), 1.0);
    const InputValues gradient = linear.vjp(ones);
    const std::vector<Velocities> by_velocity = gradient_by_velocities(gradient.metric, fibers);
    double total = 0, expected = 0;
    for (const double value : along) expected += value;
    for (std::size_t r = 0; r < 2; ++r)
      total += by_velocity[r].fiber * direction[r].fiber + by_velocity[r].sheet * direction[r].sheet +
               by_velocity[r].normal * direction[r].normal;
    EXPECT_NEAR(total, expected, 1e-10 * std::abs(expected));

    // Fibres are in single precision, so steps are large, and only M is looked at.
    const std::vector<Vec3d> by_fiber = gradient_by_fibers(gradient.metric, fibers);
    for (const std::size_t e : {std::size_t{17}, mesh.element_count() / 2}) {
      for (int d = 0; d < 3; ++d) {
        constexpr float step = 1.0F / 128;
        double values[2];
        for (int side = 0; side < 2; ++side) {
          FiberMetric changed = fibers;
          Vec3f& f = changed.fiber[e];
          f[d] += side == 0 ? step : -step;
          values[side] = contraction(gradient.metric[e], Metric(changed).tensor(ElementId(e)));
        }
        const double largest = norm(by_fiber[e]);
        EXPECT_NEAR((values[0] - values[1]) / (2 * step), by_fiber[e][d], 2e-3 * largest + 1e-12) << d;
      }
    }
  }
}

/// The derivatives of one problem by the positions of its vertices. The displacement is smooth, for the reason that
/// speeds are in `check_speeds`.
template <int Corners>
void check_vertices(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                    const SolveOptions& options) {
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, sources, options, times);
  std::vector<Vec3d> displacement;
  for (const Vec3d& p : mesh.points)
    displacement.push_back({std::sin(2 * p.y + p.z), std::cos(3 * p.x - p.z), Corners == 4 ? std::sin(p.x + p.y) : 0});
  const std::vector<double> change = linear.jvp(change_of_vertices(mesh, metric, displacement));
  expect_differences(
      [&](double step) {
        SimplexMesh<Corners> moved = mesh;
        for (std::size_t v = 0; v < moved.points.size(); ++v) moved.points[v] += step * displacement[v];
        return solve(moved, metric, sources, options).times;
      },
      change, 1e-6, 1e-6);

  Random random(5);
  std::vector<double> cotangent;
  double forwards = 0, scale = 0, backwards = 0;
  for (std::size_t v = 0; v < change.size(); ++v) {
    cotangent.push_back(std::isfinite(times[v]) ? random() : 0);
    forwards += cotangent[v] * change[v];
    scale += std::abs(cotangent[v] * change[v]);
  }
  const std::vector<Vec3d> gradient = gradient_by_vertices(linear.vjp(cotangent), mesh, metric);
  for (std::size_t v = 0; v < gradient.size(); ++v) backwards += dot(gradient[v], displacement[v]);
  EXPECT_LE(std::abs(forwards - backwards), 1e-12 * scale);
}

TEST(Linearization, ByVerticesAgreesWithDifferences) {
  const TriangleMesh square = generate_irregular_square({.n = 21});
  const TetMesh cube = generate_cube({.nx = 11, .ny = 11, .nz = 11, .jitter = 0.2});
  const auto speeds = [](const auto& mesh) {
    std::vector<double> speed;
    for (std::size_t e = 0; e < mesh.element_count(); ++e)
      speed.push_back(1 + 0.1 * std::sin(3 * middle_of(mesh, e).x));
    return Metric(SpeedMetric{speed});
  };
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball}) {
    SCOPED_TRACE(name_of(init));
    for (const ObtuseSplit split : {ObtuseSplit::none, ObtuseSplit::split}) {
      SolveOptions options = options_of(init);
      options.obtuse = split;
      check_vertices(square, Metric::constant(SymTensor3d::identity(0.6)), points_in_a_square, options);
      check_vertices(square, speeds(square), points_in_a_square, options);
    }
    check_vertices(cube, Metric::constant({1.4, 0.5, -0.3, 1.1, 0.2, 0.9}), points_in_a_cube, options_of(init));
    check_vertices(cube, speeds(cube), points_in_a_cube, options_of(init));
    check_vertices(cube, Metric(turning_fibers(cube, true)), points_in_a_cube, options_of(init));
    const TetMesh crooked = crooked_cube(11);
    SolveOptions split = options_of(init);
    split.obtuse = ObtuseSplit::split;
    check_vertices(crooked, Metric::constant({1.4, 0.5, -0.3, 1.1, 0.2, 0.9}), points_in_a_cube, split);
    check_vertices(crooked, speeds(crooked), points_in_a_cube, split);
    check_vertices(crooked, Metric(turning_fibers(crooked, true)), points_in_a_cube, split);
  }
}

/// Paths behind obtuse corners cross from one metric into another, and faces shrink where those differ enough.
TEST(Linearization, OfVirtualTetrahedraBetweenUnequalElementsAgreesWithDifferences) {
  const TetMesh mesh = crooked_cube(10);
  SolveOptions options = options_of(SourceInit::plain);
  options.obtuse = ObtuseSplit::split;
  Random random(13);
  std::vector<double> speed, direction;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    speed.push_back(1 + 0.1 * random());
    direction.push_back(random());
  }
  const Metric metric(SpeedMetric{speed});
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, one_vertex, options, times);
  expect_consistent(linear, times, metric, 1e-12);
  EXPECT_NE(times, solve(mesh, metric, one_vertex, options_of(SourceInit::plain)).times);
  InputValues change;
  change.metric = metric_change_of_speed(speed, direction);
  expect_differences(
      [&](double step) {
        std::vector<double> changed = speed;
        for (std::size_t e = 0; e < changed.size(); ++e) changed[e] += step * direction[e];
        return solve(mesh, Metric(SpeedMetric{changed}), one_vertex, options).times;
      },
      linear.jvp(change), 1e-6, 1e-6);
  check_vertices(mesh, metric, one_vertex, options);
}

TEST(Linearization, ByVerticesOfACurvedSurfaceAgreesWithDifferences) {
  TriangleMesh sphere = generate_sphere({.frequency = 8});
  Random random(9);
  for (Vec3d& p : sphere.points) p += 0.02 * Vec3d{random(), random(), random()};  // no two ways are equal
  const Vec3d on_it = 0.8 * middle_of(sphere, 200) + 0.2 * sphere.point(sphere.elements[200][0]);
  std::vector<double> speed;
  for (std::size_t e = 0; e < sphere.element_count(); ++e) speed.push_back(1.1 + 0.05 * random());
  check_vertices(sphere, Metric(SpeedMetric{speed}), {{}, {{on_it, 0}}, {}}, options_of(SourceInit::ball));
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball})
    check_vertices(sphere, Metric::constant(SymTensor3d::identity(0.6)), {{{VertexId(5), 0.1}}, {{on_it, 0}}, {}},
                   options_of(init));
}

TEST(Linearization, ByVerticesOfElementsThatDoNotConductIsNothing) {
  const TetMesh cube = generate_cube({.nx = 8, .ny = 8, .nz = 8, .jitter = 0.2});
  std::vector<double> speed;
  for (std::size_t e = 0; e < cube.element_count(); ++e) speed.push_back(norm(middle_of(cube, e)) < 0.4 ? 0 : 1.2);
  const Sources corner{{{VertexId(8 * 8 * 8 - 1), 0}}, {}, {}};
  check_vertices(cube, Metric(SpeedMetric{speed}), corner, options_of(SourceInit::ball));
}

TEST(Linearization, VelocityTensorsAreInverseMetrics) {
  const TetMesh mesh = generate_cube({.nx = 8, .ny = 8, .nz = 8, .jitter = 0.2});
  const Metric metric(TensorMetric{random_tensors(mesh, {1, 4}, RandomFieldOptions{})});
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, one_vertex, options_of(SourceInit::ball), times);
  expect_consistent(linear, times, metric, 1e-12);
  // Larger D by a factor makes times shorter by half of it, onsets apart.
  std::vector<SymTensor3d> change;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) change.push_back(inverse(metric.tensor(ElementId(e))));
  InputValues direction;
  direction.metric = metric_change_of_velocity_tensor(metric, change);
  const std::vector<double> faster = linear.jvp(direction);
  for (std::size_t v = 0; v < times.size(); ++v) EXPECT_NEAR(faster[v], -0.5 * (times[v] - 0.25), 1e-9);
  std::vector<double> cotangent(times.size(), 0.0);
  cotangent[200] = 1;
  const auto by_tensor = gradient_by_velocity_tensor(linear.vjp(cotangent).metric, metric);
  double sum = 0;
  for (std::size_t e = 0; e < change.size(); ++e) sum += contraction(by_tensor[e], change[e]);
  EXPECT_NEAR(sum, faster[200], 1e-9);
}

TEST(Linearization, RowsOfTheJacobianAreGradients) {
  const TetMesh mesh = generate_irregular_cube({.n = 8, .jitter = 0.3});
  FiberMetric fibers;
  fibers.fiber = random_fibers(mesh, 4);
  fibers.velocities = {{3, 1, 1}};  // circles of dependence
  const Metric metric(fibers);
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, one_vertex, options_of(SourceInit::plain), times);
  expect_consistent(linear, times, metric, 1e-12);
  const std::vector<VertexId> vertices{VertexId(300), VertexId(0), VertexId(77)};
  const MetricJacobian rows = linear.metric_jacobian(vertices);
  ASSERT_EQ(rows.offsets.size(), 4U);
  EXPECT_EQ(rows.offsets[1], rows.offsets[2]);  // the source's own time does not change
  for (std::size_t r = 0; r < vertices.size(); ++r) {
    std::vector<double> cotangent(times.size(), 0.0);
    cotangent[vertices[r].index()] = 1;
    InputValues gradient = linear.vjp(cotangent);
    for (std::size_t k = rows.offsets[r]; k < rows.offsets[r + 1]; ++k) {
      SymTensor3d& g = gradient.metric[rows.elements[k].index()];
      EXPECT_LE(largest_component(g - rows.values[k]), 1e-12 * largest_component(g) + 1e-15);
      g = {};
    }
    for (const SymTensor3d& left : gradient.metric) EXPECT_EQ(left, SymTensor3d{});
  }
}

/// The gradient of the sum of all times.
InputValues gradient_of_sum(const Linearization& linear, const std::vector<double>& times) {
  return linear.vjp(std::vector<double>(times.size(), 1.0));
}

TEST(Linearization, InABallOfOneSpeedFollowsTheStraightWay) {
  // Times are distances over the speed: a change of the speed on one side changes the times there, not elsewhere.
  const TetMesh mesh = generate_cube({.nx = 13, .ny = 13, .nz = 13, .jitter = 0.1});
  const Sources middle{{}, {{{0.503, 0.497, 0.505}, 0}}, {}};
  const Metric metric(SpeedMetric{std::vector<double>(mesh.element_count(), 1.0)});
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, middle, options_of(SourceInit::ball), times);
  InputValues right;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    right.metric.push_back(SymTensor3d::identity(middle_of(mesh, e).x > 0.55 ? 2.0 : 0.0));
  const std::vector<double> change = linear.jvp(right);
  for (std::size_t v = 0; v < times.size(); ++v) {
    const Vec3d p = mesh.points[v];
    if (p.x < 0.4) {
      EXPECT_NEAR(change[v], 0, 0.02 * times[v]) << v;
    }
    if (p.x > 0.75 && std::abs(p.y - 0.5) < 0.2 && std::abs(p.z - 0.5) < 0.2) {
      const double share = (p.x - 0.55) / (p.x - 0.503);  // of the way that is on the right
      EXPECT_NEAR(change[v], share * times[v], 0.3 * times[v]) << v;
    }
  }
}

TEST(Linearization, OffDiagonalsOfADiagonalTensorHaveDerivatives) {
  const ImageGrid grid{{12, 11, 1}, {}, {Vec3d{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Sources middle{{{VertexId(6 + 12 * 5), 0}}, {}, {}};
  const SymTensor3d m = SymTensor3d::diagonal(1.2, 0.9, 1), change{0, 1, 0, 0, 0, 0};
  std::vector<double> times;
  const Linearization linear = linearize(grid, Metric::constant(m), middle, options_of(SourceInit::plain), times);
  InputValues direction;
  direction.metric.assign(grid.voxel_count(), change);
  // The two signs have different stencils: the derivative is the mean of theirs.
  expect_differences(
      [&](double step) {
        return solve(grid, Metric::constant(m + step * change), middle, options_of(SourceInit::plain)).times;
      },
      linear.jvp(direction), 1e-5, 1e-3);
}

TEST(Linearization, DoesNotDependOnThreadsAndOrder) {
  const TetMesh mesh = generate_irregular_cube({.n = 9, .jitter = 0.2});
  const Metric metric(TensorMetric{random_tensors(mesh, {1, 4}, RandomFieldOptions{})});
  std::vector<double> times;
  const InputValues alone =
      gradient_of_sum(linearize(mesh, metric, points_in_a_cube, options_of(SourceInit::ball), times), times);
  SolveOptions options = options_of(SourceInit::ball);
  options.backend = Backend::threads;
  options.threads = 3;
  options.reorder = Reorder::always;
  const InputValues together = gradient_of_sum(linearize(mesh, metric, points_in_a_cube, options, times), times);
  double largest = 0;
  for (const SymTensor3d& g : alone.metric) largest = std::max(largest, largest_component(g));
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    EXPECT_LE(largest_component(alone.metric[e] - together.metric[e]), 1e-9 * largest) << e;
  EXPECT_NEAR(alone.onset[0], together.onset[0], 1e-9 * std::abs(alone.onset[0]));
}

TEST(Linearization, InSinglePrecisionAnOvertakenSourceCountsNothing) {
  const TriangleMesh mesh = generate_square({.n = 21, .jitter = 0.1});
  SolveOptions options = options_of(SourceInit::plain);
  options.precision = Precision::single_;
  options.tolerance = 1e-6;
  const Sources sources{{{VertexId(0), 1e5}, {VertexId(220), 1e5 + 10}}, {}, {}};
  std::vector<double> times;
  const Linearization linear = linearize(mesh, Metric::isotropic(1), sources, options, times);
  const InputValues gradient = gradient_of_sum(linear, times);
  EXPECT_NEAR(gradient.onset[0], 441, 1e-3);
  EXPECT_NEAR(gradient.onset[1], 0, 1e-6);
}

TEST(Linearization, ShortEdgesMakeCirclesThatAreSolved) {
  TetMesh mesh = generate_cube({.nx = 7, .ny = 7, .nz = 7, .jitter = 0.2});
  Random random(11);
  for (std::size_t e = 0; e < mesh.element_count(); e += 9) {  // some vertices nearly meet
    const auto& corners = mesh.elements[e];
    const Vec3d from = mesh.point(corners[0]), to = mesh.point(corners[1]);
    mesh.points[corners[1].index()] = from + (1.0 / 200) * (to - from);
  }
  FiberMetric fibers;
  fibers.fiber = random_fibers(mesh, 4);
  fibers.velocities = {{5, 1, 1}};
  const Metric metric(fibers);
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, one_vertex, options_of(SourceInit::plain), times);
  expect_consistent(linear, times, metric, 1e-8);
}

TEST(Linearization, OfASourceOnASurfaceStaysOnIt) {
  const TriangleMesh mesh = generate_irregular_square({.n = 15});
  FiberMetric fibers;
  fibers.fiber.assign(mesh.element_count(), Vec3f{1, 0.2F, 0.5F});
  fibers.velocities = {{0.6, 0.3, 0.3}};
  std::vector<double> times;
  const Sources point{{}, {{{0.43, 0.52, 0}, 0}}, {}};
  const Linearization linear = linearize(mesh, Metric(fibers), point, options_of(SourceInit::plain), times);
  const InputValues gradient = gradient_of_sum(linear, times);
  ASSERT_TRUE(gradient.position[0].has_value());
  EXPECT_NEAR(gradient.position[0]->z, 0, 1e-9);
  EXPECT_GT(norm(*gradient.position[0]), 0);
}

TEST(Linearization, RepeatedSourcesCountOnce) {
  const TriangleMesh mesh = generate_irregular_square({.n = 9});
  const Sources twice{{}, {{{0.43, 0.52, 0}, 0}, {{0.43, 0.52, 0}, 0}}, {}};
  std::vector<double> times;
  const Linearization linear = linearize(mesh, Metric::isotropic(1), twice, options_of(SourceInit::plain), times);
  const InputValues gradient = gradient_of_sum(linear, times);
  EXPECT_NEAR(gradient.onset[0], static_cast<double>(times.size()), 1e-9);
  EXPECT_EQ(gradient.onset[1], 0);
  ASSERT_TRUE(gradient.position[1].has_value());
  EXPECT_EQ(*gradient.position[1], Vec3d{});
}

TEST(Linearization, ElementsThatDoNotConductHaveNoDerivative) {
  const TriangleMesh mesh = generate_square({.n = 12, .jitter = 0.2});
  std::vector<double> speed(mesh.element_count(), 1.0);
  for (std::size_t e = 60; e < 80; ++e) speed[e] = 0;
  const Metric metric(SpeedMetric{speed});
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, one_vertex, options_of(SourceInit::ball), times);
  std::vector<double> cotangent(times.size());
  for (std::size_t v = 0; v < times.size(); ++v) cotangent[v] = std::isfinite(times[v]) ? 1 : 0;
  const InputValues gradient = linear.vjp(cotangent);
  const std::vector<double> by_speed = gradient_by_speed(gradient.metric, speed);
  double sum = 0;
  for (std::size_t e = 0; e < speed.size(); ++e) {
    if (speed[e] == 0) {
      EXPECT_EQ(gradient.metric[e], SymTensor3d{});
    }
    sum -= by_speed[e] * speed[e];
  }
  double expected = 0;
  for (const double t : times)
    if (std::isfinite(t)) expected += t - 0.25;
  EXPECT_NEAR(sum, expected, 1e-10 * expected);
}

TEST(Linearization, SingularDependenceInACircleIsRefused) {
  DependenceRows rows;
  rows.add_node(1, 1);
  rows.end_row();
  rows.add_node(0, 1);
  rows.add_term(0, SymTensor3d::identity());
  rows.end_row();
  const DependenceSystem system(rows, {{0, 1}, 2, 1, {}});
  std::vector<double> values{0, 1};
  EXPECT_THROW(system.solve(values), RuntimeError);
}

TEST(Linearization, RefusesWhatHasNoDerivative) {
  const TriangleMesh mesh = generate_square({.n = 8});
  const Metric metric = Metric::isotropic(1);
  const auto with = [&](SolveOptions options, const Sources& sources) {
    Solver solver(Domain(mesh, metric), options);
    return solver.linearize(solver.solve(sources), sources);
  };
  EXPECT_THROW((void)with(options_of(SourceInit::factored), one_vertex), UsageError);
  const ImageGrid grid{{9, 9, 1}, {}, {Vec3d{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  SolveOptions second = options_of(SourceInit::ball);
  second.order = 2;
  Solver of_second(Domain(grid, metric), second);
  EXPECT_THROW((void)of_second.linearize(of_second.solve(one_vertex), one_vertex), UsageError);
  SolveOptions godunov = options_of(SourceInit::plain);
  godunov.scheme = GridScheme::godunov;
  godunov.method = Method::fim;
  Solver of_godunov(Domain(grid, metric), godunov);
  EXPECT_THROW((void)of_godunov.linearize(of_godunov.solve(one_vertex), one_vertex), UsageError);

  const Linearization linear = with(options_of(SourceInit::ball), one_vertex);
  EXPECT_THROW((void)linear.vjp(std::vector<double>(3)), InputError);
  EXPECT_THROW((void)linear.vjp(std::vector<double>(64, NAN)), InputError);
  EXPECT_THROW((void)linear.jvp({{SymTensor3d{}}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW((void)linear.jvp({{}, {NAN}, {}, {}, {}}), InputError);
  EXPECT_THROW((void)linear.jvp({{}, {}, {Vec3d{1, 0, 0}}, {}, {}}), InputError);  // the source is a vertex
  EXPECT_THROW((void)linear.jvp({{}, {}, {}, {Vec3d{1, 0, 0}}, {}}), InputError);  // one value for 64 vertices
  EXPECT_THROW((void)linear.jvp({{}, {}, {}, {}, std::vector<double>(64, 1.0)}), InputError);  // there is no level set
  EXPECT_FALSE(linear.vjp(std::vector<double>(64, 1.0)).position[0].has_value());
  EXPECT_THROW((void)linear.metric_jacobian(std::vector<VertexId>{VertexId(64)}), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
