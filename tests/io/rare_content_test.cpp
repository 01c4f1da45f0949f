// What files rarely hold: sections, types and mistakes that other tests do not meet.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>

#include "io/image_samples.h"
#include "io/io_test_support.h"
#include "isochron/communicator.h"
#include "isochron/io/file.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/tables.h"
#include "isochron/io/vertex_values.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double inf = std::numeric_limits<double>::infinity();

// ---- Tables of labels

std::vector<std::string> labels(const std::string& content) {
  const TemporaryFolder folder;
  std::vector<std::string> result;
  for (const LabelName& row : read_label_table(folder.file("labels.txt", content)))
    result.push_back(std::to_string(row.label) + "=" + row.name);
  return result;
}

TEST(LabelTable, ReadsWhatToolsWrite) {
  EXPECT_THAT(labels("#No. Label\n0 Unknown 0 0 0 0\n\n17 Left-Hippocampus 220 216 20 0\n"),
              ElementsAre("0=Unknown", "17=Left-Hippocampus"));
  EXPECT_THAT(labels("0 0 0 0 0 0 0 \"Clear Label\"\n5 255 0 0 1 1 1 \"Left lung\""),
              ElementsAre("0=Clear Label", "5=Left lung"));
  EXPECT_THAT(labels("id,name,r\n3,\"a b\",1\n4,'c',2\n5\n6,\"\n"), ElementsAre("3=a b", "4=c", "5=5", "6=\""));
  EXPECT_THAT(labels("Region\tIndex\nfront lobe\t1\nback\t2\n"), ElementsAre("1=front lobe", "2=back"));
  EXPECT_THAT(labels("7\n-8\n"), ElementsAre("7=7", "-8=-8"));
}

TEST(LabelTable, SaysWhatIsWrong) {
  const auto error = [](const std::string& content) {
    const TemporaryFolder folder;
    const fs::path path = folder.file("labels.txt", content);
    return input_error(path, [&] { return read_label_table(path); });
  };
  EXPECT_THAT(error("# nothing\n"), HasSubstr("no rows"));
  EXPECT_THAT(error("1 a\nx b\n"), HasSubstr("line 2: no label"));
  EXPECT_THAT(error("1 a\n1 b\n"), HasSubstr("line 2: the label 1 is in the table twice"));
}

// ---- Values at vertices

TEST(VertexValues, AreTextOrOneFrameOrAnArray) {
  const TemporaryFolder folder;
  const DataArray times{"times", 1, std::vector<double>{0.5, inf, 2}};
  EXPECT_TRUE(is_vertex_values_file("a.dat"));
  EXPECT_TRUE(is_vertex_values_file("a.IGB"));
  EXPECT_TRUE(is_vertex_values_file("a.npy"));
  EXPECT_FALSE(is_vertex_values_file("a.npy.gz"));
  EXPECT_FALSE(is_vertex_values_file("a.vtk"));
  const auto write = [&](const char* name) {
    OutputFiles files(Overwrite::no);
    write_vertex_values(files.add(folder.path() / name), times);
    files.commit();
  };
  write("a.dat");
  EXPECT_EQ(content_of(folder.path() / "a.dat"), "0.5\n-1\n2\n");
  write("a.igb");
  const std::string igb = content_of(folder.path() / "a.igb");
  ASSERT_EQ(igb.size(), 1024U + 3 * sizeof(float));
  EXPECT_THAT(igb.substr(0, 80), HasSubstr("x:3 y:1 z:1 t:1 type:float"));
  EXPECT_EQ(igb[1023], '\f');
  float frame[3];
  std::memcpy(frame, igb.data() + 1024, sizeof(frame));
  EXPECT_THAT(frame, ElementsAre(0.5F, -1.0F, 2.0F));
  write("a.npy");
  const std::string npy = content_of(folder.path() / "a.npy");
  EXPECT_THAT(npy, HasSubstr("'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"));
  double numbers[3];
  std::memcpy(numbers, npy.data() + npy.size() - sizeof(numbers), sizeof(numbers));
  EXPECT_THAT(numbers, ElementsAre(0.5, inf, 2));
  EXPECT_THROW(write("a.dat"), InputError);
}

TEST(VertexTable, HasALineForEach) {
  const TemporaryFolder folder;
  const DataArray times{"arrival_time", 1, std::vector<float>{0.1F, std::numeric_limits<float>::infinity()}};
  const DataArray sources{"source", 1, std::vector<std::int32_t>{7, -1}};
  const auto position_of = [](std::size_t i) { return Vec3d{1.0 / 3, static_cast<double>(i), 1e-300}; };
  const fs::path path = folder.path() / "a.csv";
  EXPECT_TRUE(is_table_file("a.csv.gz"));
  write_vertex_table({path, path}, position_of, {&times, &sources});
  EXPECT_EQ(content_of(path),
            "id,x,y,z,arrival_time,source\n0,0.3333333333333333,0,1e-300,0.1,7\n"
            "1,0.3333333333333333,1,1e-300,inf,-1\n");
}

TEST(VertexTable, IsInOrderWhenSeveralThreadsWriteIt) {
  const TemporaryFolder folder;
  std::vector<std::int32_t> numbers(100'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const DataArray column{"n", 1, numbers};
  const fs::path path = folder.path() / "a.csv";
  write_vertex_table({path, path}, [](std::size_t) { return Vec3d{}; }, {&column});
  std::istringstream lines(content_of(path));
  std::string line;
  std::getline(lines, line);
  for (const std::int32_t n : numbers) {
    ASSERT_TRUE(std::getline(lines, line));
    ASSERT_EQ(line, fmt::format("{},0,0,0,{}", n, n));
  }
  EXPECT_FALSE(std::getline(lines, line));
}

// ---- Images in pieces, read and written by several processes

TEST(ImagePieces, ComeBackInOtherNumbers) {
  const TemporaryFolder folder;
  const fs::path set = folder.path() / "a.pvti";
  const Image image = counted_image<float>(2);
  run_on_threads(3, [&](Communicator& communicator) {
    ImagePart part;
    part.whole = image.grid;
    part.boxes = partition_boxes(image.grid, communicator.ranks());
    const IndexBox& box = part.boxes[communicator.index()];
    part.image.grid = grid_of_box(image.grid, box);
    DataArray own{"a name", 2, std::vector<float>(2 * part.image.grid.voxel_count())};
    const DataArray& whole = image.data.all().front();
    std::size_t at = 0;
    for (std::uint64_t z = box.low[2]; z < box.high[2]; ++z)
      for (std::uint64_t y = box.low[1]; y < box.high[1]; ++y)
        for (std::uint64_t x = box.low[0]; x < box.high[0]; ++x)
          for (int k = 0; k < 2; ++k)
            std::get<std::vector<float>>(own.values)[at++] =
                static_cast<float>(whole.at((z * image.grid.shape[1] + y) * image.grid.shape[0] + x, k));
    part.image.data.set(std::move(own));
    write_image_part(communicator, set, std::move(part), Overwrite::no);
  });
  expect_same_arrays(image.data, read_image(set).data);
  for (const int ranks : {1, 2, 5})
    run_on_threads(ranks, [&](Communicator& communicator) {
      const ImagePart part = read_image_part(communicator, set);
      EXPECT_EQ(part.whole.shape, image.grid.shape);
      EXPECT_EQ(part.image.data.all().front().tuple_count(), part.image.grid.voxel_count());
    });
}

TEST(ImagePieces, SayWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_THROW(check_image_set(folder.path() / "a.vti", Overwrite::no), UsageError);
  EXPECT_NO_THROW(check_image_set(folder.path() / "a.pvti", Overwrite::no));
  const auto piece = [&](const std::string& name, const std::string& extent, const std::string& arrays) {
    folder.put(name,
               "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\"><ImageData WholeExtent="
               "\"0 3 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"" +
                   extent + "\"><PointData>" + arrays + "</PointData></Piece></ImageData></VTKFile>");
  };
  const auto array = [](const std::string& name, const std::string& type) {
    return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" format=\"ascii\">1 2 3 4</DataArray>";
  };
  const fs::path set = folder.file(
      "a.pvti",
      "<VTKFile type=\"PImageData\"><PImageData WholeExtent=\"0 3 0 1 0 0\" GhostLevel=\"0\" Origin=\"0 0 0\" "
      "Spacing=\"1 1 1\"><PPointData><PDataArray type=\"Float64\" Name=\"a\"/></PPointData>"
      "<Piece Extent=\"0 1 0 1 0 0\" Source=\"0.vti\"/><Piece Extent=\"2 3 0 1 0 0\" Source=\"1.vti\"/>"
      "</PImageData></VTKFile>");
  const auto error = [&] {
    std::string message;
    run_on_threads(1, [&](Communicator& communicator) {
      message = input_error(set, [&] { return read_image_part(communicator, set); });
    });
    return message;
  };
  piece("0.vti", "0 1 0 1 0 0", array("a", "Float64"));
  piece("1.vti", "2 3 0 1 0 0", array("b", "Float64"));
  EXPECT_THAT(error(), HasSubstr("array 'a' is missing"));
  piece("1.vti", "2 3 0 1 0 0", array("a", "Int32"));
  EXPECT_THAT(error(), HasSubstr("is of another kind"));
  piece("1.vti", "0 1 0 1 0 0", array("a", "Float64"));
  EXPECT_THAT(error(), HasSubstr("voxels in none: 4"));
}

// ---- Legacy VTK

const std::string polydata = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n";
const std::string grid = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
const std::string three = "POINTS 3 float\n0 0 0 1 0 0 0 1 0\n";

TEST(LegacyVtkRare, SaysWhatIsWrong) {
  const auto expect = [](const std::string& content, const char* text) {
    EXPECT_THAT(content_error("a.vtk", content), HasSubstr(text));
  };
  expect(polydata + "POLYGONS 0 0\n", "the file has no POINTS");
  expect(polydata + three + three, "two POINTS sections");
  expect(polydata + "POINTS 1 string\n", "points must be numbers");
  expect(polydata + three + "POLYGONS 1 4\n3 0 1 -5\n", "cell 0 refers to point -5");
  expect(polydata + three + "POLYGONS 1 4\n3 0 1 2\nPOLYGONS 1 4\n3 0 1 2\n", "two sections of the same cells");
  expect(polydata + three + "POLYGONS 1 4\n-3 0 1 2\n", "a cell has -3 corners");
  expect(polydata + three + "POLYGONS 2 4\n3 0 1 2\n", "does not hold the announced number of cells");
  expect(polydata + three +
             "POLYGONS 1 4\n3 0 1 2\nCELL_DATA 1\nSCALARS s int 1\nLOOKUP_TABLE default\n1\nLINES 1 3\n2 0 1\n",
         "come after their arrays");
  expect(polydata + "CELL_DATA 1\nSCALARS s int 1\nLOOKUP_TABLE default\n1\n", "before the POINTS");
  expect(grid + three + "CELLS 1 4\n3 0 1 2\nCELL_TYPES 2\n5 5\n", "differ (1 and 2)");
  expect(polydata + three + "POINT_DATA 4\nSCALARS s int 1\nLOOKUP_TABLE default\n1 2 3 4\n",
         "another number of items than there are (4 and 3)");
  expect(polydata + three + "POINT_DATA 3\nFIELD f 1\nx 0 3 int\n", "array 'x' has 0 components");
  const std::string five = "# vtk DataFile Version 5.1\nt\nASCII\nDATASET POLYDATA\n" + three;
  expect(five + "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2\n", "do not increase");
  expect(five + "POLYGONS 3 3\nOFFSETS vtktypeint64\n0 3 2\nCONNECTIVITY vtktypeint64\n0 1 2\n", "do not increase");
  expect(five + "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 2\nCONNECTIVITY vtktypeint64\n0 1 2\n", "do not fit the cells");
  expect(five + "POLYGONS 2 3\nOFFSETS vtktypeint64\n1 3\nCONNECTIVITY vtktypeint64\n0 1 2\n", "do not fit the cells");
  expect(five + "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 -2\n", "is no point number");
  expect(five + "POLYGONS 2 3\nSIZES vtktypeint64\n0 3\n", "where OFFSETS should be");
}

TEST(LegacyVtkRare, SectionsThatFewFilesHave) {
  const Dataset read = read_content(
      "a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nFIELD FieldData 1\nwhen 1 1 double\n5\nDATASET POLYDATA\n" +
                   three +
                   "METADATA\nINFORMATION 0\n\nPOLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\n"
                   "TEXTURE_COORDINATES uv 2 float\n0 0 1 0 0 1\nFIELD f 3\nNULL_ARRAY\nMETADATA\nINFORMATION 0\n\n"
                   "x 1 3 int\n4 5 6\nnames 1 3 string\na\nb\nc\n");
  EXPECT_EQ(read.triangles.cells.size(), 1U);
  EXPECT_THAT(values_of(read.point_data.require("uv", "points")), ElementsAre(0, 0, 1, 0, 0, 1));
  EXPECT_THAT(values_of(read.point_data.require("x", "points")), ElementsAre(4, 5, 6));
}

std::string big_endian(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(std::bit_cast<std::uint32_t>(value) >> static_cast<unsigned>(shift));
  return bytes;
}

TEST(LegacyVtkRare, BinaryBitsColoursAndNames) {
  const std::string start = "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n" +
                            big_endian({0, 0, 0, 1, 0, 0, 0, 1, 0}) + "\nPOINT_DATA 3\n";
  const Dataset read = read_content(
      "a.vtk", start +
                   "SCALARS b bit 1\nLOOKUP_TABLE default\n\xa0\nLOOKUP_TABLE own 2\nabcdefgh\nCOLOR_SCALARS c 2\n" +
                   std::string("\x01\x02\x03\x04\x05\x06", 6) + "\nFIELD f 2\nnames 1 3 string\n" +
                   std::string("\xc1q\x80\x02qq\xc0", 7) + "\nx 1 3 unsigned_char\nABC\n");
  EXPECT_THAT(values_of(read.point_data.require("b", "points")), ElementsAre(1, 0, 1));
  EXPECT_THAT(values_of(read.point_data.require("c", "points")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values_of(read.point_data.require("x", "points")), ElementsAre('A', 'B', 'C'));
}

// ---- Plain surfaces

TEST(PlainSurfacesRare, SayWhatIsWrong) {
  const std::string facet = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n";
  const auto stl = [](const std::string& content) { return content_error("a.stl", content); };
  EXPECT_THAT(stl(facet + "vertex nan 0 0\nendloop\nendfacet\nendsolid\n"),
              HasSubstr("triangle 0 has a coordinate that is not a finite number"));
  EXPECT_THAT(stl(facet + "vertex 0 1 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid\n"), HasSubstr("more than three"));
  EXPECT_THAT(stl(facet + "endloop\nendfacet\nendsolid\n"), HasSubstr("2 of 3 corners"));
  EXPECT_THAT(stl(facet + "corner 0 1 0\nendloop\nendfacet\nendsolid\n"), HasSubstr("unknown STL keyword"));
  EXPECT_THAT(stl(facet + "vertex 0 1 0\nendloop\nendfacet\n"), HasSubstr("ends before 'endsolid'"));
  EXPECT_THAT(stl(facet), HasSubstr("ends before 'endsolid'"));
  EXPECT_THAT(content_error("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -9 1 2\n"), HasSubstr("counts back past"));
  EXPECT_THAT(content_error("a.obj", "v 0 0 0\nf 0 1 2\n"), HasSubstr("where a vertex number should be"));
  EXPECT_THAT(content_error("a.obj", "v 0 0 0\nf 1 2 \\"), HasSubstr("in the middle of a line"));
  EXPECT_THAT(content_error("a.off", "WOFF\n3 1 0\n"), HasSubstr("vertices are not three-dimensional"));
}

TEST(PlainSurfacesRare, ManyCornersOfStlAreJoined) {
  Dataset mesh;
  constexpr std::size_t n = 60;
  for (std::size_t i = 0; i < n * n; ++i) mesh.points.push_back({double(i % n), std::floor(double(i) / n), 0});
  for (std::size_t i = 0; i + n + 1 < n * n; ++i)
    if (i % n + 1 < n) mesh.triangles.cells.push_back(triangle(i, i + 1, i + n));
  const Dataset back = write_and_read("a.stl", mesh);
  EXPECT_EQ(back.triangles.cells.size(), mesh.triangles.cells.size());
  EXPECT_EQ(back.points.size(), n * n - 1) << "no triangle has the last one";
}

TEST(PlainSurfacesRare, ObjHasLines) { EXPECT_EQ(write_and_read("a.obj", surface_mesh()).lines.size(), 2U); }

TEST(PlainSurfacesRare, OffWithMoreThanPlaces) {
  for (const char* word : {"OFF", "COFF", "NOFF", "CNOFF", "STOFF", "STCOFF", "STNOFF", "STCNOFF"}) {
    const std::string name = word;
    std::string rest = name.find('N') != std::string::npos ? " 0 0 1" : "";
    rest += name.find('C') != std::string::npos ? " 1 1 1 1" : "";
    rest += name.starts_with("ST") ? " 0 0" : "";
    const Dataset read =
        read_content("a.off", fmt::format("{0}\n3 1 0\n0 0 0{1}\n1 0 0{1}\n0 1 0{1}\n3 0 1 2\n", name, rest));
    EXPECT_EQ(read.triangles.cells.size(), 1U) << name;
    EXPECT_EQ(read.points[2], (Vec3d{0, 1, 0})) << name;
  }
}

// ---- NRRD

std::string nrrd(const std::string& fields, const std::string& sizes = "2 2 2", int dimension = 3) {
  return "NRRD0004\ntype: float\ndimension: " + std::to_string(dimension) + "\nsizes: " + sizes +
         "\nencoding: ascii\n" + fields + "\n1 2 3 4 5 6 7 8\n";
}

TEST(NrrdRare, SaysWhatIsWrong) {
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("", "2 2 2", 17)), HasSubstr("dimension"));
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("", "2 2 -2")), HasSubstr("sizes"));
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("", "2 2 1.5")), HasSubstr("sizes"));
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("line skip: -1\n")), HasSubstr("below zero"));
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("byte skip: -2\n")), HasSubstr("below zero"));
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("line skip: 9\n")), HasSubstr("lines to be skipped"));
  EXPECT_THAT(image_content_error("a.nrrd", "NRED\n"), HasSubstr("magic word"));
  EXPECT_THAT(image_content_error("a.nhdr", nrrd("data file: LIST\n")), HasSubstr("several files"));
  EXPECT_THAT(image_content_error("a.nhdr", nrrd("data file: a%03d.raw 1 2 1\n")), HasSubstr("several files"));
  EXPECT_THAT(image_content_error("a.nrrd", nrrd("kinds: domain domain domain domain\n", "2 2 2 1", 4)),
              HasSubstr("4 axes in space"));
}

TEST(NrrdRare, SpacingsTellTheAxesOfSpace) {
  const Image image = read_image_content("a.nrrd", nrrd("spacings: nan 0.5 0.25\n"));
  EXPECT_EQ(image.data.all().front().components, 2);
  EXPECT_THAT(values_of(image.data.all().front()), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_DOUBLE_EQ(norm(image.grid.axes[0]), 0.5);
  EXPECT_DOUBLE_EQ(norm(image.grid.axes[1]), 0.25);
  for (const char* encoding : {"txt", "text"}) {
    std::string content = nrrd("");
    content.replace(content.find("ascii"), 5, encoding);
    EXPECT_EQ(read_image_content("a.nrrd", content).grid.voxel_count(), 8U);
  }
  std::string content = nrrd("kinds: 3-vector domain\n", "3 2", 2);
  content.replace(content.find(" 7 8"), 4, "");
  const Image vectors = read_image_content("a.nrrd", content);
  EXPECT_EQ(vectors.data.all().front().components, 3);
}

// ---- VTK's XML

std::string vti(const std::string& inside, const std::string& extent = "0 1 0 1 0 0",
                const std::string& attributes = "byte_order=\"LittleEndian\"") {
  return "<VTKFile type=\"ImageData\" version=\"1.0\" " + attributes + "><ImageData WholeExtent=\"" + extent +
         "\" Origin=\"1 2 3\" Spacing=\"1 1 1\">" + inside + "</ImageData></VTKFile>";
}
std::string data_array(const std::string& name, const std::string& values = "1 2 3 4",
                       const std::string& type = "Float64") {
  return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" format=\"ascii\">" + values + "</DataArray>";
}
std::string piece(const std::string& points, const std::string& cells = "", const std::string& extent = "0 1 0 1 0 0") {
  return "<Piece Extent=\"" + extent + "\"><PointData>" + points + "</PointData><CellData>" + cells +
         "</CellData></Piece>";
}

TEST(VtiRare, SaysWhatIsWrong) {
  const auto expect = [](const std::string& content, const char* text) {
    EXPECT_THAT(image_content_error("a.vti", content), HasSubstr(text));
  };
  expect(vti(piece(data_array("a")), "0 1.5 0 1 0 0"), "no index");
  expect(vti(piece(data_array("a")), "0 1 0 1 0"), "has not 6 numbers");
  expect(vti(piece(data_array("a")), "0 1000000 0 1000000 0 1000000"), "more voxels than can be numbered");
  expect(vti(piece(data_array("a"), "", "0 2 0 1 0 0")), "outside the whole extent");
  expect(vti(piece(data_array("a"), "", "-1 0 0 1 0 0")), "outside the whole extent");
  expect(vti(""), "no piece of an image");
  expect(vti("<Piece><PointData/></Piece>"), "has no attribute Extent");
  const std::string left = piece(data_array("a"), "", "0 1 0 1 0 0");
  expect(vti(left + piece(data_array("b"), "", "2 3 0 1 0 0"), "0 3 0 1 0 0"), "array 'a' is missing");
  expect(vti(left + piece(data_array("a", "1 2 3 4", "Int32"), "", "2 3 0 1 0 0"), "0 3 0 1 0 0"), "another kind");
  expect(vti(left, "0 3 0 1 0 0"), "voxels in none: 4");
  expect(vti(left, "0 1 0 1 0 0", "byte_order=\"LittleEndian\" compressor=\"vtkLZ4DataCompressor\""), "LZ4");
  expect("<VTKFile type=\"PolyData\"><PolyData/></VTKFile>", "another kind");
}

TEST(VtiRare, CellsAreVoxelsWherePointsHaveNoArrays) {
  const Image cells = read_image_content("a.vti", vti(piece("", data_array("c"), "0 2 0 2 0 0"), "0 2 0 2 0 0"));
  EXPECT_EQ(cells.grid.voxel_count(), 4U);
  EXPECT_EQ(cells.grid.origin, (Vec3d{1.5, 2.5, 3}));
  EXPECT_THAT(values_of(cells.data.all().front()), ElementsAre(1, 2, 3, 4));
  const Image both = read_image_content("a.vti", vti(piece(data_array("a"), data_array("c", "9"))));
  EXPECT_THAT(both.warnings, ElementsAre(HasSubstr("arrays on cells are left out")));
  const Image ids = read_image_content("a.vti", vti("<![CDATA[<]]>" + piece(data_array("a", "1 2 3 4", "vtkIdType"))));
  EXPECT_THAT(values_of(ids.data.all().front()), ElementsAre(1, 2, 3, 4));
}

template <class T>
std::string native_bytes(std::initializer_list<T> values) {
  return bytes_of(std::vector<T>(values), native_encoding);
}

TEST(VtiRare, CompressedBlocks) {
  const std::string first = zipped(native_bytes({1.0, 2.0})), second = zipped(native_bytes({3.0, 4.0}));
  const std::string order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
  const std::string attributes = "byte_order=\"" + order + "\" compressor=\"vtkZLibDataCompressor\"";
  const auto content = [&](std::uint32_t second_size, std::uint32_t last) {
    const std::string header = native_bytes<std::uint32_t>({2, 16, last, std::uint32_t(first.size()), second_size});
    return vti(piece("<DataArray type=\"Float64\" Name=\"a\" format=\"binary\">" + base64(header) +
                     base64(first + second) + "</DataArray>"),
               "0 1 0 1 0 0", attributes);
  };
  for (const std::uint32_t last : {0U, 16U})
    EXPECT_THAT(values_of(read_image_content("a.vti", content(std::uint32_t(second.size()), last)).data.all().front()),
                ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(image_content_error("a.vti", content(1000000, 0)), HasSubstr("longer than its place in the file"));
  EXPECT_THAT(image_content_error("a.vti", content(std::uint32_t(second.size()) / 2, 0)),
              HasSubstr("the compressed data is too short for what the file announces"));
}

// ---- Cells that no mesh of ours holds

TEST(CellsRare, AreCountedByKind) {
  std::string corners, types;
  int count = 0;
  for (const int kind : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 21, 22, 23, 24, 25, 42, 99}) {
    corners += "1 0\n";
    types += std::to_string(kind) + "\n";
    ++count;
  }
  const std::string n = std::to_string(count + 1);
  const Dataset read = read_content("a.vtk", grid + three + "CELLS " + n + " " + std::to_string(2 * count + 4) + "\n" +
                                                 corners + "3 0 1 2\nCELL_TYPES " + n + "\n" + types + "5\n");
  EXPECT_EQ(read.triangles.cells.size(), 1U);
  std::vector<std::string> kinds;
  for (const auto& [kind, cells] : read.ignored_cells) kinds.push_back(kind);
  for (const char* kind :
       {"tetrahedron with too few corners", "quad with too few corners", "prism with too few corners",
        "pyramid with too few corners", "hexahedron with too few corners", "quadratic tetrahedron", "polyhedron",
        "VTK cell type 99", "line of one point"})
    EXPECT_THAT(kinds, testing::Contains(kind));
}

// ---- PLY

std::string ply(
    const std::string& header, const std::string& body = "0 0 0\n1 0 0\n0 1 0\n",
    const std::string& vertex = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n") {
  return "ply\nformat ascii 1.0\n" + vertex + header + "end_header\n" + body;
}

TEST(PlyRare, SaysWhatIsWrong) {
  const auto expect = [](const std::string& content, const char* text) {
    EXPECT_THAT(content_error("a.ply", content), HasSubstr(text));
  };
  expect("ply\nformat ebcdic 1.0\nend_header\n", "unknown PLY format");
  expect(ply("property quaternion q\n"), "unknown PLY property type");
  expect(ply("elephant 3\n"), "unknown PLY header line");
  expect(ply("", "", "property float x\n"), "before any element");
  expect(ply("", "1\n", "element face 1\nproperty float x\n"), "no vertex element");
  expect(
      ply("element vertex 1\nproperty float x\nproperty float y\nproperty float z\n", "0 0 0\n1 0 0\n0 1 0\n0 0 0\n"),
      "two vertex elements");
  expect(ply("", "0 0\n0 0\n0 0\n", "element vertex 3\nproperty float x\nproperty float y\n"), "no property z");
  expect(ply("element face 1\nproperty list int int vertex_indices\n", "0 0 0\n1 0 0\n0 1 0\n-3 0 1 2\n"),
         "a list has");
}

TEST(PlyRare, NumberedPropertiesAreOneArray) {
  const Dataset read = read_content("a.ply", ply("property double t_0\nproperty double t_1\nproperty double alone_0\n",
                                                 "0 0 0 1 2 9\n1 0 0 3 4 9\n0 1 0 5 6 9\n"));
  EXPECT_THAT(values_of(read.point_data.require("t", "points")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(read.point_data.require("alone_0", "points").components, 1);
}

TEST(PlyRare, EveryTypeOfNumber) {
  for (const char* type : {"char", "uchar", "short", "ushort", "int", "uint", "float", "double", "int8", "uint16"}) {
    const Dataset read =
        read_content("a.ply", ply(std::string("property ") + type + " t\n", "0 0 0 1\n1 0 0 2\n0 1 0 3\n"));
    EXPECT_THAT(values_of(read.point_data.require("t", "points")), ElementsAre(1, 2, 3)) << type;
  }
}

// ---- TrackVis

std::string trk_header(std::int16_t shape, float size, std::int16_t scalars, std::int32_t header_size,
                       std::int32_t points, const char* order) {
  std::string bytes(1000, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof(value)); };
  std::memcpy(bytes.data(), "TRACK", 5);
  for (std::size_t d = 0; d < 3; ++d) put(6 + 2 * d, shape), put(12 + 4 * d, size);
  put(36, scalars);
  std::memcpy(bytes.data() + 948, order, std::strlen(order));
  put(988, std::int32_t{1});
  put(992, std::int32_t{2});
  put(996, header_size);
  bytes += native_bytes<std::int32_t>({points});
  if (points == 2) bytes += native_bytes<float>({1, 1, 1, 2, 1, 1});
  return bytes;
}

TEST(TrkRare, SaysWhatIsWrong) {
  const auto error = [](const std::string& content) { return content_error("a.trk", content); };
  EXPECT_THAT(error("TRUCK"), HasSubstr("not a TrackVis file"));
  EXPECT_THAT(error("TRACK"), HasSubstr("not a TrackVis file"));
  EXPECT_THAT(error(trk_header(9, 1, 0, 999, 2, "LPS")), HasSubstr("another size"));
  EXPECT_THAT(error(trk_header(9, 0, 0, 1000, 2, "LPS")), HasSubstr("voxel size that is not positive"));
  EXPECT_THAT(error(trk_header(9, std::numeric_limits<float>::infinity(), 0, 1000, 2, "LPS")), HasSubstr("voxel size"));
  EXPECT_THAT(error(trk_header(9, 1, -1, 1000, 2, "LPS")), HasSubstr("below zero"));
  EXPECT_THAT(error(trk_header(9, 1, 0, 1000, -2, "LPS")), HasSubstr("below zero"));
  EXPECT_THAT(error(trk_header(9, 1, 0, 1000, 2, "LLS")), HasSubstr("the voxel order names an axis twice ('LLS')"));
  const Dataset read = read_content("a.trk", trk_header(9, 1, 0, 1000, 2, ""));
  EXPECT_EQ(read.points.size(), 2U);
  EXPECT_THAT(read.warnings, testing::Contains(HasSubstr("the affine is missing")));
}

// ---- VTU with mistakes, and in several pieces

std::string vtu(const std::string& pieces) {
  return "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\"><UnstructuredGrid>" + pieces +
         "</UnstructuredGrid></VTKFile>";
}
std::string vtu_piece(const std::string& cells, const std::string& data = "", const std::string& components = "3",
                      const std::string& places = "0 0 0 1 0 0 0 1 0") {
  return "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><PointData>" + data +
         "</PointData><Points><DataArray type=\""
         "Float64\" NumberOfComponents=\"" +
         components + "\" format=\"ascii\">" + places + "</DataArray></Points><Cells>" + cells + "</Cells></Piece>";
}
const std::string connectivity = data_array("connectivity", "0 1 2", "Int64"),
                  offsets = data_array("offsets", "3", "Int64"), types = data_array("types", "5", "UInt8");

TEST(VtuRare, SaysWhatIsWrong) {
  const auto expect = [](const std::string& pieces, const char* text) {
    EXPECT_THAT(content_error("a.vtu", vtu(pieces)), HasSubstr(text));
  };
  expect(vtu_piece(connectivity + types), "no connectivity or no offsets");
  expect(vtu_piece(offsets + types), "no connectivity or no offsets");
  expect(vtu_piece(connectivity + offsets), "no types");
  expect(vtu_piece(data_array("connectivity", "0 1 2", "Float64") + offsets + types), "no array of whole numbers");
  expect(vtu_piece(connectivity + data_array("offsets", "4", "Int64") + types), "the offsets of cell 0 do not fit");
  expect(vtu_piece(connectivity + data_array("offsets", "-1", "Int64") + types), "the offsets of cell 0 do not fit");
  expect(vtu_piece(connectivity + offsets + types, "", "2", "0 0 1 0 0 1"), "three coordinates");
  expect("<Piece NumberOfPoints=\"3\" NumberOfCells=\"0\"></Piece>", "the points are missing");
}

TEST(VtuRare, PiecesAreJoined) {
  const std::string cells = connectivity + offsets + types;
  const Dataset read = read_content("a.vtu", vtu(vtu_piece(cells, data_array("t", "1 2 3") + data_array("u", "1 2 3")) +
                                                 vtu_piece(cells, data_array("t", "4 5 6"))));
  EXPECT_EQ(read.triangles.cells.size(), 2U);
  EXPECT_THAT(values_of(read.point_data.require("t", "points")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(read.point_data.find("u"), nullptr);
  EXPECT_THAT(read.warnings, testing::Contains(HasSubstr("array 'u' is left out")));
}

// ---- What names tell, and compressed files that end early

TEST(FileKinds, NamesTellWhatAFileHolds) {
  EXPECT_TRUE(is_mesh_file("a.vtu"));
  EXPECT_FALSE(is_mesh_file("a.nii"));
  EXPECT_TRUE(holds_many_arrays("a.vti"));
  EXPECT_FALSE(holds_many_arrays("a.nii"));
  EXPECT_FALSE(holds_many_arrays("a.off"));
  EXPECT_TRUE(says_place("a.nii.gz"));
  EXPECT_FALSE(says_place("a.off"));
}

TEST(FileKinds, SetsOfPiecesAreNotWrittenAsOneFile) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_dataset(folder.path() / "a.pvtu", mixed_mesh(), Overwrite::no), UsageError);
  EXPECT_THROW(write_image(folder.path() / "a.pvti", counted_image<float>(1), Overwrite::no), UsageError);
}

TEST(Compressed, FilesThatEndEarlyOrAreDamaged) {
  const TemporaryFolder folder;
  write_dataset(folder.path() / "a.off.gz", surface_mesh(), Overwrite::no);
  write_dataset(folder.path() / "a.vtk.gz", surface_mesh(), Overwrite::no);
  for (const char* name : {"a.off.gz", "a.vtk.gz"}) {
    const std::string whole = content_of(folder.path() / name);
    EXPECT_THAT(reading_error(folder.file(name, whole.substr(0, whole.size() - 20))), HasSubstr("early"));
    std::string damaged = whole;
    for (std::size_t i = 20; i < 40; ++i) damaged[i] = static_cast<char>(0xff);
    EXPECT_THAT(reading_error(folder.file(name, damaged)), HasSubstr("damaged"));
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
