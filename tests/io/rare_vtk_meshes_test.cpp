// Meshes in VTK's formats: rare lines and sections, and what is wrong with files that are damaged in one place.
#include "io/image_samples.h"
#include "isochron/io/mesh/formats.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string nothing_packed = zipped("", Packed::gzip);

// ---- Legacy VTK

std::string vtk(const std::string& kind, const std::string& rest, const std::string& version = "3.0") {
  return "# vtk DataFile Version " + version + "\nt\nASCII\nDATASET " + kind + "\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n" +
         rest;
}
std::string on_points(const std::string& rest) { return vtk("POLYDATA", "POINT_DATA 3\n" + rest); }

TEST(LegacyVtkRare, SaysWhichWordIsWrong) {
  const std::string five = "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY ";
  expect_refused(
      "a.vtk",
      {{"# vtkk\n", "this is no legacy VTK file"},
       {nothing_packed, "this is no legacy VTK file"},
       {"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS -3 float\n",
        "the number of points is negative (-3)"},
       {vtk("POLYDATA", "CELL_TYPES 1\n5\n"), "unknown keyword 'CELL_TYPES'"},
       {vtk("UNSTRUCTURED_GRID", "LINES 1 3\n2 0 1\n"), "unknown keyword 'LINES'"},
       {vtk("UNSTRUCTURED_GRID", "POLYGONS 1 4\n3 0 1 2\n"), "unknown keyword 'POLYGONS'"},
       {vtk("UNSTRUCTURED_GRID", "TRIANGLE_STRIPS 1 4\n3 0 1 2\n"), "unknown keyword 'TRIANGLE_STRIPS'"},
       {vtk("POLYDATA", five + "vtktypeint64\n0 1 4294967295\n", "5.1"), "4294967295 is no point number"},
       {vtk("POLYDATA", five + "double\n0 1 0.5\n", "5.1"), "0.5 is no point number"},
       {vtk("POLYDATA", "POLYGONS 2 3\nOFFSETS vtktypeint64\n-1 3\n", "5.1"), "offsets do not increase"},
       {on_points("SCALARS s float -1\nLOOKUP_TABLE default\n1 2 3\n"),
        "'-1' where the number of components should be"},
       {on_points("SCALARS s float x\nLOOKUP_TABLE default\n1 2 3\n"), "'x' where the number of components should be"},
       {on_points("TEXTURE_COORDINATES uv 1000001 float\n"), "array 'uv' has 1000001 components"},
       {on_points("SCALARS s float 1\n"), "the file ends where LOOKUP_TABLE should be"},
       {on_points("FIELD f 1\nnames 1 3 string\na\nb"), "the file ends in the middle of its strings"}});
}

TEST(LegacyVtkRare, TextHasBitsColoursAndStrings) {
  const Dataset read = read_content(
      "a.vtk",
      "# vtk DataFile Version 3.0\nt\nASCII\nFIELD FieldData 1\nnothing 1 0 int\nDATASET POLYDATA\n"
      "POINTS 3 float\n0 0 0 1 0 0 0 1 0\nPOINT_DATA 3\nSCALARS b bit 1\nLOOKUP_TABLE default\n1 0 1\n"
      "COLOR_SCALARS c 1\nnan 0.5 2\nFIELD f 2\nnames 1 3 utf8_string\na\nb\nc\nx 1 3 unsigned_long\n7 8 9\n"
      "SCALARS a%2fb%4 float\nLOOKUP_TABLE default\n1 2 3\nSCALARS %/1%:1%G1%g1%1z%1 float\nLOOKUP_TABLE default\n4 5 "
      "6\n"
      "SCALARS %01 float\nLOOKUP_TABLE default\n4 5 6\nSCALARS %7F float\nLOOKUP_TABLE default\n7 8 9\n");
  EXPECT_THAT(read.point_data.names(), ElementsAre("b", "c", "x", "a/b%4", "%/1%:1%G1%g1%1z%1", "?", "?_2"));
  EXPECT_THAT(values_of(read.point_data.require("b", "points")), ElementsAre(1, 0, 1));
  EXPECT_THAT(values_of(read.point_data.require("c", "points")), ElementsAre(0, 128, 255));
  EXPECT_THAT(values_of(read.point_data.require("x", "points")), ElementsAre(7, 8, 9));
  EXPECT_THAT(values_of(read.point_data.require("?_2", "points")), ElementsAre(7, 8, 9));
}

TEST(LegacyVtkRare, SectionsMayBeEmptyRepeatedOrExplained) {
  EXPECT_THAT(
      read_content("a.vtk", vtk("POLYDATA", "POLYGONS 0 0\nOFFSETS int\nCONNECTIVITY int\n", "5.1")).triangles.cells,
      IsEmpty());
  const Dataset explained = read_content(
      "a.vtk", vtk("POLYDATA",
                   "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 3\nMETADATA\nINFORMATION 0\n\nCONNECTIVITY vtktypeint64\n"
                   "0 1 2\nCELL_DATA 1\nSCALARS a int\nLOOKUP_TABLE default\n3\nPOINT_DATA 3\nCELL_DATA 1\n"
                   "SCALARS b int\nLOOKUP_TABLE default\n4\nMETADATA\nCOMPONENT_NAMES\nx",
                   "5.1"));
  EXPECT_THAT(explained.triangles.cells, ElementsAre(triangle(0, 1, 2)));
  EXPECT_EQ(explained.triangles.data.require("a", "cells").at(0), 3);
  EXPECT_EQ(explained.triangles.data.require("b", "cells").at(0), 4);
  const Dataset kinds = read_content(
      "a.vtk", vtk("UNSTRUCTURED_GRID", "CELLS 3 12\n3 0 1 2\n3 0 1 2\n3 0 1 2\nCELL_TYPES 3\n5 -1 300\n"));
  EXPECT_EQ(kinds.triangles.cells.size(), 1U);
  EXPECT_THAT(kinds.ignored_cells, ElementsAre(std::pair<std::string, std::size_t>("VTK cell type 255", 2)));
}

TEST(LegacyVtkRare, NamesOfOtherAlphabetsComeBack) {
  Dataset mesh = surface_mesh();
  const std::vector<std::string> names{"Zeit \xc3\xa4", "50 %", "#1", "a\"b", "NULL_ARRAY", "~"};
  for (const std::string& name : names) mesh.point_data.set({name, 1, std::vector<float>(mesh.points.size(), 1)});
  EXPECT_EQ(write_and_read("a.vtk", mesh).point_data.names(), names);
  const TemporaryFolder folder;
  write_dataset(folder.path() / "a.vtk", mesh, Overwrite::no);
  EXPECT_THAT(content_of(folder.path() / "a.vtk"), HasSubstr("Zeit%20%C3%A4"));
}

// ---- VTK's XML

std::string xml_file(const std::string& kind, const std::string& pieces, const std::string& attributes = "",
                     const std::string& behind = "") {
  return "<VTKFile type=\"" + kind + "\" version=\"1.0\" byte_order=\"LittleEndian\"" + attributes + "><" + kind + ">" +
         pieces + "</" + kind + ">" + behind + "</VTKFile>";
}
std::string xml_array(const std::string& attributes, const std::string& values) {
  return "<DataArray " + attributes + ">" + values + "</DataArray>";
}
std::string ascii(const std::string& name, const std::string& type, const std::string& values) {
  return xml_array("type=\"" + type + "\" Name=\"" + name + "\" format=\"ascii\"", values);
}
const std::string xml_points =
    "<Points>" + xml_array("type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\"", "0 0 0 1 0 0 0 1 0") +
    "</Points>";
const std::string xml_polys =
    "<Polys>" + ascii("connectivity", "Int64", "0 1 2") + ascii("offsets", "Int32", "3") + "</Polys>";
std::string surface_piece(const std::string& data, const std::string& polys = xml_polys,
                          const std::string& points = xml_points) {
  return "<Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\">" + data + points + polys + "</Piece>";
}
std::string vtp(const std::string& pieces, const std::string& attributes = "", const std::string& behind = "") {
  return xml_file("PolyData", pieces, attributes, behind);
}

TEST(VtkXmlRare, SaysWhatIsWrong) {
  const auto point_data = [](const std::string& array) {
    return vtp(surface_piece("<PointData>" + array + "</PointData>"));
  };
  const auto polys = [](const std::string& ids, const std::string& ends) {
    return vtp(surface_piece(
        "", "<Polys>" + ascii("connectivity", "Int64", ids) + ascii("offsets", "Int32", ends) + "</Polys>"));
  };
  const std::string appended = xml_array("type=\"Float32\" Name=\"a\" format=\"appended\" offset=\"0\"", "");
  expect_refused(
      "a.vtp",
      {{vtp("<Piece NumberOfPoints=\"300000000000000\"/>"), "NumberOfPoints of an element Piece is no number"},
       {vtp("<Piece NumberOfPoints=\"-1\"/>"), "NumberOfPoints of an element Piece is no number ('-1')"},
       {vtp("<Piece NumberOfPoints=\"3\"><Points/></Piece>"), "the points are missing"},
       {point_data(xml_array("type=\"Float32\" NumberOfComponents=\"2000000\"", "1 2 3")),
        "senseless number of components"},
       {point_data(ascii("a", "Float32", "1 2 1e300")), "'1e300' is not in the range of its type"},
       {point_data(ascii("a", "UInt8", "1 2 300")), "'300' is not a whole number in range"},
       {point_data(xml_array("type=\"Float32\" Name=\"a\" format=\"binary\"", "CAAAAA==")), "longer than its place"},
       {point_data(xml_array("type=\"Float32\" Name=\"a\" format=\"binary\"", "A")), "longer than its place"},
       {point_data(xml_array("type=\"Float32\" Name=\"a\" format=\"binary\"", "A===")), "longer than its place"},
       {vtp(surface_piece("<PointData>" + appended + "</PointData>"), "", "<AppendedData encoding=\"raw\">"),
        "the appended values are missing"},
       {polys("0 1 2", "-3"), "the offsets of cell 0 do not fit"},
       {polys("0 1 2", "3 2"), "the offsets of cell 1 do not fit"}});
}

TEST(VtkXmlRare, BytesMayBeInAnyForm) {
  const auto read = [](const std::string& array, const std::string& attributes, const std::string& behind = "") {
    return values_of(
        read_content("a.vtp", vtp(surface_piece("<PointData>" + array + "</PointData>"), attributes, behind))
            .point_data.require("a", "points"));
  };
  const Encoding little = Encoding::little_endian;
  const std::string bytes = bytes_of(std::vector<float>{1, 2, 3}, little), size = bytes_of(std::uint32_t{12}, little),
                    long_size = bytes_of(std::uint64_t{12}, little);
  const std::string inside = "type=\"Float32\" Name=\"a\" format=\"binary\"";
  const std::string appended = xml_array("type=\"Float32\" Name=\"a\" format=\"appended\" offset=\"0\"", "");
  const auto behind = [](const std::string& how, const std::string& text) {
    return "<AppendedData encoding=\"" + how + "\">_" + text + "</AppendedData>";
  };
  EXPECT_THAT(read(xml_array(inside, base64(size + bytes)), ""), ElementsAre(1, 2, 3)) << "one stretch of base64";
  EXPECT_THAT(read(xml_array(inside, base64(size) + base64(bytes)), ""), ElementsAre(1, 2, 3)) << "two";
  EXPECT_THAT(read(xml_array(inside, base64(long_size) + base64(bytes)), " header_type=\"UInt64\""),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(read(xml_array(inside, base64(long_size + bytes)), " header_type=\"UInt64\""), ElementsAre(1, 2, 3));
  EXPECT_THAT(read(appended, "", behind("raw", size + bytes)), ElementsAre(1, 2, 3));
  EXPECT_THAT(read(appended, "", behind("base64", "DAAAAAAAgD8AAABAAABAQA==")), ElementsAre(1, 2, 3));
}

TEST(VtkXmlRare, OffsetsThatAreTooLargeForTheirTypeDoNotFit) {
  const auto polys = [](const auto& ends) {
    const auto array = [](const std::string& attributes, const auto& values) {
      const std::string bytes = bytes_of(values, Encoding::little_endian);
      const auto size = static_cast<std::uint32_t>(bytes.size());
      return xml_array(attributes + " format=\"binary\"", base64(bytes_of(size, Encoding::little_endian) + bytes));
    };
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < ends.size(); ++i) ids.insert(ids.end(), {0, 1, 2});
    using End = typename std::decay_t<decltype(ends)>::value_type;
    const std::string type = std::is_same_v<End, float> ? "Float32" : std::is_signed_v<End> ? "Int8" : "UInt8";
    std::string text = vtp(surface_piece("", "<Polys>" + array("type=\"Int32\" Name=\"connectivity\"", ids) +
                                                 array("type=\"" + type + "\" Name=\"offsets\"", ends) + "</Polys>"));
    const std::string one = "NumberOfPolys=\"1\"";
    return text.replace(text.find(one), one.size(), fmt::format("NumberOfPolys=\"{}\"", ends.size()));
  };
  std::vector<std::uint8_t> ends;
  std::vector<float> fractions;
  for (std::size_t i = 1; i <= 85; ++i) {
    ends.push_back(static_cast<std::uint8_t>(3 * i));
    fractions.push_back(static_cast<float>(3 * i));
  }
  EXPECT_EQ(read_content("a.vtp", polys(ends)).triangles.cells.size(), 85U);
  EXPECT_EQ(read_content("a.vtp", polys(fractions)).triangles.cells.size(), 85U);
  EXPECT_THAT(content_error("a.vtp", polys(std::vector<std::int8_t>(ends.begin(), ends.end()))),
              HasSubstr("the offsets of cell 42 do not fit"));
  ends.push_back(2);  // 258
  EXPECT_THAT(content_error("a.vtp", polys(ends)), HasSubstr("the offsets of cell 85 do not fit"));
  fractions.back() = 254.5F;
  EXPECT_THAT(content_error("a.vtp", polys(fractions)), HasSubstr("the offsets of cell 84 do not fit"));
}

TEST(VtkXmlRare, ElementsThatFewFilesHave) {
  const Dataset read = read_content(
      "a.vtp", vtp("<FieldData><Array type=\"String\" Name=\"who\">65 66 0</Array></FieldData>" +
                   surface_piece("<PointData><Array type=\"String\" Name=\"words\"/>" +
                                 ascii("a&lt;&amp;b", "UInt64", "1 2 18446744073709551615") + "</PointData>") +
                   "<Piece NumberOfPoints=\"0\"></Piece><Piece NumberOfPoints=\"0\"><Points/></Piece>"
                   "<Piece NumberOfPoints=\"0\">" +
                   "<Points>" + xml_array("type=\"Float32\" NumberOfComponents=\"3\"", "") + "</Points></Piece>"));
  EXPECT_THAT(read.point_data.names(), ElementsAre("a<&b"));
  EXPECT_EQ(read.point_data.require("a<&b", "points").at(1), 2);
  EXPECT_THAT(read.triangles.cells, ElementsAre(triangle(0, 1, 2)));
}

TEST(VtkXmlRare, BigEndianFilesAndEmptySections) {
  const std::string values =
      bytes_of(std::uint32_t{12}, Encoding::big_endian) + bytes_of(std::vector<float>{1, 2, 3}, Encoding::big_endian);
  std::string file = vtp(surface_piece(
      "<PointData>" + xml_array("type=\"Float32\" Name=\"a\" format=\"binary\"", base64(values)) + "</PointData>",
      "<Verts/>" + xml_polys));
  file.replace(file.find("LittleEndian"), 12, "BigEndian");
  const Dataset read = read_content("a.vtp", file);
  EXPECT_THAT(values_of(read.point_data.require("a", "points")), ElementsAre(1, 2, 3));
  EXPECT_THAT(read.triangles.cells, ElementsAre(triangle(0, 1, 2)));
}

TEST(VtkXmlRare, ArraysMustBeAlikeInEveryPiece) {
  const auto data = [](const std::string& arrays) { return "<PointData>" + arrays + "</PointData>"; };
  const auto pair = xml_array("type=\"Float32\" Name=\"b\" NumberOfComponents=\"2\"", "1 2 3 4 5 6");
  const Dataset read = read_content(
      "a.vtp", vtp(surface_piece(data(ascii("a", "Float32", "1 2 3") + ascii("b", "Float32", "1 2 3") +
                                      ascii("c", "Float32", "1 2 3"))) +
                   surface_piece(data(ascii("a", "Int32", "1 2 3") + pair + ascii("c", "Float32", "4 5 6"))) +
                   surface_piece(data(ascii("c", "Float32", "7 8 9")))));
  EXPECT_THAT(read.point_data.names(), ElementsAre("c"));
  EXPECT_THAT(values_of(read.point_data.require("c", "points")), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("array 'a' is left out"), HasSubstr("array 'b' is left out")));
  EXPECT_THAT(
      read_content("a.vtp", vtp(surface_piece(data(ascii("a", "Float32", "1 2 3"))) + surface_piece(""))).warnings,
      ElementsAre(HasSubstr("array 'a' is left out")));
}

TEST(VtkXmlRare, ControlCharactersInNamesAreNotWritten) {
  Dataset mesh = surface_mesh();
  for (const char* name : {"a\nb", "it's"}) mesh.point_data.set({name, 1, std::vector<float>(mesh.points.size(), 1)});
  EXPECT_THAT(write_and_read("a.vtu", mesh).point_data.names(), ElementsAre("a_b", "it's"));
  EXPECT_EQ(write_and_read("a.ply", mesh).point_data.names().size(), 2U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
