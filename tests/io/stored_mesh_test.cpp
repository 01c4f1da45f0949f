// VTU files that are written again: what does not change has the same bytes, and everything else is written as ever.
#include "isochron/io/mesh/stored_mesh.h"

#include <cmath>
#include <functional>
#include <map>

#include "io/image_samples.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/io/mesh/formats.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;
using Floats = std::vector<float>;

enum class Where { raw, base64, inside };

struct Layout {
  Where where = Where::raw;
  bool packed = false;
  Encoding order = native_encoding;
  bool long_numbers = false;
};

std::vector<Layout> layouts() {
  std::vector<Layout> result;
  for (const Where where : {Where::raw, Where::base64, Where::inside})
    for (const bool packed : {false, true})
      for (const Encoding order : {Encoding::little_endian, Encoding::big_endian})
        for (const bool long_numbers : {false, true}) result.push_back({where, packed, order, long_numbers});
  return result;
}

/// Changes what is stored of one array.
struct Damage {
  std::string name;
  std::function<void(std::vector<std::uint64_t>& numbers, std::string& values)> work;
};

/// Makes a VTU file as other programs do.
class VtuText {
 public:
  explicit VtuText(Layout layout, Damage damage = {}) : layout_(layout), damage_(std::move(damage)) {}

  template <class T>
  std::string array(const std::string& name, const std::string& type, const std::vector<T>& values,
                    int components = 1) {
    const std::string start =
        fmt::format(R"(<DataArray type="{}" Name="{}" NumberOfComponents="{}" format=)", type, name, components);
    const std::string text = encoded(name, bytes_of(values, layout_.order));
    if (layout_.where == Where::inside) return start + "\"binary\">\n" + text + "\n</DataArray>";
    const std::size_t offset = behind_.size();
    behind_ += text;
    return start + fmt::format("\"appended\" offset=\"{}\"/>", offset);
  }
  [[nodiscard]] std::string file(const std::string& pieces) const {
    std::string text = fmt::format(
        "<?xml version=\"1.0\"?><VTKFile type=\"UnstructuredGrid\" byte_order=\"{}\"{}{}><UnstructuredGrid>{}"
        "</UnstructuredGrid>",
        layout_.order == Encoding::little_endian ? "LittleEndian" : "BigEndian",
        layout_.long_numbers ? " header_type=\"UInt64\"" : "",
        layout_.packed ? " compressor=\"vtkZLibDataCompressor\"" : "", pieces);
    if (layout_.where != Where::inside)
      text += fmt::format("<AppendedData encoding=\"{}\">_{}</AppendedData>",
                          layout_.where == Where::raw ? "raw" : "base64", behind_);
    return text + "</VTKFile>\n";
  }

 private:
  [[nodiscard]] std::string number(std::uint64_t value) const {
    return layout_.long_numbers ? bytes_of(value, layout_.order)
                                : bytes_of(static_cast<std::uint32_t>(value), layout_.order);
  }
  [[nodiscard]] std::string as_text(const std::string& bytes) const {
    if (layout_.where == Where::raw) return bytes;
    std::string text = base64(bytes);
    if (layout_.where == Where::base64) std::erase(text, '\n');
    return text;
  }
  [[nodiscard]] std::string encoded(const std::string& name, const std::string& bytes) const {
    constexpr std::size_t block = 16;
    std::vector<std::uint64_t> numbers{bytes.size()};
    std::string values = bytes;
    if (layout_.packed) {
      numbers = {(bytes.size() + block - 1) / block, block, bytes.size() % block};
      values.clear();
      for (std::size_t i = 0; i < bytes.size(); i += block) {
        const std::string packed = zipped(bytes.substr(i, block));
        numbers.push_back(packed.size());
        values += packed;
      }
    }
    if (name == damage_.name) damage_.work(numbers, values);
    std::string front;
    for (const std::uint64_t one : numbers) front += number(one);
    return layout_.packed ? as_text(front) + as_text(values) : as_text(front + values);
  }

  Layout layout_;
  Damage damage_;
  std::string behind_;
};

std::string piece(std::size_t points, std::size_t cells, const std::string& inside) {
  return fmt::format(R"(<Piece NumberOfPoints="{}" NumberOfCells="{}">{}</Piece>)", points, cells, inside);
}

/// Two tetrahedra with arrays on points and cells.
std::string two_tets(const Layout& layout, const Damage& damage = {}, const std::string& more = "") {
  VtuText vtu(layout, damage);
  const std::string points =
      vtu.array("places", "Float64", std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}, 3);
  const std::string cells = vtu.array("connectivity", "Int64", std::vector<std::int64_t>{0, 1, 2, 3, 1, 2, 3, 4}) +
                            vtu.array("offsets", "UInt32", std::vector<std::uint32_t>{4, 8}) +
                            vtu.array("types", "UInt8", std::vector<std::uint8_t>{10, 10});
  const std::string on_points = vtu.array("depth", "Float32", Floats{1, 2, 3, 4, 0.1F}) +
                                vtu.array("GlobalPointIds", "UInt16", std::vector<std::uint16_t>{9, 8, 7, 6, 5}) + more;
  const std::string on_cells = vtu.array("fiber", "Float32", Floats{1, 0, 0, 0, 1, 0}, 3) +
                               vtu.array("a<b", "UInt64", std::vector<std::uint64_t>{7, std::uint64_t{1} << 63U});
  std::string inside = "<PointData>" + on_points + "</PointData><CellData>" + on_cells + "</CellData><Points>" +
                       points + "</Points><Cells>" + cells + "</Cells>";
  inside.replace(inside.find("a<b"), 3, "a&lt;b");
  return vtu.file(piece(5, 2, inside));
}

void write_again(const fs::path& path, const MeshToKeep& mesh, Overwrite overwrite = Overwrite::no) {
  OutputFiles files(overwrite);
  write_kept(files, path, mesh.dataset, mesh.stored.get());
  files.commit();
}

const ArrayUse keep_all{Names{}, std::nullopt};

/// What is stored of all arrays, by section and name.
std::map<std::string, std::string> stored_in(const fs::path& path) {
  const VtkXmlFile file(path);
  std::map<std::string, std::string> result;
  for (const XmlSection& section : file.pieces().at(0).sections)
    for (const XmlArray& array : section.arrays) {
      std::string bytes;
      ByteWriter writer(bytes);
      file.write_stored(array, writer);
      writer.finish();
      result[fmt::format("{} {} {} {}", section.element.name, array.name, vtk_type_name(array.type),
                         array.components)] = bytes;
    }
  return result;
}

void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.tets.cells, b.tets.cells);
  EXPECT_EQ(a.triangles.cells, b.triangles.cells);
  EXPECT_EQ(a.lines, b.lines);
  const auto same = [](const DataArrays& x, const DataArrays& y) {
    ASSERT_EQ(x.names(), y.names());
    for (std::size_t i = 0; i < x.all().size(); ++i) {
      EXPECT_EQ(x.all()[i].components, y.all()[i].components);
      EXPECT_EQ(x.all()[i].values, y.all()[i].values) << x.all()[i].name;
    }
  };
  same(a.point_data, b.point_data);
  same(a.tets.data, b.tets.data);
  same(a.triangles.data, b.triangles.data);
  same(a.line_data, b.line_data);
}

TEST(StoredMesh, IsTakenOverByteForByte) {
  for (const Layout& layout : layouts()) {
    const TemporaryFolder folder;
    const fs::path in = folder.file("in.vtu", two_tets(layout)), out = folder.path() / "out.vtu";
    MeshToKeep mesh = read_to_keep(in, out, keep_all);
    ASSERT_NE(mesh.stored, nullptr);
    EXPECT_TRUE(mesh.dataset.point_data.empty() && mesh.dataset.tets.data.empty()) << "nothing is decoded";
    EXPECT_THAT(mesh.array_names(), ElementsAre("depth", "GlobalPointIds", "fiber", "a<b"));
    const DataArray time{"time", 1, std::vector<double>{0, 1, 2, 3, 1.0 / 3}};
    mesh.dataset.point_data.set(time);
    write_again(out, mesh);

    auto before = stored_in(in), after = stored_in(out);
    ASSERT_EQ(after.erase("PointData time Float64 1"), 1U);
    EXPECT_EQ(after, before);
    const XmlEncoding encoding = VtkXmlFile(out).encoding();
    EXPECT_TRUE(encoding.order == layout.order && encoding.packed == layout.packed);
    EXPECT_THAT(content_of(out), HasSubstr("<PointData GlobalIds=\"GlobalPointIds\">"));
    Dataset wanted = read_dataset(in);
    wanted.point_data.set(time);
    expect_same(read_dataset(out), wanted);
  }
}

TEST(StoredMesh, ArraysThatAreUsedAreDecodedToo) {
  const TemporaryFolder folder;
  const fs::path in = folder.file("in.vtu", two_tets({Where::raw, true}));
  const MeshToKeep mesh = read_to_keep(in, folder.path() / "out.vtu", {Names{"fiber", "nowhere"}, std::nullopt});
  ASSERT_NE(mesh.stored, nullptr);
  EXPECT_THAT(mesh.dataset.tets.data.names(), ElementsAre("fiber"));
  write_again(folder.path() / "out.vtu", mesh);
  EXPECT_EQ(stored_in(folder.path() / "out.vtu"), stored_in(in));
}

TEST(StoredMesh, OnlyArraysThatAreKeptAreThere) {
  const TemporaryFolder folder;
  const fs::path in = folder.file("in.vtu", two_tets({})), out = folder.path() / "out.vtu";
  MeshToKeep mesh = read_to_keep(in, out, {Names{}, Names{"fiber"}});
  write_again(out, mesh);
  EXPECT_THAT(read_dataset(out).point_data.names(), IsEmpty());
  EXPECT_THAT(read_dataset(out).tets.data.names(), ElementsAre("fiber"));
  // One that is replaced is neither decoded nor taken over, and there may be a new one of its name.
  const ArrayUse replaced{Names{}, std::nullopt,
                          [](std::string_view name) { return name == "depth" || name == "fiber"; }};
  mesh = read_to_keep(in, out, replaced);
  EXPECT_TRUE(mesh.dataset.point_data.empty());
  mesh.dataset.point_data.set({"depth", 1, Floats{5, 4, 3, 2, 1}});
  write_again(out, mesh, Overwrite::yes);
  EXPECT_THAT(read_dataset(out).point_data.names(), ElementsAre("GlobalPointIds", "depth"));
  EXPECT_EQ(read_dataset(out).point_data.find("depth")->at(0), 5);
  EXPECT_THAT(read_dataset(out).tets.data.names(), ElementsAre("fiber", "a<b")) << "only arrays on points are";
}

TEST(StoredMesh, TheOutputMayBeTheInput) {
  for (const Layout& layout : layouts()) {
    const TemporaryFolder folder;
    const fs::path path = folder.file("a.vtu", two_tets(layout));
    const auto before = stored_in(path);
    MeshToKeep mesh = read_to_keep(path, path, keep_all);
    mesh.dataset.point_data.set({"time", 1, Floats{0, 1, 2, 3, 4}});
    write_again(path, mesh, Overwrite::yes);
    auto after = stored_in(path);
    EXPECT_EQ(after.erase("PointData time Float32 1"), 1U);
    EXPECT_EQ(after, before);
    EXPECT_EQ(folder.entries(), 1U);
  }
}

TEST(StoredMesh, LargeNewArraysArePackedAsTheRestIs) {
  constexpr std::size_t points = 200'000;
  VtuText vtu({Where::raw, true});
  std::vector<double> places(3 * points, 0.0);
  for (std::size_t i = 0; i < points; ++i) places[3 * i] = static_cast<double>(i);
  places[1] = places[3 * 5 + 2] = 1;
  const std::string text =
      vtu.file(piece(points, 1,
                     "<Points>" + vtu.array("p", "Float64", places, 3) + "</Points><Cells>" +
                         vtu.array("connectivity", "Int32", std::vector<std::int32_t>{0, 1, 5, 7}) +
                         vtu.array("offsets", "Int32", std::vector<std::int32_t>{4}) +
                         vtu.array("types", "UInt8", std::vector<std::uint8_t>{10}) + "</Cells>"));
  const TemporaryFolder folder;
  const fs::path in = folder.file("in.vtu", text), out = folder.path() / "out.vtu";
  MeshToKeep mesh = read_to_keep(in, out, keep_all);
  ASSERT_NE(mesh.stored, nullptr);
  std::vector<double> times(points);
  for (std::size_t i = 0; i < points; ++i) times[i] = std::sqrt(static_cast<double>(i));
  mesh.dataset.point_data.set({"time", 1, times});
  mesh.dataset.point_data.set({"reached", 1, std::vector<std::uint8_t>(points, 1)});
  write_again(out, mesh);
  const Dataset read = read_dataset(out);
  EXPECT_EQ(std::get<std::vector<double>>(read.point_data.find("time")->values), times);
  EXPECT_EQ(read.point_data.find("reached")->at(points - 1), 1);
  EXPECT_LT(stored_in(out)["PointData reached UInt8 1"].size(), points / 50);
}

// ---- Where nothing, or not everything, can be taken over

void expect_written_as_ever(const TemporaryFolder& folder, const std::string& text, const std::string& what) {
  const fs::path in = folder.file("in.vtu", text), out = folder.path() / "out.vtu", ever = folder.path() / "ever.vtu";
  const MeshToKeep mesh = read_to_keep(in, out, keep_all);
  EXPECT_EQ(mesh.stored, nullptr) << what;
  const Dataset wanted = read_dataset(in);
  expect_same(mesh.dataset, wanted);
  write_again(out, mesh, Overwrite::yes);
  write_dataset(ever, wanted, Overwrite::yes);
  EXPECT_EQ(content_of(out), content_of(ever)) << what;
}

/// A file of cells of these kinds and corners, each with a number.
std::string cells_of(const std::vector<std::uint8_t>& kinds, const std::vector<std::int32_t>& corners,
                     const std::vector<std::int32_t>& ends, const std::string& names = "n") {
  VtuText vtu({Where::raw, true});
  const std::vector<float> places{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1};
  std::vector<float> numbers(kinds.size());
  std::string arrays;
  for (const char name : names) arrays += vtu.array(std::string(1, name), "Float32", numbers);
  return vtu.file(piece(5, kinds.size(),
                        "<CellData>" + arrays + "</CellData><Points>" + vtu.array("p", "Float32", places, 3) +
                            "</Points><Cells>" + vtu.array("connectivity", "Int32", corners) +
                            vtu.array("offsets", "Int32", ends) + vtu.array("types", "UInt8", kinds) + "</Cells>"));
}

TEST(StoredMesh, OtherCellsAreWrittenAsEver) {
  const TemporaryFolder folder;
  const auto as_ever = [&](const std::string& text, const std::string& what) {
    expect_written_as_ever(folder, text, what);
  };
  as_ever(cells_of({9, 5}, {0, 1, 2, 3, 0, 1, 4}, {4, 7}), "a quad that is cut");
  as_ever(cells_of({7}, {0, 1, 2, 3}, {4}), "a polygon that is cut");
  as_ever(cells_of({5, 1}, {0, 1, 4, 2}, {3, 4}), "a vertex that is left out");
  as_ever(cells_of({10, 5}, {0, 1, 2, 4, 0, 1, 2}, {4, 7}), "two kinds");
  as_ever(cells_of({5, 3}, {0, 1, 4, 2, 3}, {3, 5}), "lines");
  as_ever(cells_of({6}, {0, 1, 2, 3}, {4}), "a strip");
  as_ever(cells_of({5}, {0, 1, 2, 3}, {3}), "more corners than are used");
  as_ever(cells_of({5}, {0, 1, 2}, {3}, "aa"), "two arrays of one name");
  as_ever(cells_of({5}, {0, 1, 2}, {3}, "\x7f"), "a name that cannot be shown");
  std::string nameless = cells_of({5}, {0, 1, 2}, {3});
  as_ever(nameless.replace(nameless.find("\"n\""), 3, "\"\""), "an array without a name");
  ASSERT_NE(read_to_keep(folder.file("in.vtu", cells_of({7}, {0, 1, 2}, {3})), "out.vtu", keep_all).stored, nullptr)
      << "all is as it should be without that";
}

TEST(StoredMesh, SeveralPiecesAreWrittenAsEver) {
  std::string text = two_tets({Where::inside});
  const std::size_t begin = text.find("<Piece"), end = text.find("</Piece>") + 8;
  text.insert(end, text.substr(begin, end - begin));
  const TemporaryFolder folder;
  expect_written_as_ever(folder, text, "two pieces");
  EXPECT_EQ(read_dataset(folder.path() / "in.vtu").tets.cells.size(), 4U);
}

TEST(StoredMesh, OtherFormatsAreWrittenAsEver) {
  const TemporaryFolder folder;
  const fs::path vtu = folder.file("a.vtu", two_tets({}));
  MeshToKeep mesh = read_to_keep(vtu, folder.path() / "b.vtk", keep_all);
  EXPECT_EQ(mesh.stored, nullptr);
  write_again(folder.path() / "b.vtk", mesh);
  mesh = read_to_keep(folder.path() / "b.vtk", folder.path() / "c.vtu", keep_all);
  EXPECT_EQ(mesh.stored, nullptr);
  write_again(folder.path() / "c.vtu", mesh);
  expect_same(read_dataset(folder.path() / "c.vtu"), mesh.dataset);
}

TEST(StoredMesh, TextIsDecodedAndWrittenAnew) {
  const TemporaryFolder folder;
  const std::string ascii = R"(<DataArray type="Float32" Name="text" format="ascii">5 4 3 2 1</DataArray>)";
  const fs::path in = folder.file("in.vtu", two_tets({Where::raw, true}, {}, ascii)), out = folder.path() / "out.vtu";
  const MeshToKeep mesh = read_to_keep(in, out, keep_all);
  ASSERT_NE(mesh.stored, nullptr);
  EXPECT_THAT(mesh.dataset.point_data.names(), ElementsAre("text"));
  write_again(out, mesh);
  const Dataset read = read_dataset(out);
  EXPECT_THAT(read.point_data.names(), ElementsAre("depth", "GlobalPointIds", "text"));
  EXPECT_EQ(read.point_data.find("text")->values, read_dataset(in).point_data.find("text")->values);
}

// ---- Damaged files

TEST(StoredMesh, DamagedArraysAreRefusedAsEver) {
  using Numbers = std::vector<std::uint64_t>;
  struct Case {
    std::function<void(Numbers&, std::string&)> work;
    bool of_packed, of_plain, of_several = false;  // of several blocks alone
  };
  const std::vector<Case> cases{
      {[](Numbers& n, std::string&) { n[0] -= 1; }, true, true},
      {[](Numbers& n, std::string&) { n[0] = 1; }, false, true},
      {[](Numbers& n, std::string&) { n[0] += 4; }, false, true},
      {[](Numbers& n, std::string&) { n[0] = 1'000'000; }, true, true},
      {[](Numbers& n, std::string&) { n[1] = 12; }, true, false, true},
      {[](Numbers& n, std::string&) { n[1] = 1'000'000'000; }, true, false, true},
      {[](Numbers& n, std::string&) { n[2] = 3; }, true, false},
      {[](Numbers& n, std::string&) { n[3] = 100'000; }, true, false},
      {[](Numbers& n, std::string&) { n[3] = 1; }, true, false},
      {[](Numbers&, std::string& values) { values[0] = 0; }, true, false},
      {[](Numbers& n, std::string& values) { values.replace(n[3], 2, 2, '\0'); }, true, false, true},
  };
  for (const Layout& layout : layouts())
    for (std::size_t i = 0; i < cases.size(); ++i)
      for (const std::string name : {"depth", "fiber", "places", "connectivity", "offsets", "types"}) {
        if (!(layout.packed ? cases[i].of_packed : cases[i].of_plain)) continue;
        const bool one_block = name == "offsets" || name == "types";
        if (one_block && cases[i].of_several) continue;
        const TemporaryFolder folder;
        const fs::path in = folder.file("in.vtu", two_tets(layout, {name, cases[i].work})),
                       out = folder.path() / "out.vtu";
        const std::string wanted = reading_error(in);
        EXPECT_EQ(input_error(in, [&] { return read_to_keep(in, out, keep_all).array_names(); }), wanted)
            << name << " " << i;
      }
}

TEST(StoredMesh, FilesThatEndEarlyAreRefusedAsEver) {
  for (const Layout& layout : layouts()) {
    if (layout.where == Where::inside) continue;
    std::string text = two_tets(layout);
    text.resize(text.rfind("</AppendedData>") - 9);
    const TemporaryFolder folder;
    const fs::path in = folder.file("in.vtu", text);
    EXPECT_EQ(input_error(in, [&] { return read_to_keep(in, folder.path() / "out.vtu", keep_all).array_names(); }),
              reading_error(in));
  }
}

// Blocks are not unpacked, but what is damaged inside one stays so, and readers find it by its checksum.
TEST(StoredMesh, DamageInsideABlockIsNotHidden) {
  const auto inside_a_block = [](std::vector<std::uint64_t>&, std::string& values) { values[8] ^= 1; };
  const TemporaryFolder folder;
  const fs::path in = folder.file("in.vtu", two_tets({Where::raw, true}, {"depth", inside_a_block}));
  const fs::path out = folder.path() / "out.vtu";
  write_again(out, read_to_keep(in, out, keep_all));
  EXPECT_THAT(reading_error(in), HasSubstr("the compressed data"));
  EXPECT_THAT(reading_error(out), HasSubstr("the compressed data"));
}

TEST(StoredMesh, BadBase64IsFoundWhenItIsWritten) {
  std::string text = two_tets({Where::inside, false});
  const std::size_t depth = text.find("Name=\"depth\"");
  text[text.find("</DataArray>", depth) - 6] = '!';
  const TemporaryFolder folder;
  const fs::path in = folder.file("in.vtu", text), out = folder.path() / "out.vtu";
  EXPECT_EQ(input_error(in, [&] { return write_again(out, read_to_keep(in, out, keep_all)), 0; }), reading_error(in));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(StoredMesh, AnInputThatChangesMeanwhileIsRefused) {
  const TemporaryFolder folder;
  const fs::path in = folder.file("in.vtu", two_tets({})), out = folder.path() / "out.vtu";
  MeshToKeep mesh = read_to_keep(in, out, keep_all);
  fs::last_write_time(in, fs::last_write_time(in) + std::chrono::seconds(1));
  EXPECT_THAT(input_error(in, [&] { return write_again(out, mesh), 0; }), HasSubstr("was changed meanwhile"));
  EXPECT_EQ(folder.entries(), 1U);
  // Another file of its name changes nothing, nor does its end.
  mesh = read_to_keep(in, out, keep_all);
  const auto before = stored_in(in);
  fs::remove(in);
  folder.put("in.vtu", "something else");
  write_again(out, mesh);
  EXPECT_EQ(stored_in(out), before);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
