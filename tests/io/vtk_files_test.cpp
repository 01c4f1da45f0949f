// Round trips through every format of the VTK family, hand-written files with the odd corners, and damaged files.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "io/io_test_support.h"
#include "isochron/core/random.h"
#include "isochron/io/mesh/formats.h"

namespace isochron::test {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

// Five points, arrays of each type with tricky values. Coordinates are exact in float unless told otherwise.
Dataset surface_sample() {
  Dataset d;
  d.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.25, -2}, {3, 4, 5}};
  d.triangles.cells = {triangle(0, 1, 2), triangle(1, 3, 2), triangle(2, 3, 4)};
  const float inf = std::numeric_limits<float>::infinity();
  d.point_data.set({"arrival_time", 1, std::vector<double>{0, 0.1, 1e-300, inf, -5}});
  d.point_data.set({"single", 1, std::vector<float>{0.1F, inf, -1, 2, 3}});
  d.point_data.set({"ids", 1, std::vector<std::int64_t>{0, -7, 123456, 3, 4}});
  d.point_data.set({"small", 1, std::vector<std::int32_t>{0, -1, 2, 3, 4}});
  d.point_data.set({"flag", 1, std::vector<std::uint8_t>{0, 255, 2, 3, 4}});
  d.point_data.set({"direction", 3, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0}});
  d.triangles.data.set({"region", 1, std::vector<std::int32_t>{4, 5, 6}});
  d.triangles.data.set({"fibre", 3, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}});
  return d;
}

Dataset mixed_sample() {
  Dataset d = surface_sample();
  d.points[1].x = 0.1;  // not exact in float
  d.tets.cells = {{VertexId(0), VertexId(1), VertexId(2), VertexId(4)},
                  {VertexId(0), VertexId(1), VertexId(2), VertexId(3)}};
  d.tets.data.set({"region", 1, std::vector<std::int32_t>{7, 8}});
  d.tets.data.set({"fibre", 3, std::vector<float>{1, 0, 0, 0, 1, 0}});
  d.lines = {{VertexId(0), VertexId(4)}, {VertexId(4), VertexId(3), VertexId(1)}};
  d.line_data.set({"region", 1, std::vector<std::int32_t>{1, 2}});
  d.line_data.set({"fibre", 3, std::vector<float>{0, 0, 1, 0, 0, 2}});
  return d;
}

void expect_same_values(const DataArrays& expected, const DataArrays& got) {
  EXPECT_EQ(got.names(), expected.names());
  for (const DataArray& array : expected.all()) {
    const DataArray* other = got.find(array.name);
    ASSERT_NE(other, nullptr) << array.name;
    EXPECT_EQ(other->components, array.components) << array.name;
    EXPECT_EQ(other->values, array.values) << array.name;
  }
}

void expect_same(const Dataset& expected, const Dataset& got) {
  EXPECT_EQ(got.points, expected.points);
  EXPECT_EQ(got.triangles.cells, expected.triangles.cells);
  EXPECT_EQ(got.tets.cells, expected.tets.cells);
  EXPECT_EQ(got.lines, expected.lines);
  expect_same_values(expected.point_data, got.point_data);
  expect_same_values(expected.triangles.data, got.triangles.data);
  expect_same_values(expected.tets.data, got.tets.data);
  expect_same_values(expected.line_data, got.line_data);
  EXPECT_TRUE(got.ignored_cells.empty());
  EXPECT_TRUE(got.warnings.empty());
}

TEST(VtkFiles, SurfaceComesBackFromFormatsWithArrays) {
  for (const std::string& name : std::vector<std::string>{"a.vtu", "a.vtp", "a.vtk", "a.vtk.gz", "A.VTP"}) {
    SCOPED_TRACE(name);
    expect_same(surface_sample(), write_and_read(name, surface_sample()));
  }
}

TEST(VtkFiles, MixedCellsComeBack) {
  for (const std::string& name : std::vector<std::string>{"a.vtu", "a.vtk"}) {
    SCOPED_TRACE(name);
    expect_same(mixed_sample(), write_and_read(name, mixed_sample()));
  }
  Dataset lines_and_triangles = mixed_sample();
  lines_and_triangles.tets = {};
  for (const std::string& name : std::vector<std::string>{"a.vtu", "a.vtk", "a.vtp"}) {
    SCOPED_TRACE(name);
    expect_same(lines_and_triangles, write_and_read(name, lines_and_triangles));
  }
}

TEST(VtkFiles, PlyKeepsArraysButHasNo64BitIntegers) {
  Dataset expected = surface_sample();
  for (const char* name : {"a.ply", "a.ply.gz"}) {
    const Dataset got = write_and_read(name, surface_sample());
    expected.point_data.set({"ids", 1, std::vector<std::int32_t>{0, -7, 123456, 3, 4}});
    expect_same(expected, got);
  }
  Dataset large = surface_sample();
  large.point_data.set({"ids", 1, std::vector<std::int64_t>{0, 1LL << 40, 0, 0, 0}});
  EXPECT_EQ(write_and_read("a.ply", large).point_data.require("ids", "points").at(1), std::pow(2.0, 40));
}

TEST(VtkFiles, PlyWritesPolylinesAsEdges) {
  Dataset d = mixed_sample();
  d.tets = {};
  const Dataset got = write_and_read("a.ply", d);
  EXPECT_EQ(got.points, d.points);
  ASSERT_EQ(got.lines.size(), 3U);
  EXPECT_EQ(got.lines[2], (std::vector{VertexId(3), VertexId(1)}));
  EXPECT_EQ(got.line_data.require("region", "lines").at(2), 2);
}

TEST(VtkFiles, StlAndObjKeepTheGeometry) {
  const Dataset d = surface_sample();
  for (const char* name : {"a.stl", "a.stl.gz", "a.obj", "a.obj.gz"}) {
    SCOPED_TRACE(name);
    const Dataset got = write_and_read(name, d);
    EXPECT_EQ(got.triangles.cells.size(), 3U);
    ASSERT_EQ(got.points.size(), 5U);
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(got.points[got.triangles.cells[t][c].index()], d.points[d.triangles.cells[t][c].index()]);
      }
    }
  }
}

TEST(VtkFiles, ArraysOfOneBlockArePaddedOnTheOthers) {
  Dataset d = mixed_sample();
  d.lines.clear();
  d.line_data = {};
  d.tets.data = {};
  d.triangles.data.set({"region", 1, std::vector<std::int64_t>{4, 5, 6}});
  d.tets.data.set({"region", 1, std::vector<std::int32_t>{7, 8}});
  d.tets.data.set({"fibre", 1, std::vector<float>{1, 2}});
  for (const std::string& name : std::vector<std::string>{"a.vtu", "a.vtk"}) {
    const Dataset got = write_and_read(name, d);
    EXPECT_EQ(got.tets.data.require("region", "tets").values, (DataArray::Values{std::vector<double>{7, 8}}));
    EXPECT_EQ(got.triangles.data.require("region", "t").values, (DataArray::Values{std::vector<double>{4, 5, 6}}));
    EXPECT_EQ(got.tets.data.require("fibre", "tets").values, (DataArray::Values{std::vector<float>{1, 2}}));
    EXPECT_TRUE(std::isnan(got.triangles.data.require("fibre", "t").at(0)));
    EXPECT_EQ(got.triangles.data.require("fibre_triangles", "t").at(2, 2), 9);
  }
}

TEST(VtkFiles, NamesWithOddCharactersSurvive) {
  Dataset d = surface_sample();
  d.point_data = {};
  d.point_data.set({"a <b> & \"c\" 100% µm", 1, std::vector<float>{1, 2, 3, 4, 5}});
  for (const std::string& name : std::vector<std::string>{"a.vtu", "a.vtp", "a.vtk"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(write_and_read(name, d).point_data.names(), d.point_data.names());
  }
}

TEST(VtkFiles, TetrahedraAreRefusedBySurfaceFormats) {
  const TemporaryFolder folder;
  for (const char* name : {"a.vtp", "a.ply", "a.stl", "a.obj", "a.off"})
    EXPECT_THAT([&] { write_dataset(folder.path() / name, mixed_sample(), Overwrite::no); },
                ThrowsMessage<UsageError>(HasSubstr("tetrahedra: 2")));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(VtkFiles, FullDiskIsARuntimeError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  using Write = void (*)(std::span<const OutputFile>, const Dataset&);
  const std::vector<std::pair<std::string, Write>> writers{
      {"a.vtu", write_vtu}, {"a.vtp", write_vtp}, {"a.vtk", write_legacy_vtk}, {"a.ply", write_ply},
      {"a.stl", write_stl}, {"a.obj", write_obj}, {"a.ply.gz", write_ply}};
  for (const auto& [name, write] : writers) {
    const OutputFile file{name, "/dev/full"};
    const auto write_it = [&file, write = write] { write(std::span(&file, 1), surface_sample()); };
    EXPECT_THAT(write_it, ThrowsMessage<RuntimeError>(StartsWith(name)));
  }
}

// Without VTK too: announced lengths, and the block of values that follows them.
TEST(VtkFiles, XmlIsAnAnnouncedHeaderAndRawValues) {
  const TemporaryFolder folder;
  write_dataset(folder.path() / "a.vtu", mixed_sample(), Overwrite::no);
  const std::string grid = content_of(folder.path() / "a.vtu");
  EXPECT_THAT(grid, HasSubstr("<Piece NumberOfPoints=\"5\" NumberOfCells=\"7\">"));
  EXPECT_THAT(grid, HasSubstr("type=\"Float64\" Name=\"arrival_time\" format=\"appended\" offset="));
  // The last array comes first (see VtkXmlWriter).
  EXPECT_THAT(grid, HasSubstr("type=\"UInt8\" Name=\"types\" format=\"appended\" offset=\"0\"/>"));
  EXPECT_THAT(grid, testing::EndsWith("\n  </AppendedData>\n</VTKFile>\n"));
  const std::size_t first = grid.find("encoding=\"raw\">\n_") + 17;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, grid.data() + first, sizeof(bytes));
  EXPECT_EQ(bytes, 7U);
  EXPECT_EQ(grid.substr(first + sizeof(bytes) + 2, 5), "\x05\x05\x05\x03\x04");
  write_dataset(folder.path() / "a.vtp", surface_sample(), Overwrite::no);
  EXPECT_THAT(content_of(folder.path() / "a.vtp"),
              HasSubstr("NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"3\">"));
}

const char* const legacy_polydata =
    "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 6 float\n0 0 0  1 0 0  0 1 0\n"
    "1 1 0  0 2 0  1 2 0\nVERTICES 1 2\n1 0\nPOLYGONS 2 9\n3 0 1 2\n4 0 1 3 2\nTRIANGLE_STRIPS 1 6\n"
    "5 2 3 4 5 0\nLINES 1 3\n2 0 5\nCELL_DATA 5\nSCALARS tag int\nLOOKUP_TABLE default\n10 20 30 40 50\n"
    "POINT_DATA 6\nTENSORS stress float\n1 2 3 4 5 6 7 8 9  1 2 3 4 5 6 7 8 9  1 2 3 4 5 6 7 8 9\n"
    "1 2 3 4 5 6 7 8 9  1 2 3 4 5 6 7 8 9  1 2 3 4 5 6 7 8 10\nNORMALS n float\n"
    "0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1\nMETADATA\nCOMPONENT_NAMES\nX Y Z\n\nCOLOR_SCALARS colour 3\n"
    "0 0.5 1 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1\nSCALARS two%20words double 2\nLOOKUP_TABLE mine\n"
    "0 1 2 3 4 5 6 7 8 9 10 nan\nLOOKUP_TABLE mine 1\n0 0 0 1\nFIELD FieldData 2\nnames 1 6 string\na\n"
    "b c\n\nd\ne\nf\nbytes 1 6 char\n-1 2 3 4 5 6\nVECTORS n double\n"
    "1 2 3 1 2 3 1 2 3 1 2 3 1 2 3 1 2 3\n";

TEST(VtkFiles, XmlArraysThatShareValuesAreRefused) {
  // Thousands of them would take the memory of the file thousands of times.
  TemporaryFolder folder;
  Dataset d = surface_sample();
  d.point_data = {};
  d.point_data.set({"a", 1, std::vector<double>(d.points.size(), 1)});
  d.point_data.set({"b", 1, std::vector<double>(d.points.size(), 2)});
  write_dataset(folder.path() / "a.vtp", d, Overwrite::no);
  const std::string text = content_of(folder.path() / "a.vtp");
  const auto offset_of = [&](const std::string& name) {
    const std::size_t at = text.find("offset=\"", text.find("Name=\"" + name + "\"")) + 8;
    return std::pair(at, text.substr(at, text.find('"', at) - at));
  };
  const auto [place_a, a] = offset_of("a");
  const auto [place_b, b] = offset_of("b");
  std::string same = text;
  same.replace(place_b, b.size(), a + std::string(b.size() - a.size(), ' '));
  EXPECT_THAT(content_error("a.vtp", same), HasSubstr("two arrays have the same values (those at the offset " + a));
  std::string inside = text;  // one that begins in the middle of another
  const std::string middle = std::to_string(std::stoul(a) + 8);
  inside.replace(place_b, b.size(), middle + std::string(b.size() - middle.size(), ' '));
  EXPECT_THAT(content_error("a.vtp", inside), HasSubstr("longer than its place in the file"));
}

TEST(VtkFiles, LegacyPolydataWithEverything) {
  const Dataset d = read_content("a.vtk", legacy_polydata);
  EXPECT_EQ(d.points.size(), 6U);
  // Cells count as vertices, lines, polygons, strips: 10, 20, (30, 40), 50.
  EXPECT_EQ(d.triangles.cells, (std::vector{triangle(0, 1, 2), triangle(0, 1, 3), triangle(0, 3, 2), triangle(2, 3, 4),
                                            triangle(3, 5, 4), triangle(4, 5, 0)}));
  EXPECT_EQ(d.triangles.data.require("tag", "").values,
            (DataArray::Values{std::vector<std::int32_t>{30, 40, 40, 50, 50, 50}}));
  EXPECT_EQ(d.line_data.require("tag", "").values, (DataArray::Values{std::vector<std::int32_t>{20}}));
  EXPECT_THAT(d.ignored_cells, testing::ElementsAre(testing::Pair("vertex", 1)));
  EXPECT_THAT(d.point_data.names(), testing::ElementsAre("stress", "n", "colour", "two words", "bytes", "n_2"));
  EXPECT_EQ(d.point_data.require("stress", "").components, 9);
  EXPECT_EQ(d.point_data.require("stress", "").at(5, 8), 10);
  EXPECT_EQ(d.point_data.require("colour", "").at(0, 1), 128);
  EXPECT_EQ(d.point_data.require("bytes", "").at(0), -1);
  EXPECT_EQ(d.point_data.require("n_2", "").at(5, 2), 3);
}

TEST(VtkFiles, LegacyVersion5Cells) {
  const Dataset d =
      read_content("a.vtk",
                   "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\n"
                   "time 1 1 double\n0.5\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\nCELLS 4 8\n"
                   "OFFSETS vtktypeint64\n0 4 7 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 0 1 4 2\nCELL_TYPES 3\n10 5 1\n"
                   "CELL_DATA 3\nVECTORS fibre float\n1 0 0 0 1 0 0 0 1\n");
  EXPECT_EQ(d.tets.cells.size(), 1U);
  EXPECT_EQ(d.triangles.cells, (std::vector{triangle(0, 1, 4)}));
  EXPECT_EQ(d.triangles.data.require("fibre", "").values, (DataArray::Values{std::vector<float>{0, 1, 0}}));
  EXPECT_EQ(d.ignored_cells.size(), 1U);
}

TEST(VtkFiles, PlyOfManyProperties) {
  const Dataset d = read_content("a.ply",
                                 "ply\r\nformat ascii 1.0\r\ncomment x\r\nobj_info y\r\n"
                                 "element face 2\r\nproperty uchar material\r\n"
                                 "property list uchar int vertex_index\r\n"
                                 "property list uchar float texcoord\r\n"
                                 "element vertex 4\r\nproperty double x\r\nproperty float nx\r\n"
                                 "property double y\r\nproperty double z\r\nproperty float ny\r\n"
                                 "property float nz\r\nproperty uchar red\r\nproperty uchar green\r\n"
                                 "property uchar blue\r\nproperty short quality\r\nend_header\r\n"
                                 "1 3 0 1 2 0\r\n2 4 0 1 2 3 2 0.5 0.5\r\n"
                                 "0 0 0 0 0 1 255 0 0 -3\r\n1 0 0 0 0 1 255 0 0 4\r\n"
                                 "0 0 1 0 0 1 255 0 0 5\r\n0 0 1 1 0 1 1 2 3 6\r\n");
  EXPECT_EQ(d.points[3], (Vec3d{0, 1, 1}));
  EXPECT_EQ(d.triangles.cells.size(), 1U);
  EXPECT_EQ(d.triangles.data.require("material", "").values, (DataArray::Values{std::vector<std::uint8_t>{1}}));
  EXPECT_EQ(d.ignored_cells.size(), 1U);
  EXPECT_THAT(d.point_data.names(), testing::UnorderedElementsAre("Normals", "RGB", "quality"));
  EXPECT_EQ(d.point_data.require("RGB", "").at(3, 2), 3);
  EXPECT_EQ(d.point_data.require("quality", "").at(0), -3);
}

TEST(VtkFiles, BigEndianPlyWithStrips) {
  std::string text =
      "ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
      "property float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n";
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 3; ++i) text += p == i ? std::string("\x3f\x80\0\0", 4) : std::string(4, '\0');
  }
  for (const int n : {8, 0, 1, 2, 3, -1, 3, 2, 0}) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>((n >> shift) & 255);
  }
  const Dataset d = read_content("a.ply", text);
  EXPECT_EQ(d.points[1], (Vec3d{0, 1, 0}));
  EXPECT_EQ(d.triangles.cells, (std::vector{triangle(0, 1, 2), triangle(1, 3, 2), triangle(3, 2, 0)}));
}

TEST(VtkFiles, TextStlMergesCorners) {
  const Dataset d =
      read_content("a.stl",
                   "solid one two\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
                   "endfacet\nendsolid one two\nsolid\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\n"
                   "vertex -0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 0 0\n"
                   "vertex 0 1 0\nendloop\nendfacet\nendsolid\n");
  EXPECT_EQ(d.points.size(), 4U);
  EXPECT_EQ(d.triangles.cells, (std::vector{triangle(0, 1, 2), triangle(1, 3, 2)}));
  EXPECT_EQ(d.warnings.size(), 1U);
}

TEST(VtkFiles, ObjOfEveryKindOfLine) {
  const Dataset d =
      read_content("a.obj",
                   "# comment\nmtllib none.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 0 1 0 0.5 0.5 0.5\nvt 0 0\nvt 1 1\n"
                   "vn 0 0 1\nf 1/1/1 2/2/1 3//1\nf -3/2 -2/1 \\\n -1/1\nv 1 1 0\nf 1 2 4 3 # a quad\nl 1 2 3\np 1\n");
  EXPECT_EQ(d.points.size(), 4U);  // different texture coordinates do not split a vertex
  EXPECT_EQ(d.triangles.cells,
            (std::vector{triangle(0, 1, 2), triangle(0, 1, 2), triangle(0, 1, 3), triangle(0, 3, 2)}));
  EXPECT_EQ(d.lines.size(), 1U);
  EXPECT_THAT(d.ignored_cells, testing::ElementsAre(testing::Pair("vertex", 1)));
}

TEST(VtkFiles, BadFilesAreInputErrors) {
  const TemporaryFolder folder;
  for (const std::string& extension : std::vector<std::string>{".vtu", ".vtp", ".vtk", ".ply", ".stl", ".obj"}) {
    SCOPED_TRACE(extension);
    reading_error(folder.path() / ("missing" + extension));
    content_error("empty" + extension, "");
    content_error("words" + extension, "these are a few words\nand no mesh\n");
  }
  content_error("nan.obj", "v 0 nan 0\nf 1 1 1\n");
  content_error("id.obj", "v 0 0 0\nf 1 2 3\n");
  content_error("huge.ply",
                "ply\nformat ascii 1.0\nelement vertex 99999999999999\nproperty float x\n"
                "property float y\nproperty float z\nend_header\n0 0 0\n");
  content_error("grid.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n");
}

// Reads damaged variants of a file: each must give an InputError or a data set whose ids and arrays fit together.
class Damage {
 public:
  explicit Damage(std::string name) : name_(std::move(name)), random_(12345) {}

  void run(const std::string& whole, int rounds) {
    for (int i = 0; i < rounds; ++i) check(damaged(whole, i));
    EXPECT_GT(refused_, 0) << name_;
  }

 private:
  std::string damaged(std::string text, int round) {
    const auto place = [&] { return static_cast<std::size_t>(random_.below(text.size())); };
    if (round % 4 == 0) {
      text.resize(place());
    } else if (round % 4 == 1) {
      for (std::uint64_t n = 1 + random_.below(4); n > 0; --n) text[place()] = static_cast<char>(random_.below(256));
    } else if (round % 4 == 2) {
      for (std::uint64_t n = 1 + random_.below(8); n > 0; --n) text[place()] = "0123456789 -e\n"[random_.below(14)];
    } else {
      text.erase(place(), random_.below(64));
    }
    return text;
  }

  void check(const std::string& text) {
    const bool read = expect_read_or_refused(folder_.path(), [&] {
      const Dataset d = read_dataset(folder_.file(name_, text));
      for_each_block(d, [&](CellKind, const auto& cells, const DataArrays& data) {
        for (const auto& cell : cells)
          for (const VertexId id : cell) ASSERT_LT(id.index(), d.points.size());
        for (const DataArray& a : data.all()) ASSERT_EQ(a.tuple_count(), cells.size());
      });
      for (const DataArray& a : d.point_data.all()) ASSERT_EQ(a.tuple_count(), d.points.size());
    });
    if (!read) ++refused_;
  }

  TemporaryFolder folder_;
  std::string name_;
  Random random_;
  int refused_ = 0;
};

TEST(VtkFiles, DamagedFilesNeverCrashAndNothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const TemporaryFolder folder;
  for (const std::string& name :
       std::vector<std::string>{"a.vtu", "a.vtp", "a.vtk", "a.ply", "a.stl", "a.obj", "a.ply.gz", "a.vtk.gz"}) {
    SCOPED_TRACE(name);
    const bool volume = name == "a.vtu" || name == "a.vtk";
    write_dataset(folder.path() / name, volume ? mixed_sample() : surface_sample(), Overwrite::no);
    Damage(name).run(content_of(folder.path() / name), 120);
  }
  Damage("text.vtk").run(legacy_polydata, 400);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

const char* const text_vtu = R"(<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="8" NumberOfCells="5">
<PointData><DataArray type="Int8" Name="level" format="ascii">-1 2 3 4 5 6 7 8</DataArray>
<DataArray type="UInt32" Name="big" format="ascii">4000000000 2 3 4 5 6 7 8</DataArray></PointData>
<CellData><DataArray type="Float32" Name="speed" format="ascii">1 2 3 4 5</DataArray></CellData>
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">
0 1 2 3 4 5 6 7  0 1 3 2  0 1 3 4  0 1 2  4 5 6 7</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">8 12 16 19 23</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">12 6 10 7 9</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>
)";

TEST(VtkXmlFiles, TextVtuWithStripsAndCellsToCut) {
  const Dataset d = read_content("a.vtu", text_vtu);
  EXPECT_EQ(d.tets.cells.size(), 7U);
  EXPECT_EQ(d.triangles.cells, (std::vector{triangle(0, 1, 3), triangle(1, 2, 3), triangle(0, 1, 2), triangle(4, 5, 6),
                                            triangle(4, 6, 7)}));
  EXPECT_EQ(d.triangles.data.require("speed", "").values, (DataArray::Values{std::vector<float>{2, 2, 4, 5, 5}}));
  EXPECT_EQ(d.tets.data.require("speed", "").values, (DataArray::Values{std::vector<float>{1, 1, 1, 1, 1, 1, 3}}));
  EXPECT_EQ(d.point_data.require("level", "").at(0), -1);
  EXPECT_EQ(d.point_data.require("big", "").at(0), 4e9);
  EXPECT_TRUE(d.ignored_cells.empty());
}

TEST(VtkXmlFiles, BadNumbersAreInputErrors) {
  const auto with = [](const std::string& old_words, const std::string& new_words) {
    std::string text = text_vtu;
    return text.replace(text.find(old_words), old_words.size(), new_words);
  };
  content_error("inf.vtu", with("0 0 0 1 0 0", "0 inf 0 1 0 0"));
  content_error("id.vtu", with("0 1 3 4", "0 1 3 8"));
  content_error("id.vtu", with("0 1 3 4", "0 1 3 -1"));
  content_error("offset.vtu", with("8 12 16", "8 32 16"));
}

TEST(VtkXmlFiles, DamagedTextNeverCrashes) { Damage("text.vtu").run(text_vtu, 120); }

}  // namespace TEST_FILE
}  // namespace isochron::test
