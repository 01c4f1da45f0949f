// GIFTI and FreeSurfer surfaces.
#include <fstream>

#include "isochron/io/image/values.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/packed_blocks.h"

namespace isochron {
namespace {

constexpr std::string_view intent_prefix = "NIFTI_INTENT_", type_prefix = "NIFTI_TYPE_";
constexpr std::string_view scanner_space = "NIFTI_XFORM_SCANNER_ANAT";

/// An element DataArray.
struct GiftiArray {
  std::string intent;  // without its prefix
  std::string name;    // from the meta data
  std::size_t rows = 0, columns = 1;
  DataArray::Values values;
  std::vector<double> to_scanner;  // 4 × 4, row by row; empty: none
};

class GiftiReader {
 public:
  GiftiReader(const std::filesystem::path& path, std::string_view text) : path_(path), xml_(path, text) {}

  std::vector<GiftiArray> arrays() {
    std::vector<GiftiArray> result;
    bool known = false;
    for (XmlEvent event = xml_.next(); event.kind != XmlEvent::Kind::end; event = xml_.next()) {
      if (event.kind != XmlEvent::Kind::open) continue;
      if (event.name == "GIFTI") known = true;
      if (known && event.name == "DataArray" && !event.empty) result.push_back(array(event));
    }
    if (!known) xml_.fail("is no GIFTI file (there is no element GIFTI)");
    return result;
  }

 private:
  std::string_view required(const XmlEvent& event, std::string_view name) {
    const auto value = event.attribute(name);
    if (!value) xml_.fail("an array has no attribute {}", name);
    return *value;
  }

  std::size_t whole(const XmlEvent& event, std::string_view name) {
    const std::string_view text = required(event, name);
    const auto value = parse_number<std::size_t>(text);
    if (!value || *value > std::size_t{1} << 40U) xml_.fail("{} of an array is no size ({})", name, in_quotes(text));
    return *value;
  }

  GiftiArray array(const XmlEvent& element) {
    GiftiArray result;
    const std::string_view intent = required(element, "Intent");
    result.intent = intent.starts_with(intent_prefix) ? intent.substr(intent_prefix.size()) : intent;
    const std::size_t dimensions = whole(element, "Dimensionality");
    if (dimensions < 1 || dimensions > 2) xml_.fail("an array with {} dimensions", dimensions);
    result.rows = whole(element, "Dim0");
    result.columns = dimensions == 2 ? whole(element, "Dim1") : 1;
    if (result.columns < 1 || result.columns > 1 << 20) xml_.fail("an array with a senseless number of columns");
    for (;;) {
      const XmlEvent event = xml_.next();
      if (event.kind == XmlEvent::Kind::end) xml_.fail("an array does not end");
      if (event.kind == XmlEvent::Kind::close && event.name == "DataArray") return result;
      if (event.kind != XmlEvent::Kind::open || event.empty) continue;
      if (event.name == "MD") read_meta_data(result);
      if (event.name == "CoordinateSystemTransformMatrix") read_transform(result);
      if (event.name == "Data") result.values = values(element, result);
    }
  }

  /// Calls `body` with each element that opens before the element `outer` ends.
  template <class Body>
  void for_each_inside(std::string_view outer, Body&& body) {
    for (XmlEvent event = xml_.next(); event.name != outer && event.kind != XmlEvent::Kind::end; event = xml_.next())
      if (event.kind == XmlEvent::Kind::open) body(event);
  }

  void read_meta_data(GiftiArray& array) {
    std::string_view name;
    for_each_inside("MD", [&](const XmlEvent& event) {
      if (event.name == "Name") name = xml_.text();
      if (event.name == "Value" && name == "Name") array.name = xml_.text();
    });
  }

  void read_transform(GiftiArray& array) {
    std::string_view from, to;
    std::vector<double> matrix;
    for_each_inside("CoordinateSystemTransformMatrix", [&](const XmlEvent& event) {
      if (event.name == "DataSpace") from = xml_.text();
      if (event.name == "TransformedSpace") to = xml_.text();
      if (event.name == "MatrixData") {
        TextScanner scanner(path_, xml_.text(), {});
        while (!scanner.at_end() && matrix.size() < 16)
          matrix.push_back(scanner.coordinate("a number of the transform"));
      }
    });
    if (to != scanner_space || from == scanner_space || !array.to_scanner.empty()) return;
    if (matrix.size() != 16) xml_.fail("a transform that has not 16 numbers");
    array.to_scanner = std::move(matrix);
  }

  DataArray::Values values(const XmlEvent& element, const GiftiArray& array) {
    std::string_view type_text = required(element, "DataType");
    if (type_text.starts_with(type_prefix)) type_text.remove_prefix(type_prefix.size());
    const auto type = type_named(scalar_type_names, lower_case(type_text));
    if (!type) xml_.fail("an array of a type that is not read ({})", in_quotes(type_text));
    const std::string_view how = required(element, "Encoding");
    const Encoding order = element.attribute("Endian").value_or("LittleEndian") == "BigEndian"
                               ? Encoding::big_endian
                               : Encoding::little_endian;
    const std::size_t count = array.rows * array.columns;  // below 2⁶⁰
    const std::size_t bytes = count * size_of(*type);
    const std::string_view text = xml_.text();
    DataArray::Values result;
    if (how == "ASCII") {
      result = text_values(text, *type, count);
    } else if (how == "Base64Binary") {
      const std::string data = from_base64(text, path_);
      if (data.size() < bytes) xml_.fail("an array is shorter than it says");
      result = values_of_bytes(std::string_view(data).substr(0, bytes), *type, order);
    } else if (how == "GZipBase64Binary") {
      result = values_of_bytes(unpacked(from_base64(text, path_), bytes, path_), *type, order);
    } else {
      xml_.fail("an array that is not in the file itself (encoding {})", in_quotes(how));
    }
    if (element.attribute("ArrayIndexingOrder") != "ColumnMajorOrder") return result;
    return reordered(std::move(result), std::array{ValueAxis{array.rows, array.columns}, ValueAxis{array.columns, 1}});
  }

  DataArray::Values text_values(std::string_view text, ScalarType type, std::size_t count) {
    TextScanner scanner(path_, text, {});
    scanner.check_count("the numbers of an array", count, 2);
    return with_type(type, [&]<class T>() -> DataArray::Values {
      std::vector<Stored<T>> list(count);
      for (Stored<T>& value : list) value = to_stored(scanner.number<T>("a number"));
      return list;
    });
  }

  const std::filesystem::path& path_;
  XmlScanner xml_;
};

void take_points(const GiftiArray& array, Dataset& dataset) {
  const DataArray numbers{"", 3, array.values};
  dataset.points.resize(array.rows);
  const std::vector<double>& m = array.to_scanner;
  for (std::size_t i = 0; i < array.rows; ++i) {
    const Vec3d p{numbers.at(i, 0), numbers.at(i, 1), numbers.at(i, 2)};
    dataset.points[i] = p;
    for (int row = 0; !m.empty() && row < 3; ++row) {
      const auto r = static_cast<std::size_t>(4 * row);
      dataset.points[i][row] = m[r] * p.x + m[r + 1] * p.y + m[r + 2] * p.z + m[r + 3];
    }
  }
}

void take_triangles(const GiftiArray& array, std::size_t points, const XmlScanner& xml, Dataset& dataset) {
  const DataArray numbers{"", 3, array.values};
  dataset.triangles.cells.resize(array.rows);
  for (std::size_t i = 0; i < array.rows; ++i)
    for (int c = 0; c < 3; ++c) {
      const double number = numbers.at(i, c);
      const auto id = converted<std::size_t>(number);
      if (!id || *id >= points) xml.fail("vertex {} in triangle {} (there are {} vertices)", number, i, points);
      dataset.triangles.cells[i][static_cast<std::size_t>(c)] = VertexId(*id);
    }
}

constexpr std::string_view triangle_magic = "\xff\xff\xfe";
constexpr std::string_view quad_magic = "\xff\xff\xff";

std::size_t read_count(ByteReader& reader, std::string_view what) {
  const auto count = read_value<std::int32_t>(reader, Encoding::big_endian);
  if (count < 0) reader.fail("a number of {} below zero ({})", what, count);
  reader.require_room(static_cast<std::size_t>(count), 12);
  return static_cast<std::size_t>(count);
}

/// The volume's centre, from the text that newer files have at their end.
void note_shift(ByteReader& reader, Dataset& dataset) {
  constexpr std::size_t longest = 1 << 16;
  const std::string footer(reader.peek(longest));
  TextScanner scanner(reader.path(), footer, {.hash_comments = false, .separators = "="});
  if (!scanner.skip_past("cras")) return;
  const double x = scanner.coordinate(), y = scanner.coordinate(), z = scanner.coordinate();
  if (x == 0 && y == 0 && z == 0) return;
  dataset.warnings.push_back(
      fmt::format("coordinates are FreeSurfer's surface RAS; scanner RAS is {} {} {} further", x, y, z));
}

}  // namespace

Dataset read_gifti(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  const XmlScanner failures(path, {});
  std::vector<GiftiArray> arrays = GiftiReader(path, bytes.text()).arrays();
  const auto of_intent = [&](std::string_view intent) {
    return std::find_if(arrays.begin(), arrays.end(), [&](const GiftiArray& a) { return a.intent == intent; });
  };
  Dataset dataset;
  const auto points = of_intent("POINTSET");
  const auto triangles = of_intent("TRIANGLE");
  if (points == arrays.end()) failures.fail("there are no points (it is data for a surface in another file)");
  for (const auto& part : {points, triangles}) {
    if (part == arrays.end()) continue;
    const std::size_t count = std::visit([](const auto& v) { return v.size(); }, part->values);
    if (part->columns != 3 || count != 3 * part->rows) failures.fail("points or triangles without three numbers each");
  }
  take_points(*points, dataset);
  if (triangles != arrays.end()) take_triangles(*triangles, dataset.points.size(), failures, dataset);
  for (auto array = arrays.begin(); array != arrays.end(); ++array) {
    if (array == points || array == triangles) continue;
    DataArray values{array->name, static_cast<int>(array->columns), std::move(array->values)};
    if (array->rows != dataset.points.size() || values.value_count() != array->rows * array->columns) {
      dataset.warnings.push_back(
          fmt::format("an array ({}) is left out (it has no value for each point)", array->intent));
      continue;
    }
    add_named(dataset.point_data, std::move(values), lower_case(array->intent));
  }
  return dataset;
}

bool is_freesurfer_surface(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string front(3, '\0');
  return file.read(front.data(), 3) && front == triangle_magic;
}

Dataset read_freesurfer_surface(const std::filesystem::path& path) {
  ByteReader reader(path);
  if (reader.peek(3) == quad_magic)
    bad_file(path, "is a surface of quads (an old format); convert it with mris_convert");
  if (reader.peek(3) != triangle_magic) reader.fail("is no FreeSurfer surface (its magic number is missing)");
  reader.skip(3);
  for (int line = 0; line < 2; ++line) reader.line();  // who made it, and an empty line
  const std::size_t points = read_count(reader, "points");
  const std::size_t triangles = read_count(reader, "triangles");
  reader.require_room(points + triangles, 12);
  Dataset dataset;
  dataset.points.resize(points);
  for (Vec3d& p : dataset.points)
    for (int d = 0; d < 3; ++d) p[d] = static_cast<double>(read_value<float>(reader, Encoding::big_endian));
  dataset.triangles.cells.resize(triangles);
  for (auto& cell : dataset.triangles.cells) {
    for (VertexId& id : cell) {
      const auto corner = read_value<std::int32_t>(reader, Encoding::big_endian);
      if (corner < 0 || static_cast<std::size_t>(corner) >= points)
        reader.fail("vertex {} in a triangle (there are {} vertices)", corner, points);
      id = VertexId(static_cast<std::size_t>(corner));
    }
  }
  note_shift(reader, dataset);
  return dataset;
}

}  // namespace isochron
