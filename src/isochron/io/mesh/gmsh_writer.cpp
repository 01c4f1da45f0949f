#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

/// Names stand between quotes, and there is no way to write one.
std::string name_in_quotes(const DataArray& array) {
  std::string name = array.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == '"'; }, '_');
  return name;
}

/// In the order in which elements are written, numbered from 1, and Gmsh's number of each kind.
constexpr std::array written_kinds{std::pair{CellKind::line, 1}, std::pair{CellKind::triangle, 2},
                                   std::pair{CellKind::tet, 4}};

class GmshWriter {
 public:
  GmshWriter(const OutputFile& file, const Dataset& dataset) : out_(file), dataset_(dataset) {}

  void write() {
    out_.print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", dataset_.points.size());
    out_.print_rows(dataset_.points.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
      for (std::size_t i = first; i < first + count; ++i) {
        const Vec3d& p = dataset_.points[i];
        text << i + 1 << ' ' << p.x << ' ' << p.y << ' ' << p.z << '\n';
      }
    });
    out_.print("$EndNodes\n");
    write_elements();
    for (const DataArray& array : dataset_.point_data.all()) write_node_data(array);
    write_all_element_data();
    out_.finish();
  }

 private:
  void write_elements() {
    std::size_t before = 0, elements = 0;
    for (const auto& [kind, type] : written_kinds) elements += cells_written(dataset_, kind);
    out_.print("$Elements\n{}\n", elements);
    for (const auto& [kind, type] : written_kinds) {
      const DataArrays& arrays = arrays_of(dataset_, kind);
      const DataArray* physical = find_labels(arrays, gmsh_physical);
      const DataArray* geometrical = arrays.find(gmsh_geometrical);
      if (geometrical != nullptr && geometrical->components != 1) geometrical = nullptr;
      print_cells(
          out_, dataset_, kind,
          [&, type = type](PrintedText& text, std::size_t row, std::size_t tuple, std::span<const VertexId> corners) {
            // The first tag is the physical group, the second the geometrical entity. Most programs insist on
            // both.
            text << before + row + 1 << ' ' << type << " 2 " << label_at(physical, tuple) << ' '
                 << label_at(geometrical, tuple);
            for (const VertexId v : corners) text << ' ' << v.index() + 1;
            text << '\n';
          });
      before += cells_written(dataset_, kind);
    }
    out_.print("$EndElements\n");
  }

  void write_data_header(std::string_view section, const DataArray& array, std::size_t rows) {
    out_.print("${}\n1\n\"{}\"\n1\n0\n3\n0\n{}\n{}\n", section, name_in_quotes(array), array.components, rows);
  }

  static void print_row(PrintedText& text, std::size_t number, const DataArray& array, std::size_t tuple) {
    text << number << ' ';
    print_tuple(text, array, tuple);
    text << '\n';
  }

  void write_node_data(const DataArray& array) {
    write_data_header("NodeData", array, dataset_.points.size());
    out_.print_rows(dataset_.points.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
      for (std::size_t i = first; i < first + count; ++i) print_row(text, i + 1, array, i);
    });
    out_.print("$EndNodeData\n");
  }

  // Arrays of one name and width on several kinds of elements are one section, so that they are one view in Gmsh.
  [[nodiscard]] const DataArray* matching(CellKind kind, const DataArray& array) const {
    const DataArray* other = cells_written(dataset_, kind) == 0 ? nullptr : arrays_of(dataset_, kind).find(array.name);
    return other != nullptr && other->components == array.components ? other : nullptr;
  }

  void write_all_element_data() {
    for (std::size_t k = 0; k < written_kinds.size(); ++k) {
      const CellKind kind = written_kinds[k].first;
      if (cells_written(dataset_, kind) == 0) continue;
      for (const DataArray& array : arrays_of(dataset_, kind).all()) {
        const bool is_tag = array.name == gmsh_physical || array.name == gmsh_geometrical;
        const bool done = std::any_of(written_kinds.begin(), written_kinds.begin() + static_cast<std::ptrdiff_t>(k),
                                      [&](const auto& earlier) { return matching(earlier.first, array) != nullptr; });
        if (!is_tag && !done) write_element_data(array);
      }
    }
  }

  void write_element_data(const DataArray& like) {
    std::size_t rows = 0, before = 0;
    for (const auto& [kind, type] : written_kinds)
      rows += matching(kind, like) != nullptr ? cells_written(dataset_, kind) : 0;
    write_data_header("ElementData", like, rows);
    for (const auto& [kind, type] : written_kinds) {
      const DataArray* array = matching(kind, like);
      if (array != nullptr)
        print_cells(out_, dataset_, kind,
                    [&](PrintedText& text, std::size_t row, std::size_t tuple, std::span<const VertexId>) {
                      print_row(text, before + row + 1, *array, tuple);
                    });
      before += cells_written(dataset_, kind);
    }
    out_.print("$EndElementData\n");
  }

  ByteWriter out_;
  const Dataset& dataset_;
};

}  // namespace

void write_gmsh(std::span<const OutputFile> files, const Dataset& dataset) { GmshWriter(files[0], dataset).write(); }

std::string gmsh_array_name(ArrayPlace, const DataArrays&, const DataArray& array) { return name_in_quotes(array); }

}  // namespace isochron
