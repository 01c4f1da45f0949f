#include "isochron/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

TetMesh cube() { return generate_cube({.nx = 12, .ny = 12, .nz = 12}); }

/// Mean squared difference over the first edge of each element.
template <int Corners>
double roughness(const SimplexMesh<Corners>& mesh, const std::vector<double>& values) {
  double sum = 0;
  for (const auto& e : mesh.elements) {
    const double d = values[e[0].index()] - values[e[1].index()];
    sum += d * d;
  }
  return sum / static_cast<double>(mesh.element_count());
}

TEST(SmoothedNoise, HasMeanZeroDeviationOneAndGetsSmoother) {
  const TetMesh mesh = cube();
  double last = 10;
  for (const int smoothing : {0, 2, 10, 40}) {
    const auto noise = smoothed_noise(mesh, {.smoothing = smoothing, .seed = 3});
    double mean = 0, variance = 0;
    for (const double x : noise) mean += x / static_cast<double>(noise.size());
    for (const double x : noise) variance += x * x / static_cast<double>(noise.size());
    EXPECT_NEAR(mean, 0, 1e-9);
    EXPECT_NEAR(variance, 1, 1e-9);
    const double now = roughness(mesh, noise);
    EXPECT_LT(now, 0.8 * last);
    last = now;
  }
}

TEST(RandomSpeed, FillsItsRange) {
  const TriangleMesh mesh = generate_square({.n = 40});
  const auto speed = random_speed(mesh, {.low = 2, .high = 5}, {.smoothing = 4, .seed = 9});
  ASSERT_EQ(speed.size(), mesh.element_count());
  const auto [low, high] = std::minmax_element(speed.begin(), speed.end());
  EXPECT_GE(*low, 2);
  EXPECT_LE(*high, 5);
  EXPECT_GT(*high - *low, 2);
  EXPECT_EQ(speed, random_speed(mesh, {.low = 2, .high = 5}, {.smoothing = 4, .seed = 9}));
  EXPECT_NE(speed, random_speed(mesh, {.low = 2, .high = 5}, {.smoothing = 4, .seed = 8}));
  EXPECT_THROW(random_speed(mesh, {.low = 0, .high = 5}, {}), UsageError);
  EXPECT_THROW(random_speed(mesh, {.low = 3, .high = 2}, {}), UsageError);
}

TEST(RandomTensors, HaveEigenvaluesInTheRange) {
  const auto tensors = random_tensors(cube(), {.low = 1, .high = 9}, {.smoothing = 3, .seed = 2});
  double off_diagonal = 0;
  for (const SymTensor3f& t : tensors) {
    const SymTensor3d m{t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
    ASSERT_TRUE(positive_definite(m + SymTensor3d::identity(-0.999)));
    ASSERT_TRUE(positive_definite(SymTensor3d::identity(9.001) - m));
    off_diagonal = std::max({off_diagonal, std::abs(m.xy), std::abs(m.xz), std::abs(m.yz)});
  }
  EXPECT_GT(off_diagonal, 1);  // the axes do turn
}

TEST(RandomFibers, AreUnitVectorsWithoutAPreference) {
  Vec3d mean;
  const auto fibers = random_fibers(cube(), 4);
  for (const Vec3f& f : fibers) {
    ASSERT_NEAR(norm(f), 1, 1e-5);
    mean += Vec3d{f.x, f.y, f.z} / static_cast<double>(fibers.size());
  }
  EXPECT_LT(norm(mean), 0.05);
}

template <class Fibers>
void expect_in_plane(const TriangleMesh& mesh, const Fibers& fibers) {
  ASSERT_EQ(fibers.size(), mesh.element_count());
  for (std::size_t e = 0; e < fibers.size(); ++e) {
    const auto& element = mesh.elements[e];
    const Vec3d normal =
        cross(mesh.point(element[1]) - mesh.point(element[0]), mesh.point(element[2]) - mesh.point(element[0]));
    const Vec3d f{fibers[e].x, fibers[e].y, fibers[e].z};
    ASSERT_NEAR(norm(f), 1, 1e-5);
    ASSERT_NEAR(dot(f, normal / norm(normal)), 0, 1e-5);
  }
}

TEST(Fibers, LieInTheTriangles) {
  const TriangleMesh mesh = generate_sphere({.frequency = 6});
  expect_in_plane(mesh, random_fibers(mesh, 1));
  expect_in_plane(mesh, rotating_fibers(mesh, 2, 2));
}

TEST(RotatingFibers, TurnAlongTheirAxis) {
  const TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 21});
  const auto fibers = rotating_fibers(mesh, 0.25, 2);
  for (std::size_t e = 0; e < fibers.size(); ++e) {
    double z = 0;
    for (const VertexId v : mesh.elements[e]) z += mesh.point(v).z / 4;
    EXPECT_NEAR(std::atan2(fibers[e].y, fibers[e].x), z * M_PI / 2, 1e-5);
    EXPECT_EQ(fibers[e].z, 0);
  }
  EXPECT_THROW(rotating_fibers(mesh, 1, 3), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
