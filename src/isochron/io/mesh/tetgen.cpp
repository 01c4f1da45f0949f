#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

// TetGen's attributes are nameless. Our files name them in a comment, "# arrays: name:type:components ...", which every
// reader of the format skips.
constexpr std::string_view names_marker = "# arrays:";

// "name:type:components"; the name itself may hold colons.
bool parse_declaration(std::string_view text, DataArray& array) {
  const std::size_t second = text.rfind(':');
  if (second == std::string_view::npos || second == 0) return false;
  const std::size_t first = text.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return false;
  const auto components = parse_number<int>(text.substr(second + 1));
  const auto type = type_named(scalar_type_names, text.substr(first + 1, second - first - 1));
  if (!components || *components < 1 || *components > 1000 || !type) return false;
  array = {percent_decoded(text.substr(0, first)), *components, empty_values(*type)};
  return scalar_type(array.values) == *type;
}

// The arrays that a file of ours declares; empty when it declares none, or not as many values as a row has.
std::vector<DataArray> declared_arrays(std::string_view text, std::size_t values_per_row) {
  std::vector<DataArray> result;
  if (!text.starts_with(names_marker)) return result;
  TextScanner in({}, text.substr(names_marker.size(), text.find('\n') - names_marker.size()), {});
  std::size_t values = 0;
  while (!in.at_end()) {
    if (!parse_declaration(in.word("an array"), result.emplace_back())) return {};
    values += static_cast<std::size_t>(result.back().components);
  }
  if (values != values_per_row) result.clear();
  return result;
}

// Attribute columns of a file while they are read.
class Columns {
 public:
  Columns(std::string_view text, std::size_t values_per_row, std::string_view last_name)
      : arrays_(declared_arrays(text, values_per_row)), declared_(!arrays_.empty()), values_per_row_(values_per_row) {
    if (declared_) return;
    for (std::size_t k = 0; k < values_per_row; ++k) {
      const bool named = k + 1 == values_per_row && !last_name.empty();
      arrays_.push_back({named ? std::string(last_name) : fmt::format("attribute{}", k), 1, std::vector<double>()});
    }
  }

  [[nodiscard]] std::size_t values_per_row() const { return values_per_row_; }
  /// Makes places for so many rows.
  void resize(std::size_t rows) {
    for (DataArray& array : arrays_)
      std::visit([&](auto& values) { values.resize(rows * static_cast<std::size_t>(array.components)); }, array.values);
  }
  void read_row(TextScanner& in, std::size_t row) {
    for (DataArray& array : arrays_)
      std::visit([&](auto& values) { read_tuple(in, row, array.components, values); }, array.values);
  }

  void store(DataArrays& target) {
    for (DataArray& array : arrays_) {
      if (declared_) target.set(std::move(array));
      else set_numbers(target, std::move(array.name), std::move(std::get<std::vector<double>>(array.values)));
    }
  }

 private:
  template <class T>
  static void read_tuple(TextScanner& in, std::size_t row, int components, std::vector<T>& values) {
    T* const tuple = values.data() + row * static_cast<std::size_t>(components);
    for (int k = 0; k < components; ++k) tuple[k] = in.number<T>("an attribute");
  }

  std::vector<DataArray> arrays_;
  bool declared_;
  std::size_t values_per_row_;
};

std::size_t attribute_count(TextScanner& in) {
  const auto attributes = in.more_on_line() ? in.integer<std::uint32_t>("the number of attributes") : 0U;
  if (attributes > 1000) in.fail("more than 1000 attributes (the header is damaged); export the file again");
  return attributes;
}

std::uint64_t first_index(TextScanner in) { return in.integer<std::uint64_t>("a point's index"); }

// Returns the number that the first vertex has: 0 or 1.
std::size_t read_nodes(const std::filesystem::path& path, Dataset& result) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t points = in.count("the number of points", 6);
  if (points == 0) in.fail("there are no points (TetGen leaves them in another file then); write them into this one");
  const int dimension = in.integer<int>("the dimension");
  if (dimension != 2 && dimension != 3) in.fail("the dimension is not 2 or 3 (nothing else exists); repair the file");
  Columns columns(bytes.text(), attribute_count(in), "");
  const bool markers = in.more_on_line() && in.integer<int>("the number of boundary markers") != 0;
  in.skip_line();

  const std::size_t base = first_index(in), possible = in.possible_rows(points, 2 * (columns.values_per_row() + 3));
  std::vector<std::int32_t> marks(markers ? possible : 0);
  result.points.resize(points);
  columns.resize(possible);
  const auto read = [&](TextScanner& row, std::size_t i) {
    const auto index = row.integer<std::uint64_t>("a point's index");
    if (base > 1 || index != base + i)
      row.fail("points are not numbered 0, 1, 2... or 1, 2, 3...; renumber them in order");
    for (int k = 0; k < dimension; ++k) result.points[i][k] = row.coordinate();
    columns.read_row(row, i);
    if (markers) marks[i] = row.integer<std::int32_t>("a boundary marker");
    row.skip_rest();
  };
  read_rows(in, points, 0, read, possible);
  in.require_end("points", points);
  columns.store(result.point_data);
  if (markers) set_labels(result.point_data, "boundary_marker", std::move(marks));
  return base;
}

template <int Corners>
void read_cells(TextScanner& in, std::size_t cells, int extra, std::size_t base, Columns& columns, Dataset& result) {
  auto& block = result.block<Corners>();
  make_room(block.cells, cells);
  block.cells.resize(cells);
  const std::size_t possible = in.possible_rows(cells, 2 * (columns.values_per_row() + Corners + 1));
  columns.resize(possible);
  const auto read = [&](TextScanner& row, std::size_t i) {
    row.integer<std::int64_t>("an element's index");  // real files have gaps here; nothing refers to it
    for (VertexId& v : block.cells[i]) v = row.vertex(base, result.points.size());
    for (int k = 0; k < extra; ++k) row.vertex(base, result.points.size());
    columns.read_row(row, i);
    row.skip_rest();
  };
  read_rows(in, cells, 0, read, possible);
  in.require_end("elements", cells);
  columns.store(block.data);
  if (extra > 0)
    result.warnings.push_back(fmt::format(
        "second-order elements: only the {} corners are used, the nodes between them belong to no element", Corners));
}

void read_elements(const std::filesystem::path& path, std::size_t base, Dataset& result) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t cells = in.count("the number of elements", 8);
  const int corners = in.more_on_line() ? in.integer<int>("the number of corners") : 4;
  Columns columns(bytes.text(), attribute_count(in), "region");
  in.skip_line();
  if (corners == 4 || corners == 10) read_cells<4>(in, cells, corners - 4, base, columns, result);
  else if (corners == 3 || corners == 6) read_cells<3>(in, cells, corners - 3, base, columns, result);
  else in.fail("elements have {} nodes (known are 3, 4, 6 and 10); export simplices", corners);
}

void write_names(ByteWriter& out, const DataArrays& arrays) {
  if (arrays.empty()) return;
  out.print("{}", names_marker);
  for (const DataArray& array : arrays.all())
    out.print(" {}:{}:{}", percent_encoded(array.name), name_of(scalar_type_names, scalar_type(array.values)),
              array.components);
  out.print("\n");
}

int values_per_tuple(const DataArrays& arrays) {
  int result = 0;
  for (const DataArray& array : arrays.all()) result += array.components;
  return result;
}

void print_values(PrintedText& out, const DataArrays& arrays, std::size_t tuple) {
  for (const DataArray& array : arrays.all()) {
    out << ' ';
    print_tuple(out, array, tuple);
  }
  out << '\n';
}

template <int Corners>
void write_elements(const OutputFile& file, const CellBlock<Corners>& block) {
  ByteWriter out(file);
  write_names(out, block.data);
  out.print("{} {} {}\n", block.cells.size(), Corners, values_per_tuple(block.data));
  out.print_rows(block.cells.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
    for (std::size_t i = first; i < first + count; ++i) {
      text << i;
      for (const VertexId v : block.cells[i]) text << ' ' << v.value;
      print_values(text, block.data, i);
    }
  });
  out.finish();
}

}  // namespace

Dataset read_tetgen(const std::filesystem::path& path) {
  Dataset result;
  const auto nodes = require_companion(path, ".node"), elements = require_companion(path, ".ele");
  read_elements(elements, read_nodes(nodes, result), result);
  return result;
}

void write_tetgen(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter out(files[0]);
  write_names(out, dataset.point_data);
  out.print("{} 3 {} 0\n", dataset.points.size(), values_per_tuple(dataset.point_data));
  out.print_rows(dataset.points.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
    for (std::size_t i = first; i < first + count; ++i) {
      const Vec3d& p = dataset.points[i];
      text << i << ' ' << p.x << ' ' << p.y << ' ' << p.z;
      print_values(text, dataset.point_data, i);
    }
  });
  out.finish();
  if (!dataset.tets.cells.empty()) write_elements<4>(files[1], dataset.tets);
  else write_elements<3>(files[1], dataset.triangles);
}

}  // namespace isochron
