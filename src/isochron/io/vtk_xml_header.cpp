#include "isochron/io/vtk_xml_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/packed_bytes.h"
#include "isochron/io/text_scanner.h"
#include "isochron/io/text_tools.h"
#include "isochron/io/vtk_xml_file.h"

namespace isochron {
namespace {

constexpr std::string_view too_short = "an array is longer than the file";

/// Values in a file, raw or as base64, that are taken bit by bit. VTK starts base64 anew behind some of the numbers in
/// front of the values.
class ByteSource {
 public:
  ByteSource(const VtkXmlFile& file, std::string_view text, bool base64) : file_(file), text_(text), base64_(base64) {}

  /// The next bytes, with what base64 put behind them passed over.
  std::string take(std::size_t bytes) {
    const std::string_view from = text_.substr(0, length_of(bytes));
    std::string result = decoded(from, bytes);
    text_.remove_prefix(from.size());
    return result;
  }
  std::string peek(std::size_t bytes) const { return decoded(text_.substr(0, length_of(bytes)), bytes); }
  /// Whether base64 ends behind the next bytes, however many follow.
  [[nodiscard]] bool ends_behind(std::size_t bytes) const {
    return !base64_ || text_.substr(0, length_of(bytes)).find('=') != std::string_view::npos;
  }

 private:
  [[nodiscard]] std::size_t length_of(std::size_t bytes) const {
    if (bytes > text_.size()) file_.fail(too_short);
    return base64_ ? (bytes + 2) / 3 * 4 : bytes;
  }
  [[nodiscard]] std::string decoded(std::string_view from, std::size_t bytes) const {
    std::string result = base64_ ? from_base64(from, file_.path()) : std::string(from);
    if (result.size() < bytes) file_.fail(too_short);
    result.resize(bytes);
    return result;
  }

  const VtkXmlFile& file_;
  std::string_view text_;
  bool base64_;
};

std::string without_blanks(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](char c) { return !(c == ' ' || (c >= '\t' && c <= '\r')); });
  return result;
}

}  // namespace

std::optional<ScalarType> vtk_type_named(std::string_view name) {
  if (name == "vtkIdType") return ScalarType::int64;
  return scalar_type_named(lower_case(name));  // "Float32", "UInt8", …
}

std::uint64_t whole_attribute(const XmlScanner& xml, const XmlEvent& element, std::string_view name) {
  const std::string_view text = trimmed(element.attribute(name).value_or(""));
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value >= std::uint64_t{1} << 48U)
    xml.fail(fmt::format("{} of an element {} is no number ({})", name, element.name, in_quotes(text)));
  return value;
}

std::vector<double> real_attribute(const XmlScanner& xml, const std::filesystem::path& path, const XmlEvent& element,
                                   std::string_view name, std::size_t count) {
  const auto text = element.attribute(name);
  if (!text) xml.fail(fmt::format("an element {} has no attribute {}", element.name, name));
  TextScanner scanner(path, *text, {});
  std::vector<double> values;
  while (!scanner.at_end() && values.size() <= count) values.push_back(scanner.coordinate("a number"));
  if (values.size() != count)
    xml.fail(fmt::format("{} of an element {} has not {} numbers", name, element.name, count));
  return values;
}

const XmlArray* XmlSection::find(std::string_view name) const {
  const auto at = std::find_if(arrays.begin(), arrays.end(), [&](const XmlArray& a) { return a.name == name; });
  return at == arrays.end() ? nullptr : &*at;
}

const XmlSection* XmlPiece::find(std::string_view name) const {
  const auto at =
      std::find_if(sections.begin(), sections.end(), [&](const XmlSection& s) { return s.element.name == name; });
  return at == sections.end() ? nullptr : &*at;
}

VtkXmlFile::VtkXmlFile(const std::filesystem::path& path) : path_(path), file_(path), xml_(path_, file_.text()) {
  read_header();
}

void VtkXmlFile::read_header() {
  bool known = false, complete = false;
  while (!complete) {
    const XmlEvent event = xml_.next();
    if (event.kind == XmlEvent::Kind::end) break;
    if (event.kind == XmlEvent::Kind::close) {
      complete = event.name == "VTKFile";
    } else if (event.name == "VTKFile") {
      known = true;
      start_file(event);
    } else if (!known) {
      break;
    } else if (event.name == kind_) {
      element_ = event;
    } else if (event.name == "Piece") {
      pieces_.push_back({event, {}});
    } else if (event.name == "AppendedData") {
      start_appended(event);
      complete = true;
    } else if (event.name == "DataArray" || event.name == "Array") {
      read_array(event);
    } else if (!pieces_.empty()) {
      pieces_.back().sections.push_back({event, {}});
    }
  }
  if (!known || kind_.empty()) fail("is no VTK XML file (there is no element VTKFile with a type)");
  if (!complete) fail("the XML text ends too early");
  if (element_.name.empty()) fail(fmt::format("there is no element {}", in_quotes(kind_)));
}

void VtkXmlFile::start_file(const XmlEvent& element) {
  kind_ = element.attribute("type").value_or("");
  if (element.attribute("byte_order") == "BigEndian") order_ = Encoding::big_endian;
  if (element.attribute("header_type") == "UInt64") header_bytes_ = 8;
  const std::string_view compressor = element.attribute("compressor").value_or("");
  compressed_ = !compressor.empty();
  if (compressed_ && compressor != "vtkZLibDataCompressor")
    throw InputError(
        fmt::format("{}: cannot be unpacked (its compressor is {}, and only zlib is understood); write it "
                    "with zlib or without compression",
                    path_.string(), in_quotes(compressor)));
}

void VtkXmlFile::start_appended(const XmlEvent& element) {
  appended_base64_ = element.attribute("encoding") == "base64";
  const char* behind = element.attributes.data() + element.attributes.size();
  appended_ = file_.text().substr(static_cast<std::size_t>(behind - file_.text().data()));
  const std::size_t start = appended_.find('_');
  if (start == std::string_view::npos) fail("the appended values are missing");
  appended_.remove_prefix(start + 1);
}

void VtkXmlFile::read_array(const XmlEvent& element) {
  XmlArray array;
  array.name = xml_unescaped(element.attribute("Name").value_or(""));
  array.format = element.attribute("format").value_or("ascii");
  if (element.attribute("NumberOfComponents")) {
    const std::uint64_t components = whole_attribute(xml_, element, "NumberOfComponents");
    if (components > 1U << 20U) fail("an array with a senseless number of components");
    array.components = std::max(1, static_cast<int>(components));
  }
  if (array.format == "appended") array.offset = whole_attribute(xml_, element, "offset");
  if (!element.empty) {  // the values may stand behind elements that describe them
    int depth = 0;
    for (XmlEvent event = element; depth >= 0;) {
      const std::string_view text = xml_.text();
      if (depth == 0 && !text.empty()) array.inside = text;
      event = xml_.next();
      if (event.kind == XmlEvent::Kind::end) fail("an array does not end");
      if (event.kind == XmlEvent::Kind::close) --depth;
      else if (!event.empty) ++depth;
    }
  }
  const auto type = vtk_type_named(element.attribute("type").value_or(""));
  if (!type || pieces_.empty() || pieces_.back().sections.empty()) return;  // words, or a value for the whole file
  array.type = *type;
  pieces_.back().sections.back().arrays.push_back(std::move(array));
}

std::string VtkXmlFile::bytes(const XmlArray& array) const {
  const bool appended = array.format == "appended";
  if (appended && array.offset > appended_.size()) fail(too_short);
  const std::string inside = appended ? std::string() : without_blanks(array.inside);
  ByteSource source(*this, appended ? appended_.substr(array.offset) : std::string_view(inside),
                    !appended || appended_base64_);
  const auto number = [&](std::string_view header, std::size_t i) -> std::uint64_t {
    const DataArray::Values values =
        values_of_bytes(header.substr(i * header_bytes_, header_bytes_),
                        header_bytes_ == 8 ? ScalarType::uint64 : ScalarType::uint32, order_);
    return static_cast<std::uint64_t>(std::get<std::vector<std::int64_t>>(values)[0]);
  };
  const std::uint64_t first = number(source.peek(header_bytes_), 0);
  if (!compressed_) {
    if (first > file_.text().size()) fail(too_short);
    if (source.ends_behind(header_bytes_)) {
      source.take(header_bytes_);
      return source.take(first);
    }
    return source.take(header_bytes_ + first).substr(header_bytes_);
  }
  // The numbers of blocks, of bytes in a block and in the last one if that is shorter, and of packed bytes in each.
  if (first > file_.text().size()) fail(too_short);
  const std::string header = source.take((3 + first) * header_bytes_);
  std::uint64_t packed = 0;
  for (std::uint64_t i = 0; i < first; ++i) {
    packed += number(header, 3 + i);
    if (packed > file_.text().size()) fail(too_short);
  }
  const std::string blocks = source.take(packed);
  std::string result;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < first; ++i) {
    const std::uint64_t last = number(header, 2), size = number(header, 3 + i);
    result += unpacked(std::string_view(blocks).substr(at, size), i + 1 == first && last > 0 ? last : number(header, 1),
                       path_);
    at += size;
  }
  return result;
}

DataArray::Values VtkXmlFile::text_values(const XmlArray& array) const {
  TextScanner in(path_, array.inside, {});
  return with_type(array.type, [&]<class T>() -> DataArray::Values {
    std::vector<Stored<T>> values;
    while (!in.at_end()) {
      if constexpr (std::is_floating_point_v<T>) values.push_back(static_cast<T>(in.real("a number")));
      else values.push_back(to_stored(static_cast<T>(in.integer<std::int64_t>("a whole number"))));
    }
    return values;
  });
}

DataArray::Values VtkXmlFile::values(const XmlArray& array) const {
  if (array.format == "ascii") return text_values(array);
  if (array.format != "appended" && array.inside.empty()) return values_of_bytes({}, array.type, order_);
  return values_of_bytes(bytes(array), array.type, order_);
}

DataArray VtkXmlFile::read(const XmlArray& array, std::size_t tuples) const {
  DataArray result{array.name, array.components, values(array)};
  if (result.value_count() != tuples * static_cast<std::size_t>(array.components))
    fail(fmt::format("array '{}' does not fit (values: {} in tuples of {}, items: {})", array.name,
                     result.value_count(), array.components, tuples));
  return result;
}

}  // namespace isochron
