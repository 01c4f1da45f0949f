#include "isochron/surface/field/sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "isochron/error.h"
#include "isochron/surface/field/isosurface.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

struct Shape {
  ImplicitSurface surface;
  SplineField field;
  TriangleMesh mesh;
};

template <class Distance>
Shape make_shape(const Vec3d& middle, Distance&& distance) {
  ImageGrid grid;
  for (int a = 0; a < 3; ++a) grid.shape[a] = static_cast<std::uint32_t>(2 * middle[a]) + 1;
  Shape shape;
  FieldOptions options;
  options.inside = InsideIs::below;
  shape.surface = from_isovalue(grid, sampled(grid, distance), 0, options);
  shape.field = SplineField(shape.surface.lattice, shape.surface.distance);
  shape.mesh = marching_tetrahedra(shape.surface.lattice, shape.surface.distance);
  return shape;
}

Shape ball_shape() {
  return make_shape({16, 16, 16}, [](Vec3d p) { return ball(p, {16.1, 15.8, 16.3}, 12); });
}

Shape torus_shape() {
  return make_shape({21, 21, 9}, [](Vec3d p) { return torus(p, {21.2, 20.9, 9.1}, 14, 5); });
}

TEST(Curvature, OfAQuadratic) {
  // F = z + (2x² + 6y²)/2 has the principal curvatures 2 and 6 at the origin; of F = z + xy they are ±1.
  Jet<double> jet{0, {0, 0, 1}, {2, 0, 0.3, 6, 0.7, 9}};
  EXPECT_NEAR(largest_curvature(jet), 6, 1e-12);
  jet.gradient = {0, 0, -4};
  EXPECT_NEAR(largest_curvature(jet), 1.5, 1e-12);
  jet = {0, {0, 0, 1}, {0, 1, 0, 0, 0, 0}};
  EXPECT_NEAR(largest_curvature(jet), 1, 1e-12);
  jet.gradient = {};
  EXPECT_EQ(largest_curvature(jet), 0);
}

TEST(Curvature, OfBallAndTorus) {
  const Shape round = ball_shape();
  for (const Vec3d& p : round.mesh.points) EXPECT_NEAR(largest_curvature(round.field.view().jet(p)), 1.0 / 12, 0.01);
  const Shape ring = torus_shape();
  for (const Vec3d& p : ring.mesh.points) EXPECT_NEAR(largest_curvature(ring.field.view().jet(p)), 1.0 / 5, 0.02);
}

TEST(MedialDistance, IsTheRadiusOfABallAndOfATube) {
  const Shape round = ball_shape();
  SizeField medial{round.surface.lattice, medial_distance(round.surface, 20, {1})};
  for (const Vec3d& p : round.mesh.points) EXPECT_NEAR(medial.view().size(p), 12, 1);
  const Shape ring = torus_shape();
  medial = {ring.surface.lattice, medial_distance(ring.surface, 20, {2})};
  for (const Vec3d& p : ring.mesh.points) EXPECT_NEAR(medial.view().size(p), 5, 1);
}

TEST(Sizes, OfABallAreAShareOfItsRadius) {
  const Shape round = ball_shape();
  SizingOptions options;
  options.epsilon = 0.25;
  options.largest = 20;
  const SizeField size = sizes(round.field, round.surface, options);
  double count = 0;
  for (const Vec3d& p : round.mesh.points) {
    const double h = size.view().size(p);
    EXPECT_NEAR(h, 3, 0.4);
    count += h / static_cast<double>(round.mesh.vertex_count());
  }
  const double expected = 4 * std::numbers::pi * 144 * 2 / std::numbers::sqrt3 / (count * count);
  EXPECT_NEAR(particle_estimate(round.mesh, size), expected, 0.03 * expected);
  // A triangle of edge h on a ball has its middle h²/(6R) inside it.
  options.accuracy = 0.05;
  const SizeField finer = sizes(round.field, round.surface, options);
  for (const Vec3d& p : round.mesh.points) EXPECT_NEAR(finer.view().size(p), std::sqrt(6 * 0.05 * 12), 0.2);
  options.accuracy = 0;
  options.smallest = 4;
  for (const float h : sizes(round.field, round.surface, options).values) EXPECT_GE(h, 4);
  options.smallest = 0;
  options.largest = 2;
  for (const float h : sizes(round.field, round.surface, options).values) EXPECT_EQ(h, 2);
}

TEST(Sizes, ChangeSlowly) {
  // A large ball with a small one on it: sizes are far apart on one surface.
  const Shape shape = make_shape({24, 17, 17}, [](Vec3d p) {
    return std::min(ball(p, {17.2, 17.1, 16.8}, 13), ball(p, {32.5, 17.3, 17.2}, 4.5));
  });
  for (const double delta : {0.1, 0.3}) {
    SizingOptions options;
    options.delta = delta;
    options.epsilon = 0.5;
    const SizeField size = sizes(shape.field, shape.surface, options);
    const Lattice& lattice = size.lattice;
    double steepest = 0;
    const auto [smallest, largest] = std::minmax_element(size.values.begin(), size.values.end());
    std::mt19937 random(1);
    const auto index = [&](int axis) { return std::uniform_int_distribution(0, lattice.shape[axis] - 1)(random); };
    for (int pair = 0; pair < 200000; ++pair) {
      const int i = index(0), j = index(1), k = index(2), l = index(0), m = index(1), n = index(2);
      if (i == l && j == m && k == n) continue;
      const double change = size.values[lattice.index(i, j, k)] - size.values[lattice.index(l, m, n)];
      steepest = std::max(steepest, std::abs(change) / norm(lattice.position(i - l, j - m, k - n)));
    }
    EXPECT_LE(steepest, 1.0001 * delta);
    steepest = 0;
    for (int k = 1; k + 1 < lattice.shape[2]; ++k)
      for (int j = 1; j + 1 < lattice.shape[1]; ++j)
        for (int i = 1; i + 1 < lattice.shape[0]; ++i)
          for (int step = 0; step < 27; ++step) {
            const int d[3] = {step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1};
            const double change =
                size.values[lattice.index(i + d[0], j + d[1], k + d[2])] - size.values[lattice.index(i, j, k)];
            if (step != 13) steepest = std::max(steepest, change / norm(lattice.position(d[0], d[1], d[2])));
          }
    EXPECT_LE(steepest, 1.0001 * delta);
    EXPECT_GT(steepest, 0.88 * delta);
    EXPECT_GT(*largest, 2 * *smallest);
  }
}

TEST(Sizes, ThinSheetsAreSeen) {
  // Flat and two voxels thick: only the medial axis tells.
  const Shape plate = make_shape({16, 16, 7}, [](Vec3d p) {
    return std::max({std::abs(p.z - 7.2) - 1, std::abs(p.x - 16) - 12, std::abs(p.y - 16) - 12});
  });
  SizingOptions options;
  options.smallest = 0.1;
  const SizeField size = sizes(plate.field, plate.surface, options);
  for (const Vec3d& p : plate.mesh.points) EXPECT_LT(size.view().size(p), 0.5 * 1.6);
}

TEST(Sizes, UniformAndNonsense) {
  const Shape round = make_shape({8, 8, 8}, [](Vec3d p) { return ball(p, {8, 8, 8}, 5); });
  SizingOptions options;
  options.uniform = 1.5;
  for (const float h : sizes(round.field, round.surface, options).values) EXPECT_EQ(h, 1.5F);
  for (double SizingOptions::*member : {&SizingOptions::epsilon, &SizingOptions::delta, &SizingOptions::smallest,
                                        &SizingOptions::largest, &SizingOptions::uniform, &SizingOptions::accuracy}) {
    SizingOptions bad;
    bad.*member = -1;
    EXPECT_THROW(sizes(round.field, round.surface, bad), UsageError);
  }
  SizingOptions swapped;
  swapped.smallest = 3;
  swapped.largest = 2;
  EXPECT_THROW(sizes(round.field, round.surface, swapped), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
