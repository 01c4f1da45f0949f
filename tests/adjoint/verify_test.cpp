// Checks of derivatives: what is right passes, what is wrong does not.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "adjoint/derivative_case.h"
#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron::test {
namespace TEST_FILE {

/// Height 0: meshes of triangles are flat.
Sources vertex_and_point(double height = 0) { return {{{VertexId(5), 0.1}}, {{{0.431, 0.572, height}, 0.2}}, {}}; }

template <class Shape>
DerivativeCheck check_of(const Shape& shape, const Metric& metric, const SolveOptions& options,
                         const Sources& sources) {
  std::vector<double> times;
  const Linearization linear = linearize(shape, metric, sources, options, times);
  return linear.verify(times, metric);
}

template <class Shape>
Metric uneven(const Shape& shape, std::size_t elements) {
  std::vector<double> speed;
  for (std::size_t e = 0; e < elements; ++e) speed.push_back(1.2 + 0.3 * std::sin(4 * middle_of(shape, e).x));
  return Metric(SpeedMetric{speed});
}

TEST(VerifiedDerivatives, PassOnMeshes) {
  const TetMesh mesh = generate_cube({.nx = 10, .ny = 10, .nz = 10, .jitter = 0.2});
  const Metric metric = uneven(mesh, mesh.element_count());
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball})
    for (const ObtuseSplit split : {ObtuseSplit::none, ObtuseSplit::split}) {
      SolveOptions options = options_of(init);
      options.obtuse = split;
      const DerivativeCheck check = check_of(mesh, metric, options, vertex_and_point(0.3));
      EXPECT_TRUE(check.passed()) << check.transpose << " " << check.scaling << " " << check.fixed_point;
      EXPECT_EQ(check.max_misfit, 1e-12);
      options.precision = Precision::single_;
      options.tolerance = 1e-6;
      const DerivativeCheck rough = check_of(mesh, metric, options, vertex_and_point(0.3));
      EXPECT_TRUE(rough.passed()) << rough.transpose << " " << rough.scaling << " " << rough.fixed_point;
      EXPECT_EQ(rough.max_misfit, 1e-4);
    }
}

TEST(VerifiedDerivatives, PassOnImages) {
  const ImageGrid grid{{14, 13, 12}, {}, {Vec3d{0.1, 0, 0}, {0.03, 0.11, 0.01}, {0, 0, 0.12}}};
  const DerivativeCheck check =
      check_of(grid, uneven(grid, grid.voxel_count()), options_of(SourceInit::ball), vertex_and_point(0.3));
  EXPECT_TRUE(check.passed()) << check.transpose << " " << check.scaling << " " << check.fixed_point;
  EXPECT_EQ(check.max_misfit, 1e-5);
  const DerivativeCheck even =
      check_of(grid, Metric::isotropic(1.3), options_of(SourceInit::ball), vertex_and_point(0.3));
  EXPECT_TRUE(even.passed()) << even.transpose << " " << even.scaling << " " << even.fixed_point;
  EXPECT_EQ(even.max_misfit, 1e-12);
}

TEST(VerifiedDerivatives, AreAllowedTheToleranceOfTheSolve) {
  const TriangleMesh mesh = generate_irregular_square({.n = 25});
  SolveOptions options = options_of(SourceInit::ball);
  options.tolerance = 1e-4;
  const DerivativeCheck check = check_of(mesh, uneven(mesh, mesh.element_count()), options, vertex_and_point());
  EXPECT_TRUE(check.passed()) << check.transpose << " " << check.scaling << " " << check.fixed_point;
  EXPECT_NEAR(check.max_misfit, 1e-3, 1e-15);
}

TEST(VerifiedDerivatives, DoNotPassForOtherTimesOrAnotherMetric) {
  const TriangleMesh mesh = generate_irregular_square({.n = 15});
  const Metric metric = uneven(mesh, mesh.element_count());
  std::vector<double> times;
  const Linearization linear = linearize(mesh, metric, vertex_and_point(), options_of(SourceInit::plain), times);
  EXPECT_TRUE(linear.verify(times, metric).passed());
  std::vector<double> others = times;
  others[100] += 1e-6;
  EXPECT_GT(linear.verify(others, metric).fixed_point, 1e-7);
  EXPECT_GT(linear.verify(others, metric).scaling, 1e-7);
  const DerivativeCheck elsewhere = linear.verify(times, Metric::isotropic(1));
  EXPECT_GT(elsewhere.scaling, 1e-3);
  EXPECT_LE(elsewhere.transpose, elsewhere.max_transpose);
  EXPECT_THROW((void)linear.verify(std::vector<double>(3), metric), InputError);
  EXPECT_THROW((void)linear.verify(times, Metric(SpeedMetric{std::vector<double>(3, 1.0)})), InputError);
}

TEST(VerifiedDerivatives, HoldWhereNothingArrives) {
  const TriangleMesh mesh = generate_square({.n = 12, .jitter = 0.2});
  std::vector<double> speed(mesh.element_count(), 1.0);
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    if (middle_of(mesh, e).x > 0.6 && middle_of(mesh, e).x < 0.8) speed[e] = 0;
  const DerivativeCheck check =
      check_of(mesh, Metric(SpeedMetric{speed}), options_of(SourceInit::ball), vertex_and_point());
  EXPECT_TRUE(check.passed()) << check.transpose << " " << check.scaling << " " << check.fixed_point;
}

}  // namespace TEST_FILE
}  // namespace isochron::test
