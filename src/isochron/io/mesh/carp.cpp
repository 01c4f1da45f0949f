#include <algorithm>

#include "isochron/core/join_text.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/mesh/direction_names.h"

namespace isochron {
namespace {

struct CarpElement {
  std::string_view code;
  int kind;  // VTK's; below 0: one that is left out
  /// Which of VTK's corners each one is. CARP goes round the far side of prisms and hexahedra the other way.
  std::vector<std::size_t> corners;
  std::string_view name;
};
/// The kinds that are written come first, in the order of `cell_kinds`.
const CarpElement element_types[] = {{"Tt", kind_tetra, {0, 1, 2, 3}, ""},
                                     {"Tr", kind_triangle, {0, 1, 2}, ""},
                                     {"Ln", kind_line, {0, 1}, ""},
                                     {"Qd", kind_quad, {0, 1, 2, 3}, ""},
                                     {"Py", kind_pyramid, {0, 1, 2, 3, 4}, ""},
                                     {"Pr", kind_wedge, {0, 1, 2, 3, 5, 4}, ""},
                                     {"Hx", kind_hexahedron, {0, 1, 2, 3, 4, 7, 6, 5}, ""},
                                     {"Cx", -1, {0, 1}, "connection"},
                                     {"Oc", -2, {0, 1, 2, 3, 4, 5}, "octahedron"}};

const CarpElement& element_type(TextScanner& in) {
  const std::string_view code = in.word("an element type");
  for (const CarpElement& type : element_types)
    if (type.code == code) return type;
  in.fail("{} is not an element type (known are Tt, Tr, Ln, Cx, Qd, Py, Pr, Oc, Hx); repair the file", in_quotes(code));
}

std::string_view name_left_out(int kind) {
  return std::find_if(std::begin(element_types), std::end(element_types),
                      [&](const CarpElement& type) { return type.kind == kind; })
      ->name;
}

void read_pts(const std::filesystem::path& path, Dataset& result) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  result.points.resize(in.count("the number of points", 6));
  read_coordinates(in, result.points);
  in.require_end("points", result.points.size());
}

void read_elements(const std::filesystem::path& path, std::size_t points, CellSorter& sorter) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  std::vector<std::int32_t> regions(in.count("the number of elements", 7));
  struct Part {
    CellList cells;
  };
  const auto parts = read_rows<Part>(in, regions.size(), 0, [&](TextScanner& row, std::size_t i, Part& part) {
    const CarpElement& type = element_type(row);
    std::array<VertexId, 8> nodes;
    for (const std::size_t corner : type.corners) nodes[corner] = row.vertex(0, points);
    regions[i] = row.more_on_line() ? row.whole_number<std::int32_t>("a region tag") : 0;
    row.skip_rest();
    part.cells.add(type.kind, std::span(nodes).first(type.corners.size()));
  });
  if (!sorter.add_all(lists_of(parts)))
    for (const Part& part : parts)
      part.cells.for_each([&](int kind, std::span<const VertexId> corners) {
        if (kind < 0) sorter.leave_out(name_left_out(kind));
        else sorter.add(kind, corners);
      });
  in.require_end("elements", regions.size());
  sorter.add_array({"region", 1, std::move(regions)});
}

std::size_t words_on_line(TextScanner& in) {
  std::size_t words = 0;
  for (; in.more_on_line(); ++words) in.word("a number");
  return words;
}

// The number of values a row has: 3 for each direction (fibre, sheet, and the normal of both). A header line is
// optional; it has the number of directions or, in other files, that of the elements.
std::size_t read_fiber_header(TextScanner& in, std::size_t elements) {
  if (in.at_end()) in.truncated("fibres");
  TextScanner ahead = in;
  const std::size_t words = words_on_line(ahead);
  if (words == 3 || words == 6 || words == 9) return words;
  const auto number = words == 1 ? in.integer<std::uint64_t>("the number of directions") : 0;
  ahead = in;
  const std::size_t values = words == 1 && !ahead.at_end() ? words_on_line(ahead) : 0;
  const bool row = values == 3 || values == 6 || values == 9;
  if (!row || (number != values / 3 && number != elements))
    in.fail(
        "the first line is no header and no row (words: {}; it must be the number of directions, 1 to 3, or that of "
        "elements, {}, or hold the 3, 6 or 9 numbers of an element); repair the file",
        words, elements);
  return values;
}

void read_fibers(const std::filesystem::path& path, CellSorter& sorter) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t elements = sorter.cell_count(), values = read_fiber_header(in, elements);
  std::array<std::vector<double>, direction_names.size()> directions;
  const std::size_t places = in.possible_rows(elements, 2 * values);
  for (std::size_t d = 0; d < values / 3; ++d) {
    make_room(directions[d], 3 * places);
    directions[d].resize(3 * places);
  }
  const auto read = [&](TextScanner& row, std::size_t i) {
    if (row.at_end())
      row.fail("there are too few fibres (rows: {}, elements in the .elem file: {}); use the file of the same mesh", i,
               elements);
    for (std::size_t k = 0; k < values; ++k) directions[k / 3][3 * i + k % 3] = row.coordinate("a fibre component");
    if (row.more_on_line()) row.fail("too many numbers in the line (rows differ in length); repair the file");
  };
  read_rows(in, elements, 0, read, places);
  if (!in.at_end()) {
    in.peek();
    in.fail("there are too many fibres (elements in the .elem file: {}); use the file of the same mesh", elements);
  }
  for (std::size_t d = 0; d < values / 3; ++d)
    sorter.add_array({std::string(direction_names[d]), 3, std::move(directions[d])});
}

/// Fibres under another name than the mesh are not taken, but should not go unnoticed.
void warn_of_other_fibers(const std::filesystem::path& path, Dataset& result) {
  std::vector<std::string> others;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (auto it = std::filesystem::directory_iterator(folder, error);
       !error && it != std::filesystem::directory_iterator() && others.size() < 4; it.increment(error)) {
    const std::string extension = FileName(it->path()).extension;
    if ((extension == ".lon" || extension == ".fib") && !find_companion(it->path(), ".pts"))
      others.push_back(it->path().filename().string());
  }
  if (others.empty()) return;
  std::sort(others.begin(), others.end());
  result.warnings.push_back(
      fmt::format("read without fibres: they would be in {}; there is {}, so rename it if it belongs to this mesh",
                  FileName(path).with(".lon").filename().string(), join_text(others, " and ")));
}

const DataArray* find_directions(const DataArrays& arrays, std::string_view name) {
  const DataArray* array = arrays.find(name);
  return array != nullptr && array->components == 3 ? array : nullptr;
}

bool has_fibers(const Dataset& dataset, CellKind kind) {
  return cells_written(dataset, kind) > 0 && find_directions(arrays_of(dataset, kind), "fiber") != nullptr;
}

void write_elements(const OutputFile& file, const Dataset& dataset) {
  ByteWriter out(file);
  std::size_t cells = 0;
  for (const CellKind kind : cell_kinds) cells += cells_written(dataset, kind);
  out.print("{}\n", cells);
  for (std::size_t k = 0; k < cell_kinds.size(); ++k) {
    const DataArray* labels = find_labels(arrays_of(dataset, cell_kinds[k]), "region");
    print_cells(out, dataset, cell_kinds[k],
                [&](PrintedText& text, std::size_t, std::size_t tuple, std::span<const VertexId> corners) {
                  text << element_types[k].code;
                  for (const VertexId v : corners) text << ' ' << v.value;
                  text << ' ' << label_at(labels, tuple) << '\n';
                });
  }
  out.finish();
}

void print_direction(PrintedText& out, const DataArray* array, std::size_t tuple, const char* otherwise) {
  if (array == nullptr) out << otherwise;
  else print_tuple(out, *array, tuple);
}

// Every element needs a row. Kinds without fibres (cables, mostly) get the x axis, as is usual in such files.
void write_fibers(const OutputFile& file, const Dataset& dataset) {
  if (!has_carp_fibers(dataset)) return;
  bool sheets = true;
  for (const CellKind kind : cell_kinds)
    if (has_fibers(dataset, kind)) sheets = sheets && find_directions(arrays_of(dataset, kind), "sheet") != nullptr;
  ByteWriter out(file);
  out.print("{}\n", sheets ? 2 : 1);
  for (const CellKind kind : cell_kinds) {
    const DataArray* fiber = find_directions(arrays_of(dataset, kind), "fiber");
    const DataArray* sheet = find_directions(arrays_of(dataset, kind), "sheet");
    print_cells(out, dataset, kind, [&](PrintedText& text, std::size_t, std::size_t tuple, std::span<const VertexId>) {
      print_direction(text, fiber, tuple, "1 0 0");
      if (sheets) text << ' ';
      if (sheets) print_direction(text, sheet, tuple, "0 1 0");
      text << '\n';
    });
  }
  out.finish();
}

}  // namespace

Dataset read_carp(const std::filesystem::path& path, const ArrayNames& wanted) {
  const auto points = require_companion(path, ".pts"), elements = require_companion(path, ".elem");
  Dataset result;
  read_pts(points, result);
  CellSorter sorter(result, elements);
  read_elements(elements, result.points.size(), sorter);
  const auto is_wanted = [&](std::string_view name) { return may_be_wanted(name, wanted); };
  if (std::none_of(direction_names.begin(), direction_names.end(), is_wanted)) return result;
  for (const char* extension : {".lon", ".fib"})
    if (const auto fibers = find_companion(path, extension)) {
      read_fibers(*fibers, sorter);
      return result;
    }
  warn_of_other_fibers(path, result);
  return result;
}

std::string carp_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array) {
  if (place == ArrayPlace::points) return {};
  if (find_labels(arrays, "region") == &array) return "region";
  const DataArray* fiber = find_directions(arrays, "fiber");
  if (fiber == nullptr) return {};
  return fiber == &array || find_directions(arrays, "sheet") == &array ? array.name : std::string();
}

bool has_carp_fibers(const Dataset& dataset) {
  return std::any_of(cell_kinds.begin(), cell_kinds.end(), [&](CellKind kind) { return has_fibers(dataset, kind); });
}

void write_carp(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter points(files[0]);
  points.print("{}\n", dataset.points.size());
  print_points(points, "", dataset.points);
  points.finish();
  write_elements(files[1], dataset);
  write_fibers(files[2], dataset);
}

}  // namespace isochron
