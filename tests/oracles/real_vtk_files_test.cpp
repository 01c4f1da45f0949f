// Reads the real meshes in the data folder and checks what their documentation says is in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"
#include "oracles/real_data.h"

namespace isochron::test {
namespace TEST_FILE {

using RealVtkFiles = RealData;

void expect_counts(const Dataset& d, std::size_t points, std::size_t triangles, std::size_t tets) {
  EXPECT_EQ(d.points.size(), points);
  EXPECT_EQ(d.triangles.cells.size(), triangles);
  EXPECT_EQ(d.tets.cells.size(), tets);
  EXPECT_TRUE(d.warnings.empty());
}

TEST_F(RealVtkFiles, Dragon) { expect_counts(read("surf/dragon_vrip.ply.gz"), 437645, 871414, 0); }

TEST_F(RealVtkFiles, Bunny) {
  const Dataset d = read("surf/bunny_zipper.ply");
  expect_counts(d, 35947, 69451, 0);
  EXPECT_THAT(d.point_data.names(), testing::ElementsAre("confidence", "intensity"));
  EXPECT_FLOAT_EQ(static_cast<float>(d.point_data.require("confidence", "points").at(0)), 0.850855F);
}

TEST_F(RealVtkFiles, Armadillo) { expect_counts(read("surf/armadillo_igl.obj"), 43243, 86482, 0); }

TEST_F(RealVtkFiles, HeartSurface) {
  const Dataset d = read("heart/cobiveco_geo1_surface.vtp");
  expect_counts(d, 24991, 49978, 0);
  EXPECT_TRUE(std::holds_alternative<std::vector<std::uint8_t>>(d.point_data.require("class", "points").values));
}

TEST_F(RealVtkFiles, HeartVolume) {
  const Dataset d = read("heart/ldrb_ellipsoid_heart.vtu");
  expect_counts(d, 4237, 0, 16592);
  EXPECT_EQ(d.tets.data.require("Material", "tets").at(100), 31);
}

TEST_F(RealVtkFiles, LeftAtriumWithFibresAndTensors) {
  const Dataset d = read("atria/FiberNet_LA_model.vtk");
  expect_counts(d, 8843, 17444, 0);
  EXPECT_EQ(d.triangles.data.require("diff_tensors", "triangles").components, 9);
  EXPECT_EQ(d.triangles.data.require("fibers", "triangles").components, 3);
}

TEST_F(RealVtkFiles, CrtDemo) {
  const Dataset times = read("oracle/crtdemo_mit/True_endo.vtu");
  expect_counts(times, 4569, 0, 17866);
  const DataArray& activation = times.point_data.require("activation", "points");
  double latest = 0;
  for (std::size_t i = 0; i < activation.tuple_count(); ++i) latest = std::max(latest, activation.at(i));
  EXPECT_NEAR(latest, 207.55413818359375, 1e-9);
  EXPECT_EQ(read("oracle/crtdemo_mit/True_LVtree.vtu").lines.size(), 1140U);
}

TEST_F(RealVtkFiles, CrtDemoInput) {
  expect_counts(read("oracle/crtdemo_mit/crtdemo_mesh_oriented.vtk"), 4569, 0, 17866);
  EXPECT_EQ(read("oracle/crtdemo_mit/crtdemo_f0_oriented.vtk").point_data.require("fiber", "points").components, 3);
}

TEST_F(RealVtkFiles, KitBox) {
  expect_counts(read("oracle/kitfim/box.vtu"), 35937, 0, 196608);
  EXPECT_THAT(read("oracle/kitfim/result.vtu").point_data.names(),
              testing::ElementsAre("seed1", "seed2", "seed3", "seed4"));
}

TEST_F(RealVtkFiles, IdsThatCountFromOneAreRefused) {
  EXPECT_THROW(read("oracle/sci_eikonal/SquareMesh_size16.ply"), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
