// Each text format: what is written is read again, and what others write is read right.
#include <set>

#include "io/image_samples.h"
#include "isochron/core/random.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;

constexpr double infinity = std::numeric_limits<double>::infinity();

class TextFormat : public ::testing::TestWithParam<const char*> {};

TEST_P(TextFormat, KeepsPointsAndTriangles) {
  const Dataset mesh = surface_mesh();
  const Dataset again = write_and_read(GetParam(), mesh);
  EXPECT_EQ(again.points, mesh.points);
  EXPECT_EQ(again.triangles.cells, mesh.triangles.cells);
  EXPECT_TRUE(again.tets.cells.empty());
  EXPECT_TRUE(again.warnings.empty());
  EXPECT_TRUE(again.ignored_cells.empty());
}

TEST_P(TextFormat, WritesTheSameBytesEveryTime) {
  TemporaryFolder folder;
  const Dataset mesh = surface_mesh();
  const fs::path path = folder.path() / GetParam();
  write_dataset(path, mesh, Overwrite::no);
  const std::string first = content_of(path);
  write_dataset(path, read_dataset(path), Overwrite::yes);
  EXPECT_EQ(content_of(path), first);
}

INSTANTIATE_TEST_SUITE_P(All, TextFormat,
                         ::testing::Values("a.off", "a.off.gz", "a.OFF", "a.msh", "a.msh.gz", "a.mesh", "a.mesh.gz",
                                           "a.ele", "a.node", "a.node.gz", "a.pts", "a.elem", "a.elem.gz"));

class MixedFormat : public ::testing::TestWithParam<const char*> {};

TEST_P(MixedFormat, KeepsAllKindsOfCells) {
  const Dataset mesh = mixed_mesh();
  const Dataset again = write_and_read(GetParam(), mesh);
  EXPECT_EQ(again.points, mesh.points);
  EXPECT_EQ(again.triangles.cells, mesh.triangles.cells);
  EXPECT_EQ(again.tets.cells, mesh.tets.cells);
  EXPECT_EQ(again.lines, mesh.lines);
}

TEST_P(MixedFormat, SplitsPolylines) {
  Dataset mesh = mixed_mesh();
  mesh.lines = {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(4), VertexId(5)}, {}};
  mesh.line_data.set({"region", 1, Ints{7, 8, 9}});
  const Dataset again = write_and_read(GetParam(), mesh);
  ASSERT_EQ(again.lines.size(), 3U);
  EXPECT_THAT(again.lines[1], ElementsAre(VertexId(1), VertexId(2)));
}

INSTANTIATE_TEST_SUITE_P(All, MixedFormat, ::testing::Values("a.msh", "a.mesh", "a.mesh.gz", "a.elem", "a.pts.gz"));

TEST(Gzip, IsWrittenAndReadForTheWholeSet) {
  TemporaryFolder folder;
  Dataset mesh = mixed_mesh();
  mesh.tets.data.set({"fiber", 3, Doubles{1, 0, 0, 0, 1, 0}});
  write_dataset(folder.path() / "h.elem.gz", mesh, Overwrite::no);
  EXPECT_TRUE(content_of(folder.path() / "h.pts.gz").starts_with("\x1f\x8b"));
  EXPECT_TRUE(content_of(folder.path() / "h.lon.gz").starts_with("\x1f\x8b"));
  EXPECT_EQ(read_dataset(folder.path() / "h.pts.gz").tets.cells, mesh.tets.cells);
}

TEST(Gzip, CompanionMayBeCompressedDifferently) {
  TemporaryFolder folder;
  write_dataset(folder.path() / "a.node.gz", mixed_mesh(), Overwrite::no);
  fs::remove(folder.path() / "a.ele.gz");
  const fs::path elements = folder.file("a.ele", "1 4 0\n0 0 1 2 3\n");
  EXPECT_EQ(read_dataset(elements).points.size(), 6U);
}

TEST(Gzip, DamagedDataIsAnInputError) {
  TemporaryFolder folder;
  write_dataset(folder.path() / "a.off.gz", surface_mesh(), Overwrite::no);
  const std::string whole = content_of(folder.path() / "a.off.gz");
  const fs::path cut = folder.file("cut.off.gz", whole.substr(0, whole.size() - 9));
  EXPECT_THAT(reading_error(cut), HasSubstr("gzip"));
}

TEST(Off, ToleratesColoursCommentsAndOtherPolygons) {
  const Dataset d = read_content("a.off",
                                 "\xef\xbb\xbf"
                                 "COFF # with colours\r\n# a comment\r\n\r\n5 4 0\r\n"
                                 "0 0 0 255 0 0 255\r\n1 0 0 0 0 0 1\n0 1 0\n+1 1 0 # last\n2 2 1.5D+01\n"
                                 "3 0 1 2 0.5 0.5 0.5\n4 0 1 3 2\n3 1 3 2\n2 0 4\n");
  EXPECT_EQ(d.points[3], (Vec3d{1, 1, 0}));
  EXPECT_EQ(d.points[4], (Vec3d{2, 2, 15}));
  EXPECT_THAT(d.triangles.cells,
              ElementsAre(triangle(0, 1, 2), triangle(0, 1, 3), triangle(0, 3, 2), triangle(1, 3, 2)));
  EXPECT_TRUE(d.ignored_cells.empty());
  EXPECT_EQ(d.lines.size(), 1U);
}

TEST(Off, HeaderMayBeMissingOrOnOneLine) {
  EXPECT_EQ(read_content("a.off", "3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2").triangles.cells.size(), 1U);
  EXPECT_EQ(read_content("b.off", "OFF 3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2").triangles.cells.size(), 1U);
}

TEST(Off, SaysWhatIsNotUnderstood) {
  EXPECT_THAT(content_error("a.off", "OFF BINARY\n3 1 0\n"), HasSubstr("binary"));
  EXPECT_THAT(content_error("b.off", "4OFF\n3 1 0\n"), HasSubstr("4OFF"));
  EXPECT_THAT(content_error("c.off", "solid thing\n"), HasSubstr("not an OFF file"));
}

TEST(Medit, KeepsReferences) {
  Dataset mesh = mixed_mesh();
  mesh.point_data.set({"medit:ref", 1, Ints{0, 1, 2, 3, 4, 5}});
  mesh.tets.data.set({"region", 1, Ints{30, 31}});
  mesh.triangles.data.set({"medit:ref", 1, Ints{1, 1, -4}});
  const Dataset again = write_and_read("a.mesh", mesh);
  expect_same_arrays(mesh.point_data, again.point_data);
  expect_same_arrays(mesh.triangles.data, again.triangles.data);
  EXPECT_EQ(again.tets.data.require("medit:ref", "tetrahedra").at(1), 31);
  EXPECT_TRUE(again.line_data.empty());
}

TEST(Medit, ReadsTwoDimensionsAndSkipsOtherSections) {
  const Dataset d = read_content("a.mesh",
                                 "MeshVersionFormatted\n1\nDimension\n2\n# note\nVertices 3\n0 0 1\n1 0 1\n0 1 1\n"
                                 "Corners\n1\n2\nStrangeThing\n2\n5 6 7\n"
                                 "Triangles\n1\n1 2 3 9\nEnd");
  EXPECT_EQ(d.points[2], (Vec3d{0, 1, 0}));
  EXPECT_THAT(d.triangles.cells, ElementsAre(triangle(0, 1, 2)));
  EXPECT_THAT(d.warnings, ElementsAre(HasSubstr("StrangeThing")));
}

TEST(Medit, NamesFewOfManyUnknownSections) {
  std::string text = "MeshVersionFormatted 2\nVertices 1\n0 0 0 0\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("Section{} 1\n", i);
  const std::vector<std::string> warnings = read_content("a.mesh", text).warnings;
  ASSERT_EQ(warnings.size(), 9U);
  EXPECT_THAT(warnings.front(), HasSubstr("'Section0' is not known"));
  EXPECT_THAT(warnings.back(), HasSubstr("992 more"));
}

TEST(Medit, SaysWhatIsWrong) {
  const std::string head = "MeshVersionFormatted 2\nDimension 3\nVertices\n1\n0 0 0 0\n";
  EXPECT_THAT(content_error("a.mesh", "MFEM mesh v1.0\n"), HasSubstr("not a Medit"));
  EXPECT_THAT(content_error("b.mesh", head + "Triangles\n1\n1 2 1 0\nEnd\n"), HasSubstr("line 8"));
  EXPECT_THAT(content_error("c.mesh", head + "77\n"), HasSubstr("not a section"));
  EXPECT_THAT(content_error("d.mesh", head + "Triangles\n1\n0 1 1 0\nEnd\n"), HasSubstr("out of range"));
}

TEST(TetGen, KeepsNamedArraysOfEveryType) {
  Dataset mesh = mixed_mesh();
  mesh.point_data.set({"arrival_time", 1, Doubles{0, 0.1, 1e-9, infinity, 5, 6}});
  mesh.point_data.set({"with blank:and colon", 1, std::vector<std::uint8_t>{0, 255, 3, 4, 5, 6}});
  mesh.tets.data.set({"region", 1, std::vector<std::int64_t>{1LL << 60, -2}});
  mesh.tets.data.set({"fiber", 3, std::vector<float>{0.1F, 0.2F, 0.3F, 1, 2, 3}});
  const Dataset again = write_and_read("a.ele", mesh);
  expect_same_array(mesh.point_data.all()[0], again.point_data);
  EXPECT_EQ(again.point_data.require("with blank:and colon", "points").values, mesh.point_data.all()[1].values);
  EXPECT_EQ(again.tets.data.require("region", "tets").values, mesh.tets.data.all()[0].values);
  EXPECT_EQ(again.tets.data.require("fiber", "tets").values, mesh.tets.data.all()[1].values);
}

TEST(TetGen, CountsFromZeroOrOne) {
  TemporaryFolder folder;
  for (const int base : {0, 1}) {
    std::string nodes = "# made by hand\n4 3 1 1\n";
    for (int i = 0; i < 4; ++i) nodes += fmt::format("{} {} 0 0 0.5 2\n", base + i, i);
    const fs::path path = folder.file("a.node", nodes);
    const auto id = [base](int i) { return fmt::format(" {}", base + i); };
    folder.put("a.ele", "1  4  1\n  7" + id(3) + id(2) + id(1) + id(0) + " 31\n# end\n");
    const Dataset d = read_dataset(path);
    EXPECT_THAT(d.tets.cells, ElementsAre(tet(3, 2, 1, 0)));
    EXPECT_EQ(d.tets.data.require("region", "tets").values, DataArray::Values(Ints{31}));
    EXPECT_EQ(d.point_data.require("attribute0", "points").at(3), 0.5);
    EXPECT_EQ(d.point_data.require("boundary_marker", "points").at(0), 2);
  }
}

TEST(TetGen, ReadsTrianglesAndSecondOrder) {
  TemporaryFolder folder;
  const fs::path path = folder.file("a.node", "6 2 0 0\n1 0 0\n2 1 0\n3 0 1\n4 .5 .5\n5 0 .5\n6 .5 0\n");
  folder.put("a.ele", "1 6 0\n1 1 2 3 4 5 6\n");
  const Dataset d = read_dataset(path);
  EXPECT_THAT(d.triangles.cells, ElementsAre(triangle(0, 1, 2)));
  EXPECT_EQ(d.warnings.size(), 1U);
}

TEST(TetGen, NamesMayBeInCapitals) {
  TemporaryFolder folder;
  const fs::path path = folder.file("A.NODE", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  folder.put("A.ELE", "1 4 0\n0 0 1 2 3\n");
  EXPECT_EQ(read_dataset(path).tets.cells.size(), 1U);
}

TEST(TetGen, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const fs::path nodes = folder.file("a.node", "2 3 0 0\n0 0 0 0\n1 1 1 1\n");
  EXPECT_THAT(reading_error(nodes), HasSubstr(".ele file that goes with it is missing"));
  const fs::path elements = folder.file("a.ele", "1 4 0\n0 0 1 2 1\n");
  EXPECT_THAT(reading_error(nodes, elements), HasSubstr("line 2: vertex id 2 is out of range"));
  EXPECT_THAT(content_error("b.ele", "1 4 0\n0 0 1 2 1\n"), HasSubstr(".node file"));
  const fs::path gap = folder.file("c.node", "2 3 0 0\n0 0 0 0\n5 1 1 1\n");
  folder.put("c.ele", "1 4 0\n0 0 1 2 1\n");
  EXPECT_THAT(reading_error(gap), HasSubstr("line 3: points are not numbered"));
}

TEST(Carp, KeepsRegionsFibresAndSheets) {
  TemporaryFolder folder;
  Dataset mesh = mixed_mesh();
  mesh.tets.data.set({"region", 1, Ints{4, -5}});
  mesh.tets.data.set({"fiber", 3, Doubles{1, 0, 0, 0.1, 0.2, 1.0 / 3}});
  mesh.tets.data.set({"sheet", 3, std::vector<float>{0, 1, 0, 0.1F, 0.2F, 0.3F}});
  mesh.triangles.data.set({"region", 1, Ints{1, 2, 3}});
  const Dataset again = write_and_read("a.elem", mesh);
  expect_same_array(mesh.tets.data.all()[0], again.tets.data);
  expect_same_array(mesh.tets.data.all()[1], again.tets.data);
  EXPECT_EQ(again.tets.data.require("sheet", "tets").at(1, 0), 0.1);  // the digits of the float
  expect_same_arrays(mesh.triangles.data, again.triangles.data);
  EXPECT_EQ(again.line_data.require("fiber", "lines").at(0, 0), 1);
  write_dataset(folder.path() / "a.elem", mesh, Overwrite::no);
  EXPECT_TRUE(content_of(folder.path() / "a.lon").starts_with("2\n"));
}

TEST(Carp, OldFibresGoWhenTheMeshIsReplaced) {
  TemporaryFolder folder;
  Dataset mesh = mixed_mesh();
  mesh.tets.data.set({"fiber", 3, Doubles{1, 0, 0, 0, 1, 0}});
  write_dataset(folder.path() / "a.elem", mesh, Overwrite::no);
  mesh.tets.data = {};
  write_dataset(folder.path() / "a.elem", mesh, Overwrite::yes);
  EXPECT_FALSE(fs::exists(folder.path() / "a.lon"));
  EXPECT_EQ(folder.entries(), 2U);
}

class CarpFibres : public ::testing::Test {
 protected:
  CarpFibres() {
    points_ = folder_.file("a.pts", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n");
    folder_.put("a.elem", "5\nTr 0 1 2 11\nLn 0 3 12\nOc 0 1 2 3 0 1 13\nTt 0 1 2 3 14\nTr 1 2 3\n");
  }
  TemporaryFolder folder_;
  fs::path points_;
};

TEST_F(CarpFibres, AreOptional) {
  const Dataset d = read_dataset(points_);
  EXPECT_EQ(d.triangles.data.find("fiber"), nullptr);
  EXPECT_THAT(d.ignored_cells, ElementsAre(Pair("octahedron", 1)));
  EXPECT_EQ(d.triangles.data.require("region", "triangles").values, DataArray::Values(Ints{11, 0}));
}

TEST_F(CarpFibres, GoToTheRightKindsWithAndWithoutHeader) {
  const std::string rows = "1 0 0\n2 0 0\n3 0 0\n4 0 0\n5 0 0\n";
  for (const std::string& header : {std::string(), std::string("1\n")}) {
    folder_.put("a.lon", header + rows);
    const Dataset d = read_dataset(folder_.path() / "a.elem");
    EXPECT_EQ(d.triangles.data.require("fiber", "t").values, DataArray::Values(Doubles{1, 0, 0, 5, 0, 0}));
    EXPECT_EQ(d.line_data.require("fiber", "l").values, DataArray::Values(Doubles{2, 0, 0}));
    EXPECT_EQ(d.tets.data.require("fiber", "T").values, DataArray::Values(Doubles{4, 0, 0}));
    EXPECT_EQ(d.tets.data.find("sheet"), nullptr);
  }
}

TEST_F(CarpFibres, SheetsWithAndWithoutHeader) {
  const std::string rows = "1 0 0 0 1 6\n1 0 0 0 1 7\n1 0 0 0 1 8\n1 0 0 0 1 9\n1 0 0 0 1 10\n";
  for (const std::string& header : {std::string(), std::string("2\n")}) {
    folder_.put("a.lon", header + rows);
    const Dataset d = read_dataset(folder_.path() / "a.lon");
    EXPECT_EQ(d.tets.data.require("sheet", "T").values, DataArray::Values(Doubles{0, 1, 9}));
  }
}

TEST_F(CarpFibres, MayHaveACountInFrontAndNineColumnsAndAnotherExtension) {
  std::string rows;
  for (int i = 0; i < 5; ++i) rows += fmt::format("{} 0 0 0 1 0 0 0 1\n", i + 1);
  for (const char* header : {"", "3\n", "5\n"}) {
    folder_.put("a.fib", header + rows);
    const Dataset d = read_dataset(points_);
    EXPECT_EQ(d.tets.data.require("fiber", "T").values, DataArray::Values(Doubles{4, 0, 0}));
    EXPECT_EQ(d.tets.data.require("sheet", "T").values, DataArray::Values(Doubles{0, 1, 0}));
    EXPECT_EQ(d.tets.data.require("normal", "T").values, DataArray::Values(Doubles{0, 0, 1}));
    EXPECT_TRUE(d.warnings.empty());
  }
  EXPECT_THAT(reading_error(points_, folder_.file("a.fib", "4\n" + rows)), HasSubstr("first line"));
}

TEST_F(CarpFibres, UnderAnotherNameAreMentioned) {
  folder_.put("b.lon", "1 0 0\n");
  EXPECT_THAT(read_dataset(points_).warnings, ElementsAre(HasSubstr("there is b.lon")));
}

TEST(Carp, TakesTagsThatAreWrittenAsReals) {
  TemporaryFolder folder;
  const fs::path points = folder.file("a.pts", "3\n0 0 0\n1 0 0\n0 1 0\n");
  folder.put("a.elem", "2\nTr 0 1 2 4.0\nTr 0 1 2 -7\n");
  EXPECT_EQ(read_dataset(points).triangles.data.require("region", "t").values, DataArray::Values(Ints{4, -7}));
  EXPECT_THAT(reading_error(points, folder.file("a.elem", "1\nTr 0 1 2 4.5\n")), HasSubstr("'4.5'"));
  EXPECT_THAT(reading_error(points, folder.file("a.elem", "1\nTr 0 1 2 5e9\n")), HasSubstr("'5e9'"));
}

TEST_F(CarpFibres, OfAnotherMeshAreRefused) {
  for (const auto& [fibres, said] : std::vector<std::pair<std::string, std::string>>{
           {"1\n1 0 0\n", "rows: 1, elements in the .elem file: 5"},
           {"1 0 0\n1 0 0\n1 0 0\n1 0 0\n1 0 0\n1 0 0\n", "line 6: there are too many fibres"},
           {"1 0 0\n1 0 0 0\n1 0 0\n1 0 0\n1 0 0\n", "line 2"},
           {"1 0\n", "first line"}})
    EXPECT_THAT(reading_error(points_, folder_.file("a.lon", fibres)), HasSubstr(said));
}

TEST(Carp, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const fs::path points = folder.file("a.pts", "2\n0 0 0\n1 0 0\n");
  EXPECT_THAT(reading_error(points), HasSubstr(".elem file that goes with it is missing"));
  const fs::path elements = folder.file("a.elem", "1\nXx 0 1 1\n");
  EXPECT_THAT(reading_error(points, elements), HasSubstr("line 2: 'Xx' is not an element type"));
  folder.put("a.elem", "1\nLn 0 2 1\n");
  EXPECT_THAT(reading_error(points, elements), HasSubstr("line 2: vertex id 2 is out of range"));
}

// ---- Numbers

/// What a type or a place cannot hold is refused with its value, never changed.
TEST(Numbers, ThatDoNotFitAreRefused) {
  const auto ply = [](const std::string& coordinate, const std::string& count_and_ids,
                      const std::string& types = "uchar int") {
    return "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty float y\nproperty double z\n"
           "element face 1\nproperty list " +
           types + " vertex_indices\nend_header\n0 0 0\n1 0 0\n0 " + coordinate + " 0\n" + count_and_ids + "\n";
  };
  const auto vtk = [](const std::string& x, const std::string& id) {
    return "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 3 double\n0 0 0 " + x +
           " 0 0 0 1 0\nPOLYGONS 1 4\n3 0 " + id + " 2\n";
  };
  const auto vtu = [](const std::string& ids, const std::string& end, const std::string& type,
                      const std::string& type_type = "UInt8", const std::string& cells = "1") {
    return "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid><Piece "
           "NumberOfPoints=\"3\" "
           "NumberOfCells=\"" +
           cells +
           "\"><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 "
           "0</DataArray>"
           "</Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">" +
           ids + "</DataArray><DataArray type=\"Float64\" Name=\"offsets\" format=\"ascii\">" + end +
           "</DataArray><DataArray type=\"" + type_type + "\" Name=\"types\" format=\"ascii\">" + type +
           "</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>";
  };
  const auto stl = [](const std::string& x) {
    return "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex " + x +
           " 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
  };
  TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& content, const std::string& said) {
    EXPECT_THAT(reading_error(folder.file(name, content)), HasSubstr(said)) << content;
  };
  const auto taken = [&](const std::string& name, const std::string& content) {
    EXPECT_EQ(read_dataset(folder.file(name, content)).triangles.cells.size(), 1U) << content;
  };
  taken("a.ply", ply("1e-999", "3 0 1 2.0"));
  refused("a.ply", ply("1e999", "3 0 1 2"), "'1e999'");
  refused("a.ply", ply("1e39", "3 0 1 2"), "1e+39 is out of the range");
  refused("a.ply", ply("1", "3 0 1 4294967297"), "4294967297 is out of the range");
  refused("a.ply", ply("1", "3 0 1 1.9"), "'1.9'");
  refused("a.ply", ply("1", "3 0 1 nan", "uchar float"), "nan where a whole number");
  refused("a.ply", ply("1", "3 0 1 1.5", "uchar float"), "1.5 where a whole number");
  refused("a.ply", ply("1", "259 0 1 2"), "259 is out of the range");
  taken("a.vtk", vtk("1", "1"));
  refused("a.vtk", vtk("1e999", "1"), "'1e999'");
  refused("a.vtk", vtk("1", "4294967297"), "4294967297");
  refused("a.vtk", vtk("1", "1.7"), "'1.7'");
  taken("a.vtu", vtu("0 1 2", "3", "5"));
  refused("a.vtu", vtu("0 1 4294967298", "3", "5"), "4294967298");
  refused("a.vtu", vtu("0 1 2", "nan", "5"), "offsets of cell 0");
  refused("a.vtu", vtu("0 1 2", "3", "261"), "'261'");
  refused("a.vtu", vtu("0 1 2", "3", "1e9", "Float64"), "type 1000000000");
  refused("a.vtu", vtu("0 1 2", "3", "5", "UInt8", "77"), "NumberOfCells is 77, but there are 1");
  taken("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  refused("a.obj", "v 0 0 0\nv 1e999 0 0\nv 0 1 0\nf 1 2 3\n", "line 2: '1e999'");
  taken("a.stl", stl("1"));
  refused("a.stl", stl("1e999"), "'1e999'");
  refused("a.off", "OFF\n3 1 0\n0 0 0\n1e999 0 0\n0 1 0\n3 0 1 2\n", "'1e999'");
}

TEST(Formats, MoreThanIsAnnouncedIsRefused) {
  TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& content, const std::string& words) {
    const fs::path path = folder.file(name, content);
    EXPECT_THAT(input_error(path, [&] { is_image_file(path) ? void(read_image(path)) : void(read_dataset(path)); }),
                HasSubstr(words));
  };
  const std::string triangle = "0 0 0\n1 0 0\n0 1 0\n", square = triangle + "1 1 0\n";
  refused("a.off", "OFF\n4 1 0\n" + square + "3 0 1 2\n3 1 2 3\n", "line 8: more follows than the faces");
  refused("a.ply",
          "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face "
          "1\nproperty list uchar int vertex_indices\nend_header\n" +
              square + "3 0 1 2\n3 1 2 3\n",
          "more follows than the face rows that are announced (1)");
  refused("a.nrrd", "NRRD0001\ntype: float\ndimension: 3\nsizes: 2 2 1\nencoding: ascii\n\n1 2 3 4 5\n",
          "more follows than the values that are announced (4)");
  const std::string nodes = "0 0 0 0\n1 1 0 0\n2 0 1 0\n", more_nodes = nodes + "3 1 1 0\n";
  folder.put("a.ele", "1 3 0\n0 0 1 2\n");
  refused("a.node", "3 3 0 0\n" + more_nodes, "line 5: more follows than the points");
  folder.put("b.ele", "1 3 0\n0 0 1 2\n1 1 2 3\n");
  EXPECT_THAT(
      input_error(folder.path() / "b.ele", [&] { read_dataset(folder.file("b.node", "4 3 0 0\n" + more_nodes)); }),
      HasSubstr("line 3: more follows than the elements"));
  folder.put("c.elem", "1\nTr 0 1 2 1\nTr 1 2 3 1\n");
  EXPECT_THAT(input_error(folder.path() / "c.elem", [&] { read_dataset(folder.file("c.pts", "4\n" + square)); }),
              HasSubstr("line 3: more follows than the elements"));
  folder.put("d.elem", "1\nTr 0 1 2 1\n");
  refused("d.pts", "3\n" + square, "line 5: more follows than the points");
}

TEST(Names, ThousandsOfEqualOnesGetNumbers) {
  DataArrays arrays;
  for (int i = 0; i < 5000; ++i) add_named(arrays, {"q", 1, Doubles{}}, "x");
  const std::vector<std::string> names = arrays.names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 5000U);
  EXPECT_EQ(names[1], "q_2");
  EXPECT_EQ(names.back(), "q_5000");
}

// ---- MRtrix track files

Dataset two_paths() {
  Dataset d;
  d.points = {{0, 0, 0}, {1.5, -2, 3}, {0.25, 7, -9}, {4, 4, 4}, {5, 5, 5}};
  d.lines = {{VertexId(2), VertexId(1), VertexId(0)}, {VertexId(3), VertexId(4)}};
  return d;
}

/// A file as others write it: one streamline of two points, more header lines.
template <class T>
std::string foreign_tracks(const std::string& datatype, Encoding encoding) {
  std::string head = "mrtrix tracks\nmethod: iFOD2\ntimestamp: 1234.5\ndatatype: " + datatype +
                     "\ncount: 0000000001\nfile: . 100\nEND\n";
  head.resize(100, ' ');
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T value : {T(1), T(2), T(3), T(4), T(5), T(6), nan, nan, nan, inf, inf, inf})
    head += bytes_of(value, encoding);
  return head;
}

TEST(Tck, KeepsLinesInTheirOrder) {
  const Dataset again = write_and_read("a.tck", two_paths());
  ASSERT_EQ(again.lines.size(), 2U);
  EXPECT_EQ(again.points[again.lines[0][0].index()], (Vec3d{0.25, 7, -9}));
  EXPECT_EQ(again.points[again.lines[0][2].index()], (Vec3d{0, 0, 0}));
  EXPECT_EQ(again.points[again.lines[1][1].index()], (Vec3d{5, 5, 5}));
  EXPECT_TRUE(again.warnings.empty());
}

TEST(Tck, ReadsAllTypesOfReals) {
  for (const std::string& bytes : {foreign_tracks<float>("Float32LE", Encoding::little_endian),
                                   foreign_tracks<float>("Float32BE", Encoding::big_endian),
                                   foreign_tracks<double>("Float64LE", Encoding::little_endian),
                                   foreign_tracks<double>("Float64BE", Encoding::big_endian)}) {
    const Dataset d = read_content("a.tck", bytes);
    EXPECT_THAT(d.points, ElementsAre(Vec3d{1, 2, 3}, Vec3d{4, 5, 6}));
    EXPECT_EQ(d.lines.size(), 1U);
  }
}

TEST(Tck, SaysWhatIsWrong) {
  const std::string good = foreign_tracks<float>("Float32LE", Encoding::little_endian);
  EXPECT_THAT(content_error("a.tck", "solid\n"), HasSubstr("not a track file"));
  EXPECT_THAT(content_error("a.tck", "mrtrix tracks\ncount: 1\n"), HasSubstr("no END"));
  EXPECT_THAT(content_error("a.tck", "mrtrix tracks\ndatatype: Float32LE\nEND\n"), HasSubstr("no place"));
  EXPECT_THAT(content_error("a.tck", "mrtrix tracks\nfile: other.dat 10\nEND\n"), HasSubstr("'file'"));
  EXPECT_THAT(content_error("a.tck", foreign_tracks<float>("Int16", Encoding::little_endian)),
              HasSubstr("datatype 'Int16'"));
  EXPECT_THAT(content_error("a.tck", good.substr(0, good.size() - 12)), HasSubstr("cut off"));
  std::string more = good;
  more.replace(more.find("0000000001"), 10, "0000000007");
  EXPECT_THAT(read_content("a.tck", more).warnings, ElementsAre(HasSubstr("counts 7")));
}

TEST(Tck, HoldsLinesAlone) {
  TemporaryFolder folder;
  EXPECT_THROW(write_dataset(folder.path() / "a.tck", mixed_mesh(), Overwrite::no), UsageError);
  EXPECT_THROW(write_dataset(folder.path() / "a.tck", surface_mesh(), Overwrite::no), UsageError);
  EXPECT_EQ(dropped_lines(folder.path() / "a.tck", two_paths()), 0U);
  Dataset d = two_paths();
  d.point_data.set({"arrival_time", 1, std::vector<double>(5)});
  EXPECT_THAT(kept_arrays(folder.path() / "a.tck", d).dropped, ElementsAre("arrival_time"));
}

TEST(Tck, DamagedFilesAreInputErrors) {
  TemporaryFolder folder;
  const std::string good = foreign_tracks<float>("Float32LE", Encoding::little_endian);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::string damaged = good.substr(0, random.below(4) == 0 ? random.below(good.size()) : good.size());
    if (!damaged.empty()) damaged[random.below(damaged.size())] = static_cast<char>(random.bits());
    expect_read_or_refused(folder.path(),
                           [&] { EXPECT_FALSE(read_dataset(folder.file("a.tck", damaged)).points.empty()); });
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
