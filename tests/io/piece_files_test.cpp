// Meshes and images in pieces: PVTU, PVTP and PVTI.
#include "io/image_samples.h"
#include "isochron/generate.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/mesh_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/partition.h"

namespace isochron::test {
namespace TEST_FILE {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A mesh with arrays that tell the ids, and its parts.
template <int Corners>
struct Sample {
  Dataset whole;
  std::vector<PartData<Corners>> parts;
};

template <int Corners>
Sample<Corners> cut_sample(SimplexMesh<Corners> mesh, std::uint32_t parts) {
  Sample<Corners> sample;
  const auto part_of = partition_vertices(mesh, parts, Partitioner::curve);
  const auto arrays = [](const std::vector<std::uint64_t>& vertices, const std::vector<std::uint64_t>& elements,
                         DataArrays& points, DataArrays& cells) {
    std::vector<double> time;
    std::vector<float> fiber;
    for (const std::uint64_t v : vertices) time.push_back(0.1 * static_cast<double>(v));
    for (const std::uint64_t e : elements)
      for (int k = 0; k < 3; ++k) fiber.push_back(static_cast<float>(10 * e) + static_cast<float>(k));
    points.set({"arrival_time", 1, std::move(time)});
    cells.set({"fiber", 3, std::move(fiber)});
  };
  for (std::uint32_t p = 0; p < parts; ++p) {
    PartData<Corners>& data = sample.parts.emplace_back();
    data.part = cut_part(mesh, part_of, p);
    arrays(data.part.global_vertex, data.part.global_element, data.point_data, data.cell_data);
  }
  const std::vector<std::uint32_t> one(mesh.vertex_count(), 0);
  const MeshPart<Corners> all = cut_part(mesh, one, 0);
  arrays(all.global_vertex, all.global_element, sample.whole.point_data, sample.whole.template block<Corners>().data);
  restore_mesh(sample.whole, std::move(mesh));
  return sample;
}

template <int Corners>
PartData<Corners> read_part(const PieceIndex& index, std::uint32_t part) {
  return part_of<Corners>(index, part, read_mesh_piece(index, part));
}

void commit_index(const fs::path& path, const PieceIndex& index, std::size_t pieces) {
  AtomicFile file(path, Overwrite::yes);
  write_set_index(file, path, index, pieces);
  file.commit();
}

template <int Corners>
void write_set(const fs::path& path, const std::vector<PartData<Corners>>& parts) {
  std::vector<std::unique_ptr<PieceFile>> files;
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    files.push_back(std::make_unique<PieceFile>(path, p, Overwrite::yes));
    files[p]->write(piece_of(parts[p], p));
  }
  for (const auto& file : files) file->commit();
  commit_index(path, part_index(path, parts[0]), parts.size());
  for (const auto& file : files) file->keep();
}

Sample<4> cube_sample() {
  return cut_sample(generate_cube({.nx = 6, .ny = 5, .nz = 4, .extent = {1, 1, 1}, .jitter = 0.2}), 3);
}

template <int Corners>
void expect_whole(const Dataset& got, const Dataset& expected) {
  EXPECT_EQ(got.points, expected.points);
  EXPECT_EQ(got.block<Corners>().cells, expected.block<Corners>().cells);
  EXPECT_EQ(got.point_data.names(), expected.point_data.names());
  EXPECT_EQ(got.block<Corners>().data.names(), expected.block<Corners>().data.names());
  expect_same_arrays(expected.point_data, got.point_data);
  expect_same_arrays(expected.block<Corners>().data, got.block<Corners>().data);
}

template <int Corners>
void expect_parts(const fs::path& path, const std::vector<PartData<Corners>>& parts) {
  const PieceIndex index = read_piece_index(path);
  EXPECT_TRUE(holds_parts(index));
  ASSERT_EQ(index.pieces.size(), parts.size());
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const PartData<Corners> got = read_part<Corners>(index, p);
    const MeshPart<Corners>& expected = parts[p].part;
    EXPECT_EQ(got.part.mesh.points, expected.mesh.points);
    EXPECT_EQ(got.part.mesh.elements, expected.mesh.elements);
    EXPECT_EQ(got.part.owned, expected.owned);
    EXPECT_EQ(got.part.global_vertex, expected.global_vertex);
    EXPECT_EQ(got.part.global_element, expected.global_element);
    EXPECT_EQ(got.part.ghost_owner, expected.ghost_owner);
    EXPECT_EQ(got.part.whole_vertices, expected.whole_vertices);
    EXPECT_EQ(got.part.whole_elements, expected.whole_elements);
    EXPECT_EQ(got.point_data.names(), parts[p].point_data.names());
    expect_same_arrays(parts[p].point_data, got.point_data);
    expect_same_arrays(parts[p].cell_data, got.cell_data);
  }
}

TEST(MeshPieces, PartsOfTetrahedraComeBackAloneAndTogether) {
  const TemporaryFolder folder;
  const Sample<4> sample = cube_sample();
  const fs::path path = folder.path() / "cube.pvtu";
  write_set(path, sample.parts);
  expect_whole<4>(read_dataset(path), sample.whole);
  expect_parts(path, sample.parts);
  EXPECT_TRUE(fs::exists(folder.path() / "cube" / "cube_0002.vtu"));
}

TEST(MeshPieces, PartsOfTrianglesComeBackInBothFormats) {
  const TemporaryFolder folder;
  const Sample<3> sample = cut_sample(generate_square({.n = 8, .jitter = 0.2}), 4);
  for (const char* name : {"square.pvtp", "square.pvtu"}) {
    const fs::path path = folder.path() / name;
    write_set(path, sample.parts);
    expect_whole<3>(read_dataset(path), sample.whole);
    expect_parts(path, sample.parts);
  }
}

TEST(MeshPieces, EmptyPartsAreNoTrouble) {
  const TemporaryFolder folder;
  const Sample<4> sample = cut_sample(generate_cube({.nx = 2, .ny = 2, .nz = 2}), 11);
  const fs::path path = folder.path() / "tiny.pvtu";
  write_set(path, sample.parts);
  expect_whole<4>(read_dataset(path), sample.whole);
  EXPECT_EQ(read_part<4>(read_piece_index(path), 10).part.mesh.vertex_count(), 0U);
}

TEST(MeshPieces, NothingIsLeftOfASetThatFailed) {
  const TemporaryFolder folder;
  const Sample<4> sample = cube_sample();
  const fs::path path = folder.path() / "cube.pvtu";
  {
    PieceFile first(path, 0, Overwrite::no), second(path, 1, Overwrite::no);
    first.write(piece_of(sample.parts[0], 0));
    second.write(piece_of(sample.parts[1], 1));
    first.commit();
  }
  EXPECT_EQ(folder.entries(), 0U);
}

// Two tetrahedra on either side of a face, as a program that knows nothing of ids writes them.
void foreign_piece(const TemporaryFolder& folder, const std::string& name, const std::string& points,
                   const std::string& arrays) {
  folder.put(name, R"(<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">)" +
                       points + R"(</DataArray></Points>
<Cells><DataArray type="UInt32" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="UInt32" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray></Cells>)" +
                       arrays + R"(
</Piece></UnstructuredGrid></VTKFile>)");
}

std::string point_array(const std::string& values, const std::string& name = "u") {
  return "<PointData Scalars=\"u\"><DataArray type=\"Float64\" Name=\"" + name + "\" format=\"ascii\">" + values +
         "</DataArray></PointData>";
}

fs::path foreign_index(const TemporaryFolder& folder, const std::string& pieces) {
  return folder.file("f.pvtu", R"(<?xml version="1.0"?>
<VTKFile type="PUnstructuredGrid" version="0.1">
<PUnstructuredGrid GhostLevel="0">
<PPointData Scalars="u"><PDataArray type="Float64" Name="u" NumberOfComponents="0" /></PPointData>
<PPoints><PDataArray type="Float64" NumberOfComponents="3" /></PPoints>
)" + pieces + "</PUnstructuredGrid></VTKFile>\n");
}

constexpr const char* second_points = "1 1 1 0 1 0 1 0 0 0 0 1";

fs::path foreign_set(const TemporaryFolder& folder) {
  foreign_piece(folder, "f_p0.vtu", "0 0 0 1 0 0 0 1 0 0 0 1", point_array("0 1 2 3"));
  foreign_piece(folder, "f_p1.vtu", second_points, point_array("4 2 1 3"));
  return foreign_index(folder, "<Piece Source=\"f_p0.vtu\" /><Piece Source=\"f_p1.vtu\" />");
}

TEST(MeshPieces, ForeignPiecesMeetWhereTheirVerticesAre) {
  const TemporaryFolder folder;
  const Dataset d = read_dataset(foreign_set(folder));
  EXPECT_EQ(d.points, (std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}));
  EXPECT_EQ(d.tets.cells, (std::vector{tet(0, 1, 2, 3), tet(4, 2, 1, 3)}));
  EXPECT_EQ(d.point_data.require("u", "").values, (DataArray::Values{std::vector<double>{0, 1, 2, 3, 4}}));
}

TEST(MeshPieces, DevicesAreNoPieces) {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/zero", folder.path() / "link.vtu");
  for (const std::string name : {"/dev/zero", "link.vtu"}) {
    const fs::path path = foreign_index(folder, "<Piece Source=\"" + name + "\" />");
    EXPECT_THAT(input_error(path, [&] { read_dataset(path); }), HasSubstr("a device or a pipe")) << name;
  }
}

TEST(MeshPieces, ForeignGhostCellsAreDropped) {
  const TemporaryFolder folder;
  // The second piece has the first one's tetrahedron once more, as a ghost.
  const fs::path path = foreign_set(folder);
  foreign_piece(folder, "f_p1.vtu", "0 0 0 1 0 0 0 1 0 0 0 1",
                point_array("0 1 2 3") +
                    "<CellData><DataArray type=\"UInt8\" Name=\"vtkGhostType\" "
                    "format=\"ascii\">1</DataArray></CellData>");
  const Dataset d = read_dataset(path);
  EXPECT_EQ(d.tets.cells.size(), 1U);
  EXPECT_TRUE(d.tets.data.empty());
}

TEST(MeshPieces, SayWhichPieceIsMissing) {
  const TemporaryFolder folder;
  const fs::path path = foreign_set(folder);
  fs::remove(folder.path() / "f_p1.vtu");
  EXPECT_THAT(reading_error(path),
              HasSubstr("piece 1 of 2 (" + (folder.path() / "f_p1.vtu").string() + ") is missing"));
}

TEST(MeshPieces, SayWhichPieceIsCutShort) {
  const TemporaryFolder folder;
  const fs::path path = foreign_set(folder), piece = folder.path() / "f_p1.vtu";
  const std::string text = content_of(piece);
  folder.put("f_p1.vtu", text.substr(0, text.size() / 2));
  const std::string named = path.string() + ": piece 1 of 2 (" + piece.string() + "): ";
  EXPECT_THAT(reading_error(path), StartsWith(named + "the XML text ends too early"));
  folder.put("f_p1.vtu", "");
  EXPECT_THAT(reading_error(path), StartsWith(named));
}

TEST(MeshPieces, ListsThatAreDamagedAreRefused) {
  const TemporaryFolder folder;
  const std::string text = content_of(foreign_set(folder));
  for (std::size_t length = 0; length + 12 < text.size(); length += 7)
    reading_error(folder.file("cut.pvtu", text.substr(0, length)));
  reading_error(foreign_index(folder, ""));
  reading_error(foreign_index(folder, "<Piece />"));
  reading_error(folder.file("x.pvtu", "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid/></VTKFile>"));
}

TEST(MeshPieces, ThatDisagreeOnArraysAreRefused) {
  const TemporaryFolder folder;
  const fs::path path = foreign_set(folder);
  foreign_piece(folder, "f_p1.vtu", second_points, point_array("4 2 1 3", "v"));
  EXPECT_THAT(reading_error(path), AllOf(HasSubstr("piece 1 of 2"), HasSubstr("no array 'u'")));
  std::string whole_numbers = point_array("4 2 1 3");
  whole_numbers.replace(whole_numbers.find("Float64"), 7, "Int32");
  foreign_piece(folder, "f_p1.vtu", second_points, whole_numbers);
  EXPECT_THAT(reading_error(path), HasSubstr("'u' of another kind"));
}

TEST(MeshPieces, IdsThatCannotBeAreRefused) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  const auto with = [&](auto change) {
    Sample<4> sample = cube_sample();
    change(sample.parts);
    write_set(path, sample.parts);
    return reading_error(path);
  };
  using Parts = std::vector<PartData<4>>;
  EXPECT_THAT(with([](Parts& parts) { parts[1].part.global_vertex[0] = parts[0].part.global_vertex[0]; }),
              HasSubstr("at two places, in piece 0 and in piece 1"));
  EXPECT_THAT(with([](Parts& parts) { parts[0].part.whole_vertices = 999; }), HasSubstr("not the 999"));
  EXPECT_THAT(with([](Parts& parts) { parts[0].part.whole_elements = 999; }), HasSubstr("not the 999"));
  EXPECT_THAT(with([](Parts& parts) {
                std::size_t counted = 0;
                while (!parts[1].part.counts(ElementId(counted))) ++counted;
                std::size_t other = 0;
                while (!parts[0].part.counts(ElementId(other))) ++other;
                parts[1].part.global_element[counted] = parts[0].part.global_element[other];
              }),
              HasSubstr("is in piece 0 and in piece 1"));

  const auto part_error = [&](std::uint32_t part) {
    return input_error(path, [&] { return read_part<4>(read_piece_index(path), part); });
  };
  with([](Parts& parts) { parts[1].part.global_vertex[0] = 1'000'000; });
  EXPECT_THAT(part_error(1), HasSubstr("the id 1000000"));
  EXPECT_NO_THROW(static_cast<void>(read_part<4>(read_piece_index(path), 0)));
  with([](Parts& parts) { std::swap(parts[1].part.global_vertex[0], parts[1].part.global_vertex[1]); });
  EXPECT_THAT(part_error(1), HasSubstr("does not fit the list as part 1 of"));
  Sample<4> sample = cube_sample();
  sample.parts[2].part.ghost_owner[0] = 7;
  write_set(path, sample.parts);
  EXPECT_THAT(part_error(2), HasSubstr("piece 2 of 3"));
}

TEST(MeshPieces, AreDealtOutToProcesses) {
  PieceIndex index;
  index.path = "a.pvtu";
  index.pieces.resize(7);
  std::vector<std::size_t> all;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const auto own = pieces_of_rank(index, 3, rank);
    EXPECT_GE(own.size(), 2U);
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(pieces_of_rank(index, 7, 6), std::vector<std::size_t>{6});
  EXPECT_EQ(pieces_of_rank(index, 8, 7), std::vector<std::size_t>{6});
  EXPECT_TRUE(pieces_of_rank(index, 8, 0).empty());
}

// --- images

struct ImageSample {
  Image whole;
  std::vector<IndexBox> boxes;
};

ImageSample image_sample() {
  ImageSample sample;
  sample.whole = counted_image<float>(2);
  const auto& shape = sample.whole.grid.shape;
  const BlockPartition cut({{shape[0], shape[1], shape[2]}}, 3, 1);
  for (std::uint32_t p = 0; p < 3; ++p)
    for (const auto& piece : cut.boxes_of(p)) sample.boxes.push_back(shared_box(piece.box, sample.whole.grid));
  return sample;
}

Image image_piece(const Image& whole, const IndexBox& box) {
  Image piece;
  std::vector<float> values;
  const DataArray& from = whole.data.all()[0];
  for_each_index(box, [&](const LatticeIndex& at) {
    const VertexId v = whole.grid.voxel(static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                                        static_cast<std::uint32_t>(at[2]));
    for (int k = 0; k < from.components; ++k) values.push_back(static_cast<float>(from.at(v.index(), k)));
  });
  piece.data.set({from.name, from.components, std::move(values)});
  return piece;
}

void write_image_set(const fs::path& path, const ImageSample& sample) {
  for (std::size_t p = 0; p < sample.boxes.size(); ++p) {
    PieceFile file(path, p, Overwrite::no);
    file.write(image_piece(sample.whole, sample.boxes[p]), sample.whole.grid, sample.boxes[p]);
    file.commit();
    file.keep();
  }
  commit_index(path, image_index(image_piece(sample.whole, sample.boxes[0]), sample.whole.grid, sample.boxes),
               sample.boxes.size());
}

TEST(ImagePieces, ComeBackAsOneImage) {
  const TemporaryFolder folder;
  const ImageSample sample = image_sample();
  ASSERT_GE(sample.boxes.size(), 3U);
  write_image_set(folder.path() / "a.pvti", sample);
  const Image got = read_image(folder.path() / "a.pvti");
  expect_same_grid(got.grid, sample.whole.grid, 1e-14);
  ASSERT_EQ(got.data.all().size(), 1U);
  expect_same_array(sample.whole.data.all()[0], got.data);
}

TEST(ImagePieces, SayWhichPieceIsMissingOrCutShort) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.pvti", piece = piece_path(path, 2);
  write_image_set(path, image_sample());
  const std::string text = content_of(piece), named = path.string() + ": piece 2 of 3 (" + piece.string() + ")";
  for (const double part : {0.0, 0.3, 0.9}) {
    std::ofstream(piece) << text.substr(0, static_cast<std::size_t>(part * static_cast<double>(text.size())));
    EXPECT_THAT(image_error(path), StartsWith(named + ": "));
  }
  fs::remove(piece);
  EXPECT_THAT(image_error(path), StartsWith(named + " is missing"));
}

TEST(ImagePieces, MustLieWhereTheListSays) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.pvti", piece = piece_path(path, 1);
  write_image_set(path, image_sample());
  const std::string text = content_of(piece), named = path.string() + ": piece 1 of 3 (" + piece.string() + "): ";
  const Image expected = read_image(path);
  /// Gives an attribute of the piece another value; none if it is empty.
  const auto change = [&](const std::string& attribute, const std::string& value) {
    std::string changed = text;
    const std::size_t at = changed.find(' ' + attribute + "=\"") + 1,
                      end = changed.find('"', at + attribute.size() + 2);
    changed.replace(at, end + 1 - at, value.empty() ? "" : attribute + "=\"" + value + '"');
    std::ofstream(piece, std::ios::binary) << changed;
  };
  const auto numbers = [](const std::vector<double>& values, double more) {
    return fmt::format("{} {} {}", values[0] + more, values[1], values[2]);
  };
  const ImageGrid& grid = expected.grid;
  const std::vector<double> origin{grid.origin.x, grid.origin.y, grid.origin.z},
      spacing{grid.spacing(0), grid.spacing(1), grid.spacing(2)};
  const double least = *std::min_element(spacing.begin(), spacing.end());
  for (const auto& [attribute, values] : {std::pair("Origin", origin), {"Spacing", spacing}}) {
    change(attribute, numbers(values, 1e-7 * least));
    EXPECT_EQ(read_image(path).grid, grid);
    change(attribute, "");  // it says nothing
    EXPECT_EQ(read_image(path).grid, grid);
    change(attribute, numbers(values, 1e-5 * least));
    EXPECT_THAT(image_error(path), AllOf(StartsWith(named + "lies elsewhere"), HasSubstr("in the list origin")));
  }
  change("Direction", "0 1 0 1 0 0 0 0 1");
  EXPECT_THAT(image_error(path), StartsWith(named + "lies elsewhere"));
}

TEST(ImagePieces, MustCoverTheImage) {
  const TemporaryFolder folder;
  ImageSample sample = image_sample();
  sample.boxes.erase(sample.boxes.begin());  // the first voxel is in no other
  write_image_set(folder.path() / "b.pvti", sample);
  EXPECT_THROW(static_cast<void>(read_image(folder.path() / "b.pvti")), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
