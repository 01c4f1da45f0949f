#include <map>
#include <sstream>

#include "isochron/io/mesh/formats.h"
#include "isochron/io/mesh/ply.h"
#include "isochron/io/text_rows.h"

namespace isochron {
namespace {

struct Property {
  std::string name;
  ScalarType type;
  std::optional<ScalarType> count_type;  // set for lists
};

struct Element {
  std::string name;
  std::size_t count = 0;
  std::vector<Property> properties;
};

// An array and the properties that hold it, the first of which is named: what our files say of each in a comment,
// "array vertex 1 x_array x", since an array may have any name, and some properties have a meaning.
struct NamedArray {
  std::string element;
  std::size_t components = 0;
  std::string property;
  std::string name;
};

struct PlyHeader {
  Encoding encoding = Encoding::text;
  std::vector<Element> elements;
  std::vector<NamedArray> arrays;
};

ScalarType parse_type(const ByteReader& reader, std::string_view word) {
  if (const auto type = type_named(ply_types, word)) return *type;
  reader.fail("unknown PLY property type {}", in_quotes(word));
}

Encoding parse_encoding(ByteReader& reader) {
  const std::string_view word = reader.require_token("the PLY format");
  if (word == "ascii") return Encoding::text;
  if (word == "binary_little_endian") return Encoding::little_endian;
  if (word == "binary_big_endian") return Encoding::big_endian;
  bad_file(reader.path(), "unknown PLY format {}; write it as ascii, binary_little_endian or binary_big_endian",
           in_quotes(word));
}

Property parse_property(ByteReader& reader) {
  constexpr std::string_view what = "a property type";
  Property property;
  std::string_view word = reader.require_token(what);
  if (word == "list") {
    property.count_type = parse_type(reader, reader.require_token(what));
    word = reader.require_token(what);
  }
  property.type = parse_type(reader, word);
  property.name = reader.require_token("a property name");
  return property;
}

void parse_comment(std::string_view text, std::vector<NamedArray>& arrays) {
  std::istringstream words{std::string(text)};
  std::string marker;
  NamedArray array;
  if (!(words >> marker >> array.element >> array.components >> array.property) || marker != array_marker) return;
  if (std::getline(words.ignore(), array.name)) arrays.push_back(std::move(array));
}

PlyHeader parse_header(ByteReader& reader) {
  if (reader.token() != "ply")
    bad_file(reader.path(), "this is no PLY file (it does not begin with 'ply'); check the extension");
  PlyHeader header;
  for (;;) {
    const std::string word(reader.require_token("a header line or end_header"));
    if (word == "format") {
      header.encoding = parse_encoding(reader);
    } else if (word == "element") {
      Element& element = header.elements.emplace_back();
      element.name = reader.require_token("an element name");
      element.count = reader.count("an element count", 0);
    } else if (word == "property") {
      if (header.elements.empty()) reader.fail("a PLY property comes before any element");
      header.elements.back().properties.push_back(parse_property(reader));
    } else if (word != "comment" && word != "obj_info" && word != "end_header") {
      reader.fail("unknown PLY header line {}", in_quotes(word));
    }
    const std::string_view rest = reader.line().value_or("");  // up to the one line end that binary data follows
    if (word == "comment") parse_comment(rest, header.arrays);
    if (word == "end_header") return header;
  }
}

// Smallest size of one element in the file, against damaged counts.
std::size_t min_bytes(const Element& element, Encoding encoding) {
  std::size_t bytes = 0;
  for (const Property& p : element.properties) bytes += min_bytes(p.count_type.value_or(p.type), encoding);
  return bytes;
}

// One scalar property's place in an array.
struct Column {
  std::size_t array = 0;
  int component = 0;
};

// Groups an element's scalar properties into arrays and has places for the values of all rows.
class Table {
 public:
  Table(const Element& element, std::span<const NamedArray> arrays, std::span<const std::string> left_out)
      : columns_(element.properties.size()), values_(element.properties.size()) {
    std::vector<bool> done(element.properties.size());
    for (std::size_t i = 0; i < done.size(); ++i) {
      const Property& p = element.properties[i];
      done[i] = p.count_type || std::find(left_out.begin(), left_out.end(), p.name) != left_out.end();
    }
    try_named(element, arrays, done);
    for (const auto& [name, parts] : known_groups()) try_group(element, name, parts, done);
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (!done[i] && element.properties[i].name.ends_with("_0")) try_numbered(element, i, done);
      if (!done[i]) start(element, element.properties[i].name, std::vector{i}, done);
    }
    for (DataArray& array : arrays_)
      std::visit(
          [&](auto& v) {
            make_room(v, element.count * static_cast<std::size_t>(array.components));
            v.resize(element.count * static_cast<std::size_t>(array.components));
          },
          array.values);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i]) values_[i] = std::visit([](auto& v) -> void* { return v.data(); }, array_of(i).values);
  }

  // Keeps the values of some rows, `value_of(i)` each, which are of the property's type. Several threads do so at once.
  template <class T, class ValueOf>
  void put(std::size_t property, std::size_t first, std::size_t rows, const ValueOf& value_of) {
    if (!columns_[property]) return;
    const auto components = static_cast<std::size_t>(array_of(property).components);
    const auto component = static_cast<std::size_t>(columns_[property]->component);
    Stored<T>* to = static_cast<Stored<T>*>(values_[property]) + first * components + component;
    for (std::size_t i = 0; i < rows; ++i, to += components) *to = to_stored(value_of(i));
  }
  [[nodiscard]] std::vector<DataArray>& arrays() { return arrays_; }

 private:
  void try_named(const Element& element, std::span<const NamedArray> arrays, std::vector<bool>& done) {
    std::map<std::string_view, std::size_t> property;
    for (std::size_t i = 0; i < done.size(); ++i) property.emplace(element.properties[i].name, i);
    for (const NamedArray& array : arrays) {
      const auto first = property.find(array.property);
      if (array.element != element.name || first == property.end()) continue;
      std::vector<std::size_t> members;
      for (std::size_t i = first->second; i < done.size() && !done[i] && members.size() < array.components; ++i)
        members.push_back(i);
      if (!members.empty() && members.size() == array.components) start(element, array.name, members, done);
    }
  }

  void try_group(const Element& element, const std::string& name, const std::vector<std::string>& parts,
                 std::vector<bool>& done) {
    std::vector<std::size_t> members;
    for (const std::string& part : parts) {
      std::size_t i = 0;
      while (i < done.size() && (done[i] || element.properties[i].name != part)) ++i;
      if (i < done.size()) members.push_back(i);
    }
    if (members.size() == parts.size()) start(element, name, members, done);
  }

  void try_numbered(const Element& element, std::size_t first, std::vector<bool>& done) {
    const std::string& first_name = element.properties[first].name;
    const std::string stem = first_name.substr(0, first_name.size() - 2);
    std::vector<std::size_t> members;
    for (std::size_t i = first; i < done.size() && !done[i]; ++i) {
      if (element.properties[i].name != fmt::format("{}_{}", stem, members.size())) break;
      members.push_back(i);
    }
    if (members.size() > 1 && !stem.empty()) start(element, stem, members, done);
  }

  void start(const Element& element, const std::string& name, const std::vector<std::size_t>& members,
             std::vector<bool>& done) {
    const ScalarType type = element.properties[members[0]].type;
    for (const std::size_t i : members)
      if (element.properties[i].type != type) return;
    for (std::size_t c = 0; c < members.size(); ++c) {
      columns_[members[c]] = Column{arrays_.size(), static_cast<int>(c)};
      done[members[c]] = true;
    }
    arrays_.push_back({name, static_cast<int>(members.size()), empty_values(type)});
  }

  DataArray& array_of(std::size_t property) { return arrays_[columns_[property]->array]; }

  std::vector<std::optional<Column>> columns_;
  std::vector<void*> values_;  // of the array of each property
  std::vector<DataArray> arrays_;
};

// Where the values of rows come from: the file, one after the other, or text or bytes of it. Each throws where they
// end.
struct FileSource {
  ByteReader& reader;
  Encoding encoding;

  template <class T>
  T value() {
    return read_value<T>(reader, encoding);
  }
  void require_items(std::size_t items, std::size_t bytes_each) const { reader.require_room(items, bytes_each); }
};
struct TextSource {
  const ByteReader& reader;
  std::string_view text;

  template <class T>
  T value() {
    return next_value<T>(reader, text);
  }
  void require_items(std::size_t items, std::size_t) const {
    if (items > text.size()) reader.fail("a list goes beyond its line");
  }
};
struct ByteSource {
  const ByteReader& reader;
  Encoding encoding;
  std::string_view bytes;

  template <class T>
  T value() {
    require_items(1, sizeof(T));
    const T result = value_at<T>(bytes.data(), encoding);
    bytes.remove_prefix(sizeof(T));
    return result;
  }
  void require_items(std::size_t items, std::size_t bytes_each) const {
    if (items > bytes.size() / bytes_each) reader.fail("a list goes beyond its row");
  }
};

template <class To, class Source>
To value_as(Source& source, const ByteReader& reader, ScalarType type) {
  return with_type(type, [&]<class T>() {
    const T value = source.template value<T>();
    if (const auto result = converted<To>(value)) return *result;
    reader.fail("{} where a whole number should be", value);
  });
}

/// PLY has no whole numbers that double would change.
template <class Source>
void read_list(Source& source, const ByteReader& reader, const Property& property, Encoding encoding,
               std::vector<double>& list) {
  const auto length = value_as<std::int64_t>(source, reader, *property.count_type);
  if (length < 0) reader.fail("a list has {} items", length);
  source.require_items(static_cast<std::size_t>(length), min_bytes(property.type, encoding));
  list.resize(static_cast<std::size_t>(length));
  with_type(property.type, [&]<class T>() {
    for (double& item : list) item = static_cast<double>(source.template value<T>());
  });
}

// What the values of a property are.
enum class Role { other, axis, corners, end };

// Cells of a stretch of rows: their ids may be none of a point yet.
struct CellRows {
  CellList cells;                 // whose ids are whole numbers of 32 bits
  std::vector<std::int64_t> ids;  // else: ids up to the end of each cell
  std::vector<std::size_t> ends;
  std::vector<double> list;  // that is being read

  static constexpr std::size_t most_corners = 8;  // of a cell in the list

  // Cells with ids that vertices may have go into the list, where the caller says so.
  bool add(int kind, std::span<const std::int64_t> corners) {
    std::array<VertexId, most_corners> vertices;
    if (corners.size() > vertices.size()) return false;
    for (std::size_t k = 0; k < corners.size(); ++k) {
      if (!std::in_range<std::uint32_t>(corners[k])) return false;
      vertices[k] = VertexId(static_cast<std::uint32_t>(corners[k]));
    }
    cells.add(kind, std::span(vertices).first(corners.size()));
    return true;
  }
  // The same for several cells of as many corners; `id_of(row, k)` is corner k of one.
  template <class IdOf>
  bool add_rows(int kind, std::size_t count, std::size_t corners, const IdOf& id_of) {
    std::array<VertexId, most_corners> vertices;
    cells.reserve(count * corners);
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t k = 0; k < corners; ++k) {
        const auto id = id_of(row, k);
        if (!std::in_range<std::uint32_t>(id)) return false;
        vertices[k] = VertexId(static_cast<std::uint32_t>(id));
      }
      cells.add(kind, std::span(vertices).first(corners));
    }
    return true;
  }
};

class PlyReading {
 public:
  explicit PlyReading(const std::filesystem::path& path) : reader_(path), header_(parse_header(reader_)) {}

  Dataset run() {
    bool have_points = false;
    for (const Element& element : header_.elements) {
      if (element.properties.empty()) continue;
      reader_.require_room(element.count, min_bytes(element, header_.encoding));
      if (element.name == "vertex") {
        if (have_points) reader_.fail("there are two vertex elements");
        have_points = true;
        read_points(element);
      } else {
        read_cells(element);
      }
    }
    if (header_.encoding == Encoding::text && !header_.elements.empty())
      reader_.require_end(header_.elements.back().name + " rows", header_.elements.back().count);
    if (!have_points) bad_file(reader_.path(), "the PLY file has no vertex element; give a file with a mesh in it");
    sort_cells();
    return std::move(dataset_);
  }

 private:
  // The cells of one element, kept until the points are known (their element may come last).
  struct Cells {
    int kind = 0;
    std::vector<CellRows> parts;
    std::vector<DataArray> arrays;
  };

  // How the rows of an element are read.
  struct Rows {
    const Element& element;
    int kind;  // of cells; 0: no cells
    std::vector<Role> roles;
    std::vector<int> axes;  // of points, for each property
    Table table;
  };

  /// One row. `part` gets its corners behind those that are in `ids`.
  template <class Source>
  void read_row(Source& source, Rows& rows, std::size_t row, CellRows& part) {
    for (std::size_t i = 0; i < rows.roles.size(); ++i) {
      const Property& p = rows.element.properties[i];
      if (p.count_type) {
        read_list(source, reader_, p, header_.encoding, part.list);
        if (rows.roles[i] == Role::corners)
          for (const double number : part.list) {
            const auto id = converted<std::int64_t>(number);
            if (!id) reader_.fail("{} where a whole number should be", number);
            part.ids.push_back(*id);
          }
      } else if (rows.roles[i] == Role::axis) {
        dataset_.points[row][rows.axes[i]] = value_as<double>(source, reader_, p.type);
      } else if (rows.roles[i] == Role::end) {
        part.ids.push_back(value_as<std::int64_t>(source, reader_, p.type));
      } else {
        with_type(p.type, [&]<class T>() {
          const T value = source.template value<T>();
          rows.table.put<T>(i, row, 1, [&](std::size_t) { return value; });
        });
      }
    }
  }

  /// The bytes of the next row of a binary file, if others are to be like it; 0 where lists go beyond reason.
  std::size_t bytes_of_next_row(const Element& element) {
    std::size_t bytes = 0;
    for (const Property& p : element.properties) {
      if (!p.count_type) {
        bytes += size_of(p.type);
        continue;
      }
      constexpr std::size_t longest = 4096;
      const std::string_view start = reader_.peek(longest);
      if (bytes + size_of(*p.count_type) > start.size()) return 0;
      ByteSource source{reader_, header_.encoding, start.substr(bytes)};
      const auto length = value_as<double>(source, reader_, *p.count_type);
      if (!(length >= 0 && length < longest)) return 0;
      bytes += size_of(*p.count_type) + static_cast<std::size_t>(length) * size_of(p.type);
    }
    return bytes;
  }

  /// Rows of as many bytes each, one property after the other. False where lists differ in length, and for what
  /// `read_row` is left to see to.
  bool read_columns(Rows& rows, std::string_view bytes, std::size_t row, std::size_t row_bytes, CellRows& part) {
    const std::size_t count = bytes.size() / row_bytes;
    const auto corners = std::count(rows.roles.begin(), rows.roles.end(), Role::corners);
    if (corners != (rows.kind == 0 ? 0 : 1)) return false;
    std::size_t offset = 0;  // of a property in its row
    for (std::size_t i = 0; i < rows.roles.size(); ++i) {
      const Property& p = rows.element.properties[i];
      std::size_t items = 1;
      if (rows.roles[i] == Role::end) return false;
      if (p.count_type) {
        const auto length = equal_lengths(bytes, offset, row_bytes, *p.count_type);
        if (!length || *length > CellRows::most_corners) return false;
        items = *length;
        offset += size_of(*p.count_type);
      }
      if (offset + items * size_of(p.type) > row_bytes) return false;
      const bool good = with_type(p.type, [&]<class T>() {
        const auto value_of = [&, from = bytes.data() + offset](std::size_t r, std::size_t k = 0) {
          return value_at<T>(from + r * row_bytes + k * sizeof(T), header_.encoding);
        };
        if (rows.roles[i] == Role::corners) {
          if constexpr (std::is_integral_v<T>) return part.add_rows(rows.kind, count, items, value_of);
          else return false;
        }
        if (rows.roles[i] == Role::axis)
          for (std::size_t r = 0; r < count; ++r)
            dataset_.points[row + r][rows.axes[i]] = static_cast<double>(value_of(r));
        else if (!p.count_type) rows.table.put<T>(i, row, count, value_of);
        return true;
      });
      if (!good) return false;
      offset += items * size_of(p.type);
    }
    return offset == row_bytes;
  }

  /// How long a list of each row is, where they are all as long.
  std::optional<std::size_t> equal_lengths(std::string_view bytes, std::size_t offset, std::size_t row_bytes,
                                           ScalarType type) const {
    if (offset + size_of(type) > row_bytes) return std::nullopt;
    return with_type(type, [&]<class T>() -> std::optional<std::size_t> {
      const auto first = value_at<T>(bytes.data() + offset, header_.encoding);
      for (std::size_t at = offset; at < bytes.size(); at += row_bytes)
        if (value_at<T>(bytes.data() + at, header_.encoding) != first) return std::nullopt;
      return converted<std::size_t>(first);
    });
  }

  /// A chunk of rows that are lines, or as many bytes each. False where they are not.
  bool read_chunk(Rows& rows, const TextRows& chunk, std::size_t row, std::size_t row_bytes, CellRows& part) {
    const auto cell_done = [&] {
      const bool fits = rows.kind == 0 || part.add(rows.kind, part.ids);
      part.ids.clear();
      return fits;
    };
    if (row_bytes > 0) {
      CellRows columns;
      if (read_columns(rows, chunk.text, row, row_bytes, columns)) return part = std::move(columns), true;
    }
    TextSource text{reader_, chunk.text};
    for (std::size_t i = 0; i < chunk.count; ++i) {
      if (row_bytes == 0) {
        read_row(text, rows, row + i, part);
      } else {
        ByteSource bytes{reader_, header_.encoding, chunk.text.substr(i * row_bytes, row_bytes)};
        read_row(bytes, rows, row + i, part);
        if (!bytes.bytes.empty()) return false;
      }
      if (!cell_done()) return false;
    }
    return row_bytes > 0 || trimmed(text.text).empty();
  }

  std::vector<CellRows> read_rows(Rows& rows) {
    std::vector<CellRows> parts;
    const bool in_text = header_.encoding == Encoding::text;
    constexpr std::size_t first_few = 4096;
    std::size_t few = first_few;  // rows that are read one by one; then they may be alike again
    for (std::size_t row = 0; row < rows.element.count;) {
      const std::size_t before = row;
      const std::size_t row_bytes = in_text ? 0 : bytes_of_next_row(rows.element);
      if (rows.kind != kind_triangle_strip && (in_text || row_bytes > 0))
        while (const std::size_t read = read_window(reader_, rows.element.count - row, row_bytes, RowsEnd::word, parts,
                                                    [&](const TextRows& chunk, CellRows& part) {
                                                      return read_chunk(rows, chunk, row + chunk.first, row_bytes,
                                                                        part);
                                                    }))
          row += read;
      few = row > before ? first_few : 2 * few;  // a window that is looked at in vain costs as much as many rows
      CellRows& part = parts.emplace_back();
      FileSource file{reader_, header_.encoding};
      for (const std::size_t end = std::min(rows.element.count, row + few); row < end; ++row) {
        read_row(file, rows, row, part);
        if (rows.kind == 0) continue;
        if (rows.kind != kind_triangle_strip && part.ends.empty() && part.add(rows.kind, part.ids)) part.ids.clear();
        else part.ends.push_back(part.ids.size());
      }
    }
    return parts;
  }

  void read_points(const Element& element) {
    const std::vector<std::string> names{"x", "y", "z"};
    Rows rows{element, 0, std::vector(element.properties.size(), Role::other),
              std::vector<int>(element.properties.size()), Table(element, header_.arrays, names)};
    for (int a = 0; a < 3; ++a) {
      const auto it = std::find_if(element.properties.begin(), element.properties.end(), [&](const Property& p) {
        return p.name == names[static_cast<std::size_t>(a)] && !p.count_type;
      });
      if (it == element.properties.end())
        reader_.fail("the vertices have no property {}", names[static_cast<std::size_t>(a)]);
      const auto property = static_cast<std::size_t>(it - element.properties.begin());
      rows.roles[property] = Role::axis;
      rows.axes[property] = a;
    }
    make_room(dataset_.points, element.count);
    dataset_.points.resize(element.count);
    read_rows(rows);
    for (DataArray& array : rows.table.arrays()) add_named(dataset_.point_data, std::move(array), "point_array");
  }

  void read_cells(const Element& element) {
    const int kind = element.name == "face"        ? kind_polygon
                     : element.name == "tristrips" ? kind_triangle_strip
                     : element.name == "edge"      ? kind_line
                                                   : 0;
    const std::vector<std::string> ends{"vertex1", "vertex2"};
    Rows rows{
        element, kind, std::vector(element.properties.size(), Role::other), {}, Table(element, header_.arrays, ends)};
    bool have_corners = false;
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const Property& p = element.properties[i];
      if (kind == kind_line && !p.count_type && (p.name == ends[0] || p.name == ends[1])) {
        rows.roles[i] = Role::end;
      } else if (p.count_type && kind != 0 && !have_corners &&
                 (p.name == "vertex_indices" || p.name == "vertex_index")) {
        rows.roles[i] = Role::corners;
        have_corners = true;
      }
    }
    Cells cells{kind, read_rows(rows), std::move(rows.table.arrays())};
    if (kind != 0) cells_.push_back(std::move(cells));
  }

  // Stanford's strips put -1 between the strips of one long list.
  static void add_strips(CellSorter& sorter, std::span<const std::int64_t> ids) {
    auto begin = ids.begin();
    while (begin != ids.end()) {
      const auto end = std::find(begin, ids.end(), -1);
      if (end - begin >= 3) sorter.add(kind_triangle_strip, std::span(begin, end));
      begin = end == ids.end() ? end : end + 1;
    }
  }

  void add_cells(CellSorter& sorter, const Cells& cells) const {
    const auto in_list = [](const CellRows& part) { return part.ends.empty(); };
    if (std::all_of(cells.parts.begin(), cells.parts.end(), in_list) && sorter.add_all(lists_of(cells.parts))) return;
    for (const CellRows& part : cells.parts) {
      sorter.add_each(part.cells);
      std::size_t begin = 0;
      for (const std::size_t end : part.ends) {
        const auto ids = std::span<const std::int64_t>(part.ids).subspan(begin, end - begin);
        if (cells.kind == kind_triangle_strip) add_strips(sorter, ids);
        else sorter.add(cells.kind, ids);
        begin = end;
      }
    }
  }

  void sort_cells() {
    const auto of_kind = [&](int kind) {
      return std::count_if(cells_.begin(), cells_.end(), [&](const Cells& c) { return c.kind == kind; });
    };
    const bool edges_fit = of_kind(kind_line) <= 1;
    const bool faces_fit = of_kind(kind_polygon) <= 1 && of_kind(kind_triangle_strip) == 0;
    for (Cells& cells : cells_) {
      CellSorter sorter(dataset_, reader_.path());
      add_cells(sorter, cells);
      // Arrays cover one element of the file; with several elements of a kind they would not cover all its cells.
      if (cells.kind == kind_line ? edges_fit : faces_fit) {
        for (DataArray& array : cells.arrays) sorter.add_array(std::move(array));
      } else if (!cells.arrays.empty()) {
        dataset_.warnings.emplace_back("arrays on faces were left out (the file has several lists of faces or strips)");
      }
      cells.parts = {};
    }
  }

  ByteReader reader_;
  PlyHeader header_;
  Dataset dataset_;
  std::vector<Cells> cells_;
};

}  // namespace

Dataset read_ply(const std::filesystem::path& path) { return PlyReading(path).run(); }

}  // namespace isochron
