#include "isochron/surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "isochron/core/random.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh/surface_distance.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

ImageGrid box(std::uint32_t n, double spacing) {
  ImageGrid grid;
  grid.shape = {n, n, n};
  for (int a = 0; a < 3; ++a) grid.axes[a] = spacing * grid.axes[a];
  grid.origin = {-3, 5, 7};
  return grid;
}

// A few waves in all directions: pieces, handles and thin places.
ImplicitSurface rough_object() {
  const ImageGrid grid = box(26, 1);
  Random random(5);
  struct Wave {
    Vec3d along;
    double shift;
  };
  std::vector<Wave> waves;
  for (int w = 0; w < 12; ++w)
    waves.push_back({{random.normal() * 0.35, random.normal() * 0.35, random.normal() * 0.35}, random.uniform(0, 6)});
  return from_isovalue(grid,
                       sampled(grid,
                               [&](const Vec3d& p) {
                                 double sum = 0;
                                 for (const Wave& wave : waves) sum += std::sin(dot(wave.along, p) + wave.shift);
                                 return sum;
                               }),
                       1.5);
}

class Extract : public testing::Test {
 protected:
  void SetUp() override {
    if (!delaunay_available()) GTEST_SKIP() << "this build has no CGAL";
  }
};

TEST_F(Extract, ARingIsRoundClosedAndWellShaped) {
  const ImageGrid grid = box(48, 0.5);
  const Vec3d centre = grid.position(Vec3d{23.3, 23.6, 23.9});
  const double ring = 7, tube = 2.6;
  const ImplicitSurface field =
      from_isovalue(grid, sampled(grid, [&](const Vec3d& p) { return -torus(p, centre, ring, tube); }), 0);
  const ExtractedSurface result = extract_surface(field);
  const SurfaceTopology topology = surface_topology(result.mesh);
  EXPECT_TRUE(topology.closed() && topology.manifold() && topology.oriented());
  EXPECT_EQ(topology.components.size(), 1);
  EXPECT_EQ(topology.genus(), 1);
  const double volume = 2 * std::numbers::pi * std::numbers::pi * ring * tube * tube;
  EXPECT_LT(topology.volume, volume);  // corners are on the surface, so triangles cut off some of what is round
  EXPECT_GT(topology.volume, 0.97 * volume);
  EXPECT_TRUE(self_intersections(result.mesh).empty());
  EXPECT_TRUE(result.triangulation.differences.empty());
  const ShapeStatistics shapes = shape_statistics(result.mesh);
  EXPECT_GE(shapes.radius_ratio.mean(), 0.96);
  EXPECT_GE(shapes.radius_ratio.min(), 0.5);
  for (const Vec3d& p : result.mesh.points) EXPECT_NEAR(torus(p, centre, ring, tube), 0, 0.02);
  EXPECT_EQ(result.sizes.size(), result.mesh.vertex_count());
}

TEST_F(Extract, ThreadsMakeNoDifference) {
  const ImplicitSurface field = rough_object();
  ExtractOptions options;
  options.threads = 1;
  const ExtractedSurface one = extract_surface(field, options);
  options.threads = 3;
  const ExtractedSurface three = extract_surface(field, options);
  EXPECT_GT(one.triangulation.added, 0);  // it took repairs
  EXPECT_EQ(one.mesh.points, three.mesh.points);
  EXPECT_EQ(one.mesh.elements, three.mesh.elements);
  EXPECT_TRUE(surface_topology(one.mesh).closed());
  EXPECT_TRUE(surface_topology(one.mesh).manifold());
}

TEST_F(Extract, RefusesMoreParticlesThanAllowedOrThanMemoryHolds) {
  const ImplicitSurface field = rough_object();
  ExtractOptions options;
  options.max_particles = 10;
  EXPECT_THROW(extract_surface(field, options), InputError);
  options.max_particles = 0;
  options.sizing.uniform = 1e-5;
  try {
    extract_surface(field, options);
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("particles"));
  }
}

TEST_F(Extract, AFineIsosurfaceIsNearerToTheSurface) {
  const ImageGrid grid = box(24, 1);
  const Vec3d centre = grid.position(Vec3d{11.4, 11.7, 11.2});
  const ImplicitSurface field =
      from_isovalue(grid, sampled(grid, [&](const Vec3d& p) { return -ball(p, centre, 6); }), 0);
  const auto off = [&](ExtractOptions::Isosurface kind) {
    ExtractOptions options;
    options.isosurface = kind;
    const TriangleMesh isosurface = extract_surface(field, options).isosurface;
    double worst = 0;
    for (const Vec3d& p : isosurface.points) worst = std::max(worst, std::abs(ball(p, centre, 6)));
    return worst;
  };
  const double fine = off(ExtractOptions::Isosurface::fine), coarse = off(ExtractOptions::Isosurface::coarse);
  EXPECT_LT(fine, 0.5 * coarse);
  EXPECT_LT(fine, 0.05);
}

TEST_F(Extract, NoneIsAddedToSeedsThatAreAskedFor) {
  const ImageGrid grid = box(24, 1);
  const Vec3d centre = grid.position(Vec3d{11.5, 11.5, 11.5});
  const ImplicitSurface field =
      from_isovalue(grid, sampled(grid, [&](const Vec3d& p) { return -ball(p, centre, 8); }), 0);
  ExtractOptions options;
  options.threads = 2;
  options.sizing.uniform = 1;
  options.seeds = 300;  // some 900 are wanted
  const ExtractedSurface surface = extract_surface(field, options);
  EXPECT_NEAR(static_cast<double>(surface.seeds), 300, 30);
  EXPECT_LE(surface.particles, surface.seeds);
}

}  // namespace TEST_FILE
}  // namespace isochron
