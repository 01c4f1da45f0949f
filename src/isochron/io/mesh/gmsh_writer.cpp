#include <algorithm>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

constexpr std::string_view physical_name = "gmsh:physical";
constexpr std::string_view geometrical_name = "gmsh:geometrical";

// Elements are numbered from 1: lines first, then triangles, then tetrahedra.
constexpr std::array kinds{CellKind::line, CellKind::triangle, CellKind::tet};

class GmshWriter {
 public:
  GmshWriter(const OutputFile& file, const Dataset& dataset)
      : out_(file), dataset_(dataset), segments_(dataset.lines) {}

  void write() {
    out_.print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", dataset_.points.size());
    for (std::size_t i = 0; i < dataset_.points.size(); ++i) {
      const Vec3d& p = dataset_.points[i];
      out_.print("{} {} {} {}\n", i + 1, p.x, p.y, p.z);
    }
    out_.print("$EndNodes\n");
    write_elements();
    for (const DataArray& array : dataset_.point_data.all()) write_node_data(array);
    write_all_element_data();
    out_.finish();
  }

 private:
  // The first tag is the physical group, the second the geometrical entity. Most programs insist on both.
  void write_tags(CellKind kind, std::size_t cell) {
    const DataArrays& arrays = arrays_of(dataset_, kind);
    const DataArray* geometrical = arrays.find(geometrical_name);
    if (geometrical != nullptr && geometrical->components != 1) geometrical = nullptr;
    out_.print(" 2 {} {}", label_at(find_labels(arrays, physical_name), cell), label_at(geometrical, cell));
  }

  template <class Cells>
  void write_cells(CellKind kind, int type, const Cells& cells, std::size_t number) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out_.print("{} {}", number + i, type);
      write_tags(kind, i);
      for (const VertexId v : cells[i]) out_.print(" {}", v.index() + 1);
      out_.print("\n");
    }
  }

  void write_elements() {
    std::size_t number = 1;
    out_.print("$Elements\n{}\n", segments_.size() + dataset_.triangles.cells.size() + dataset_.tets.cells.size());
    segments_.for_each([&](std::size_t line, VertexId a, VertexId b) {
      out_.print("{} 1", number++);
      write_tags(CellKind::line, line);
      out_.print(" {} {}\n", a.index() + 1, b.index() + 1);
    });
    write_cells(CellKind::triangle, 2, dataset_.triangles.cells, number);
    write_cells(CellKind::tet, 4, dataset_.tets.cells, number + dataset_.triangles.cells.size());
    out_.print("$EndElements\n");
  }

  void write_data_header(std::string_view section, const DataArray& array, std::size_t rows) {
    std::string name = array.name;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == '"'; }, '_');
    out_.print("${}\n1\n\"{}\"\n1\n0\n3\n0\n{}\n{}\n", section, name, array.components, rows);
  }

  void write_row(std::size_t number, const DataArray& array, std::size_t tuple) {
    out_.print("{} ", number);
    print_tuple(out_, array, tuple);
    out_.print("\n");
  }

  void write_node_data(const DataArray& array) {
    write_data_header("NodeData", array, dataset_.points.size());
    for (std::size_t i = 0; i < dataset_.points.size(); ++i) write_row(i + 1, array, i);
    out_.print("$EndNodeData\n");
  }

  // Arrays of one name and width on several kinds of elements are one section, so that they are one view in Gmsh.
  [[nodiscard]] const DataArray* matching(CellKind kind, const DataArray& array) const {
    const DataArray* other = cells_written(dataset_, kind) == 0 ? nullptr : arrays_of(dataset_, kind).find(array.name);
    return other != nullptr && other->components == array.components ? other : nullptr;
  }

  void write_all_element_data() {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      for (const DataArray& array : arrays_of(dataset_, kinds[k]).all()) {
        const bool is_tag = array.name == physical_name || array.name == geometrical_name;
        const bool done = std::any_of(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(k),
                                      [&](CellKind earlier) { return matching(earlier, array) != nullptr; });
        if (!is_tag && !done && cells_written(dataset_, kinds[k]) > 0) write_element_data(array);
      }
    }
  }

  void write_element_data(const DataArray& like) {
    std::size_t rows = 0;
    for (const CellKind kind : kinds) rows += matching(kind, like) != nullptr ? cells_written(dataset_, kind) : 0;
    write_data_header("ElementData", like, rows);
    std::size_t number = 1;
    for (const CellKind kind : kinds) {
      const DataArray* array = matching(kind, like);
      if (array == nullptr) number += cells_written(dataset_, kind);
      else if (kind == CellKind::line)
        segments_.for_each([&](std::size_t line, VertexId, VertexId) { write_row(number++, *array, line); });
      else
        for (std::size_t i = 0; i < cells_written(dataset_, kind); ++i) write_row(number++, *array, i);
    }
    out_.print("$EndElementData\n");
  }

  ByteWriter out_;
  const Dataset& dataset_;
  SegmentList segments_;
};

}  // namespace

void write_gmsh(std::span<const OutputFile> files, const Dataset& dataset) { GmshWriter(files[0], dataset).write(); }

}  // namespace isochron
