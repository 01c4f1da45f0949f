#include "isochron/io/vtk_xml.h"

#include <algorithm>

#include "isochron/io/packed_blocks.h"

namespace isochron {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view zlib_compressor = "vtkZLibDataCompressor";
constexpr std::string_view too_short = "an array is longer than its place in the file";

/// Values in a file, raw or as base64, that are taken bit by bit. VTK starts base64 anew behind some of the numbers in
/// front of the values.
class ByteSource {
 public:
  ByteSource(const VtkXmlFile& file, std::string_view text, bool base64) : file_(file), text_(text), base64_(base64) {}

  /// The next bytes, with what base64 put behind them passed over.
  XmlBytes take(std::size_t bytes) {
    const std::string_view from = text_.substr(0, length_of(bytes));
    text_.remove_prefix(from.size());
    return decoded(from, bytes);
  }
  [[nodiscard]] XmlBytes peek(std::size_t bytes) const { return decoded(text_.substr(0, length_of(bytes)), bytes); }
  /// Whether base64 ends behind the next bytes, however many follow. It may also end one byte later in the same group.
  [[nodiscard]] bool ends_behind(std::size_t bytes) const {
    const std::string_view filling = bytes % 3 == 1 ? "==" : "=";
    return !base64_ || (bytes % 3 != 0 && text_.substr(0, length_of(bytes)).ends_with(filling));
  }
  /// Whether so many bytes can follow.
  [[nodiscard]] bool holds(std::uint64_t bytes) const {
    return bytes <= text_.size() && (base64_ ? (bytes + 2) / 3 * 4 : bytes) <= text_.size();
  }
  /// The bytes at a place further on, read without those before it.
  [[nodiscard]] std::string look_at(std::size_t place, std::size_t bytes, const FileBytes& file) const {
    if (base64_)
      return from_base64(text_.substr(place / 3 * 4, (bytes + 4) / 3 * 4), file_.path()).substr(place % 3, bytes);
    std::string result(bytes, '\0');
    file.read_part(text_.substr(place, bytes), result.data());
    return result;
  }

 private:
  [[nodiscard]] std::size_t length_of(std::size_t bytes) const {
    if (bytes > text_.size()) file_.fail("{}", too_short);
    return base64_ ? (bytes + 2) / 3 * 4 : bytes;
  }
  [[nodiscard]] XmlBytes decoded(std::string_view from, std::size_t bytes) const {
    XmlBytes result;
    if (base64_) result.own = std::make_unique<const std::string>(from_base64(from, file_.path()));
    result.text = base64_ ? std::string_view(*result.own) : from;
    if (result.text.size() < bytes) file_.fail("{}", too_short);
    result.text = result.text.substr(0, bytes);
    return result;
  }

  const VtkXmlFile& file_;
  std::string_view text_;
  bool base64_;
};

std::string without_blanks(std::string_view text) {
  std::string result;
  std::remove_copy_if(text.begin(), text.end(), std::back_inserter(result), is_blank);
  return result;
}

/// What stands in front of values.
struct Front {
  std::vector<std::uint64_t> numbers;  // of bytes; of packed values those of blocks, of bytes in a block and in the
                                       // last one if that is shorter, and of packed bytes in each
  std::size_t skip = 0;                // bytes of it that are not yet taken, as base64 goes on behind them
  std::uint64_t bytes = 0;             // of the values, packed or not

  [[nodiscard]] XmlBytes take_values(ByteSource& source) const {
    XmlBytes result = source.take(skip + bytes);
    result.text.remove_prefix(skip);
    return result;
  }
  /// Of packed values: the bytes that block i stands for, and its packed ones.
  [[nodiscard]] std::uint64_t unpacked_bytes(std::size_t i) const {
    return 3 + i + 1 == numbers.size() && numbers[2] > 0 ? numbers[2] : numbers[1];
  }
  [[nodiscard]] std::uint64_t packed_bytes(std::size_t i) const { return numbers[3 + i]; }
  [[nodiscard]] std::size_t blocks() const { return numbers.size() - 3; }
};

constexpr std::array<std::pair<std::string_view, char>, 5> entities{
    {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};

/// Whether values follow the XML text before its end.
bool has_appended_values(std::string_view text) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<AppendedData")) return rest.find('_', std::min(rest.find('>'), rest.size())) < rest.size();
    if (rest.starts_with("<!--")) at = std::min(text.find("-->", at), text.size());
  }
  return false;
}

constexpr TypeNames vtk_types[] = {{ScalarType::int8, "Int8"},       {ScalarType::uint8, "UInt8"},
                                   {ScalarType::int16, "Int16"},     {ScalarType::uint16, "UInt16"},
                                   {ScalarType::int32, "Int32"},     {ScalarType::uint32, "UInt32"},
                                   {ScalarType::int64, "Int64"},     {ScalarType::uint64, "UInt64"},
                                   {ScalarType::float32, "Float32"}, {ScalarType::float64, "Float64"}};

}  // namespace

std::optional<std::string_view> XmlEvent::attribute(std::string_view wanted) const {
  constexpr std::size_t none = std::string_view::npos;
  for (std::string_view left = attributes;;) {
    const std::size_t equals = left.find('=');
    const std::size_t begin = equals == none ? none : left.find_first_of("\"'", equals);
    const std::size_t end = begin == none ? none : left.find(left[begin], begin + 1);
    if (end == none) return std::nullopt;
    if (trimmed(left.substr(0, equals)) == wanted) return left.substr(begin + 1, end - begin - 1);
    left.remove_prefix(end + 1);
  }
}

std::string_view XmlScanner::up_to(std::string_view marker) {
  const std::size_t at = text_.find(marker);
  if (at == std::string_view::npos) fail("the XML text ends too early");
  const std::string_view before = text_.substr(0, at);
  text_.remove_prefix(at + marker.size());
  return before;
}

std::string_view XmlScanner::rest_of_tag() {
  char quote = 0;  // inside the value of an attribute
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at];
    if (quote == 0 && c == '>') {
      const std::string_view tag = text_.substr(0, at);
      text_.remove_prefix(at + 1);
      return tag;
    }
    if (quote == 0 && (c == '"' || c == '\'')) quote = c;
    else if (c == quote) quote = 0;
  }
  fail("the XML text ends too early");
}

XmlEvent XmlScanner::next() {
  for (;;) {
    if (text_.find('<') == std::string_view::npos) return {};
    up_to("<");
    if (text_.starts_with("!--")) up_to("-->");
    else if (text_.starts_with("![CDATA[")) up_to("]]>");
    else if (text_.starts_with('!') || text_.starts_with('?')) up_to(">");
    else break;
  }
  std::string_view tag = rest_of_tag();
  XmlEvent event{XmlEvent::Kind::open, {}, {}, false};
  if (tag.starts_with('/')) {
    event.kind = XmlEvent::Kind::close;
    tag.remove_prefix(1);
  } else if (tag.ends_with('/')) {
    event.empty = true;
    tag.remove_suffix(1);
  }
  tag = trimmed(tag);
  const std::size_t end = std::min(tag.find_first_of(blanks), tag.size());
  event.name = tag.substr(0, end);
  event.attributes = tag.substr(end);
  return event;
}

std::string_view XmlScanner::text() {
  constexpr std::string_view cdata = "<![CDATA[";
  const std::size_t first = std::min(text_.find_first_not_of(blanks), text_.size());
  if (text_.substr(first).starts_with(cdata)) {
    text_.remove_prefix(first + cdata.size());
    return trimmed(up_to("]]>"));
  }
  const std::size_t end = std::min(text_.find('<'), text_.size());
  const std::string_view result = trimmed(text_.substr(0, end));
  text_.remove_prefix(end);
  return result;
}

std::optional<ScalarType> vtk_type_named(std::string_view name) {
  if (name == "vtkIdType") return ScalarType::int64;
  return type_named(scalar_type_names, lower_case(name));  // "Float32", "UInt8", …
}

std::uint64_t whole_attribute(const XmlScanner& xml, const XmlEvent& element, std::string_view name) {
  const std::string_view text = trimmed(element.attribute(name).value_or(""));
  const auto value = parse_number<std::uint64_t>(text);
  if (!value || *value >= std::uint64_t{1} << 48U)
    xml.fail("{} of an element {} is no number ({})", name, element.name, in_quotes(text));
  return *value;
}

std::vector<double> real_attribute(const XmlScanner& xml, const XmlEvent& element, std::string_view name,
                                   std::size_t count) {
  const auto text = element.attribute(name);
  if (!text) xml.fail("an element {} has no attribute {}", element.name, name);
  TextScanner scanner(xml.path(), *text, {});
  std::vector<double> values;
  while (!scanner.at_end() && values.size() <= count) values.push_back(scanner.coordinate("a number"));
  if (values.size() != count) xml.fail("{} of an element {} has not {} numbers", name, element.name, count);
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

VtkXmlFile::VtkXmlFile(const std::filesystem::path& path)
    : path_(path), file_(path, FileBytes::Fetch::asked), xml_(path_, file_.text()) {
  fetch_header();
  read_header();
}

void VtkXmlFile::fetch_header() const {
  const std::string_view text = file_.text();
  for (std::size_t before = 0, end = std::size_t{1} << 20U; before < text.size(); before = end, end *= 8) {
    file_.fetch(text.substr(before, end - before));
    if (has_appended_values(text.substr(0, end))) return;
  }
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
  if (element_.name.empty()) fail("there is no element {}", in_quotes(kind_));
  // Arrays that share values would take the memory of the file many times over.
  std::sort(offsets_.begin(), offsets_.end());
  const auto shared = std::adjacent_find(offsets_.begin(), offsets_.end());
  if (shared != offsets_.end()) fail("two arrays have the same values (those at the offset {})", *shared);
}

void VtkXmlFile::start_file(const XmlEvent& element) {
  kind_ = element.attribute("type").value_or("");
  if (element.attribute("byte_order") == "BigEndian") order_ = Encoding::big_endian;
  if (element.attribute("header_type") == "UInt64") header_bytes_ = 8;
  const std::string_view compressor = element.attribute("compressor").value_or("");
  compressed_ = !compressor.empty();
  if (compressed_ && compressor != zlib_compressor)
    bad_file(path_,
             "cannot be unpacked (its compressor is {}, and only zlib is understood); write it "
             "with zlib or without compression",
             in_quotes(compressor));
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
  if (array.format == "appended") {
    array.offset = whole_attribute(xml_, element, "offset");
    offsets_.push_back(array.offset);
  }
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

void VtkXmlFile::expect_kind(std::string_view kind) const {
  if (kind_ != kind) fail("is a VTK file of another kind ({}, not {})", in_quotes(kind_), kind);
}

std::string_view VtkXmlFile::place_of(const XmlArray& array) const {
  if (array.format != "appended") return array.inside;
  if (array.offset > appended_.size()) fail("{}", too_short);
  const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), array.offset);
  const std::size_t end = next == offsets_.end() ? std::string_view::npos : *next - array.offset;
  return appended_.substr(array.offset, end);
}

template <class Body>
auto VtkXmlFile::with_values(const XmlArray& array, const Body& body) const {
  const bool appended = array.format == "appended", raw = appended && !appended_base64_;
  const std::string_view place = place_of(array);
  if (appended || forgotten_) file_.fetch(raw ? place.substr(0, header_bytes_) : place);
  const bool blanks = !appended && std::any_of(place.begin(), place.end(), is_blank);
  const std::string inside = blanks ? without_blanks(place) : std::string();
  ByteSource source(*this, blanks ? inside : place, !raw);
  const auto number = [&](std::string_view bytes, std::size_t i) -> std::uint64_t {
    const char* at = bytes.data() + i * header_bytes_;
    if (header_bytes_ == 4) return value_at<std::uint32_t>(at, order_);
    return static_cast<std::uint64_t>(to_stored(value_at<std::uint64_t>(at, order_)));
  };
  const std::uint64_t first = number(source.peek(header_bytes_).text, 0);
  if (first > file_.text().size()) fail("{}", too_short);
  Front front{{first}, 0, first};
  if (compressed_) {
    const std::size_t header_bytes = (3 + first) * header_bytes_;
    if (raw) file_.fetch(place.substr(0, header_bytes));
    const XmlBytes header = source.take(header_bytes);
    for (std::size_t i = 1; i < 3 + first; ++i) front.numbers.push_back(number(header.text, i));
    front.bytes = 0;
    for (std::size_t i = 0; i < first; ++i) {
      if (front.packed_bytes(i) > file_.text().size() - front.bytes) fail("{}", too_short);
      front.bytes += front.packed_bytes(i);
    }
  } else if (source.ends_behind(header_bytes_)) {
    source.take(header_bytes_);
  } else {
    front.skip = header_bytes_;
  }
  return body(source, front);
}

XmlBytes VtkXmlFile::bytes(const XmlArray& array) const {
  const bool appended = array.format == "appended";
  if (array.format == "ascii" || (!appended && array.inside.empty())) return {};
  return with_values(array, [&](ByteSource& source, const Front& front) {
    XmlBytes stored = front.take_values(source);
    const bool in_file = appended && !appended_base64_;
    if (in_file && !compressed_) stored.file = &file_;
    if (!compressed_) return stored;
    if (in_file) file_.fetch(stored.text);
    std::vector<PackedBlock> blocks;
    std::string_view left = stored.text;
    for (std::size_t i = 0; i < front.blocks(); ++i) {
      blocks.push_back({left.substr(0, front.packed_bytes(i)), front.unpacked_bytes(i)});
      left.remove_prefix(blocks.back().packed.size());
    }
    XmlBytes result;
    result.own = std::make_unique<const std::string>(unpacked(blocks, path_));
    result.text = *result.own;
    return result;
  });
}

std::optional<StoredArray> VtkXmlFile::stored(const XmlArray& array, std::uint64_t values) const {
  if (array.format == "ascii" || (array.format != "appended" && array.inside.empty())) return std::nullopt;
  return with_values(array, [&](const ByteSource& source, const Front& front) -> std::optional<StoredArray> {
    if (!source.holds(front.skip + front.bytes)) return std::nullopt;
    const std::uint64_t wanted = values * size_of(array.type);
    if (!compressed_ && front.bytes != wanted) return std::nullopt;
    std::uint64_t bytes = 0;
    std::size_t place = 0;
    for (std::size_t i = 0; compressed_ && i < front.blocks(); ++i) {
      const std::uint64_t packed = front.packed_bytes(i), block = front.unpacked_bytes(i);
      if (packed < 2 || block > max_deflate_gain * packed || !begins_like_zlib(source.look_at(place, 2, file_)))
        return std::nullopt;
      place += packed;
      bytes += block;
      if (bytes > wanted) return std::nullopt;
    }
    if (compressed_ && bytes != wanted) return std::nullopt;
    return StoredArray{this, &array, front.numbers, front.bytes};
  });
}

void VtkXmlFile::write_stored(const XmlArray& array, ByteWriter& writer) const {
  with_values(array, [&](ByteSource& source, const Front& front) {
    const XmlBytes stored = front.take_values(source);
    if (stored.own != nullptr) return writer.write(stored.text);
    writer.write_items(stored.text.size(), 1, [&](std::size_t first, std::size_t count, char* to) {
      file_.read_part(stored.text.substr(first, count), to);
    });
  });
}

void VtkXmlFile::forget_values() {
  for (const XmlPiece& piece : pieces_)
    for (const XmlSection& section : piece.sections)
      for (const XmlArray& array : section.arrays)
        if (array.format != "ascii") file_.forget(place_of(array));
  forgotten_ = true;
}

DataArray::Values VtkXmlFile::values(const XmlArray& array, const XmlBytes& bytes) const {
  if (bytes.file != nullptr) return read_values(*bytes.file, bytes.text, array.type, order_);
  if (array.format != "ascii") return values_of_bytes(bytes.text, array.type, order_);
  TextScanner in(path_, array.inside, {});
  return with_type(array.type, [&]<class T>() -> DataArray::Values {
    std::vector<Stored<T>> result;
    while (!in.at_end()) result.push_back(to_stored(in.number<T>("a number")));
    return result;
  });
}

DataArray VtkXmlFile::read(const XmlArray& array, std::size_t tuples) const {
  DataArray result{array.name, array.components, values(array)};
  check_fits(array, result.value_count(), tuples);
  return result;
}

void VtkXmlFile::check_fits(const XmlArray& array, std::size_t values, std::size_t tuples) const {
  if (values != tuples * static_cast<std::size_t>(array.components))
    fail("array '{}' does not fit (values: {} in tuples of {}, items: {})", array.name, values, array.components,
         tuples);
}

std::string_view vtk_type_name(ScalarType type) { return name_of(vtk_types, type); }

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto entity = std::find_if(entities.begin(), entities.end(), [&](const auto& e) { return e.second == c; });
    if (entity != entities.end() && c != '\'') result += entity->first;
    else result += static_cast<unsigned char>(c) < ' ' ? '_' : c;  // XML has no other control characters
  }
  return result;
}

std::string xml_unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto entity =
        std::find_if(entities.begin(), entities.end(), [&](const auto& e) { return text.starts_with(e.first); });
    result += entity == entities.end() ? text[0] : entity->second;
    text.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
  }
  return result;
}

void start_vtk_file(ByteWriter& writer, const char* kind, const XmlEncoding& encoding) {
  writer.print(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\"{}>\n",
      kind, encoding.order == Encoding::little_endian ? "LittleEndian" : "BigEndian",
      encoding.packed ? fmt::format(" compressor=\"{}\"", zlib_compressor) : std::string());
}

VtkXmlWriter::VtkXmlWriter(const OutputFile& file, const char* kind, std::string_view attributes, XmlEncoding encoding)
    : writer_(file), kind_(kind), encoding_(encoding) {
  start_vtk_file(writer_, kind, encoding);
  print("  <{}{}>\n", kind, attributes);
}

void VtkXmlWriter::announce(const std::string& name, ScalarType type, int components, Block block) {
  print("        <DataArray type=\"{}\" Name=\"{}\"", vtk_type_name(type), xml_escaped(name));
  if (components != 1) print(" NumberOfComponents=\"{}\"", components);
  print(" format=\"appended\" offset=\"");
  block.place = header_.size();
  blocks_.push_back(std::move(block));
  print("\"/>\n");
}

void VtkXmlWriter::array(const std::string& name, ScalarType type, int components, std::size_t bytes,
                         std::function<void(ByteWriter&)> write) {
  if (!encoding_.packed) return announce(name, type, components, {0, {bytes}, bytes, std::move(write)});
  std::string plain;  // how long it is when it is packed stands in front of it
  plain.reserve(bytes);
  ByteWriter to_memory(plain);
  write(to_memory);
  to_memory.finish();
  const auto packed = std::make_shared<const PackedBytes>(packed_in_blocks(plain));
  std::vector<std::uint64_t> numbers{packed->sizes.size(), packed->block_bytes, plain.size() % packed->block_bytes};
  numbers.insert(numbers.end(), packed->sizes.begin(), packed->sizes.end());
  announce(name, type, components, {0, std::move(numbers), packed->bytes.size(), [packed](ByteWriter& writer) {
                                      writer.write(packed->bytes);
                                    }});
}

void VtkXmlWriter::array(const StoredArray& stored) {
  const XmlArray& array = *stored.array;
  announce(array.name, array.type, array.components,
           {0, stored.numbers, stored.bytes,
            [file = stored.file, &array](ByteWriter& writer) { file->write_stored(array, writer); }});
}

void VtkXmlWriter::arrays(const char* tag, std::span<const ArrayBlock> blocks, std::string_view attributes,
                          std::span<const StoredArray> stored) {
  print("      <{}{}>\n", tag, attributes);
  for (const StoredArray& one : stored) array(one);
  for (const JoinedArray& joined : join_arrays(blocks)) {
    const auto same_name = [&](const StoredArray& one) { return one.array->name == joined.name; };
    if (std::any_of(stored.begin(), stored.end(), same_name)) continue;
    array(joined.name, joined.type, joined.components, joined.byte_count(),
          [joined, order = encoding_.order](ByteWriter& writer) { write_values(writer, joined, order); });
  }
  print("      </{}>\n", tag);
}

void VtkXmlWriter::write_header() {
  std::uint64_t offset = 0;
  for (const Block& block : blocks_) offset += block.all_bytes();
  std::size_t written = 0;
  for (const Block& block : blocks_) {
    offset -= block.all_bytes();
    writer_.print("{}{}", std::string_view(header_).substr(written, block.place - written), offset);
    written = block.place;
  }
  writer_.write(std::string_view(header_).substr(written));
}

void VtkXmlWriter::finish() {
  print("    </Piece>\n  </{}>\n  <AppendedData encoding=\"raw\">\n_", kind_);
  write_header();
  std::reverse(blocks_.begin(), blocks_.end());
  for (const Block& block : blocks_) {
    for (const std::uint64_t number : block.numbers) write_value(writer_, number, encoding_.order);
    block.write(writer_);
  }
  writer_.print("\n  </AppendedData>\n</VTKFile>\n");
  writer_.finish();
}

}  // namespace isochron
