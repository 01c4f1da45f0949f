#include "isochron/io/vtk_xml_file.h"

#include <array>
#include <utility>

namespace isochron {

const char* vtk_type_name(ScalarType type) {
  switch (type) {
    case ScalarType::uint8: return "UInt8";
    case ScalarType::int32: return "Int32";
    case ScalarType::int64: return "Int64";
    case ScalarType::float32: return "Float32";
    default: return "Float64";
  }
}

std::string xml_escaped(std::string_view text) {
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

std::string xml_unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text[0];
    constexpr std::array<std::pair<std::string_view, char>, 5> entities{
        {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
    for (const auto& [name, meaning] : entities)
      if (text.starts_with(name)) {
        taken = name.size();
        c = meaning;
      }
    result += c;
    text.remove_prefix(taken);
  }
  return result;
}

XmlFile::XmlFile(const OutputFile& file, const char* kind, std::string_view attributes) : writer_(file), kind_(kind) {
  writer_.print(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n  "
      "<{}{}>\n",
      kind, native_encoding == Encoding::little_endian ? "LittleEndian" : "BigEndian", kind, attributes);
}

void XmlFile::array(const std::string& name, ScalarType type, int components, std::size_t bytes,
                    std::function<void(ByteWriter&)> write) {
  writer_.print(
      "        <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
      vtk_type_name(type), xml_escaped(name), components, offset_);
  offset_ += sizeof(std::uint64_t) + bytes;
  blocks_.push_back({bytes, std::move(write)});
}

void XmlFile::arrays(const char* tag, std::span<const ArrayBlock> blocks, std::string_view attributes) {
  writer_.print("      <{}{}>\n", tag, attributes);
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

void XmlFile::finish() {
  writer_.print("    </Piece>\n  </{}>\n  <AppendedData encoding=\"raw\">\n_", kind_);
  for (const Block& block : blocks_) {
    write_value(writer_, std::uint64_t{block.bytes}, native_encoding);
    block.write(writer_);
  }
  writer_.print("\n  </AppendedData>\n</VTKFile>\n");
  writer_.finish();
}

}  // namespace isochron
