// Reading only some arrays of a file: the rest is the same, and what is passed over need not even be readable.
#include <numeric>

#include "io/io_test_support.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ints = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

Dataset sample(const std::string& extension) {
  Dataset d = extension == ".vtp" || extension == ".ply" ? surface_mesh() : mixed_mesh();
  d.point_data.set({"first", 1, Ints{1, 2, 3, 4, 5, 6}});
  d.point_data.set({"second", 2, std::vector<double>(12, 0.1)});
  d.triangles.data.set({"region", 1, Ints{4, 5, 6}});
  d.triangles.data.set({"first", 3, std::vector<float>(9, 0.5F)});
  if (!d.tets.cells.empty()) d.tets.data.set({"region", 1, Ints{7, 8}});
  return d;
}

TEST(WantedArrays, AreReadAlone) {
  const TemporaryFolder folder;
  for (const std::string extension : {".vtu", ".vtp", ".vtk", ".vtk.gz", ".ply", ".msh"}) {
    const fs::path path = folder.path() / ("a" + extension);
    Dataset mesh = sample(extension);
    if (extension == ".ply" || extension == ".msh") mesh.lines.clear();
    write_dataset(path, mesh, Overwrite::no);
    const Dataset all = read_dataset(path);
    const Dataset some = read_dataset(path, Names{"first", "nowhere"});
    EXPECT_EQ(some.points, all.points) << extension;
    EXPECT_EQ(some.triangles.cells, all.triangles.cells) << extension;
    EXPECT_EQ(some.tets.cells, all.tets.cells) << extension;
    EXPECT_EQ(some.lines, all.lines) << extension;
    EXPECT_THAT(some.point_data.names(), ElementsAre("first")) << extension;
    EXPECT_THAT(some.triangles.data.names(), ElementsAre("first")) << extension;
    EXPECT_EQ(some.point_data.all()[0].values, all.point_data.find("first")->values) << extension;
    EXPECT_EQ(some.triangles.data.all()[0].values, all.triangles.data.find("first")->values) << extension;
    const Dataset none = read_dataset(path, Names{});
    EXPECT_EQ(none.points, all.points) << extension;
    for (const DataArrays* data : {&none.point_data, &none.triangles.data, &none.tets.data, &none.line_data})
      EXPECT_TRUE(data->empty()) << extension;
  }
}

TEST(WantedArrays, AreFoundBehindAllKindsOfOthers) {
  const std::string text =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n"
      "POLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\nSCALARS a double 1\nLOOKUP_TABLE default\nno numbers here\n"
      "COLOR_SCALARS b 1\n0 0.5 1\nVECTORS c float\n1 2 3 4 5 6 7 8 9\nFIELD f 4\nd 2 3 int\n1 2 3 4 5 6\n"
      "e 1 3 string\none\ntwo\nthree\ng 1 3 bit\n0 1 0\nwanted 1 3 int\n7 8 9\n";
  const TemporaryFolder folder;
  const Dataset read = read_dataset(folder.file("a.vtk", text), Names{"wanted"});
  EXPECT_THAT(read.point_data.names(), ElementsAre("wanted"));
  EXPECT_EQ(std::get<Ints>(read.point_data.all()[0].values), (Ints{7, 8, 9}));
}

// Arrays of one name get numbers; one that is asked for by such a name is the same one that a full reading gives.
TEST(WantedArrays, MeanTheSameAsAmongAll) {
  const auto array = [](int value) { return fmt::format(" 1 1 int\n{}\n", value); };
  const std::string text =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0 0 0\nVERTICES 1 2\n1 0\n"
      "POINT_DATA 1\nFIELD f 5\na" +
      array(1) + "a" + array(2) + "a_2" + array(3) + "a_2_2" + array(4) + "a%0ab" + array(5);
  const TemporaryFolder folder;
  const fs::path path = folder.file("a.vtk", text);
  const Dataset all = read_dataset(path);
  ASSERT_EQ(all.point_data.all().size(), 5U);
  for (const DataArray& one : all.point_data.all()) {
    if (one.name.find('?') != std::string::npos) continue;  // a name that was made printable is not in the file
    const Dataset some = read_dataset(path, Names{one.name});
    ASSERT_THAT(some.point_data.names(), ElementsAre(one.name));
    EXPECT_EQ(some.point_data.all()[0].values, one.values) << one.name;
  }
}

TEST(WantedArrays, WithoutFibresTheirFileIsNotRead) {
  const TemporaryFolder folder;
  folder.put("a.pts", "3\n0 0 0\n1 0 0\n0 1 0\n");
  folder.put("a.elem", "1\nTr 0 1 2 5\n");
  folder.put("a.lon", "damaged");
  EXPECT_THAT(read_dataset(folder.path() / "a.elem", Names{"region"}).triangles.data.names(), ElementsAre("region"));
  EXPECT_THROW(read_dataset(folder.path() / "a.elem", Names{"sheet"}), InputError);
  EXPECT_THROW(read_dataset(folder.path() / "a.elem"), InputError);
}

TEST(WantedArrays, OthersMayBeLargeButMustBeThere) {
  const TemporaryFolder folder;
  Dataset mesh;
  mesh.points.resize(400'000);
  std::vector<double> numbers(mesh.points.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  mesh.triangles.cells = {triangle(0, 1, 2)};
  mesh.point_data.set({"first", 1, numbers});
  mesh.point_data.set({"second", 1, std::move(numbers)});
  const fs::path path = folder.path() / "a.vtk";
  write_dataset(path, mesh, Overwrite::no);
  for (const char* name : {"first", "second"}) {
    const Dataset read = read_dataset(path, Names{name});
    ASSERT_THAT(read.point_data.names(), ElementsAre(name));
    EXPECT_EQ(read.point_data.all()[0].values, mesh.point_data.find(name)->values) << name;
  }
  EXPECT_THAT(read_dataset(path, Names{}).point_data.names(), IsEmpty());
  fs::resize_file(path, fs::file_size(path) - 2);  // the line's end, and a byte of the last number
  EXPECT_THAT(input_error(path, [&] { return read_dataset(path, Names{"first"}); }),
              HasSubstr("in the middle of its data"));
  fs::resize_file(path, fs::file_size(path) - 1000);
  EXPECT_THROW(read_dataset(path, Names{"first"}), InputError);
}

// The header of a VTK XML file is looked for in parts: its end may be far behind, or only seem to be there.
TEST(WantedArrays, AppendedValuesMayBeginAnywhere) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.vtu";
  const Dataset mesh = sample(".vtu");
  write_dataset(path, mesh, Overwrite::no);
  const std::string text = content_of(path);
  const std::size_t line = text.find('\n') + 1;
  for (const std::string& comment : {"<!-- <AppendedData encoding=\"raw\">_ -->" + std::string(2'000'000, '\n'),
                                     "<!--" + std::string(1'100'000, ' ') + "<AppendedData>_-->",
                                     std::string((1U << 20U) - text.find("<AppendedData") - 20, ' ')}) {
    const Dataset read = read_dataset(folder.file("b.vtu", text.substr(0, line) + comment + text.substr(line)));
    EXPECT_EQ(read.points, mesh.points);
    EXPECT_EQ(read.tets.cells, mesh.tets.cells);
    EXPECT_EQ(read.point_data.find("second")->values, mesh.point_data.find("second")->values);
  }
  EXPECT_THROW(read_dataset(folder.file("c.vtu", text.substr(0, text.find("<AppendedData")))), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
