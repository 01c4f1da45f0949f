// Cells that are cut when they are read, in every format that holds them. How they are cut:
// tests/mesh/cut_cells_test.cpp.
#include <map>

#include "io_test_support.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<std::int32_t>;
using Doubles = std::vector<double>;

/// A hexahedron with a pyramid on top of it and a prism at its side, and what they fill.
const char* const solid_points = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n0.5 0.5 2\n2 0 0\n2 0 1\n";
constexpr double solid_volume = 1 + 1.0 / 3 + 0.5;

std::string counted_from_one(const std::string& ids) {
  std::istringstream words(ids);
  std::string text;
  for (int id = 0; words >> id;) text += fmt::format("{} ", id + 1);
  return text;
}

double volume_of(const Dataset& d) {
  double sum = 0;
  for (const auto& [a, b, c, e] : d.tets.cells) {
    const auto from = [&](VertexId v) { return d.points[v.index()] - d.points[a.index()]; };
    EXPECT_GT(dot(cross(from(b), from(c)), from(e)), 0);
    sum += dot(cross(from(b), from(c)), from(e)) / 6;
  }
  return sum;
}

/// How many tetrahedra have a face; inside a mesh that fits together there are two.
std::map<std::array<VertexId, 3>, int> faces_of(const Dataset& d) {
  std::map<std::array<VertexId, 3>, int> faces;
  for (const auto& tet : d.tets.cells)
    for (std::size_t i = 0; i < 4; ++i) {
      std::array face{tet[(i + 1) % 4], tet[(i + 2) % 4], tet[(i + 3) % 4]};
      std::sort(face.begin(), face.end());
      ++faces[face];
    }
  return faces;
}

void expect_solids(const Dataset& d, const char* array) {
  EXPECT_DOUBLE_EQ(volume_of(d), solid_volume);
  EXPECT_EQ(d.tets.data.require(array, "t").values, DataArray::Values(Ints{7, 7, 7, 7, 7, 7, 8, 8, 9, 9, 9}));
  const auto faces = faces_of(d);
  EXPECT_EQ(faces.size() - static_cast<std::size_t>(std::count_if(faces.begin(), faces.end(),
                                                                  [](const auto& face) { return face.second == 1; })),
            44U - faces.size());  // each of the 4 × 11 faces is one alone or half of a pair
  ASSERT_EQ(d.cut_cells.size(), 3U);
  EXPECT_EQ(d.cut_cells[0].kind, "hexahedron");
  EXPECT_EQ(d.cut_cells[0].pieces, 6U);
  EXPECT_EQ(d.cut_cells[2].kind, "prism");
  EXPECT_EQ(d.cut_cells[2].cells, 1U);
  EXPECT_TRUE(d.ignored_cells.empty());
}

TEST(CutCells, SolidsInVtk) {
  const std::string cells = "8 0 1 2 3 4 5 6 7\n5 4 5 6 7 8\n6 1 9 2 5 10 6\n";
  expect_solids(read_content("a.vtk", std::string("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n") +
                                          "POINTS 11 double\n" + solid_points + "CELLS 3 22\n" + cells +
                                          "CELL_TYPES 3\n12 14 13\nCELL_DATA 3\nSCALARS tag int\n" +
                                          "LOOKUP_TABLE default\n7 8 9\n"),
                "tag");
}

TEST(CutCells, SolidsInGmsh) {
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n11\n";
  std::istringstream lines(solid_points);
  int number = 1;
  for (std::string line; std::getline(lines, line);) text += fmt::format("{} {}\n", number++, line);
  text += "$EndNodes\n$Elements\n3\n31 5 2 7 0 " + counted_from_one("0 1 2 3 4 5 6 7") + "\n32 7 2 8 0 " +
          counted_from_one("4 5 6 7 8") + "\n33 6 2 9 0 " + counted_from_one("1 9 2 5 10 6") +
          "\n$EndElements\n$ElementData\n1\n\"v\"\n1\n0\n3\n0\n1\n2\n31 0.5\n33 2.5\n$EndElementData\n";
  const Dataset d = read_content("a.msh", text);
  expect_solids(d, "gmsh:physical");
  EXPECT_EQ(d.tets.data.require("v", "t").at(5), 0.5);
  EXPECT_TRUE(std::isnan(d.tets.data.require("v", "t").at(6)));
  EXPECT_EQ(d.tets.data.require("v", "t").at(10), 2.5);
  EXPECT_THAT(d.warnings, ElementsAre(HasSubstr("values for 2 of 3 elements")));
}

// CARP goes round the far side of hexahedra and prisms the other way.
TEST(CutCells, SolidsInCarpWithTheirFibres) {
  const TemporaryFolder folder;
  folder.put("a.pts", std::string("11\n") + solid_points);
  folder.put("a.lon", "1\n1 0 0\n0 1 0\n0 0 1\n");
  const Dataset d = read_dataset(folder.file("a.elem", "3\nHx 0 1 2 3 4 7 6 5 7\nPy 4 5 6 7 8 8\nPr 1 9 2 5 6 10 9\n"));
  expect_solids(d, "region");
  EXPECT_EQ(d.tets.data.require("fiber", "t").at(5, 0), 1);
  EXPECT_EQ(d.tets.data.require("fiber", "t").at(10, 2), 1);
}

TEST(CutCells, SolidsInMedit) {
  std::string text = "MeshVersionFormatted 2\nDimension 3\nVertices 11\n";
  std::istringstream lines(solid_points);
  for (std::string line; std::getline(lines, line);) text += line + " 0\n";
  expect_solids(read_content("a.mesh", text + "Hexahedra 1 " + counted_from_one("0 1 2 3 4 5 6 7") + "7\nPyramids 1 " +
                                           counted_from_one("4 5 6 7 8") + "8\nPrisms 1 " +
                                           counted_from_one("1 9 2 5 10 6") + "9\nEnd\n"),
                "medit:ref");
}

/// An L of six corners beside a square, and what they are cut into.
void expect_polygons(const Dataset& d) {
  double area = 0;
  for (const auto& [a, b, c] : d.triangles.cells) {
    const double twice = cross(d.points[b.index()] - d.points[a.index()], d.points[c.index()] - d.points[a.index()]).z;
    EXPECT_GT(twice, 0);
    area += twice / 2;
  }
  EXPECT_DOUBLE_EQ(area, 4);
  EXPECT_EQ(d.triangles.cells.size(), 6U);
  ASSERT_EQ(d.cut_cells.size(), 2U);
  EXPECT_EQ(d.cut_cells[0].kind, "polygon");
  EXPECT_EQ(d.cut_cells[0].pieces, 4U);
  EXPECT_EQ(d.cut_cells[1].kind, "quad");
  EXPECT_EQ(d.cut_cells[1].pieces, 2U);
}

TEST(CutCells, PolygonsInSurfaceFormats) {
  const std::string points = "0 0 0\n2 0 0\n2 1 0\n1 1 0\n1 2 0\n0 2 0\n2 2 0\n";
  std::string obj;
  std::istringstream lines(points);
  for (std::string line; std::getline(lines, line);) obj += "v " + line + "\n";
  expect_polygons(read_content("a.obj", obj + "f 1 2 3 4 5 6\nf 4 3 7 5\n"));
  const std::string faces = "6 0 1 2 3 4 5\n4 3 2 6 4\n";
  expect_polygons(read_content("a.off", "OFF\n7 2 0\n" + points + faces));
  expect_polygons(
      read_content("a.ply",
                   "ply\nformat ascii 1.0\nelement vertex 7\nproperty float x\nproperty float y\n"
                   "property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n" +
                       points + faces));
  const Dataset vtp = read_content(
      "a.vtp",
      "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\"><PolyData><Piece NumberOfPoints=\"7\" "
      "NumberOfPolys=\"2\"><CellData><DataArray type=\"Float64\" Name=\"speed\" format=\"ascii\">3 4</DataArray>"
      "</CellData><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">" +
          points +
          "</DataArray></Points><Polys><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 4 5 3 "
          "2 "
          "6 4</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">6 10</DataArray></Polys></Piece>"
          "</PolyData></VTKFile>");
  expect_polygons(vtp);
  EXPECT_EQ(vtp.triangles.data.require("speed", "t").values, DataArray::Values(Doubles{3, 3, 3, 3, 4, 4}));
}

std::string grid_text(const std::string& points, int count, const std::string& cells, const std::string& ends,
                      const std::string& types) {
  return fmt::format(
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\"><UnstructuredGrid><Piece "
      "NumberOfPoints=\"{}\" NumberOfCells=\"1\"><CellData><DataArray type=\"Int64\" Name=\"GlobalCellIds\" "
      "format=\"ascii\">{}</DataArray></CellData><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" "
      "format=\"ascii\">{}</DataArray></Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\" "
      "format=\"ascii\">{}</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">{}</DataArray>"
      "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">{}</DataArray></Cells></Piece></UnstructuredGrid>"
      "</VTKFile>",
      count, types == "11" ? 0 : 1, points, cells, ends, types);
}

// Two pieces number the four vertices between them in opposite orders, and must cut the face there alike.
TEST(CutCells, PiecesFitTogether) {
  const TemporaryFolder folder;
  folder.put("a_0.vtu", grid_text("0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1", 8, "0 1 2 3 4 5 6 7", "8", "11"));
  folder.put("a_1.vtu", grid_text("2 1 1 2 0 1 2 1 0 2 0 0 1 1 1 1 0 1 1 1 0 1 0 0", 8, "7 3 2 6 5 1 0 4", "8", "12"));
  const Dataset d = read_dataset(folder.file(
      "a.pvtu",
      "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\"><PUnstructuredGrid GhostLevel=\"0\"><PCellData><PDataArray "
      "type=\"Int64\" Name=\"GlobalCellIds\"/></PCellData><PPoints><PDataArray type=\"Float64\" "
      "NumberOfComponents=\"3\"/></PPoints><Piece Source=\"a_0.vtu\"/><Piece Source=\"a_1.vtu\"/></PUnstructuredGrid>"
      "</VTKFile>"));
  EXPECT_EQ(d.points.size(), 12U);
  EXPECT_DOUBLE_EQ(volume_of(d), 2);
  int alone = 0;
  for (const auto& [face, tets] : faces_of(d)) alone += tets == 1 ? 1 : 0;
  EXPECT_EQ(alone, 20);  // two triangles for each of the ten squares outside
  ASSERT_EQ(d.cut_cells.size(), 1U);
  EXPECT_EQ(d.cut_cells[0].cells, 2U);
  EXPECT_EQ(d.cut_cells[0].pieces, 12U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
