// Boxes, the lens and the blobs.
#include <gtest/gtest.h>

#include <array>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/generate/lattice.h"
#include "mesh/mesh_checks.h"

namespace isochron {
namespace TEST_FILE {

constexpr std::array all_diagonals{KuhnDiagonal::ppp, KuhnDiagonal::npp, KuhnDiagonal::pnp, KuhnDiagonal::ppn};

TEST(GenerateCube, FillsTheBoxForEveryDiagonal) {
  for (const KuhnDiagonal diagonal : all_diagonals) {
    const TetMesh mesh = generate_cube({.nx = 4, .ny = 6, .nz = 5, .extent = {3, 5, 4}, .diagonal = diagonal});
    EXPECT_EQ(mesh.vertex_count(), 4U * 6U * 5U);
    EXPECT_EQ(mesh.element_count(), 6U * 3U * 5U * 4U);
    const MeshReport report = expect_sound(mesh);
    EXPECT_EQ(report.boundary_facets, 4U * (3 * 5 + 5 * 4 + 4 * 3));
    EXPECT_EQ(report.max_valence, 24U);
    EXPECT_EQ(euler_characteristic(mesh), 1);
    EXPECT_NEAR(total_measure(mesh), 60, 1e-9);
    EXPECT_NEAR(boundary_area(mesh), 2 * (15 + 20 + 12), 1e-9);
    EXPECT_EQ(report.low, (Vec3d{0, 0, 0}));
    EXPECT_EQ(report.high, (Vec3d{3, 5, 4}));
    EXPECT_NEAR(report.max_edge, std::sqrt(3.0), 1e-12);
  }
}

TEST(GenerateCube, DiagonalHasTheDirectionOfItsName) {
  const std::array<Vec3d, 4> directions{Vec3d{1, 1, 1}, Vec3d{-1, 1, 1}, Vec3d{1, -1, 1}, Vec3d{1, 1, -1}};
  for (std::size_t k = 0; k < all_diagonals.size(); ++k) {
    const TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3, .extent = {2, 2, 2}, .diagonal = all_diagonals[k]});
    for (const auto& [edge, count] : sub_simplices<2>(mesh)) {
      const Vec3d e = mesh.point(edge[1]) - mesh.point(edge[0]);
      if (norm(e) > 1.6) {
        EXPECT_EQ(std::abs(dot(e, directions[k])), 3);
      }
    }
  }
}

TEST(GenerateCube, JitterKeepsTheBoxAndTheOrientation) {
  const TetMesh mesh = generate_cube({.nx = 9, .ny = 9, .nz = 9, .jitter = 0.45, .seed = 5});
  const MeshReport report = expect_sound(mesh);
  EXPECT_GT(report.min_quality, 0.01);
  EXPECT_NEAR(total_measure(mesh), 1, 1e-12);
  EXPECT_NEAR(boundary_area(mesh), 6, 1e-12);
  const TetMesh same = generate_cube({.nx = 9, .ny = 9, .nz = 9, .jitter = 0.45, .seed = 5});
  EXPECT_EQ(mesh.points, same.points);
  EXPECT_NE(mesh.points, generate_cube({.nx = 9, .ny = 9, .nz = 9, .jitter = 0.45, .seed = 6}).points);
}

TEST(GenerateCube, RefusesNonsense) {
  EXPECT_THROW(generate_cube({.nx = 1}), UsageError);
  EXPECT_THROW(generate_cube({.nx = 1U << 20, .ny = 1U << 20, .nz = 1U << 20}), UsageError);
  EXPECT_THROW(generate_cube({.nx = 3, .ny = 3, .nz = 3, .extent = {1, -1, 1}}), UsageError);
  EXPECT_THROW(generate_cube({.nx = 3, .ny = 3, .nz = 3, .jitter = -0.1}), UsageError);
}

TEST(Displace, ShortensWhatWouldFlatten) {
  TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3, .extent = {2, 2, 2}});
  std::vector<Vec3d> moves(mesh.vertex_count());
  moves[13] = {1.5, 1.5, 1.5};  // the middle, right out of the box
  EXPECT_GT(displace(mesh, moves), 0U);
  expect_sound(mesh);
  EXPECT_GT(norm(mesh.points[13] - Vec3d({1, 1, 1})), 0.1);
}

TEST(GenerateIrregularCube, FitsTogetherWhateverTheFaces) {
  for (const double random_faces : {0.0, 0.58, 1.0}) {
    const TetMesh mesh = generate_irregular_cube({.n = 10, .random_faces = random_faces, .seed = 2});
    const MeshReport report = expect_sound(mesh);
    const std::size_t inside = mesh.vertex_count() - 1000;
    EXPECT_EQ(mesh.element_count(), 6 * (729 + inside));
    EXPECT_EQ(inside == 0, random_faces == 0);
    EXPECT_EQ(report.boundary_facets, 12U * 81U);
    EXPECT_EQ(euler_characteristic(mesh), 1);
    EXPECT_NEAR(total_measure(mesh), 1, 1e-12);
    EXPECT_NEAR(boundary_area(mesh), 6, 1e-12);
    EXPECT_GE(report.max_valence, 36U);
    EXPECT_GE(different_valences(mesh), 15U);
  }
  EXPECT_THROW(generate_irregular_cube({.n = 1}), UsageError);
  EXPECT_THROW(generate_irregular_cube({.random_faces = 1.5}), UsageError);
}

TEST(GenerateIrregularCube, DependsOnItsSeedOnly) {
  const TetMesh a = generate_irregular_cube({.n = 6, .seed = 3});
  EXPECT_EQ(a.elements, generate_irregular_cube({.n = 6, .seed = 3}).elements);
  EXPECT_NE(a.elements, generate_irregular_cube({.n = 6, .seed = 4}).elements);
}

double inside_volume(const RegionModel& model) {
  double sum = 0;
  for (std::size_t e = 0; e < model.region.size(); ++e)
    if (model.region[e] == 1) sum += measure_of(model.mesh, model.mesh.elements[e]);
  return sum;
}

TEST(GenerateLens, ConformsToTheTwoSpheres) {
  const LensOptions options{.n = 24};
  const RegionModel model = generate_lens(options);
  const MeshReport report = expect_sound(model.mesh);
  EXPECT_GT(report.min_quality, 0.03);
  EXPECT_EQ(euler_characteristic(model.mesh), 1);
  EXPECT_NEAR(total_measure(model.mesh), 1, 1e-9);
  EXPECT_NEAR(boundary_area(model.mesh), 6, 1e-9);
  ASSERT_EQ(model.region.size(), model.mesh.element_count());
  ASSERT_EQ(model.speed.size(), model.mesh.element_count());

  const double r = 0.55, cap = 0.125, edge = 1.0 / 23;
  const double volume = 2 * M_PI * cap * cap * (3 * r - cap) / 3;
  EXPECT_NEAR(inside_volume(model), volume, 0.05 * volume);
  const auto level = [&](const Vec3d& p) {
    const Vec3d middle{0.5, 0.5, 0.5}, aside{r - cap, 0, 0};
    return std::max(norm(p - middle + aside), norm(p - middle - aside)) - r;
  };
  for (std::size_t e = 0; e < model.region.size(); ++e) {
    EXPECT_EQ(model.speed[e], model.region[e] == 1 ? 1 / 2.419 : 1.0);
    for (const VertexId v : model.mesh.elements[e]) {  // no element reaches across
      const double at = level(model.mesh.point(v));
      EXPECT_LT(model.region[e] == 1 ? at : -at, 0.11 * edge);
    }
  }
  EXPECT_THROW(generate_lens({.n = 8, .thickness = 2}), UsageError);
}

TEST(GenerateBlobs, HasTwoRegionsAndKeepsTheBox) {
  const RegionModel model = generate_blobs({.n = 20, .blobs = 5});
  expect_sound(model.mesh);
  EXPECT_EQ(euler_characteristic(model.mesh), 1);
  EXPECT_NEAR(total_measure(model.mesh), 1, 1e-9);
  EXPECT_NEAR(boundary_area(model.mesh), 6, 1e-9);
  const double inside = inside_volume(model);
  EXPECT_GT(inside, 0.05);
  EXPECT_LT(inside, 0.6);
  for (std::size_t e = 0; e < model.region.size(); ++e) EXPECT_EQ(model.speed[e], model.region[e] == 1 ? 10.0 : 1.0);
  EXPECT_EQ(model.region, generate_blobs({.n = 20, .blobs = 5}).region);
  EXPECT_NE(model.region, generate_blobs({.n = 20, .blobs = 5, .seed = 2}).region);
  EXPECT_THROW(generate_blobs({.n = 8, .blobs = 0}), UsageError);
  EXPECT_THROW(generate_blobs({.n = 8, .speed_inside = 0}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
