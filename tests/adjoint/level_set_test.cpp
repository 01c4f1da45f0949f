// Derivatives of times that start on the zero set of a level set.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adjoint/derivative_case.h"
#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron::test {
namespace TEST_FILE {

/// A sphere or circle that is no symmetrical one.
template <int Corners>
Sources bumpy_front(const SimplexMesh<Corners>& mesh, const Vec3d& middle, double radius) {
  Sources sources;
  for (const Vec3d& p : mesh.points)
    sources.level_set.push_back(norm(p - middle) - radius + 0.03 * std::sin(7 * p.x + 5 * p.y - 3 * p.z));
  return sources;
}

template <int Corners>
Metric uneven(const SimplexMesh<Corners>& mesh, double roughness) {
  Random random(2);
  std::vector<double> speed;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    speed.push_back(1.2 + 0.2 * std::sin(dot(Vec3d{4, 3, -2}, middle_of(mesh, e))) + roughness * random());
  return Metric(SpeedMetric{speed});
}

/// By speeds, by the values of the level set and by the positions of vertices.
template <int Corners>
void check_front(const SimplexMesh<Corners>& mesh, const std::vector<double>& speed, const Sources& sources,
                 SourceInit init = SourceInit::plain) {
  const SolveOptions options = options_of(init);
  const Metric metric(SpeedMetric{speed});
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, sources, options, times);
  const DerivativeCheck check = linear.verify(times, metric);
  EXPECT_TRUE(check.passed()) << check.transpose << " " << check.scaling << " " << check.fixed_point;

  Random random(5);
  std::vector<double> faster;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) faster.push_back(random());
  InputValues change;
  change.metric = metric_change_of_speed(speed, faster);
  expect_differences(
      [&](double step) {
        std::vector<double> changed = speed;
        for (std::size_t e = 0; e < changed.size(); ++e) changed[e] += step * faster[e];
        return solve(mesh, Metric(SpeedMetric{changed}), sources, options).times;
      },
      linear.jvp(change), 1e-6, 1e-6);

  InputValues raised;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) raised.level_set.push_back(1 + 0.5 * random());
  expect_differences(
      [&](double step) {
        Sources other = sources;
        for (std::size_t v = 0; v < mesh.vertex_count(); ++v) other.level_set[v] += step * raised.level_set[v];
        return solve(mesh, metric, other, options).times;
      },
      linear.jvp(raised), 1e-6, 1e-6);

  std::vector<Vec3d> displacement;
  for (const Vec3d& p : mesh.points)
    displacement.push_back({std::sin(2 * p.y + p.z), std::cos(3 * p.x - p.z), Corners == 4 ? std::sin(p.x + p.y) : 0});
  expect_differences(
      [&](double step) {
        SimplexMesh<Corners> moved = mesh;
        for (std::size_t v = 0; v < moved.points.size(); ++v) moved.points[v] += step * displacement[v];
        return solve(moved, metric, sources, options).times;
      },
      linear.jvp(change_of_vertices(mesh, metric, displacement)), 1e-6, 1e-6);
}

template <int Corners>
std::vector<double> speeds_of(const SimplexMesh<Corners>& mesh, double roughness) {
  return std::get<SpeedMetric>(uneven(mesh, roughness).kind()).speed.copy();
}

TEST(LevelSetDerivatives, OnTrianglesAgreeWithDifferences) {
  const TriangleMesh mesh = generate_irregular_square({.n = 21});
  const Sources circle = bumpy_front(mesh, {0.45, 0.52, 0}, 0.23);
  check_front(mesh, speeds_of(mesh, 0), circle);
  check_front(mesh, speeds_of(mesh, 0.2), circle);
  Sources both = circle;
  both.vertices.push_back({VertexId(3), 0.1});
  both.points.push_back({{0.83, 0.77, 0}, 0.05});
  check_front(mesh, speeds_of(mesh, 0), both);
}

TEST(LevelSetDerivatives, OnASphereAgreeWithDifferences) {
  TriangleMesh sphere = generate_sphere({.frequency = 8});
  Random random(9);
  for (Vec3d& p : sphere.points) p += 0.02 * Vec3d{random(), random(), random()};
  check_front(sphere, speeds_of(sphere, 0.1), bumpy_front(sphere, {0.2, 0.1, 0.9}, 0.63));
}

TEST(LevelSetDerivatives, OnTetrahedraAgreeWithDifferences) {
  const TetMesh mesh = generate_cube({.nx = 10, .ny = 10, .nz = 10, .jitter = 0.25});
  const Sources ball = bumpy_front(mesh, {0.47, 0.52, 0.44}, 0.27);
  check_front(mesh, speeds_of(mesh, 0), ball);
  check_front(mesh, speeds_of(mesh, 0.2), ball);
}

TEST(LevelSetDerivatives, ByTheOnsetAreOneWhereTheFrontCountsAlone) {
  const TriangleMesh mesh = generate_irregular_square({.n = 15});
  std::vector<double> times;
  const Linearization linear = linearize(mesh, Metric::isotropic(1), bumpy_front(mesh, {0.45, 0.52, 0}, 0.23),
                                         options_of(SourceInit::plain), times);
  const InputValues gradient = linear.vjp(std::vector<double>(times.size(), 1.0));
  ASSERT_EQ(gradient.onset.size(), 1U);
  EXPECT_NEAR(gradient.onset[0], static_cast<double>(times.size()), 1e-9);
  EXPECT_FALSE(gradient.position[0].has_value());
  EXPECT_EQ(gradient.level_set.size(), mesh.vertex_count());
  EXPECT_THROW((void)linear.jvp({.metric = {}, .onset = {}, .position = {}, .vertex = {}, .level_set = {1.0}}),
               InputError);
}

/// A straight front in one metric: times are distances from it, whichever element they are found through.
TEST(LevelSetDerivatives, OfAPlaneFrontAreThoseOfTheDistance) {
  const TriangleMesh mesh = generate_irregular_square({.n = 15});
  Sources line;
  for (const Vec3d& p : mesh.points) line.level_set.push_back(2 * (p.x - 0.413));
  std::vector<double> times;
  const Linearization linear = linearize(mesh, Metric::isotropic(1), line, options_of(SourceInit::plain), times);
  InputValues raised;
  raised.level_set.assign(mesh.vertex_count(), 1.0);
  const std::vector<double> change = linear.jvp(raised);
  for (std::size_t v = 0; v < change.size(); ++v) {
    if (mesh.points[v].y < 0.3 || mesh.points[v].y > 0.7) continue;  // there the border is in the way
    EXPECT_NEAR(change[v], mesh.points[v].x > 0.413 ? 0.5 : -0.5, 1e-9) << v;
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
