#include "isochron/io/vtk_xml_writer.h"

#include <array>
#include <functional>
#include <limits>

#include "isochron/io/joined_arrays.h"

namespace isochron {

namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < ' ' ? '_' : c;  // XML has no other control characters
    }
  }
  return result;
}

const char* type_name(ScalarType type) {
  switch (type) {
    case ScalarType::uint8: return "UInt8";
    case ScalarType::int32: return "Int32";
    case ScalarType::int64: return "Int64";
    case ScalarType::float32: return "Float32";
    default: return "Float64";
  }
}

// Collects what the header announces and writes it behind the header in the same order.
class XmlFile {
 public:
  XmlFile(const OutputFile& file, const char* kind) : writer_(file), kind_(kind) {
    writer_.print(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n  "
        "<{}>\n",
        kind, native_encoding == Encoding::little_endian ? "LittleEndian" : "BigEndian", kind);
  }

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    writer_.print(format, std::forward<Args>(args)...);
  }

  /// Announces an array whose values `write` will append.
  void array(const std::string& name, ScalarType type, int components, std::size_t bytes,
             std::function<void(ByteWriter&)> write) {
    writer_.print(
        "        <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
        type_name(type), escaped(name), components, offset_);
    offset_ += sizeof(std::uint64_t) + bytes;
    blocks_.push_back({bytes, std::move(write)});
  }

  void arrays(const char* tag, std::span<const ArrayBlock> blocks) {
    writer_.print("      <{}>\n", tag);
    for (JoinedArray& joined : join_arrays(blocks)) {
      const std::string name = joined.name;
      const ScalarType type = joined.type;
      const int components = joined.components;
      const std::size_t bytes = joined.byte_count();
      array(name, type, components, bytes,
            [j = std::move(joined)](ByteWriter& writer) { write_values(writer, j, native_encoding); });
    }
    writer_.print("      </{}>\n", tag);
  }

  void finish() {
    writer_.print("    </Piece>\n  </{}>\n  <AppendedData encoding=\"raw\">\n_", kind_);
    for (const Block& block : blocks_) {
      write_value(writer_, std::uint64_t{block.bytes}, native_encoding);
      block.write(writer_);
    }
    writer_.print("\n  </AppendedData>\n</VTKFile>\n");
    writer_.finish();
  }

 private:
  struct Block {
    std::size_t bytes;
    std::function<void(ByteWriter&)> write;
  };
  ByteWriter writer_;
  const char* kind_;
  std::uint64_t offset_ = 0;
  std::vector<Block> blocks_;
};

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

void points_section(XmlFile& xml, const Dataset& dataset) {
  const ScalarType type = fits_float(dataset.points) ? ScalarType::float32 : ScalarType::float64;
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

}  // namespace

void write_vtu(std::span<const OutputFile> files, const Dataset& dataset) {
  XmlFile xml(files[0], "UnstructuredGrid");
  const std::array blocks{tet_block(dataset), triangle_block(dataset), line_block(dataset)};
  xml.print("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", dataset.points.size(),
            blocks[0].tuples + blocks[1].tuples + blocks[2].tuples);
  xml.arrays("PointData", std::array{point_block(dataset)});
  xml.arrays("CellData", blocks);
  points_section(xml, dataset);
  grid_cells(xml, dataset);
  xml.finish();
}

void write_vtp(std::span<const OutputFile> files, const Dataset& dataset) {
  XmlFile xml(files[0], "PolyData");
  xml.print(
      "    <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"{}\">\n",
      dataset.points.size(), dataset.lines.size(), dataset.triangles.cells.size());
  xml.arrays("PointData", std::array{point_block(dataset)});
  xml.arrays("CellData", std::array{line_block(dataset), triangle_block(dataset)});
  points_section(xml, dataset);
  surface_cells(xml, dataset);
  xml.finish();
}

}  // namespace isochron
