// Meshes: rare lines and sections, and what is wrong with files that are damaged in one place.
#include "io/image_samples.h"
#include "isochron/io/mesh/formats.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string nothing_packed = zipped("", Packed::gzip);

// ---- PLY

const std::string vertices = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
const std::string places = "0 0 0\n1 0 0\n0 1 0\n";
std::string ply(const std::string& header, const std::string& body) {
  return "ply\nformat ascii 1.0\n" + header + "end_header\n" + body;
}

TEST(PlyRare, SaysWhichListIsWrong) {
  const auto face = [](const std::string& types, const std::string& row) {
    return ply(vertices + "element face 1\nproperty list " + types + " vertex_indices\n", places + row);
  };
  expect_refused(
      "a.ply",
      {{face("float int", "2.5 0 1 2\n"), "2.5 where a whole number should be"},
       {face("uchar float", "3 0 1 1.5\n"), "1.5 where a whole number should be"},
       {face("uchar uchar", "3 0 1 300\n"), "300 is out of the range of its type"},
       {face("uchar float", "3 0 1 1e300\n"), "1e+300 is out of the range of its type"},
       {face("uchar int", "3 0 1 9\n"), "cell 0 refers to point 9 but the points are 0 to 2"},
       {ply("element vertex 1\nproperty list uchar float x\nproperty float y\nproperty float z\n", "1 0 0 0\n"),
        "the vertices have no property x"}});
}

TEST(PlyRare, ElementsThatAreNoCellsArePassedOver) {
  const Dataset read = read_content(
      "a.ply",
      ply("element empty 3\n" + vertices +
              "element material 2\nproperty list uchar int vertex_indices\nproperty int id\n"
              "element face 1\nproperty list uchar int vertex_indices\nproperty list uchar int vertex_indices\n"
              "property int vertex1\nproperty list uchar float weights\n"
              "element edge 1\nproperty list uchar int weights\nproperty int vertex1\n"
              "property int vertex2\n",
          places + "1 0 5\n0 6\n3 0 1 2 3 2 1 0 8 1 0.5\n1 7 1 2\n"));
  EXPECT_THAT(read.triangles.cells, ElementsAre(triangle(0, 1, 2)));
  EXPECT_THAT(read.triangles.data.names(), IsEmpty());
  EXPECT_THAT(read.lines, ElementsAre(ElementsAre(VertexId(1), VertexId(2))));
}

TEST(PlyRare, ArraysThatCommentsNameWrongly) {
  const Dataset read = read_content(
      "a.ply", ply("comment array vertex 3 a one\ncomment array vertex 0 a none\ncomment array face 1 a other\n"
                   "comment array vertex 2 b two\ncomment array vertex 1 missing three\n" +
                       vertices +
                       "property float a\nproperty float b\nproperty list uchar float c\nproperty float d_0\n"
                       "property list uchar float e\nproperty float _0\nproperty float _1\nproperty float f_0\n"
                       "property double f_1\nproperty float g_0\nproperty float g_1\n",
                   "0 0 0 1 2 0 3 0 4 5 6 7 8 9\n1 0 0 1 2 0 3 0 4 5 6 7 8 9\n0 1 0 1 2 0 3 0 4 5 6 7 8 9\n"));
  EXPECT_THAT(read.point_data.names(), ElementsAre("a", "b", "d_0", "_0", "_1", "f_0", "f_1", "g"));
  EXPECT_EQ(read.point_data.require("g", "points").components, 2);
  EXPECT_EQ(read.point_data.require("g", "points").at(2, 1), 9);
  EXPECT_EQ(read.point_data.require("f_1", "points").at(0), 7);
}

TEST(PlyRare, SeveralListsOfFacesLoseTheirArrays) {
  const Dataset read = read_content(
      "a.ply", ply(vertices + "element face 1\nproperty list uchar int vertex_indices\nproperty int label\n"
                              "element face 1\nproperty list uchar int vertex_indices\n"
                              "element tristrips 1\nproperty list uchar int vertex_indices\n",
                   places + "3 0 1 2 7\n3 2 1 0\n6 0 1 -1 0 1 2\n"));
  EXPECT_THAT(read.triangles.cells, ElementsAre(triangle(0, 1, 2), triangle(2, 1, 0), triangle(0, 1, 2)));
  EXPECT_THAT(read.triangles.data.names(), IsEmpty());
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("arrays on faces were left out")));
}

TEST(PlyRare, ArraysWithTheNamesOfPropertiesComeBack) {
  Dataset mesh = surface_mesh();
  const auto add = [&](const std::string& name, int components) {
    mesh.point_data.set({name, components, counted_values<float>(mesh.points.size() * std::size_t(components))});
  };
  add("Normals", 2);
  add("TCoords", 2);
  add("s", 1);
  add("nx", 1);
  add("RGB", 3);
  add("red", 1);
  const Dataset back = write_and_read("a.ply", mesh);
  EXPECT_EQ(back.point_data.names(), mesh.point_data.names());
  expect_same_arrays(mesh.point_data, back.point_data);
}

// ---- Gmsh

const std::string gmsh_format = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string gmsh_nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
const std::string gmsh_triangle = "$Elements\n1\n7 2 0 1 2 3\n$EndElements\n";
std::string node_data(const std::string& names, const std::string& numbers, const std::string& rows) {
  return "$NodeData\n" + names + "0\n" + numbers + rows + "$EndNodeData\n";
}

TEST(GmshRare, SaysWhatIsWrong) {
  const std::string four = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
  const std::string four_nodes = "$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n";
  expect_refused(
      "a.msh",
      {{"$MeshFormat\n1.0 0 8\n$EndMeshFormat\n", "format version 1 (known are 2.x and 4.1)"},
       {"$MeshFormat\n3.0 0 8\n$EndMeshFormat\n", "format version 3 (known are 2.x and 4.1)"},
       {gmsh_format + "$Nodes\n4\n1 0 0 0\n900000 1 0 0\n900000 0 1 0\n900001 1 1 0\n$EndNodes\n",
        "two nodes have the same number"},
       {gmsh_format + gmsh_nodes + gmsh_nodes, "a second $Nodes section"},
       {gmsh_format + gmsh_nodes + gmsh_triangle + gmsh_triangle, "a second $Elements section"},
       {gmsh_format + node_data("1\n\"a\"\n", "3 0 1 0\n", "") + gmsh_nodes, "$NodeData comes before $Nodes"},
       {gmsh_format + gmsh_nodes + "$ElementData\n", "$ElementData comes before $Elements"},
       {gmsh_format + gmsh_nodes + node_data("1\n\"a\"\n", "3 0 0 1\n", "1 5\n"), "number of components cannot be"},
       {gmsh_format + gmsh_nodes + node_data("1\n\"a\"\n", "3 0 1001 1\n", "1 5\n"), "number of components cannot be"},
       {gmsh_format + gmsh_nodes + node_data("1\n\"a\"\n", "3 0 1 1\n", "9 5\n"), "'a' has a value for node 9"},
       {gmsh_format + gmsh_nodes + "$NodeData\n1\n", "the number of real values was expected"},
       {four + four_nodes + "$Elements\n1 2 1 2\n2 1 2 1\n7 1 2 3\n$EndElements\n",
        "the blocks do not add up to the number of elements"},
       {four + "$Nodes\n1 2 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n",
        "the blocks do not add up to the number of nodes"}});
}

TEST(GmshRare, BinaryBlocksMustAddUp) {
  const auto number = [](std::int32_t value) { return bytes_of(value, native_encoding); };
  std::string file = "$MeshFormat\n2.2 1 8\n" + number(1) + "\n$EndMeshFormat\n$Nodes\n3\n";
  for (int i = 0; i < 3; ++i)
    file += number(i + 1) + bytes_of(std::vector<double>{double(i == 1), double(i == 2), 0}, native_encoding);
  file += "\n$EndNodes\n$Elements\n1\n" + number(2) + number(2) + number(0);
  for (int i = 0; i < 2; ++i) file += number(i + 1) + number(1) + number(2) + number(3);
  EXPECT_THAT(content_error("a.msh", file + "\n$EndElements\n"),
              HasSubstr("the blocks do not add up to the number of elements"));
}

TEST(GmshRare, DataWithStrangeHeaders) {
  const Dataset read =
      read_content("a.msh", gmsh_format + gmsh_nodes + gmsh_triangle + node_data("0\n", "3 0 1 1\n", "2 5\n") +
                                node_data("2\n  plain name \n\"interpolation\"\n", "3 0 1 1\n", "3 6\n") +
                                node_data("1\n\"nowhere\"\n", "3 0 1 0\n", ""));
  EXPECT_THAT(read.point_data.names(), ElementsAre("unnamed", "plain name"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(values_of(read.point_data.require("unnamed", "points")),
              testing::Pointwise(testing::NanSensitiveDoubleEq(), std::vector<double>{nan, 5, nan, nan}));
  EXPECT_EQ(read.point_data.require("plain name", "points").at(2), 6);
}

TEST(GmshRare, CurvedElementsAndSeveralGroupsAreReported) {
  const Dataset curved =
      read_content("a.msh", gmsh_format +
                                "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0.5 0 0\n5 0.5 0.5 0\n6 0 0.5 0\n$EndNodes\n"
                                "$Elements\n1\n1 9 2 3 4 1 2 3 4 5 6\n$EndElements\n");
  EXPECT_THAT(curved.triangles.cells, ElementsAre(triangle(0, 1, 2)));
  EXPECT_THAT(curved.warnings, ElementsAre(HasSubstr("curved elements")));
  EXPECT_EQ(curved.triangles.data.require("gmsh:physical", "cells").at(0), 3);
  // Parts of a mesh: a ghost, and a surface in two groups, the first of which runs against it. Nodes with parameters.
  const Dataset groups =
      read_content("a.msh",
                   "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 2 0\n1 0 0 0 1 1 0 2 -5 6 0\n"
                   "2 0 0 0 1 1 0 1 -2147483648 0\n$EndEntities\n"
                   "$PartitionedEntities\n2\n1\n1 2\n0 0 0 0\n$EndPartitionedEntities\n"
                   "$Nodes\n1 3 1 3\n5 1 1 3\n1\n2\n3\n0 0 0 0 0 0\n1 0 0 0 0 0\n0 1 0 0 0 0\n$EndNodes\n"
                   "$Elements\n2 2 1 2\n2 1 2 1\n1 1 2 3\n2 2 2 1\n2 3 2 1\n$EndElements\n");
  EXPECT_THAT(values_of(groups.triangles.data.require("gmsh:physical", "cells")), ElementsAre(5, 0));
  EXPECT_THAT(values_of(groups.triangles.data.require("gmsh:geometrical", "cells")), ElementsAre(1, 2));
  EXPECT_THAT(groups.warnings, ElementsAre(HasSubstr("cells in several physical groups")));
}

TEST(GmshRare, TagsOfSeveralComponentsAreNoTags) {
  Dataset mesh = surface_mesh();
  mesh.triangles.data.set({"gmsh:geometrical", 2, std::vector<std::int32_t>(2 * mesh.triangles.cells.size(), 3)});
  for (const char* name : {"a\"b", "c\td"}) mesh.point_data.set({name, 1, std::vector<float>(mesh.points.size(), 1)});
  const Dataset back = write_and_read("a.msh", mesh);
  EXPECT_EQ(back.triangles.data.find("gmsh:geometrical"), nullptr);
  EXPECT_THAT(back.point_data.names(), ElementsAre("a_b", "c_d"));
}

// ---- Medit

TEST(MeditRare, SaysWhatIsWrong) {
  const std::string start = "MeshVersionFormatted 2\nDimension 3\n";
  const std::string four = "Vertices\n4\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n";
  expect_refused("a.mesh", {{start + four + four, "a second Vertices section"},
                            {start + four + "Triangles\n1\n1 2 3 0\nTriangles\n1\n1 2 3 0\n",
                             "a second section of the same cells"},
                            {start + "Vertices\n0\nTriangles\n1\n1 2 3 0\n", "there are no vertices before it"}});
  const Dataset flat = read_content("a.mesh", start + four + "Quadrilaterals\n2\n1 2 3 4 5\n1 2 1 2 6\nEnd\n");
  EXPECT_THAT(values_of(flat.triangles.data.require("medit:ref", "cells")), ElementsAre(5, 5));
  EXPECT_THAT(flat.ignored_cells,
              ElementsAre(std::pair<std::string, std::size_t>("quad that has no area or crosses itself", 1)));
}

TEST(MeditRare, OtherArraysAreNotHeld) {
  Dataset mesh = surface_mesh();
  mesh.triangles.data.set({"medit:ref", 1, std::vector<std::int32_t>{1, 2, 3}});
  mesh.triangles.data.set({"speed", 1, std::vector<float>{1, 2, 3}});
  mesh.point_data.set({"medit:ref", 1, std::vector<double>{1, 2, 3, 1e300, 5, 6}});
  const KeptArrays arrays = kept_arrays("a.mesh", mesh);
  EXPECT_THAT(arrays.kept, ElementsAre("medit:ref"));
  EXPECT_THAT(arrays.dropped, ElementsAre("speed"));
  const Dataset back = write_and_read("a.mesh", mesh);
  EXPECT_THAT(values_of(back.triangles.data.require("medit:ref", "cells")), ElementsAre(1, 2, 3));
  EXPECT_THAT(values_of(back.point_data.require("medit:ref", "points")), ElementsAre(1, 2, 3, 0, 5, 6));
}

// ---- OBJ, OFF and STL

TEST(PlainSurfacesRare, SayWhichLineIsWrong) {
  expect_refused("a.obj", {{nothing_packed, "no OBJ lines (v, f, l) were found"},
                           {"# " + std::string(5000, 'x'), "no OBJ lines (v, f, l) were found"},
                           {"f 1 2 3\n", "cell 0 refers to point 0 but there are no points"},
                           {"v 0 0 x\n", "line 1: 'x' where a coordinate should be"},
                           {"v 0 0 0\nf 1/1 1x\n", "line 2: '1x' where a vertex number should be"}});
  expect_refused("a.off", {{"OFF\n0 1 0\n3 0 1 2\n", "vertex id 0 (there are no vertices before it)"},
                           {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "(the file has vertices 0 to 2)"},
                           {"OFF BINARY\n", "binary OFF is not understood"},
                           {"#\n", "the word OFF is missing"},
                           {"4OFF\n", "vertices are not three-dimensional"},
                           {"!\n", "the word OFF is missing"}});
  const std::string one = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n";
  expect_refused("a.stl",
                 {{"solid s\nfacet normal 0 0 1\nvertex 0 0 0\nendsolid s\n", "the file ends before 'endsolid'"},
                  {"solid s\nfacet\nvertex 0 inf 0\n", "triangle 0 has a coordinate that is not a finite"},
                  {"solid s\nfacet\n" + one + "endfacet\nfacet\nvertex 0 0 nan\n",
                   "triangle 1 has a coordinate that is not a finite"},
                  {"solid without triangles", "the file is too short for an STL file"}});
}

TEST(PlainSurfacesRare, CollapsedTrianglesOfStl) {
  const std::string a = "vertex 0 0 0\n", b = "vertex 1 0 0\n", c = "vertex 0 1 0\n";
  const auto facet = [](const std::string& corners) { return "facet normal 0 0 1\n" + corners + "endfacet\n"; };
  const Dataset read = read_content("a.stl", "solid s\n" + facet(a + b + c) + facet(a + a + b) + facet(a + b + b) +
                                                 facet(a + b + a) + "endsolid s\n");
  EXPECT_THAT(read.triangles.cells, ElementsAre(triangle(0, 1, 2)));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("two corners are in one place: 3 of the triangles")));
  EXPECT_THAT(content_error("a.stl", "solid nothing\nendsolid\n"), HasSubstr("there are no points"));
}

TEST(PlainSurfacesRare, FlatTrianglesHaveNoNormal) {
  Dataset mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}};
  mesh.triangles.cells = {triangle(0, 1, 2), triangle(0, 1, 3)};
  const TemporaryFolder folder;
  write_dataset(folder.path() / "a.stl", mesh, Overwrite::no);
  const std::string bytes = content_of(folder.path() / "a.stl");
  const auto normal_z = [&](std::size_t at) { return value_at<float>(bytes.data() + at + 8, Encoding::little_endian); };
  EXPECT_EQ(normal_z(84), 0);
  EXPECT_EQ(normal_z(84 + 50), 1);
}

TEST(PlainSurfacesRare, OffWithoutItsWord) {
  EXPECT_EQ(read_content("a.off", "3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").triangles.cells.size(), 1U);
}

// ---- GIFTI and FreeSurfer

std::string gifti_array(const std::string& attributes, const std::string& inside) {
  return "<DataArray " + attributes + ">" + inside + "</DataArray>";
}
const std::string pointset = "Intent=\"NIFTI_INTENT_POINTSET\" DataType=\"FLOAT32\" Dimensionality=\"2\" Dim0=\"3\" ";
const std::string ascii_points =
    gifti_array(pointset + "Dim1=\"3\" Encoding=\"ASCII\"", "<Data>0 0 0 1 0 0 0 1 0</Data>");
std::string gifti(const std::string& arrays) { return "<GIFTI>" + arrays + "</GIFTI>"; }
std::string gifti_triangles(const std::string& type, const std::string& ids) {
  return gifti(ascii_points + gifti_array("Intent=\"TRIANGLE\" Dimensionality=\"2\" Dim0=\"1\" Dim1=\"3\" DataType=\"" +
                                              type + "\" Encoding=\"ASCII\"",
                                          "<Data>" + ids + "</Data>"));
}

TEST(GiftiRare, SaysWhatIsWrong) {
  const auto one = [](const std::string& attributes, const std::string& inside = "<Data>0</Data>") {
    return gifti(gifti_array(attributes, inside));
  };
  const std::string point = "Intent=\"POINTSET\" DataType=\"FLOAT32\" Encoding=\"ASCII\" Dimensionality=";
  const std::string to_scanner =
      "<CoordinateSystemTransformMatrix><TransformedSpace>NIFTI_XFORM_SCANNER_ANAT"
      "</TransformedSpace><MatrixData>1 2 3</MatrixData></CoordinateSystemTransformMatrix>";
  expect_refused(
      "a.gii",
      {{"<DataArray/>", "is no GIFTI file"},
       {gifti("<DataArray/>"), "there are no points"},
       {one("DataType=\"FLOAT32\""), "an array has no attribute Intent"},
       {one(point + "\"0\""), "an array with 0 dimensions"},
       {one(point + "\"3\""), "an array with 3 dimensions"},
       {one(point + "\"1\" Dim0=\"x\""), "Dim0 of an array is no size ('x')"},
       {one(point + "\"1\" Dim0=\"2000000000000\""), "Dim0 of an array is no size ('2000000000000')"},
       {one(point + "\"2\" Dim0=\"3\" Dim1=\"0\""), "senseless number of columns"},
       {one(point + "\"2\" Dim0=\"3\" Dim1=\"2000000\""), "senseless number of columns"},
       {"<GIFTI><DataArray " + point + "\"1\" Dim0=\"1\"><Data>1</Data>", "an array does not end"},
       {one(point + "\"2\" Dim0=\"1\" Dim1=\"3\"", to_scanner), "a transform that has not 16 numbers"},
       {one(point + "\"2\" Dim0=\"1\" Dim1=\"2\"", "<Data>1 2</Data>"), "points or triangles without three numbers"},
       {one(point + "\"2\" Dim0=\"1\" Dim1=\"3\"", "<Data/>"), "points or triangles without three numbers"},
       {gifti(gifti_array(pointset + "Dim1=\"3\" Encoding=\"Base64Binary\"", "<Data>AA!A</Data>")),
        "the base64 data has other characters in it"},
       {gifti(gifti_array(pointset + "Dim1=\"3\" Encoding=\"Base64Binary\"", "<Data>AAAA</Data>")),
        "an array is shorter than it says"},
       {gifti_triangles("INT32", "0 1 3"), "vertex 3 in triangle 0 (there are 3 vertices)"},
       {gifti_triangles("INT32", "0 1 -1"), "vertex -1 in triangle 0"},
       {gifti_triangles("FLOAT32", "0 1 1.5"), "vertex 1.5 in triangle 0"}});
}

TEST(GiftiRare, PartsThatFewFilesHave) {
  const std::string matrix = "<MatrixData>1 0 0 5 0 1 0 0 0 0 1 0 0 0 0 1 99</MatrixData>";
  const std::string transform =
      "<CoordinateSystemTransformMatrix><TransformedSpace>NIFTI_XFORM_SCANNER_ANAT"
      "</TransformedSpace>" +
      matrix + "</CoordinateSystemTransformMatrix>";
  const std::string meta = "<MD><Name>Other</Name><Value>no</Value></MD><MD><Name>Name</Name><Value>depth</Value></MD>";
  const auto shape = [](const std::string& inside) {
    return gifti_array("Intent=\"SHAPE\" DataType=\"FLOAT32\" Dimensionality=\"1\" Dim0=\"3\" Encoding=\"ASCII\"",
                       inside);
  };
  const Dataset read =
      read_content("a.gii", gifti(gifti_array(pointset + "Dim1=\"3\" Encoding=\"ASCII\"",
                                              transform + transform + "<Data>0 0 0 1 0 0 0 1 0</Data>") +
                                  shape(meta + "<Data>1 2 3</Data>") + shape("<Data/>")));
  EXPECT_EQ(read.points[1], (Vec3d{6, 0, 0})) << "the first transform alone";
  EXPECT_THAT(read.triangles.cells, IsEmpty());
  EXPECT_THAT(values_of(read.point_data.require("depth", "points")), ElementsAre(1, 2, 3));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("an array (SHAPE) is left out")));
}

TEST(FreeSurferRare, CornersAndCentre) {
  const auto file = [](std::int32_t corner, const std::string& footer) {
    return "\xff\xff\xfemade by hand\n\n" + bytes_of(std::vector<std::int32_t>{3, 1}, Encoding::big_endian) +
           bytes_of(std::vector<float>{0, 0, 0, 1, 0, 0, 0, 1, 0}, Encoding::big_endian) +
           bytes_of(std::vector<std::int32_t>{0, 1, corner}, Encoding::big_endian) + footer;
  };
  expect_refused("lh.white", {{file(-1, ""), "vertex -1 in a triangle (there are 3 vertices)"},
                              {file(3, ""), "vertex 3 in a triangle (there are 3 vertices)"}});
  EXPECT_THAT(read_content("lh.white", file(2, "cras   = 0 0 0")).warnings, IsEmpty());
  for (const char* centre : {"1 0 0", "0 1 0", "0 0 1"})
    EXPECT_THAT(read_content("lh.white", file(2, std::string("cras   = ") + centre)).warnings,
                ElementsAre(HasSubstr(std::string("scanner RAS is ") + centre + " further")));
  EXPECT_THAT(content_error("lh.grey", "\xff\xff"), HasSubstr("unknown extension '.grey'"));
}

// ---- TetGen, CARP and tracks

TEST(TetgenRare, AttributesThatCommentsDeclareWrongly) {
  const auto names = [](const std::string& comment) {
    const TemporaryFolder folder;
    folder.put("a.ele", "1 3\n0 0 1 2\n");
    return read_dataset(folder.file("a.node", comment + "\n3 3 1 0\n0 0 0 0 5\n1 1 0 0 6\n2 0 1 0 7\n"))
        .point_data.names();
  };
  EXPECT_THAT(names("# arrays: a:b:int32:1"), ElementsAre("a:b"));
  EXPECT_THAT(names("# arrays: speed:float64:1 more:float64:1"), ElementsAre("attribute0")) << "too many";
  for (const char* wrong :
       {"speed", ":1", ":int32:1", "a:int32:0", "a:int32:1001", "a:int32:x", "a:int99:1", "a:int16:1"})
    EXPECT_THAT(names(std::string("# arrays: ") + wrong), ElementsAre("attribute0")) << wrong;
}

TEST(TetgenRare, NodesBetweenCornersAreChecked) {
  const TemporaryFolder folder;
  const std::string nodes = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 0.1\n";
  folder.put("a.ele", "1 10 0\n0 0 1 2 3 0 1 2 3 0 1\n");
  const Dataset read = read_dataset(folder.file("a.node", nodes));
  EXPECT_THAT(read.tets.cells, ElementsAre(tet(0, 1, 2, 3)));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("second-order elements: only the 4 corners are used")));
  EXPECT_EQ(write_and_read("b.vtu", read).points[3], (Vec3d{0, 0, 0.1})) << "no single precision for one coordinate";
}

TEST(TetgenRare, SaysWhatIsWrong) {
  const auto error = [](const std::string& node, const std::string& ele) {
    const TemporaryFolder folder;
    const fs::path nodes = folder.file("a.node", node), elements = folder.file("a.ele", ele);
    return reading_error(nodes, ele.empty() ? nodes : elements);
  };
  const std::string three = "3 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n";
  EXPECT_THAT(error("3 3 1001 0\n0 0 0 0\n1 1 0 0\n", ""), HasSubstr("line 1: more than 1000 attributes"));
  EXPECT_THAT(error(three, "1 5 0\n0 0 1 2 0 1\n"), HasSubstr("elements have 5 nodes (known are 3, 4, 6 and 10)"));
}

TEST(CarpRare, FibresOfOtherMeshesAreMentioned) {
  const TemporaryFolder folder;
  folder.put("a.pts", "3\n0 0 0\n1 0 0\n0 1 0\n");
  folder.put("a.elem", "1\nTr 0 1 2 4\n");
  for (const char* name : {"b.lon", "c.fib", "d.lon", "e.lon", "f.lon", "readme.txt"}) folder.put(name, "1\n");
  folder.put("g.lon", "1\n");
  folder.put("g.pts", "1\n0 0 0\n");
  const Dataset read = read_dataset(folder.path() / "a.elem");
  EXPECT_EQ(read.triangles.data.require("region", "cells").at(0), 4);
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("read without fibres: they would be in a.lon; there is ")));
  EXPECT_THAT(read.warnings[0], testing::Not(HasSubstr("g.lon")));
}

TEST(CarpRare, SheetsNeedFibresOfThreeNumbers) {
  Dataset mesh = surface_mesh();
  const auto arrays = [&](int fiber, int sheet) {
    mesh.triangles.data = {};
    mesh.triangles.data.set({"fiber", fiber, std::vector<float>(std::size_t(3 * fiber), 1)});
    mesh.triangles.data.set({"sheet", sheet, std::vector<float>(std::size_t(3 * sheet), 1)});
    return kept_arrays("a.elem", mesh);
  };
  EXPECT_THAT(arrays(3, 3).kept, ElementsAre("fiber", "sheet"));
  EXPECT_THAT(arrays(3, 1).dropped, ElementsAre("sheet"));
  EXPECT_THAT(arrays(1, 3).dropped, ElementsAre("fiber", "sheet"));
  EXPECT_THAT(arrays(1, 3).kept, IsEmpty());
  // Of two kinds of cells with fibres, one without sheets.
  Dataset mixed = mixed_mesh();
  mixed.triangles.data.set({"fiber", 3, std::vector<float>(9, 1)});
  mixed.tets.data.set({"fiber", 3, std::vector<float>(6, 1)});
  mixed.tets.data.set({"sheet", 3, std::vector<float>(6, 1)});
  EXPECT_EQ(write_and_read("a.elem", mixed).tets.data.find("sheet"), nullptr);
}

TEST(TrackRare, OffsetsMustBeInTheFile) {
  const std::string start = "mrtrix tracks\ndatatype: Float32LE\n";
  expect_refused("a.tck", {{start + "END\n", "the header names no place of the points in it"},
                           {start + "file: . 900\nEND\n", "the header names no place of the points in it"},
                           {start + "file: . x\nEND\n", "does not say where in this file the points begin"},
                           {start, "the header has no END"}});
}

/// A TrackVis file of one line of two points in an image of 9³ voxels of 1 mm, with an affine that is the identity.
std::string trk(const std::string& order, std::int16_t properties = 0) {
  const Encoding e = Encoding::little_endian;
  std::string bytes(1000, '\0');
  bytes.replace(0, 5, "TRACK");
  put_all<std::int16_t>(bytes, 6, {9, 9, 9}, e);
  put_all<float>(bytes, 12, {1, 1, 1}, e);
  put(bytes, 238, properties, e);
  put_all<float>(bytes, 440, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, e);
  bytes.replace(948, order.size(), order);
  put_all<std::int32_t>(bytes, 988, {1, 2, 1000}, e);
  return bytes + bytes_of(std::int32_t{2}, e) + bytes_of(std::vector<float>{1, 2, 3, 2, 2, 3}, e);
}

TEST(TrackRare, OrdersOfTheAxes) {
  EXPECT_EQ(read_content("a.trk", trk("RAS")).points[0], (Vec3d{0.5, 1.5, 2.5}));
  EXPECT_EQ(read_content("a.trk", trk("")).points[0], (Vec3d{7.5, 6.5, 2.5})) << "LPS is TrackVis's own";
  EXPECT_EQ(read_content("a.trk", trk("SRA")).points[0], (Vec3d{1.5, 2.5, 0.5}));
  expect_refused("a.trk", {{trk("RA"), "the voxel order makes no sense ('RA')"},
                           {trk("RAX"), "the voxel order makes no sense ('RAX')"},
                           {trk("APA"), "the voxel order names an axis twice ('APA')"},
                           {trk("RAS", -1), "a number of values below zero"}});
}

TEST(TrackRare, ImagesThatAreTooLarge) {
  const TemporaryFolder folder;
  ImageGrid grid;
  grid.shape = {2, 40000, 2};
  const auto write = [&] { write_trk({folder.path() / "a.trk", folder.path() / "b.trk"}, surface_mesh(), grid); };
  EXPECT_THAT(write,
              testing::ThrowsMessage<UsageError>(HasSubstr("too many voxels along an axis for TrackVis (40000)")));
}

// ---- All formats

TEST(Meshes, PlacesAndArraysMustFit) {
  const TemporaryFolder folder;
  const auto error = [&](const Dataset& mesh) {
    const fs::path path = folder.path() / "a.vtk";
    return input_error(path, [&] {
      write_dataset(path, mesh, Overwrite::yes);
      return 0;
    });
  };
  const double inf = std::numeric_limits<double>::infinity();
  for (const Vec3d& place : {Vec3d{inf, 0, 0}, Vec3d{0, -inf, 0}, Vec3d{0, 0, inf}}) {
    Dataset mesh = surface_mesh();
    mesh.points[1] = place;
    EXPECT_THAT(error(mesh), HasSubstr("point 1 is at ("));
  }
  Dataset mesh = surface_mesh();
  mesh.point_data.set({"nothing", 0, std::vector<float>()});
  EXPECT_THAT(error(mesh), HasSubstr("array 'nothing' does not fit (values: 0 in tuples of 0, points: 6)"));
}

TEST(Meshes, PixelsAndLargePolygons) {
  const std::string points = "POINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 0\n";
  const Dataset read = read_content("a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" +
                                                 points + "CELLS 2 9\n4 0 1 2 3\n3 0 1 2\nCELL_TYPES 2\n8 8\n");
  EXPECT_EQ(read.triangles.cells.size(), 2U);
  EXPECT_THAT(read.ignored_cells, ElementsAre(std::pair<std::string, std::size_t>("quad with too few corners", 1)));
  std::string many = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n" + std::to_string(CellCutter::max_corners + 1);
  for (std::size_t i = 0; i <= CellCutter::max_corners; ++i) many += " " + std::to_string(i % 3);
  EXPECT_THAT(read_content("a.off", many + "\n").ignored_cells,
              ElementsAre(std::pair(fmt::format("polygon with more than {} corners", CellCutter::max_corners),
                                    std::size_t{1})));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
