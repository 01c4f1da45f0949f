#include "isochron/io/vtk_xml_writer.h"

#include <array>
#include <limits>

#include "isochron/io/joined_arrays.h"
#include "isochron/io/vtk_xml_file.h"

namespace isochron {

namespace {

template <class Int, class Cells>
void write_ids(ByteWriter& writer, const Cells& cells) {
  for (const auto& cell : cells) {
    if constexpr (sizeof(Int) == sizeof(VertexId)) {
      writer.write(cell.data(), cell.size() * sizeof(VertexId));
    } else {
      for (const VertexId id : cell) write_value(writer, static_cast<Int>(id.value), native_encoding);
    }
  }
}

template <class Int, class Cells>
void write_ends(ByteWriter& writer, const Cells& cells, std::uint64_t& end) {
  for (const auto& cell : cells) write_value(writer, static_cast<Int>(end += cell.size()), native_encoding);
}

template <class Cells>
std::size_t corner_count(const Cells& cells) {
  std::size_t corners = 0;
  for (const auto& cell : cells) corners += cell.size();
  return corners;
}

// connectivity and offsets of some of the blocks, one after the other.
template <class... Cells>
void cell_lists(XmlFile& xml, std::size_t points, const Cells&... blocks) {
  const std::size_t cells = (std::size_t{0} + ... + blocks.size());
  const std::size_t corners = (std::size_t{0} + ... + corner_count(blocks));
  const bool small = std::max(points, corners) <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  const ScalarType type = small ? ScalarType::int32 : ScalarType::int64;
  with_type(type, [&]<class Int>() {
    if constexpr (std::is_integral_v<Int>) {
      xml.array("connectivity", type, 1, corners * sizeof(Int),
                [&blocks...](ByteWriter& writer) { (write_ids<Int>(writer, blocks), ...); });
      xml.array("offsets", type, 1, cells * sizeof(Int), [&blocks...](ByteWriter& writer) {
        std::uint64_t end = 0;
        (write_ends<Int>(writer, blocks, end), ...);
      });
    }
  });
}

void points_section(XmlFile& xml, const Dataset& dataset, ScalarType type) {
  xml.print("      <Points>\n");
  xml.array("Points", type, 3, 3 * dataset.points.size() * size_of(type),
            [&dataset, type](ByteWriter& writer) { write_points(writer, dataset.points, type, native_encoding); });
  xml.print("      </Points>\n");
}

void grid_cells(XmlFile& xml, const Dataset& dataset) {
  xml.print("      <Cells>\n");
  cell_lists(xml, dataset.points.size(), dataset.tets.cells, dataset.triangles.cells, dataset.lines);
  const std::size_t cells = dataset.tets.cells.size() + dataset.triangles.cells.size() + dataset.lines.size();
  xml.array("types", ScalarType::uint8, 1, cells, [&dataset](ByteWriter& writer) {
    constexpr std::uint8_t tetra = 10, triangle = 5, poly_line = 4;
    for (std::size_t i = 0; i < dataset.tets.cells.size(); ++i) writer.write(&tetra, 1);
    for (std::size_t i = 0; i < dataset.triangles.cells.size(); ++i) writer.write(&triangle, 1);
    for (std::size_t i = 0; i < dataset.lines.size(); ++i) writer.write(&poly_line, 1);
  });
  xml.print("      </Cells>\n");
}

void surface_cells(XmlFile& xml, const Dataset& dataset) {
  xml.print("      <Lines>\n");
  cell_lists(xml, dataset.points.size(), dataset.lines);
  xml.print("      </Lines>\n      <Polys>\n");
  cell_lists(xml, dataset.points.size(), dataset.triangles.cells);
  xml.print("      </Polys>\n");
}

ArrayBlock point_block(const Dataset& d) { return {&d.point_data, d.points.size(), "points"}; }
ArrayBlock tet_block(const Dataset& d) { return {&d.tets.data, d.tets.cells.size(), "tets"}; }
ArrayBlock triangle_block(const Dataset& d) { return {&d.triangles.data, d.triangles.cells.size(), "triangles"}; }
ArrayBlock line_block(const Dataset& d) { return {&d.line_data, d.lines.size(), "lines"}; }

ScalarType smallest_type(const Dataset& dataset) {
  return fits_float(dataset.points) ? ScalarType::float32 : ScalarType::float64;
}

/// Tells which array holds the ids in a larger mesh, where there is one.
std::string ids_attribute(const DataArrays& data, const char* name) {
  return data.find(name) != nullptr ? fmt::format(" GlobalIds=\"{}\"", name) : std::string();
}

void write_grid(const OutputFile& file, const Dataset& dataset, ScalarType point_type) {
  XmlFile xml(file, "UnstructuredGrid");
  const std::array blocks{tet_block(dataset), triangle_block(dataset), line_block(dataset)};
  xml.print("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", dataset.points.size(),
            blocks[0].tuples + blocks[1].tuples + blocks[2].tuples);
  xml.arrays("PointData", std::array{point_block(dataset)}, ids_attribute(dataset.point_data, global_point_ids));
  xml.arrays("CellData", blocks, ids_attribute(dataset.tets.data, global_cell_ids));
  points_section(xml, dataset, point_type);
  grid_cells(xml, dataset);
  xml.finish();
}

void write_surface(const OutputFile& file, const Dataset& dataset, ScalarType point_type) {
  XmlFile xml(file, "PolyData");
  xml.print(
      "    <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"{}\">\n",
      dataset.points.size(), dataset.lines.size(), dataset.triangles.cells.size());
  xml.arrays("PointData", std::array{point_block(dataset)}, ids_attribute(dataset.point_data, global_point_ids));
  xml.arrays("CellData", std::array{line_block(dataset), triangle_block(dataset)},
             ids_attribute(dataset.triangles.data, global_cell_ids));
  points_section(xml, dataset, point_type);
  surface_cells(xml, dataset);
  xml.finish();
}

}  // namespace

void write_vtu(std::span<const OutputFile> files, const Dataset& dataset) {
  write_grid(files[0], dataset, smallest_type(dataset));
}

void write_vtp(std::span<const OutputFile> files, const Dataset& dataset) {
  write_surface(files[0], dataset, smallest_type(dataset));
}

void write_vtk_piece(const OutputFile& file, const Dataset& dataset, PieceKind kind) {
  if (kind == PieceKind::surface) write_surface(file, dataset, ScalarType::float64);
  else write_grid(file, dataset, ScalarType::float64);
}

PieceIndex mesh_index(const Dataset& dataset, PieceKind kind) {
  PieceIndex index;
  index.kind = kind;
  index.point_arrays = piece_arrays(std::array{point_block(dataset)});
  index.cell_arrays = kind == PieceKind::surface
                          ? piece_arrays(std::array{line_block(dataset), triangle_block(dataset)})
                          : piece_arrays(std::array{tet_block(dataset), triangle_block(dataset), line_block(dataset)});
  return index;
}

}  // namespace isochron
