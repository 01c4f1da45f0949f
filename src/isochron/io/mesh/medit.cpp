#include <set>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

constexpr std::string_view reference = "medit:ref";

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

/// Sections of cells. Two names of a kind are two spellings.
struct CellSection {
  std::string_view keyword;
  int vtk_kind;
  std::size_t corners;
};
constexpr CellSection cell_sections[] = {{"Edges", kind_line, 2},          {"Triangles", kind_triangle, 3},
                                         {"Quadrilaterals", kind_quad, 4}, {"Tetrahedra", kind_tetra, 4},
                                         {"Tetrahedrons", kind_tetra, 4},  {"Hexahedra", kind_hexahedron, 8},
                                         {"Hexaedra", kind_hexahedron, 8}, {"Prisms", kind_wedge, 6},
                                         {"Pentahedra", kind_wedge, 6},    {"Pyramids", kind_pyramid, 5}};

/// Sections that are skipped: how many numbers a row has.
struct Skipped {
  std::string_view keyword;
  std::size_t numbers;
};
constexpr Skipped skipped_sections[] = {{"Corners", 1},           {"Ridges", 1},
                                        {"RequiredVertices", 1},  {"RequiredEdges", 1},
                                        {"RequiredTriangles", 1}, {"RequiredTetrahedra", 1},
                                        {"Normals", 3},           {"NormalAtVertices", 2},
                                        {"Tangents", 3},          {"TangentAtVertices", 2}};

constexpr std::size_t max_named_sections = 8;  // of those that are not known

class MeditReader {
 public:
  MeditReader(const std::filesystem::path& path, std::string_view text) : in_(path, text, {.hash_comments = true}) {}

  Dataset read() {
    if (!same_word(in_.peek(), "MeshVersionFormatted"))
      in_.fail("the word MeshVersionFormatted is missing (this is not a Medit text file); check the extension");
    in_.word("MeshVersionFormatted");
    in_.integer<int>("the format version");
    while (!in_.at_end()) {
      const std::string_view keyword = in_.word("a section");
      if (same_word(keyword, "End")) break;
      read_section(keyword);
    }
    if (!vertices_seen_) in_.fail("there is no Vertices section (nothing to read); export the file again");
    if (unknown_sections_ > max_named_sections)
      result_.warnings.push_back(fmt::format("{} more Medit sections are not known and were left out",
                                             unknown_sections_ - max_named_sections));
    for (std::size_t k = 0; k < cell_kinds.size(); ++k)
      set_labels(arrays_of(result_, cell_kinds[k]), std::string(reference), std::move(references_[k]));
    return std::move(result_);
  }

 private:
  struct Cells {
    CellList cells;
    std::vector<std::int32_t> labels;
  };

  void read_section(std::string_view keyword) {
    if (same_word(keyword, "Dimension")) {
      dimension_ = in_.integer<int>("the dimension");
      if (dimension_ != 2 && dimension_ != 3)
        in_.fail("the dimension is not 2 or 3 (nothing else exists); repair the file");
    } else if (same_word(keyword, "Vertices")) {
      read_vertices();
    } else if (const auto section =
                   std::find_if(std::begin(cell_sections), std::end(cell_sections),
                                [&](const CellSection& known) { return same_word(keyword, known.keyword); });
               section != std::end(cell_sections)) {
      read_cells(*section);
    } else {
      skip_section(keyword);
    }
  }

  void read_vertices() {
    if (vertices_seen_) in_.fail("a second Vertices section (one is allowed); split the file");
    vertices_seen_ = true;
    const std::size_t rows = in_.count("the number of vertices", static_cast<std::size_t>(2 * dimension_ + 2));
    result_.points.resize(rows);
    std::vector<std::int32_t> references(rows);
    read_rows(in_, rows, 0, [&](TextScanner& in, std::size_t i) {
      for (int k = 0; k < dimension_; ++k) result_.points[i][k] = in.coordinate();
      references[i] = in.integer<std::int32_t>("a reference number");
    });
    set_labels(result_.point_data, std::string(reference), std::move(references));
  }

  void read_cells(const CellSection& section) {
    if (!vertices_seen_)
      in_.fail("cells come before the vertices (they cannot be checked); move Vertices to the front");
    if (!kinds_seen_.insert(section.vtk_kind).second)
      in_.fail("a second section of the same cells (one is allowed); join the two");
    const std::size_t rows = in_.count("the number of cells", 2 * section.corners + 2);
    const auto parts = read_rows<Cells>(in_, rows, 0, [&](TextScanner& in, std::size_t, Cells& part) {
      std::array<VertexId, 8> cell;
      for (std::size_t k = 0; k < section.corners; ++k) cell[k] = in.vertex(1, result_.points.size());
      part.labels.push_back(in.integer<std::int32_t>("a reference number"));
      part.cells.add(section.vtk_kind, std::span(cell).first(section.corners));
    });
    add_cells(parts);
  }

  void add_cells(const std::vector<Cells>& parts) {
    const auto labels_of = [&](CellKind kind) -> auto& { return references_[static_cast<std::size_t>(kind)]; };
    const AddedCells all = adder_.add_all(lists_of(parts));
    for (const Cells& part : parts) {
      if (all.count > 0) {
        labels_of(all.kind).insert(labels_of(all.kind).end(), part.labels.begin(), part.labels.end());
        continue;
      }
      auto label = part.labels.begin();
      part.cells.for_each([&](int kind, std::span<const VertexId> corners) {
        const AddedCells added = adder_.add(kind, corners);
        if (added.count > 0) labels_of(added.kind).insert(labels_of(added.kind).end(), added.count, *label);
        ++label;
      });
    }
  }

  void skip_section(std::string_view keyword) {
    for (const Skipped& section : skipped_sections) {
      if (!same_word(keyword, section.keyword)) continue;
      const std::size_t rows = in_.count("the number of rows", 2 * section.numbers);
      for (std::size_t i = 0; i < rows * section.numbers; ++i) in_.real("a number");
      return;
    }
    const char first = keyword.front();
    if (!((first | 0x20) >= 'a' && (first | 0x20) <= 'z'))
      in_.fail("{} is not a section's name (rows and counts do not match); export the file again", in_quotes(keyword));
    if (++unknown_sections_ <= max_named_sections)
      result_.warnings.push_back("Medit section " + in_quotes(keyword) + " is not known and was left out");
    while (!in_.at_end() && (in_.peek().front() | 0x20) < 'a') in_.word("a number");
  }

  TextScanner in_;
  Dataset result_;
  CellAdder adder_{result_};
  std::set<int> kinds_seen_;
  std::array<std::vector<std::int32_t>, cell_kinds.size()> references_;
  std::size_t unknown_sections_ = 0;
  int dimension_ = 3;
  bool vertices_seen_ = false;
};

}  // namespace

Dataset read_medit(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  return MeditReader(path, bytes.text()).read();
}

std::string medit_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array) {
  const DataArray* labels = place == ArrayPlace::points ? arrays.find(reference) : find_labels(arrays, reference);
  return labels == &array ? std::string(reference) : std::string();
}

void write_medit(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter out(files[0]);
  out.print("MeshVersionFormatted 2\n\nDimension 3\n\nVertices\n{}\n", dataset.points.size());
  const DataArray* references = dataset.point_data.find(reference);
  out.print_rows(dataset.points.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
    for (std::size_t i = first; i < first + count; ++i) {
      const Vec3d& p = dataset.points[i];
      text << p.x << ' ' << p.y << ' ' << p.z << ' ' << label_at(references, i) << '\n';
    }
  });
  for (const auto& [kind, keyword] : {std::pair(CellKind::line, "Edges"), std::pair(CellKind::triangle, "Triangles"),
                                      std::pair(CellKind::tet, "Tetrahedra")}) {
    const std::size_t cells = cells_written(dataset, kind);
    const DataArray* labels = find_labels(arrays_of(dataset, kind), reference);
    if (cells > 0) out.print("\n{}\n{}\n", keyword, cells);
    print_cells(out, dataset, kind,
                [&](PrintedText& text, std::size_t, std::size_t tuple, std::span<const VertexId> corners) {
                  for (const VertexId v : corners) text << v.index() + 1 << ' ';
                  text << label_at(labels, tuple) << '\n';
                });
  }
  out.print("\nEnd\n");
  out.finish();
}

}  // namespace isochron
