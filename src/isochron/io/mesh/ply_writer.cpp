#include <set>

#include "isochron/io/mesh/formats.h"
#include "isochron/io/mesh/ply.h"

namespace isochron {
namespace {

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

std::size_t row_bytes(const std::vector<OutColumn>& columns) {
  std::size_t bytes = 0;
  for (const OutColumn& column : columns) bytes += size_of(column.type);
  return bytes;
}

// Puts the values of some rows here, where rows are so many bytes apart.
void put_rows(char* to, std::size_t stride, const std::vector<OutColumn>& columns, std::size_t first,
              std::size_t rows) {
  for (const OutColumn& column : columns)
    with_type(column.type, [&]<class T>() {
      const auto width = static_cast<std::size_t>(column.array->components);
      const std::size_t begin = first * width + static_cast<std::size_t>(column.component);
      std::visit(
          [&](const auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            using Via = std::conditional_t<std::is_same_v<Value, T>, T, double>;
            for (std::size_t i = 0; i < rows; ++i)
              put_value(to + i * stride, static_cast<T>(static_cast<Via>(values[begin + i * width])), native_encoding);
          },
          column.array->values);
      to += sizeof(T);
    });
}

char* put_ids(char* to, std::span<const VertexId> ids) {
  return std::copy_n(reinterpret_cast<const char*>(ids.data()), ids.size_bytes(), to);
}

void write_vertices(ByteWriter& writer, const Dataset& dataset, ScalarType type,
                    const std::vector<OutColumn>& columns) {
  const auto write = [&]<class T>() {
    const std::size_t each = 3 * sizeof(T) + row_bytes(columns);
    writer.write_items(dataset.points.size(), each, [&](std::size_t first, std::size_t some, char* to) {
      for (std::size_t i = 0; i < some; ++i)
        for (int k = 0; k < 3; ++k)
          put_value(to + i * each + static_cast<std::size_t>(k) * sizeof(T),
                    static_cast<T>(dataset.points[first + i][k]), native_encoding);
      put_rows(to + 3 * sizeof(T), each, columns, first, some);
    });
  };
  if (type == ScalarType::float32) write.operator()<float>();
  else write.operator()<double>();
}

void write_faces(ByteWriter& writer, const Dataset& dataset, const std::vector<OutColumn>& columns) {
  const auto& cells = dataset.triangles.cells;
  const std::size_t each = 1 + 3 * sizeof(VertexId) + row_bytes(columns);
  writer.write_items(cells.size(), each, [&](std::size_t first, std::size_t some, char* to) {
    for (std::size_t i = 0; i < some; ++i) {
      to[i * each] = 3;
      put_ids(to + i * each + 1, cells[first + i]);
    }
    put_rows(to + 1 + 3 * sizeof(VertexId), each, columns, first, some);
  });
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

  write_vertices(writer, dataset, point_type, point_columns);
  write_faces(writer, dataset, face_columns);
  std::vector<char> row(2 * sizeof(VertexId) + row_bytes(line_columns));
  for_each_written(dataset, CellKind::line, [&](std::size_t line, std::span<const VertexId> ends) {
    put_rows(put_ids(row.data(), ends), 0, line_columns, line, 1);
    writer.write(row.data(), row.size());
  });
  writer.finish();
}

}  // namespace isochron
