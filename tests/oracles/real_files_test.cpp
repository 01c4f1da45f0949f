// Real meshes in the formats that Isochron parses itself: what is in them is known.
#include <string>

#include <gtest/gtest.h>

#include "isochron/io.h"
#include "isochron/io/tables.h"
#include "support/data_folder.h"

namespace isochron::test {
namespace TEST_FILE {

struct RealFile {
  const char* path;
  std::size_t points, triangles, tets, lines;
};

void PrintTo(const RealFile& file, std::ostream* out) { *out << file.path; }

class RealMesh : public ::testing::TestWithParam<RealFile> {};

TEST_P(RealMesh, HasTheKnownCounts) {
  const auto folder = data_folder();
  if (!folder) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  const Dataset d = read_dataset(*folder / GetParam().path);
  EXPECT_EQ(d.points.size(), GetParam().points);
  EXPECT_EQ(d.triangles.cells.size(), GetParam().triangles);
  EXPECT_EQ(d.tets.cells.size(), GetParam().tets);
  EXPECT_EQ(d.lines.size(), GetParam().lines);
  EXPECT_TRUE(d.ignored_cells.empty());
}

INSTANTIATE_TEST_SUITE_P(Known, RealMesh,
                         ::testing::Values(RealFile{"atria/LA_endo_1.elem", 60100, 119477, 0, 0},
                                           RealFile{"atria/biatrial_bilayer.pts", 50949, 97937, 0, 21567},
                                           RealFile{"heart/kit_heartT4.node", 32505, 0, 128976, 0},
                                           RealFile{"heart/kit_ellipsoid.ele", 11820, 0, 7013, 0},
                                           RealFile{"surf/refined_elephant.off", 44460, 88928, 0, 0},
                                           RealFile{"surf/fertility_igl.off", 4494, 9000, 0, 0},
                                           RealFile{"tet/hand.mesh", 7234, 9556, 29998, 0},
                                           RealFile{"oracle/sci_eikonal/CubeMesh_size16.ele", 4096, 0, 20250, 0},
                                           RealFile{"oracle/sci_eikonal/sphere8.node", 7, 0, 8, 0},
                                           RealFile{"oracle/sci_eikonal/sphere13.node", 13, 0, 20, 0},
                                           RealFile{"oracle/sci_eikonal/sphere334.node", 334, 0, 1125, 0},
                                           RealFile{"oracle/sci_eikonal/sphere8092.node", 8092, 0, 40000, 0},
                                           RealFile{"oracle/sci_eikonal/sphere19499.node", 19499, 0, 100276, 0},
                                           RealFile{"oracle/sci_eikonal/torus.node", 1012, 0, 3444, 0}));

TEST(RealArrays, FibresWithoutHeaderGoToTrianglesAndLines) {
  const auto folder = data_folder();
  if (!folder) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  const Dataset d = read_dataset(*folder / "atria/biatrial_bilayer.elem");
  const DataArray& fiber = d.triangles.data.require("fiber", "triangles");
  EXPECT_EQ(fiber.tuple_count(), 97937U);
  EXPECT_EQ(fiber.at(0, 0), 0.563769);
  const DataArray& along = d.line_data.require("fiber", "lines");
  EXPECT_EQ(along.at(along.tuple_count() - 1, 0), 1);
  EXPECT_EQ(d.line_data.require("region", "lines").at(d.lines.size() - 1), 39);
  EXPECT_EQ(d.triangles.data.require("region", "triangles").at(0), 12);
  EXPECT_EQ(d.lines.back()[0], VertexId(42391));
}

TEST(RealArrays, RegionsOfTheHeart) {
  const auto folder = data_folder();
  if (!folder) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  const Dataset d = read_dataset(*folder / "heart/kit_heartT4.ele");
  const DataArray& region = d.tets.data.require("region", "tetrahedra");
  EXPECT_EQ(region.at(0), 31);
  EXPECT_EQ(region.at(128975), 61);
  EXPECT_EQ(d.tets.cells[0][0], VertexId(30493));  // the file counts from 1
  EXPECT_EQ(d.point_data.require("attribute0", "points").at(0), 7);
}

TEST(RealArrays, SecondOrderElementsAreReported) {
  const auto folder = data_folder();
  if (!folder) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  EXPECT_EQ(read_dataset(*folder / "heart/kit_ellipsoid.node").warnings.size(), 1U);
}

TEST(RealLists, SourcesAndProbes) {
  const auto folder = data_folder();
  if (!folder) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  const auto rows = read_source_file(*folder / "oracle/crtdemo_mit/True_endo_seeds.txt");
  EXPECT_EQ(rows.size(), 497U);
  EXPECT_EQ(rows[0].vertex, VertexId(3));
  EXPECT_EQ(rows[0].time, 125.294060);
  const auto probes = read_points(*folder / "oracle/niederer2011/Niederer_Points.txt");
  ASSERT_EQ(probes.points.size(), 9U);
  EXPECT_EQ(probes.points[2], (Vec3d{0.019999, 0, 0.007}));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
