// The table of formats, checks before writing, and checks after reading.
#include <gmock/gmock.h>

#include "io/io_test_support.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::HasSubstr;

const std::string square = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";

template <class Expected>
std::string writing_error(const fs::path& path, const Dataset& dataset, Overwrite overwrite) {
  try {
    write_dataset(path, dataset, overwrite);
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << path << " was written, or failed in another way";
  return "";
}

TEST(Formats, ListKnowsGzipAndArrays) {
  bool gmsh = false;
  for (const Format& format : formats()) {
    EXPECT_FALSE(format.extensions.empty());
    for (const std::string& extension : format.extensions) EXPECT_TRUE(extension.starts_with("."));
    gmsh = gmsh || (format.name == "Gmsh" && format.reads && format.writes && format.keeps_arrays &&
                    format.extensions == std::vector<std::string>{".msh", ".msh.gz"});
  }
  EXPECT_TRUE(gmsh);
}

TEST(Formats, AreAllReadAndMostWritten) {
  for (const Format& format : formats()) {
    EXPECT_TRUE(format.reads) << format.name;
    const bool only_read = format.name == "GIFTI" || format.name == "FreeSurfer surface" ||
                           format.name == "TrackVis tracks" ||  // which need the voxels of an image
                           format.name.ends_with("pieces");
    EXPECT_EQ(format.writes, !only_read) << format.name;
  }
}

TEST(ReadDataset, RefusesWhatIsNoFile) {
  TemporaryFolder folder;
  EXPECT_THAT(reading_error(folder.path() / "none.off"), HasSubstr("no such file"));
  EXPECT_THAT(reading_error(folder.file("a.off", "") / "b.off"), HasSubstr("b.off: "));
  EXPECT_THAT(content_error("empty.off", ""), HasSubstr("is empty"));
  fs::create_directory(folder.path() / "folder.off");
  EXPECT_THAT(reading_error(folder.path() / "folder.off"), HasSubstr("is a folder"));
}

TEST(ReadDataset, UnknownExtensionListsTheKnownOnes) {
  for (const char* name : {"a.xyz", "a", ".off", "a.gz", "a.xyz.gz"}) {
    EXPECT_THAT(content_error(name, square), HasSubstr(".msh")) << name;
  }
}

TEST(ReadDataset, RefusesBadNumbers) {
  std::string bad = square;
  EXPECT_THAT(content_error("a.off", bad.replace(bad.find("1 1 0"), 1, "nan")), HasSubstr("line 5"));
  bad = square;
  EXPECT_THAT(content_error("b.off", bad.replace(bad.find("0 2 3"), 5, "0 2 4")), HasSubstr("line 8"));
  EXPECT_THAT(content_error("c.off", "OFF\n0 0 0\n"), HasSubstr("no points"));
}

TEST(ReadDataset, XmlFilesAreNotGzipped) {
  TemporaryFolder folder;
  EXPECT_THAT(content_error("a.vtu.gz", "x"), HasSubstr("gunzip"));
  EXPECT_THROW(check_writable(folder.path() / "b.vtp.gz", Overwrite::yes), UsageError);
}

TEST(WriteDataset, RefusesBeforeAnyWork) {
  TemporaryFolder folder;
  const fs::path existing = folder.file("a.off", "precious");
  EXPECT_THAT(writing_error<InputError>(existing, mixed_mesh(), Overwrite::no), HasSubstr("exists already"));
  EXPECT_EQ(content_of(existing), "precious");
  EXPECT_THAT(writing_error<UsageError>(folder.path() / "a.xyz", mixed_mesh(), Overwrite::no), HasSubstr(".msh"));
  EXPECT_THAT(writing_error<RuntimeError>(folder.path() / "no" / "a.off", mixed_mesh(), Overwrite::no),
              HasSubstr("is not a folder"));
  EXPECT_THAT(writing_error<RuntimeError>(existing / "a.off", mixed_mesh(), Overwrite::no),
              HasSubstr("is not a folder"));
  fs::create_directory(folder.path() / "b.off");
  EXPECT_THROW(check_writable(folder.path() / "b.off", Overwrite::yes), InputError);
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(WriteDataset, RefusesAnyExistingFileOfTheSet) {
  TemporaryFolder folder;
  const fs::path fibers = folder.file("a.lon", "1 0 0\n");
  EXPECT_THAT(writing_error<InputError>(folder.path() / "a.pts", mixed_mesh(), Overwrite::no), HasSubstr("a.lon"));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteDataset, RefusesAFolderThatCannotBeWrittenTo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(check_writable(folder.path() / "a.off", Overwrite::no), RuntimeError);
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(WriteDataset, ReplacesWhenAllowed) {
  TemporaryFolder folder;
  const fs::path path = folder.file("a.off", "old");
  write_dataset(path, surface_mesh(), Overwrite::yes);
  EXPECT_EQ(read_dataset(path).points.size(), 6U);
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteDataset, RefusesCellsTheFormatCannotHold) {
  TemporaryFolder folder;
  Dataset mesh = mixed_mesh();
  mesh.triangles = {};
  mesh.lines.clear();
  EXPECT_THAT(writing_error<UsageError>(folder.path() / "a.off", mesh, Overwrite::no), HasSubstr("tetrahedra: 2"));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(WriteDataset, RefusesAFileOfFibresWithoutFibres) {
  TemporaryFolder folder;
  EXPECT_THAT(writing_error<UsageError>(folder.path() / "a.lon", mixed_mesh(), Overwrite::no), HasSubstr("no fibres"));
  EXPECT_EQ(folder.entries(), 0U);
}

/// A mesh with a label, a direction and a number on its cells and points.
Dataset labelled_mesh() {
  Dataset mesh = surface_mesh();
  const std::size_t points = mesh.points.size(), cells = mesh.triangles.cells.size();
  mesh.point_data = {};
  mesh.triangles.data = {};
  mesh.point_data.set({"depth", 1, std::vector<double>(points, 0.5)});
  mesh.triangles.data.set({"region", 1, std::vector<std::int32_t>(cells, 7)});
  mesh.triangles.data.set({"fiber", 3, std::vector<float>(3 * cells, 1)});
  mesh.triangles.data.set({"speed", 1, std::vector<double>(cells, 2)});
  return mesh;
}

TEST(KeptArrays, AreThoseThatReadingGives) {
  using Names = std::vector<std::string>;
  TemporaryFolder folder;
  const Dataset mesh = labelled_mesh();
  for (const auto& [name, dropped] :
       std::vector<std::pair<std::string, Names>>{{"a.vtk", {}},
                                                  {"a.ply", {}},
                                                  {"a.msh", {}},
                                                  {"a.node", {}},
                                                  {"b.pts", {"depth", "speed"}},
                                                  {"b.mesh", {"depth", "fiber", "speed"}},
                                                  {"b.off", {"depth", "region", "fiber", "speed"}},
                                                  {"b.stl.gz", {"depth", "region", "fiber", "speed"}}}) {
    const KeptArrays arrays = kept_arrays(folder.path() / name, mesh);
    EXPECT_EQ(arrays.dropped, dropped) << name;
    write_dataset(folder.path() / name, mesh, Overwrite::no);
    const Dataset back = read_dataset(folder.path() / name);
    Names read = back.point_data.names();
    for (const std::string& array : back.triangles.data.names())
      if (!array.starts_with("gmsh:")) read.push_back(array);  // Gmsh has tags in any case
    EXPECT_THAT(read, ::testing::UnorderedElementsAreArray(arrays.kept)) << name;
  }
}

TEST(KeptArrays, MayHaveNamesThatFormatsUseThemselves) {
  TemporaryFolder folder;
  Dataset mesh = surface_mesh();
  mesh.lines.clear();
  std::vector<std::string> names{"x",
                                 "y",
                                 "z",
                                 "nx",
                                 "ny",
                                 "nz",
                                 "red",
                                 "green",
                                 "blue",
                                 "alpha",
                                 "s",
                                 "t",
                                 "u",
                                 "v",
                                 "w_0",
                                 "w_1",
                                 "vertex1",
                                 "vertex_indices",
                                 "a b",
                                 "a_b",
                                 "#",
                                 "a:b",
                                 "quo\"te",
                                 "<tag> & more",
                                 "METADATA",
                                 "offsets",
                                 "types",
                                 "NULL_ARRAY",
                                 "attribute0",
                                 "connectivity",
                                 "Points",
                                 "region",
                                 "$Nodes",
                                 "x_array",
                                 "LOOKUP_TABLE",
                                 "boundary_marker"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = static_cast<double>(i);
    mesh.point_data.set({names[i], 1, std::vector<double>(mesh.points.size(), value)});
    mesh.triangles.data.set({names[i], 2, std::vector<double>(2 * mesh.triangles.cells.size(), value)});
  }
  for (const char* name : {"a.vtu", "a.vtp", "a.vtk", "a.ply", "a.msh", "a.node"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(kept_arrays(folder.path() / name, mesh).dropped, ::testing::IsEmpty());
    write_dataset(folder.path() / name, mesh, Overwrite::no);
    const Dataset back = read_dataset(folder.path() / name);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string shown = names[i] == "quo\"te" && name == std::string("a.msh") ? "quo_te" : names[i];
      const DataArray* on_points = back.point_data.find(shown);
      const DataArray* on_cells = back.triangles.data.find(shown);
      ASSERT_TRUE(on_points != nullptr && on_cells != nullptr) << names[i];
      EXPECT_EQ(on_points->at(0), static_cast<double>(i)) << names[i];
      EXPECT_EQ(on_cells->components, 2) << names[i];
      EXPECT_EQ(on_cells->at(0, 1), static_cast<double>(i)) << names[i];
    }
  }
}

TEST(WriteDataset, RefusesNamesOfOpenFiles) {
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    EXPECT_THROW(check_output_file(name, Overwrite::yes), InputError) << name;
}

TEST(WriteDataset, RefusesADatasetThatIsBroken) {
  TemporaryFolder folder;
  Dataset mesh = mixed_mesh();
  mesh.point_data.set({"short", 1, std::vector<double>{1, 2}});
  EXPECT_THAT(writing_error<InputError>(folder.path() / "a.msh", mesh, Overwrite::no), HasSubstr("array 'short'"));
  mesh = mixed_mesh();
  mesh.tets.cells[1][2] = VertexId();
  EXPECT_THAT(writing_error<InputError>(folder.path() / "a.msh", mesh, Overwrite::no), HasSubstr("tetrahedron 1"));
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
