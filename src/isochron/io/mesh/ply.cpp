#include <map>
#include <set>
#include <sstream>

#include "isochron/io/mesh/formats.h"

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
constexpr std::string_view array_marker = "array";

struct PlyHeader {
  Encoding encoding = Encoding::text;
  std::vector<Element> elements;
  std::vector<NamedArray> arrays;
};

// Arrays that the format has property names for.
using Group = std::pair<std::string, std::vector<std::string>>;
const std::vector<Group>& known_groups() {
  static const std::vector<Group> groups{{"Normals", {"nx", "ny", "nz"}},
                                         {"RGBA", {"red", "green", "blue", "alpha"}},
                                         {"RGB", {"red", "green", "blue"}},
                                         {"TCoords", {"s", "t"}},
                                         {"TCoords", {"u", "v"}}};
  return groups;
}

constexpr TypeNames ply_types[] = {{ScalarType::int8, "char|int8"},        {ScalarType::uint8, "uchar|uint8"},
                                   {ScalarType::int16, "short|int16"},     {ScalarType::uint16, "ushort|uint16"},
                                   {ScalarType::int32, "int|int32"},       {ScalarType::uint32, "uint|uint32"},
                                   {ScalarType::float32, "float|float32"}, {ScalarType::float64, "double|float64"}};

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

// Groups an element's scalar properties into arrays and takes their values one by one.
class Table {
 public:
  Table(const Element& element, std::span<const NamedArray> arrays, std::span<const std::string> left_out)
      : columns_(element.properties.size()) {
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
      std::visit([&](auto& v) { v.reserve(element.count * static_cast<std::size_t>(array.components)); }, array.values);
  }

  [[nodiscard]] bool keeps(std::size_t property) const { return columns_[property].has_value(); }
  // Values of one array must arrive in the order of its components; `next_row` sorts them in.
  template <class T>
  void take(std::size_t property, T value) {
    const Column& column = *columns_[property];
    std::visit(
        [&](auto& v) {
          const auto components = static_cast<std::size_t>(arrays_[column.array].components);
          if (v.size() < (rows_ + 1) * components) v.resize((rows_ + 1) * components);
          using Value = typename std::decay_t<decltype(v)>::value_type;
          v[rows_ * components + static_cast<std::size_t>(column.component)] = static_cast<Value>(value);
        },
        arrays_[column.array].values);
  }
  void next_row() { ++rows_; }
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

  std::vector<std::optional<Column>> columns_;
  std::vector<DataArray> arrays_;
  std::size_t rows_ = 0;
};

/// PLY has no whole numbers that double would change.
void read_list(ByteReader& reader, const Property& property, Encoding encoding, std::vector<double>& list) {
  const auto length = read_as<std::int64_t>(reader, *property.count_type, encoding);
  if (length < 0) reader.fail("a list has {} items", length);
  reader.require_room(static_cast<std::size_t>(length), min_bytes(property.type, encoding));
  list.resize(static_cast<std::size_t>(length));
  for (double& item : list) item = read_as<double>(reader, property.type, encoding);
}

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
    std::vector<std::int64_t> ids;
    std::vector<std::size_t> ends;
    std::vector<DataArray> arrays;
  };

  /// Reads all rows of an element. `take(row, property, list)` may take a number itself and returns whether it did; all
  /// other numbers become arrays, and lists that it does not use are passed over.
  template <class Take>
  std::vector<DataArray> read_rows(const Element& element, std::span<const std::string> left_out, Take&& take) {
    Table table(element, header_.arrays, left_out);
    std::vector<double> list;
    for (std::size_t row = 0; row < element.count; ++row) {
      for (std::size_t i = 0; i < element.properties.size(); ++i) {
        const Property& p = element.properties[i];
        if (p.count_type) read_list(reader_, p, header_.encoding, list);
        if (take(row, i, list) || p.count_type) continue;
        with_type(p.type, [&]<class T>() {
          const T value = read_value<T>(reader_, header_.encoding);
          if (table.keeps(i)) table.take(i, value);
        });
      }
      table.next_row();
    }
    return std::move(table.arrays());
  }

  void read_points(const Element& element) {
    std::array<std::size_t, 3> axes{};
    const std::vector<std::string> names{"x", "y", "z"};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto it = std::find_if(element.properties.begin(), element.properties.end(),
                                   [&](const Property& p) { return p.name == names[a] && !p.count_type; });
      if (it == element.properties.end()) reader_.fail("the vertices have no property {}", names[a]);
      axes[a] = static_cast<std::size_t>(it - element.properties.begin());
    }
    dataset_.points.resize(element.count);
    auto arrays = read_rows(element, names, [&](std::size_t row, std::size_t i, const auto&) {
      const auto axis = std::find(axes.begin(), axes.end(), i) - axes.begin();
      if (axis == 3) return false;
      dataset_.points[row][static_cast<int>(axis)] =
          read_as<double>(reader_, element.properties[i].type, header_.encoding);
      return true;
    });
    for (DataArray& array : arrays) add_named(dataset_.point_data, std::move(array), "point_array");
  }

  void read_cells(const Element& element) {
    Cells cells;
    cells.kind = element.name == "face"        ? kind_polygon
                 : element.name == "tristrips" ? kind_triangle_strip
                 : element.name == "edge"      ? kind_line
                                               : 0;
    bool have_corners = false;
    const std::vector<std::string> ends{"vertex1", "vertex2"};
    cells.arrays = read_rows(element, ends, [&](std::size_t, std::size_t i, const std::vector<double>& list) {
      const Property& p = element.properties[i];
      if (i == 0) {
        cells.ends.push_back(0);
        have_corners = false;
      }
      const bool end = cells.kind == kind_line && !p.count_type && (p.name == ends[0] || p.name == ends[1]);
      if (end) {
        cells.ids.push_back(read_as<std::int64_t>(reader_, p.type, header_.encoding));
      } else if (p.count_type && cells.kind != 0 && !have_corners &&
                 (p.name == "vertex_indices" || p.name == "vertex_index")) {
        have_corners = true;
        for (const double number : list) {
          const auto id = converted<std::int64_t>(number);
          if (!id) reader_.fail("{} where a whole number should be", number);
          cells.ids.push_back(*id);
        }
      }
      cells.ends.back() = cells.ids.size();
      return end;
    });
    if (cells.kind != 0) cells_.push_back(std::move(cells));
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

  void sort_cells() {
    const auto of_kind = [&](int kind) {
      return std::count_if(cells_.begin(), cells_.end(), [&](const Cells& c) { return c.kind == kind; });
    };
    const bool edges_fit = of_kind(kind_line) <= 1;
    const bool faces_fit = of_kind(kind_polygon) <= 1 && of_kind(kind_triangle_strip) == 0;
    for (Cells& cells : cells_) {
      CellSorter sorter(dataset_, reader_.path());
      if (cells.kind == kind_polygon) sorter.reserve(kind_triangle, cells.ends.size());
      std::size_t begin = 0;
      for (const std::size_t end : cells.ends) {
        const auto ids = std::span<const std::int64_t>(cells.ids).subspan(begin, end - begin);
        if (cells.kind == kind_triangle_strip) add_strips(sorter, ids);
        else sorter.add(cells.kind, ids);
        begin = end;
      }
      // Arrays cover one element of the file; with several elements of a kind they would not cover all its cells.
      if (cells.kind == kind_line ? edges_fit : faces_fit) {
        for (DataArray& array : cells.arrays) sorter.add_array(std::move(array));
      } else if (!cells.arrays.empty()) {
        dataset_.warnings.emplace_back("arrays on faces were left out (the file has several lists of faces or strips)");
      }
      cells.ids = {};
      cells.ends = {};
    }
  }

  ByteReader reader_;
  PlyHeader header_;
  Dataset dataset_;
  std::vector<Cells> cells_;
};

// ---- writing ----

// PLY has no 64-bit integers.
ScalarType ply_type(const JoinedArray& array) {
  if (array.type != ScalarType::int64) return array.type;
  for (const JoinedArray::Part& part : array.parts) {
    for (const std::int64_t v : std::get<std::vector<std::int64_t>>(part.array->values))
      if (v != static_cast<std::int32_t>(v)) return ScalarType::float64;
  }
  return ScalarType::int32;
}

struct OutColumn {
  const DataArray* array;
  int component;
  ScalarType type;
  std::string name;
};

// The properties of an array, by names that no other property of the element has; these are in `taken`.
std::vector<std::string> property_names(const JoinedArray& array, std::set<std::string>& taken) {
  const auto components = static_cast<std::size_t>(array.components);
  const auto use = [&](const std::vector<std::string>& names) {
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return taken.contains(name); })) return false;
    taken.insert(names.begin(), names.end());
    return true;
  };
  for (const auto& [name, parts] : known_groups())
    if (name == array.name && parts.size() == components && use(parts)) return parts;
  std::set<std::string> meaningful;  // what a group's part alone would be mistaken for
  for (const auto& [name, parts] : known_groups())
    if (parts.size() > 2) meaningful.insert(parts.begin(), parts.end());
  std::string stem = array.name;
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return c <= ' '; }, '_');
  for (;; stem += "_array") {
    std::vector<std::string> names{stem};
    for (std::size_t c = 0; components > 1 && c < components; ++c) {
      names.resize(components);
      names[c] = fmt::format("{}_{}", stem, c);
    }
    if (!meaningful.contains(names[0]) && use(names)) return names;
  }
}

std::vector<OutColumn> columns_of(const DataArrays& data, std::size_t tuples, const char* kind,
                                  std::set<std::string> taken) {
  const ArrayBlock block{&data, tuples, kind};
  std::vector<OutColumn> columns;
  for (const JoinedArray& joined : join_arrays(std::span(&block, 1))) {
    const std::vector<std::string> names = property_names(joined, taken);
    for (int c = 0; c < joined.components; ++c)
      columns.push_back({joined.parts[0].array, c, ply_type(joined), names[static_cast<std::size_t>(c)]});
  }
  return columns;
}

void write_row(ByteWriter& writer, const std::vector<OutColumn>& columns, std::size_t row) {
  for (const OutColumn& column : columns) {
    const double value = column.array->at(row, column.component);
    with_type(column.type, [&]<class T>() { write_value(writer, static_cast<T>(value), native_encoding); });
  }
}

void print_names(ByteWriter& writer, const char* element, const std::vector<OutColumn>& columns) {
  const auto fits_a_line = [](const std::string& name) {
    return std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; });
  };
  for (const OutColumn& c : columns)
    if (c.component == 0 && fits_a_line(c.array->name))
      writer.print("comment {} {} {} {} {}\n", array_marker, element, c.array->components, c.name, c.array->name);
}

void print_columns(ByteWriter& writer, const std::vector<OutColumn>& columns) {
  for (const OutColumn& c : columns) writer.print("property {} {}\n", name_of(ply_types, c.type), c.name);
}

}  // namespace

Dataset read_ply(const std::filesystem::path& path) { return PlyReading(path).run(); }

void write_ply(std::span<const OutputFile> files, const Dataset& dataset) {
  const auto point_columns = columns_of(dataset.point_data, dataset.points.size(), "points", {"x", "y", "z"});
  const std::set<std::string> corners{"vertex_indices", "vertex_index", "vertex1", "vertex2"};
  const auto face_columns = columns_of(dataset.triangles.data, dataset.triangles.cells.size(), "triangles", corners);
  const auto line_columns = columns_of(dataset.line_data, dataset.lines.size(), "lines", corners);
  const ScalarType point_type = smallest_type(dataset.points);
  const std::size_t edges = cells_written(dataset, CellKind::line);

  ByteWriter writer(files[0]);
  writer.print("ply\nformat {} 1.0\ncomment written by Isochron\n",
               native_encoding == Encoding::little_endian ? "binary_little_endian" : "binary_big_endian");
  print_names(writer, "vertex", point_columns);
  print_names(writer, "face", face_columns);
  if (edges > 0) print_names(writer, "edge", line_columns);
  writer.print("element vertex {}\n", dataset.points.size());
  for (const char axis : {'x', 'y', 'z'}) writer.print("property {} {}\n", name_of(ply_types, point_type), axis);
  print_columns(writer, point_columns);
  writer.print("element face {}\nproperty list uchar int vertex_indices\n", dataset.triangles.cells.size());
  print_columns(writer, face_columns);
  if (edges > 0) {
    writer.print("element edge {}\nproperty int vertex1\nproperty int vertex2\n", edges);
    print_columns(writer, line_columns);
  }
  writer.print("end_header\n");

  for (std::size_t i = 0; i < dataset.points.size(); ++i) {
    write_points(writer, std::span(&dataset.points[i], 1), point_type, native_encoding);
    write_row(writer, point_columns, i);
  }
  for (std::size_t i = 0; i < dataset.triangles.cells.size(); ++i) {
    write_value(writer, std::uint8_t{3}, native_encoding);
    writer.write(dataset.triangles.cells[i].data(), 3 * sizeof(std::uint32_t));
    write_row(writer, face_columns, i);
  }
  for_each_written(dataset, CellKind::line, [&](std::size_t line, std::span<const VertexId> ends) {
    for (const VertexId id : ends) write_value(writer, id.value, native_encoding);
    write_row(writer, line_columns, line);
  });
  writer.finish();
}

}  // namespace isochron
