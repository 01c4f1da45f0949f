// Files that cannot be opened or do not end, places that cannot be written to, and sets of files that do not fit.
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/image_samples.h"
#include "isochron/communicator.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/packed_blocks.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/part_input.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// ---- Bytes

TEST(Unpacked, TakesTheFirstBytesOrSaysWhatIsWrong) {
  std::string plain;
  for (int i = 0; i < 5000; ++i) plain += std::to_string(i * i);
  const std::string packed = zipped(plain);
  EXPECT_EQ(unpacked(packed, 5, "f"), "01491");
  const auto error = [](const std::string& data, std::size_t bytes) {
    return input_error("f", [&] { return unpacked(data, bytes, "f"); });
  };
  EXPECT_THAT(error(packed.substr(0, packed.size() / 2), plain.size()), HasSubstr("the compressed data is too short"));
  EXPECT_THAT(error(packed, plain.size() + 1), HasSubstr("the compressed data is too short"));
  EXPECT_THAT(error("nothing of the kind", 5), HasSubstr("the compressed data is damaged"));
  const std::string members = zipped(plain, Packed::gzip) + zipped("and more", Packed::gzip);
  EXPECT_EQ(unpacked(members, plain.size() + 8, "f"), plain + "and more");
  EXPECT_THAT(error(members, plain.size() + 9), HasSubstr("the compressed data is too short"));
  EXPECT_THAT(error(zipped(plain, Packed::gzip) + "\x1f bytes", plain.size() + 1), HasSubstr("is damaged"));
  // Blocks that hold nothing take no memory, however many there are and whatever they announce.
  const UnpackLimit limit(100);
  const std::vector<PackedBlock> hollow(1000, PackedBlock{"", 1000});
  EXPECT_THAT([&] { unpacked(hollow, "a.vtu"); }, ThrowsMessage<InputError>(HasSubstr("too short")));
}

TEST(ReadingFiles, NothingInsideAPackedFile) {
  EXPECT_THAT(content_error("a.off.gz", zipped("", Packed::gzip)), HasSubstr("is empty (0 bytes inside)"));
}

TEST(ReadingFiles, PipesHaveNoSize) {
  const TemporaryFolder folder;
  const auto read = [&](const char* name, const std::string& content) {
    const fs::path pipe = folder.path() / name;
    EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << content; });
    Dataset mesh = read_dataset(pipe);
    writer.join();
    return mesh;
  };
  EXPECT_THAT(read("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").triangles.cells,
              ElementsAre(triangle(0, 1, 2)));
  EXPECT_THAT(read("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").triangles.cells, ElementsAre(triangle(0, 1, 2)));
}

TEST(ReadingFiles, WordsAndLinesMayCrossTheEndOfABuffer) {
  std::string text = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 60000 double\n";
  for (int i = 0; i < 60000; ++i) text += "1.00000 2.00000 3.00000 ";
  const Dataset mesh = read_content("a.vtk", text);
  EXPECT_EQ(std::count(mesh.points.begin(), mesh.points.end(), Vec3d{1, 2, 3}), 60000);
  const std::string comment = "# " + std::string((1 << 20) - 8, 'x') + "\n";
  EXPECT_THAT(read_content("a.obj", comment + "v 1.5 0 0\nv 1 0 0\nv 0 1 0\n").points[0], (Vec3d{1.5, 0, 0}));
}

/// While it lives this process can open no more files.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

TEST(ReadingFiles, SayWhyTheyCannotBeOpened) {
  const TemporaryFolder folder;
  const fs::path off = folder.file("a.off", "OFF\n"), obj = folder.file("a.obj", "v 0 0 0\n");
  const auto error = [](const fs::path& path) {
    const NoMoreFiles none;
    return reading_error(path);
  };
  EXPECT_THAT(error(off), HasSubstr("cannot be read (Too many open files); check the file and its permissions"));
  EXPECT_THAT(error(obj), HasSubstr("cannot be read (Too many open files); check the file and its permissions"));
  const auto write = [&] {
    const NoMoreFiles none;
    ByteWriter({folder.path() / "b.off", folder.path() / "b.off"});
  };
  EXPECT_THAT(write,
              ThrowsMessage<RuntimeError>(HasSubstr("cannot be written (Too many open files); check the folder")));
  const auto replace = [&] {
    const NoMoreFiles none;
    write_dataset(folder.path() / "c.off", surface_mesh(), Overwrite::no);
  };
  EXPECT_THAT(replace, ThrowsMessage<RuntimeError>(HasSubstr("cannot be written (Too many open files)")));
}

TEST(WritingFiles, AFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto write = [](std::size_t bytes) {
    ByteWriter out({"a.off", "/dev/full"});
    out.write(std::string(bytes, 'x'));
    out.finish();
  };
  for (const std::size_t bytes : {1U, 3U << 20U})
    EXPECT_THAT(
        [&] { write(bytes); },
        ThrowsMessage<RuntimeError>(HasSubstr("a.off: cannot be written (No space left on device); free some space")));
}

// ---- Names and places of files

TEST(FileNames, Neighbours) {
  EXPECT_EQ(FileName("x/m.csv").beside("_a"), "x/m_a.csv");
  EXPECT_EQ(FileName("m.csv.gz").beside("_a"), "m_a.csv.gz");
}

TEST(FileNames, PathsThroughFilesCannotBeRead) {
  const TemporaryFolder folder;
  const fs::path file = folder.file("a.off", "x");
  EXPECT_THAT(reading_error(file / "b.off"), HasSubstr("no such file"));
  const fs::path long_name = folder.path() / (std::string(300, 'n') + ".off");
  EXPECT_THAT(reading_error(long_name), HasSubstr("cannot be read (File name too long)"));
}

TEST(OutputFilesRare, NothingToCommit) {
  OutputFiles files(Overwrite::no);
  EXPECT_NO_THROW(files.commit());
  EXPECT_THAT(files.targets(), IsEmpty());
}

TEST(OutputFilesRare, WaitForWhoHasTheFolder) {
  const TemporaryFolder folder;
  const int other = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  std::thread releases([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::flock(other, LOCK_UN);
  });
  OutputFiles files(Overwrite::no);
  for (const char* name : {"a.pts", "a.elem"}) std::ofstream(files.add(folder.path() / name).where) << "x";
  files.commit();
  releases.join();
  ::close(other);
  EXPECT_EQ(content_of(folder.path() / "a.elem"), "x");
}

TEST(OutputFilesRare, NamesWithoutAFolderAreInTheCurrentOne) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_dataset("a.off", surface_mesh(), Overwrite::no);
  folder.put("b.pts", "3\n0 0 0\n1 0 0\n0 1 0\n");
  folder.put("b.elem", "1\nTr 0 1 2 4\n");
  EXPECT_EQ(read_dataset("b.pts").triangles.cells.size(), 1U);
  fs::current_path(before);
  EXPECT_EQ(read_dataset(folder.path() / "a.off").triangles.cells.size(), 3U);
}

TEST(CheckOutputFileRare, PlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  const auto check = [](const fs::path& path) { return [path] { check_output_file(path, Overwrite::no); }; };
  EXPECT_THAT(check("/proc/no_such_folder/a.off"),
              ThrowsMessage<RuntimeError>(HasSubstr("no files can be made in /proc/no_such_folder")));
  EXPECT_THAT(check(folder.file("a.off", "x")), ThrowsMessage<InputError>(HasSubstr("exists already")));
}

// ---- What formats hold

TEST(FormatsRare, WhatTheyCannotHold) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const Dataset& mesh) {
    return [&folder, name, mesh] { write_dataset(folder.path() / name, mesh, Overwrite::yes); };
  };
  Dataset far = surface_mesh();
  far.points[2].y = 1e39;
  EXPECT_THAT(write("a.stl", far),
              ThrowsMessage<UsageError>(HasSubstr("STL files keep coordinates in single precision (0,1e+39,0")));
  Dataset points;
  points.points = {{0, 0, 0}};
  EXPECT_THAT(write("a.stl", points), ThrowsMessage<UsageError>(HasSubstr("hold points only as corners of cells")));
  EXPECT_EQ(write_and_read("a.vtk", points).points.size(), 1U);
  EXPECT_THAT(write("a.trk", surface_mesh()),
              ThrowsMessage<UsageError>(HasSubstr("TrackVis tracks files are only read")));
  EXPECT_THAT(write("a.lon", surface_mesh()), ThrowsMessage<UsageError>(HasSubstr("there are no fibres to write")));
  EXPECT_THAT(reading_error(folder.file("a.xyz", "x")), HasSubstr("unknown extension '.xyz'"));
  EXPECT_THAT(written_extensions(WrittenCells::lines), testing::Contains(".tck"));
  EXPECT_THAT(written_extensions(WrittenCells::elements), testing::Not(testing::Contains(".tck")));
}

TEST(FormatsRare, WhatIsDroppedIsTold) {
  Dataset mesh = mixed_mesh();
  mesh.triangles.data.set({"label", 1, std::vector<std::int32_t>{1, 2, 3}});
  mesh.tets.data.set({"label", 1, std::vector<std::int32_t>{1, 2}});
  mesh.line_data.set({"name", 1, std::vector<std::int32_t>{1, 2}});
  EXPECT_EQ(dropped_triangles("a.node", mesh), 3U);
  EXPECT_EQ(dropped_triangles("a.vtk", mesh), 0U);
  EXPECT_EQ(dropped_triangles("a.node", surface_mesh()), 0U);
  EXPECT_EQ(dropped_lines("a.node", mesh), 2U);
  EXPECT_EQ(dropped_lines("a.vtk", mesh), 0U);
  const KeptArrays arrays = kept_arrays("a.node", mesh);
  EXPECT_THAT(arrays.kept, ElementsAre("label"));
  EXPECT_THAT(arrays.dropped, ElementsAre("label", "name"));
}

// ---- Sets of pieces

std::string array(const std::string& name, const std::string& type, const std::string& values,
                  const std::string& components = "1") {
  return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" + components + "\">" + values +
         "</DataArray>";
}
/// A piece of one triangle, or of a line, whose first corner is at x.
std::string grid_piece(int x, const std::string& point_data, const std::string& cell_data, const char* kind = "5",
                       const char* corners = "0 1 2") {
  const std::string ends = std::string(kind) == "5" ? "3" : std::string(kind) == "9" ? "4" : "2";
  return "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">"
         "<PointData>" +
         point_data + "</PointData><CellData>" + cell_data + "</CellData><Points>" +
         array("Points", "Float64", fmt::format("{0} 0 0 {1} 0 0 {1} 1 0 {0} 1 0", x, x + 1), "3") +
         "</Points><Cells>" + array("connectivity", "Int64", corners) + array("offsets", "Int64", ends) +
         array("types", "UInt8", kind) + "</Cells></Piece></UnstructuredGrid></VTKFile>";
}
std::string grid_list(const std::string& inside, const std::string& attributes = "") {
  return "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid" + attributes + ">" + inside +
         "<Piece Source=\"0.vtu\"/><Piece Source=\"1.vtu\"/></PUnstructuredGrid></VTKFile>";
}
std::string listed(const char* section, const std::string& name, const std::string& type) {
  return fmt::format("<{0}><PDataArray type=\"{1}\" Name=\"{2}\"/></{0}>", section, type, name);
}
fs::path put_set(const TemporaryFolder& folder, const std::string& list, const std::string& first,
                 const std::string& second) {
  folder.put("0.vtu", first);
  folder.put("1.vtu", second);
  return folder.file("a.pvtu", list);
}

TEST(MeshPiecesRare, LinesQuadsAndOtherCellsAreJoined) {
  const TemporaryFolder folder;
  const fs::path set = put_set(folder, grid_list(listed("PCellData", "c", "Int32")),
                               grid_piece(0, "", array("c", "Int32", "7"), "3", "0 1"),
                               grid_piece(1, "", array("c", "Int32", "8"), "9", "0 1 2 3"));
  const Dataset read = read_dataset(set);
  EXPECT_EQ(read.lines.size(), 1U);
  EXPECT_EQ(read.triangles.cells.size(), 2U);
  EXPECT_THAT(values_of(read.line_data.require("c", "cells")), ElementsAre(7));
  EXPECT_THAT(values_of(read.triangles.data.require("c", "cells")), ElementsAre(8, 8));
  ASSERT_EQ(read.cut_cells.size(), 1U);
  put_set(folder, grid_list(""), grid_piece(0, "", "", "5"), grid_piece(1, "", "", "1", "0 1"));
  const Dataset vertex = read_dataset(set);
  EXPECT_EQ(vertex.triangles.cells.size(), 1U);
  ASSERT_EQ(vertex.ignored_cells.size(), 1U);
  EXPECT_EQ(vertex.ignored_cells[0].second, 1U);
}

TEST(MeshPiecesRare, ProcessesTellWhatTheirPiecesHold) {
  const TemporaryFolder folder;
  std::string quad = grid_piece(1, array("t", "Float32", "1 2 3 4"), "", "9", "0 1 2 3");
  quad.insert(quad.find("</UnstructuredGrid>"), "<Piece NumberOfPoints=\"1\" NumberOfCells=\"0\"><Points>" +
                                                    array("Points", "Float64", "5 5 5", "3") + "</Points></Piece>");
  const fs::path set = put_set(folder, grid_list(""), grid_piece(0, "", "", "1", "0 1"), quad);
  run_on_threads(2, [&](Communicator& communicator) {
    const OwnPieces own = read_own_pieces(communicator, set);
    if (communicator.index() != 0) return;
    EXPECT_EQ(own.triangles, 2U);
    ASSERT_EQ(own.ignored_cells.size(), 1U);
    EXPECT_EQ(own.ignored_cells[0].second, 1U);
    ASSERT_EQ(own.cut_cells.size(), 1U);
    EXPECT_THAT(own.warnings, ElementsAre(HasSubstr("array 't' is left out (not every piece has it)")));
  });
}

TEST(MeshPiecesRare, OldGhostLevelsCount) {
  const TemporaryFolder folder;
  const auto ghosts = [](const char* values) { return array("vtkGhostLevels", "UInt8", values); };
  const fs::path set =
      put_set(folder, grid_list(listed("PPointData", "t", "Float32")),
              grid_piece(0, array("t", "Float32", "1 2 3 4") + array("extra", "Float32", "1 2 3 4"), ghosts("0")),
              grid_piece(0, array("t", "Float32", "1 2 3 4"), ghosts("2")));
  const Dataset read = read_dataset(set);
  EXPECT_EQ(read.triangles.cells.size(), 1U);
  EXPECT_THAT(read.point_data.names(), ElementsAre("t"));
}

TEST(MeshPiecesRare, SayWhatDoesNotFit) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& list, const std::string& point_data) {
    return reading_error(put_set(folder, list, grid_piece(0, point_data, ""), grid_piece(1, point_data, "")));
  };
  const std::string t = listed("PPointData", "t", "Float32");
  EXPECT_THAT(error(grid_list(t), ""), HasSubstr("has no array 't' on its points (the list announces it)"));
  EXPECT_THAT(error(grid_list(t), array("t", "Int32", "1 2 3 4")), HasSubstr("has an array 't' of another kind"));
  EXPECT_THAT(error(grid_list(t), array("t", "Float32", "1 2 3 4 5 6 7 8", "2")),
              HasSubstr("has an array 't' of another kind than the list announces (1 components of Float32)"));
  EXPECT_THAT(error("<VTKFile><PUnstructuredGrid><Piece/></PUnstructuredGrid></VTKFile>", ""),
              HasSubstr("piece 0 has no file"));
  EXPECT_THAT(error("<VTKFile><PUnstructuredGrid/></VTKFile>", ""), HasSubstr("there are no pieces"));
  EXPECT_THAT(error("<VTKFile><PUnstructuredGrid GhostLevel=\"x\"/></VTKFile>", ""),
              HasSubstr("GhostLevel of an element PUnstructuredGrid is no number ('x')"));
  EXPECT_THAT(error("<VTKFile><PUnstructuredGrid>", ""), HasSubstr("the XML text ends too early"));
  EXPECT_THAT(error("<VTKFile></VTKFile>", ""), HasSubstr("is no list of pieces"));
}

TEST(MeshPiecesRare, ListsOfOtherPrograms) {
  const TemporaryFolder folder;
  const std::string sections =
      "<PPointData/><PPointData><DataArray type=\"Float32\" Name=\"t\"/>"
      "<PDataArray type=\"String\" Name=\"words\"/></PPointData>"
      "<PPoints><PDataArray type=\"Float64\" NumberOfComponents=\"3\"/></PPoints>"
      "<DataArray type=\"Float32\" Name=\"nowhere\"/><Other/>";
  const fs::path set =
      put_set(folder, grid_list(sections, " GhostLevel=\"0\""), grid_piece(0, array("t", "Float32", "1 2 3 4"), ""),
              grid_piece(1, array("t", "Float32", "5 6 7 8"), ""));
  const Dataset read = read_dataset(set);
  EXPECT_THAT(read.point_data.names(), ElementsAre("t"));
  EXPECT_EQ(read.triangles.cells.size(), 2U);
}

/// Part 0 of two, with four of five vertices and the two triangles of the whole mesh.
Dataset part_piece(std::vector<std::int64_t> ids, std::vector<std::int32_t> owners, std::vector<std::int64_t> cells) {
  Dataset piece;
  piece.points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  piece.triangles.cells = {triangle(0, 1, 2), triangle(0, 2, 3)};
  if (!ids.empty()) piece.point_data.set({global_point_ids, 1, std::move(ids)});
  piece.point_data.set({owner_array, 1, std::move(owners)});
  piece.triangles.data.set({global_cell_ids, 1, std::move(cells)});
  return piece;
}
PieceIndex part_list() {
  PieceIndex index;
  index.path = "a.pvtu";
  index.pieces = {"0.vtu", "1.vtu"};
  index.whole_points = 5;
  index.whole_cells = 2;
  index.point_arrays = {{owner_array, ScalarType::int32, 1}, {global_point_ids, ScalarType::int64, 1}};
  index.cell_arrays = {{global_cell_ids, ScalarType::int64, 1}};
  return index;
}

TEST(PartsRare, IdsAndOwnersMustFitTheList) {
  const PieceIndex index = part_list();
  const PartData<3> good = part_of<3>(index, 0, part_piece({0, 1, 2, 4}, {0, 0, 1, 1}, {0, 1}));
  EXPECT_EQ(good.part.owned, 2U);
  EXPECT_THAT(good.part.global_vertex, ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(good.part.ghost_owner, ElementsAre(1, 1));
  const auto error = [&](const Dataset& piece) {
    return input_error("a.pvtu", [&] { return part_of<3>(index, 0, Dataset(piece)); });
  };
  EXPECT_THAT(error(part_piece({}, {0, 0, 1, 1}, {0, 1})), HasSubstr("piece 0 of 2 (0.vtu)"));
  EXPECT_THAT(error(part_piece({}, {0, 0, 1, 1}, {0, 1})), HasSubstr("has no array 'GlobalPointIds'"));
  EXPECT_THAT(error(part_piece({-1, 1, 2, 4}, {0, 0, 1, 1}, {0, 1})), HasSubstr("has the id -1 in 'GlobalPointIds'"));
  EXPECT_THAT(error(part_piece({0, 1, 2, 5}, {0, 0, 1, 1}, {0, 1})), HasSubstr("has the id 5 in 'GlobalPointIds'"));
  const std::string unfit = "does not fit the list as part 0 of 2";
  EXPECT_THAT(error(part_piece({1, 0, 2, 4}, {0, 0, 1, 1}, {0, 1})), HasSubstr(unfit)) << "own ids fall";
  EXPECT_THAT(error(part_piece({0, 1, 4, 2}, {0, 0, 1, 1}, {0, 1})), HasSubstr(unfit)) << "ids of ghosts fall";
  EXPECT_THAT(error(part_piece({0, 1, 2, 4}, {0, 0, 1, 1}, {1, 0})), HasSubstr(unfit)) << "ids of cells fall";
  EXPECT_THAT(error(part_piece({0, 1, 2, 4}, {0, 1, 0, 1}, {0, 1})), HasSubstr(unfit)) << "its own behind ghosts";
  EXPECT_THAT(error(part_piece({0, 1, 2, 4}, {0, 0, 1, 2}, {0, 1})), HasSubstr(unfit)) << "no such part";
  EXPECT_THAT(error(part_piece({0, 1, 2, 4}, {0, 0, 1, -1}, {0, 1})), HasSubstr(unfit)) << "no such part";
  Dataset without_cells = part_piece({0, 1, 2, 4}, {0, 0, 0, 0}, {});
  without_cells.triangles = {};
  EXPECT_EQ(part_of<3>(index, 0, std::move(without_cells)).part.owned, 4U);
}

TEST(PartsRare, ListsMustSayAllThatPartsNeed) {
  EXPECT_TRUE(holds_parts(part_list()));
  const auto without = [](auto&& change) {
    PieceIndex index = part_list();
    change(index);
    return holds_parts(index);
  };
  EXPECT_FALSE(without([](PieceIndex& index) { index.whole_points.reset(); }));
  EXPECT_FALSE(without([](PieceIndex& index) { index.whole_cells.reset(); }));
  EXPECT_FALSE(without([](PieceIndex& index) { index.point_arrays.erase(index.point_arrays.begin()); }));
  EXPECT_FALSE(without([](PieceIndex& index) { index.point_arrays.pop_back(); }));
  EXPECT_FALSE(without([](PieceIndex& index) { index.cell_arrays.clear(); }));
}

TEST(ImageListRare, WhatIsWrongWithTheListIsSaidOfIt) {
  const TemporaryFolder folder;
  const std::string huge = "WholeExtent=\"0 1000000 0 1000000 0 1000000\"";
  folder.put("0.vti", "<VTKFile type=\"ImageData\"><ImageData " + huge +
                          "><Piece Extent=\"0 0 0 0 0 0\"/></ImageData></VTKFile>");
  const fs::path set =
      folder.file("a.pvti", "<VTKFile type=\"PImageData\"><PImageData " + huge +
                                "><Piece Extent=\"0 0 0 0 0 0\" Source=\"0.vti\"/></PImageData></VTKFile>");
  const std::string message = input_error(set, [&] { return read_image(set); });
  EXPECT_THAT(message, HasSubstr("a.pvti: the extent has more voxels than can be numbered"));
}

TEST(SetFilesRare, AreRemovedAsAWhole) {
  const TemporaryFolder folder;
  const fs::path set = folder.path() / "a.pvtu";
  for (std::size_t piece : {0U, 1U}) {
    fs::create_directories(piece_path(set, piece).parent_path());
    std::ofstream(piece_path(set, piece)) << "x";
  }
  std::ofstream(set) << "x";
  remove_set(set);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(SetFilesRare, NamesThatCannotBe) {
  const TemporaryFolder folder;
  EXPECT_THAT([&] { check_set_holds<4>(folder.path() / "a.pvtp"); },
              ThrowsMessage<UsageError>(HasSubstr(".pvtp files cannot hold tetrahedra; use .pvtu")));
  EXPECT_NO_THROW(check_set_holds<3>(folder.path() / "a.pvtp"));
  EXPECT_NO_THROW(check_set_holds<4>(folder.path() / "a.pvtu"));
  EXPECT_THAT([&] { check_set_name(folder.path() / "a.pvti", Overwrite::no); },
              ThrowsMessage<UsageError>(HasSubstr("is no set of pieces of a mesh; use .pvtu or .pvtp")));
  folder.put("a", "a file where the folder of the pieces would be");
  EXPECT_THAT([&] { PieceFile(folder.path() / "a.pvtu", 0, Overwrite::no); },
              ThrowsMessage<RuntimeError>(HasSubstr("the folder for its pieces cannot be made")));
  fs::create_directory(folder.path() / "b");
  std::ofstream(piece_path(folder.path() / "b.pvtu", 0)) << "x";
  EXPECT_THAT([&] { check_set_name(folder.path() / "b.pvtu", Overwrite::no); },
              ThrowsMessage<InputError>(HasSubstr("b_0000.vtu: exists already")));
  EXPECT_NO_THROW(check_set_name(folder.path() / "b.pvtu", Overwrite::yes));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
