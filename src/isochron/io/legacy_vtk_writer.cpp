#include <algorithm>
#include <array>
#include <limits>

#include "isochron/core/error.h"
#include "isochron/io/joined_arrays.h"
#include "isochron/io/legacy_vtk_file.h"

namespace isochron {

namespace {

constexpr Encoding order = Encoding::big_endian;  // the format's

std::string encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c <= ' ' || c == '"' || c == '%' || c == 127) text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else text += c;
  }
  return text;
}

const char* type_name(ScalarType type) {
  switch (type) {
    case ScalarType::uint8: return "unsigned_char";
    case ScalarType::int32: return "int";
    case ScalarType::int64: return "vtktypeint64";
    case ScalarType::float32: return "float";
    default: return "double";
  }
}

template <class Cell>
void write_cell(ByteWriter& writer, const Cell& cell) {
  write_value(writer, static_cast<std::int32_t>(cell.size()), order);
  for (const VertexId id : cell) write_value(writer, static_cast<std::int32_t>(id.value), order);
}

// Numbers the cell list takes: every cell's corner count and its corners.
template <class Cells>
std::size_t list_size(const Cells& cells) {
  std::size_t size = cells.size();
  for (const auto& cell : cells) size += cell.size();
  return size;
}

template <class Cells>
void write_section(ByteWriter& writer, const char* keyword, const Cells& cells) {
  if (cells.empty()) return;
  writer.print("{} {} {}\n", keyword, cells.size(), list_size(cells));
  for (const auto& cell : cells) write_cell(writer, cell);
  writer.print("\n");
}

void write_grid_cells(ByteWriter& writer, const Dataset& dataset) {
  const std::size_t cells = dataset.tets.cells.size() + dataset.triangles.cells.size() + dataset.lines.size();
  writer.print("CELLS {} {}\n", cells,
               list_size(dataset.tets.cells) + list_size(dataset.triangles.cells) + list_size(dataset.lines));
  for (const auto& cell : dataset.tets.cells) write_cell(writer, cell);
  for (const auto& cell : dataset.triangles.cells) write_cell(writer, cell);
  for (const auto& line : dataset.lines) write_cell(writer, line);
  writer.print("\nCELL_TYPES {}\n", cells);
  constexpr std::int32_t tetra = 10, triangle = 5, poly_line = 4;
  for (std::size_t i = 0; i < dataset.tets.cells.size(); ++i) write_value(writer, tetra, order);
  for (std::size_t i = 0; i < dataset.triangles.cells.size(); ++i) write_value(writer, triangle, order);
  for (std::size_t i = 0; i < dataset.lines.size(); ++i) write_value(writer, poly_line, order);
  writer.print("\n");
}

void write_arrays(ByteWriter& writer, const char* keyword, std::span<const ArrayBlock> blocks) {
  const auto arrays = join_arrays(blocks);
  if (arrays.empty()) return;
  std::size_t tuples = 0;
  for (const ArrayBlock& block : blocks) tuples += block.tuples;
  writer.print("{} {}\nFIELD FieldData {}\n", keyword, tuples, arrays.size());
  for (const JoinedArray& array : arrays) {
    writer.print("{} {} {} {}\n", encoded(array.name), array.components, tuples, type_name(array.type));
    write_values(writer, array, order);
    writer.print("\n");
  }
}

}  // namespace

void write_legacy_vtk(std::span<const OutputFile> files, const Dataset& dataset) {
  if (dataset.points.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw UsageError(fmt::format("{}: there are too many points (legacy VTK files hold at most 2147483647); write .vtu",
                                 files[0].target.string()));
  }
  const ScalarType point_type = fits_float(dataset.points) ? ScalarType::float32 : ScalarType::float64;
  const bool grid = !dataset.tets.cells.empty();
  const ArrayBlock points{&dataset.point_data, dataset.points.size(), "points"};
  const ArrayBlock tets{&dataset.tets.data, dataset.tets.cells.size(), "tets"};
  const ArrayBlock triangles{&dataset.triangles.data, dataset.triangles.cells.size(), "triangles"};
  const ArrayBlock lines{&dataset.line_data, dataset.lines.size(), "lines"};

  ByteWriter writer(files[0]);
  writer.print("# vtk DataFile Version 3.0\nwritten by Isochron\nBINARY\nDATASET {}\nPOINTS {} {}\n",
               grid ? "UNSTRUCTURED_GRID" : "POLYDATA", dataset.points.size(), type_name(point_type));
  write_points(writer, dataset.points, point_type, order);
  writer.print("\n");
  if (grid) {
    write_grid_cells(writer, dataset);
    write_arrays(writer, "CELL_DATA", std::array{tets, triangles, lines});
  } else {
    write_section(writer, "LINES", dataset.lines);
    write_section(writer, "POLYGONS", dataset.triangles.cells);
    write_arrays(writer, "CELL_DATA", std::array{lines, triangles});
  }
  write_arrays(writer, "POINT_DATA", std::array{points});
  writer.finish();
}

}  // namespace isochron
