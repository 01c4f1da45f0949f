// Files that are cut into chunks for several threads: the same data and the same errors as without.
#include <random>

#include "io/gmsh_samples.h"
#include "io/io_test_support.h"
#include "isochron/core/parallel.h"
#include "isochron/io/text_rows.h"

namespace isochron::test {
namespace TEST_FILE {

/// Files are cut into chunks of so many bytes, which so many threads read, while it lives.
class SmallChunks {
 public:
  SmallChunks(std::size_t bytes, int threads) {
    set_row_chunk_bytes(bytes);
    limit_usual_threads(threads);
  }
  ~SmallChunks() {
    set_row_chunk_bytes(0);
    limit_usual_threads(0);
  }
  SmallChunks(const SmallChunks&) = delete;
  SmallChunks& operator=(const SmallChunks&) = delete;
};

/// All of a data set as text.
std::string described(const Dataset& d) {
  std::string text;
  for (const Vec3d& p : d.points) text += fmt::format("{} {} {}\n", p.x, p.y, p.z);
  const auto add_cells = [&](const auto& cells, const DataArrays& arrays) {
    for (const auto& cell : cells) {
      for (const VertexId v : cell) text += fmt::format("{} ", v.value);
      text += '\n';
    }
    for (const DataArray& array : arrays.all())
      text += fmt::format("{} {} {}: {}\n", array.name, array.components, array.values.index(),
                          fmt::join(values_of(array), " "));
  };
  add_cells(d.tets.cells, d.tets.data);
  add_cells(d.triangles.cells, d.triangles.data);
  add_cells(d.lines, d.line_data);
  add_cells(std::vector<std::vector<VertexId>>(), d.point_data);
  for (const auto& [kind, count] : d.ignored_cells) text += fmt::format("ignored {} {}\n", kind, count);
  for (const CutCells& cut : d.cut_cells) text += fmt::format("cut {} {} {}\n", cut.kind, cut.cells, cut.pieces);
  for (const std::string& warning : d.warnings) text += warning + '\n';
  return text;
}

/// What reading gives: the data set, or the error.
std::string outcome(const fs::path& path) {
  try {
    return described(read_dataset(path));
  } catch (const Error& error) {
    return fmt::format("{}: {}", static_cast<int>(error.kind()), error.what());
  }
}

void expect_same_in_chunks(const fs::path& path, const std::string& what) {
  std::string expected;
  {
    const SmallChunks one_thread(0, 1);
    expected = outcome(path);
  }
  for (const auto& [bytes, threads] : {std::pair<std::size_t, int>(40, 1), std::pair<std::size_t, int>(150, 4)}) {
    const SmallChunks chunks(bytes, threads);
    ASSERT_EQ(outcome(path), expected) << what << ", chunks of " << bytes;
  }
}

/// Points and cells with numbers of all lengths, labels and fibres.
Dataset mesh_of(CellKind kind) {
  Dataset d;
  std::mt19937 random(7);
  const auto number = [&] { return static_cast<double>(random() % 2000) / (random() % 3 == 0 ? 3.0 : 8.0) - 99; };
  for (int i = 0; i < 40; ++i) d.points.push_back({number(), number(), number()});
  const auto vertex = [&] { return random() % d.points.size(); };
  std::vector<std::int32_t> labels;
  std::vector<double> fibers, times;
  for (int i = 0; i < 60; ++i) {
    const std::size_t a = vertex(), b = (a + 1 + random() % 9) % 40, c = (a + 11 + random() % 9) % 40;
    if (kind == CellKind::tet) d.tets.cells.push_back(tet(a, b, c, (a + 21 + random() % 9) % 40));
    else d.triangles.cells.push_back(triangle(a, b, c));
    labels.push_back(static_cast<std::int32_t>(i / 20 + 1));
    for (int k = 0; k < 3; ++k) fibers.push_back(number());
  }
  for (std::size_t i = 0; i < d.points.size(); ++i) times.push_back(number());
  DataArrays& data = kind == CellKind::tet ? d.tets.data : d.triangles.data;
  data.set({"region", 1, labels});
  data.set({"fiber", 3, fibers});
  d.point_data.set({"time", 1, times});
  return d;
}

using Files = std::vector<std::pair<std::string, std::string>>;

/// The files that a data set is written to.
Files written(const std::string& name, Dataset dataset) {
  const TemporaryFolder folder;
  const std::string extension = fs::path(name).extension();
  if (extension == ".off" || extension == ".obj" || extension == ".stl") dataset.triangles.data = {};
  if (extension == ".off" || extension == ".obj" || extension == ".stl" || extension == ".pts") dataset.point_data = {};
  if (extension == ".mesh") {
    dataset.point_data = {};
    DataArrays region;
    region.set(*dataset.tets.data.find("region"));
    dataset.tets.data = region;
  }
  write_dataset(folder.path() / name, dataset, Overwrite::no);
  Files files;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    files.emplace_back(entry.path().filename().string(), content_of(entry.path()));
  std::sort(files.begin(), files.end());
  return files;
}

/// The same mesh as text of formats that are written in binary only.
std::string text_of_vtk(const Dataset& d) {
  std::string text = fmt::format("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} float\n",
                                 d.points.size());
  int column = 0;  // nine numbers a line, as VTK writes them
  for (const Vec3d& p : d.points)
    for (int k = 0; k < 3; ++k) text += fmt::format("{}{}", p[k], ++column % 9 == 0 ? "\n" : " ");
  text += fmt::format("\n\nCELLS {} {}\n", d.tets.cells.size(), 5 * d.tets.cells.size());
  for (const auto& c : d.tets.cells)
    text += fmt::format("4 {} {} {} {} \n", c[0].value, c[1].value, c[2].value, c[3].value);
  text += fmt::format("\nCELL_TYPES {}\n", d.tets.cells.size());
  for (std::size_t i = 0; i < d.tets.cells.size(); ++i) text += "10\n";
  text += fmt::format("CELL_DATA {}\nSCALARS region int 1\nLOOKUP_TABLE default\n", d.tets.cells.size());
  for (std::size_t i = 0; i < d.tets.cells.size(); ++i) text += fmt::format("{} ", i % 7);
  return text;
}
std::string text_of_ply(const Dataset& d) {
  std::string text = fmt::format(
      "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nproperty uchar "
      "q\n"
      "element face {}\nproperty list uchar int vertex_indices\nproperty int label\nend_header\n",
      d.points.size(), d.triangles.cells.size());
  for (const Vec3d& p : d.points) text += fmt::format("{} {} {} {}\n", p.x, p.y, p.z, static_cast<int>(p.x) & 127);
  for (std::size_t i = 0; i < d.triangles.cells.size(); ++i) {
    const auto& c = d.triangles.cells[i];
    if (i % 20 == 19) text += fmt::format("4 {} {} {} 3 {}\n", c[0].value, c[1].value, c[2].value, i);
    else text += fmt::format("3 {} {} {} {}\n", c[0].value, c[1].value, c[2].value, i);
  }
  return text;
}

/// Gmsh files that our writer does not make: version 4.1, and binary ones.
std::string gmsh_of(gmsh_samples::Encoding encoding, int version, const Dataset& d) {
  gmsh_samples::Builder out(encoding);
  const std::size_t points = d.points.size(), cells = d.tets.cells.size();
  const bool old = version == 2;
  out.format(old ? "2.2" : "4.1");
  out.text("$Nodes\n");
  if (old) out.text(std::to_string(points) + "\n");
  else out.sizes({1, points, 1, points}).numbers({3, 1, 0}).size(points);
  for (std::size_t i = 0; !old && i < points; ++i) out.size(i + 1).text(out.is_text() ? "\n" : "");
  for (std::size_t i = 0; i < points; ++i) {
    if (old) out.number(static_cast<std::int32_t>(i + 1));
    out.reals({d.points[i].x, d.points[i].y, d.points[i].z}).text(out.is_text() ? "\n" : "");
  }
  out.text("\n$EndNodes\n$Elements\n");
  if (old) out.text(std::to_string(cells) + "\n");
  else out.sizes({1, cells, 1, cells}).numbers({3, 1, 4}).size(cells);
  if (old && !out.is_text()) out.numbers({4, static_cast<std::int32_t>(cells), 2});
  for (std::size_t i = 0; i < cells; ++i) {
    const auto number = static_cast<std::int32_t>(i + 1);
    if (old && out.is_text()) out.numbers({number, 4, 2});
    else if (old) out.number(number);
    if (old) out.numbers({number % 3, 5});
    else out.size(i + 1);
    for (const VertexId v : d.tets.cells[i])
      old ? out.number(static_cast<std::int32_t>(v.value + 1)) : out.size(v.value + 1);
    out.text(out.is_text() ? "\n" : "");
  }
  out.text("\n$EndElements\n");
  out.data("NodeData", "late", 1, points);
  for (std::size_t i = 0; i < points; ++i)  // one is there twice: the last one counts
    out.number(static_cast<std::int32_t>(i == 20 ? 3 : i + 1))
        .real(0.5 * static_cast<double>(i))
        .text(out.is_text() ? "\n" : "");
  out.text("\n$EndNodeData\n");
  return out.str();
}

std::vector<Files> samples() {
  const Dataset solid = mesh_of(CellKind::tet), surface = mesh_of(CellKind::triangle);
  using enum gmsh_samples::Encoding;
  std::vector<Files> result;
  for (const char* name : {"a.pts", "a.node", "a.mesh", "a.msh"}) result.push_back(written(name, solid));
  for (const char* name : {"a.off", "a.obj", "a.ply", "a.stl"}) result.push_back(written(name, surface));
  result.push_back({{"a.vtk", text_of_vtk(solid)}});
  result.push_back({{"a.ply", text_of_ply(surface)}});
  for (const auto encoding : {text, binary, swapped})
    for (const int version : {2, 4}) result.push_back({{"a.msh", gmsh_of(encoding, version, solid)}});
  return result;
}

/// One file of a sample in another way; the others stay.
void expect_same_changed(const Files& files, std::size_t changed, const std::string& content, const std::string& what) {
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < files.size(); ++i) folder.put(files[i].first, i == changed ? content : files[i].second);
  expect_same_in_chunks(folder.path() / files[0].first, files[changed].first + ", " + what);
}

TEST(TextRows, ReadTheSameInChunks) {
  for (const Files& files : samples()) {
    expect_same_changed(files, 0, files[0].second, "as it is");
    const TemporaryFolder folder;
    for (const auto& [name, content] : files) folder.put(name, content);
    EXPECT_NO_THROW(static_cast<void>(read_dataset(folder.path() / files[0].first))) << files[0].first;
  }
}

TEST(TextRows, AreTheSameWhereLinesAreNoRows) {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to, std::size_t every) {
    std::size_t count = 0;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      if (++count % every == 0) text.replace(at, from.size(), to);
      else at += from.size() > to.size() ? from.size() - to.size() : 0;
    return text;
  };
  for (const Files& files : samples())
    for (std::size_t i = 0; i < files.size(); ++i)
      for (const std::size_t every : {1, 7, 50}) {
        const std::string& content = files[i].second;
        expect_same_changed(files, i, replaced(content, " ", "\n", every), "blanks are line ends");
        expect_same_changed(files, i, replaced(content, "\n", " ", every), "line ends are blanks");
        expect_same_changed(files, i, replaced(content, "\n", "\n\n", every), "blank lines");
        expect_same_changed(files, i, replaced(content, "\n", "\r\n", every), "carriage returns");
        expect_same_changed(files, i, replaced(content, "\n", "\n# one 2 3\n", every), "comments");
        expect_same_changed(files, i, replaced(content, "\n", " 7\n", every), "more words");
        expect_same_changed(files, i, replaced(content, "\n", "\\\n", every), "backslashes");
      }
}

TEST(TextRows, EndWithTheSameErrorWhereFilesAreDamaged) {
  for (const Files& files : samples())
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string& content = files[i].second;
      for (std::size_t at = 20; at < content.size(); at += 1 + content.size() / 40) {
        const std::string front = content.substr(0, at), back = content.substr(at + 1);
        const std::string place = fmt::format("at byte {}: ", at);
        expect_same_changed(files, i, front, place + "cut off");
        for (const char* other : {"x", "-", "9999999", " ", "\n", "#", "1e999", " nan ", ""})
          expect_same_changed(files, i, front + other + back, place + other);
      }
    }
}

TEST(TextRows, LinesTooShortForRowsStayInTheirPlaces) {
  const auto lines = [](int count, const std::string& line) {
    std::string text;
    for (int i = 0; i < count; ++i) text += line + "\n";
    return text;
  };
  const Files carp = written("a.pts", mesh_of(CellKind::tet)), tetgen = written("a.node", mesh_of(CellKind::tet));
  const auto changed = [](Files files, const std::string& name, const std::string& content) {
    for (auto& [file, text] : files)
      if (file == name) text = content;
    return files;
  };
  // As many lines as rows are announced, but so short that places are made for fewer.
  const Files samples[] = {
      changed(carp, "a.lon", "1\n1 0 0\n" + lines(59, "1")),
      changed(tetgen, "a.node", "40 3 900 1\n" + lines(40, "0 1 2 3")),
      changed(tetgen, "a.ele", "60 4 900\n" + lines(60, "0 1 2 3 4")),
  };
  for (const Files& files : samples) {
    const TemporaryFolder folder;
    for (const auto& [name, content] : files) folder.put(name, content);
    const SmallChunks chunks(40, 4);
    for (int i = 0; i < 10; ++i) EXPECT_THROW(read_dataset(folder.path() / files[0].first), InputError);
    expect_same_in_chunks(folder.path() / files[0].first, files[0].first);
  }
}

TEST(TextRows, BytesOfAMarkAreDataInBinaryFiles) {
  std::string content =
      "ply\nformat binary_little_endian 1.0\nelement vertex 100\nproperty float x\nproperty float y\nproperty float "
      "z\nend_header\n";
  for (int i = 0; i < 100; ++i) content += std::string("\xef\xbb\xbf\x3f", 4) + std::string(8, '\0');
  const TemporaryFolder folder;
  const fs::path path = folder.file("a.ply", content);
  const SmallChunks chunks(48, 2);
  for (const Vec3d& p : read_dataset(path).points) EXPECT_NEAR(p.x, 1.498, 1e-3);
}

TEST(TextRows, SeveralErrorsGiveTheFirst) {
  const Files off = written("a.off", mesh_of(CellKind::triangle));
  std::string content = off[0].second;
  const auto line_of = [&](std::size_t at) { return 1 + std::count(content.begin(), content.begin() + at, '\n'); };
  const std::size_t first = content.size() / 3, second = content.size() / 2;
  content[first] = content[second] = 'x';
  const TemporaryFolder folder;
  const fs::path path = folder.file("a.off", content);
  const SmallChunks chunks(30, 4);
  EXPECT_THAT(reading_error(path),
              testing::HasSubstr(fmt::format("line {}: ", line_of(static_cast<std::ptrdiff_t>(first)))));
}

TEST(TextRows, AreWrittenTheSameByAnyNumberOfThreads) {
  Dataset d = mesh_of(CellKind::tet);
  while (d.tets.cells.size() < 9000) d.tets.cells.insert(d.tets.cells.end(), d.tets.cells.begin(), d.tets.cells.end());
  for (int i = 0; i < 9000; ++i) d.points.push_back({i / 7.0, 1e-9 * i, 3.0 * i});
  d.tets.data = {};
  d.point_data = {};
  for (int i = 0; i < 9000; ++i)
    d.lines.push_back(i % 3 == 0 ? std::vector{VertexId(1), VertexId(2), VertexId(5)}
                                 : std::vector{VertexId(3), VertexId(static_cast<std::size_t>(i))});
  for (const char* name : {"a.msh", "a.mesh", "a.pts", "a.msh.gz"}) {
    const TemporaryFolder folder;
    std::string one;
    for (const int threads : {1, 4}) {
      const SmallChunks limit(0, threads);
      write_dataset(folder.path() / name, d, Overwrite::yes);
      std::string all;
      for (const char* extension : {".msh", ".mesh", ".pts", ".elem", ".msh.gz"})
        if (const fs::path path = folder.path() / (std::string("a") + extension); fs::exists(path))
          all += content_of(path);
      if (threads == 1) one = all;
      EXPECT_TRUE(all == one) << name;
    }
    EXPECT_EQ(described(read_dataset(folder.path() / name)).size() > 1000, true);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
