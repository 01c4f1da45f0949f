#include <algorithm>

#include "isochron/core/join_text.h"
#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

struct CarpElement {
  std::string_view code;
  int nodes;
  CellKind kind;
  std::string_view name;
};
using enum CellKind;
/// The kinds that are kept come first, in the order of `cell_kinds`.
constexpr CarpElement element_types[] = {
    {"Tt", 4, tet, "tetrahedron"},  {"Tr", 3, triangle, "triangle"}, {"Ln", 2, line, "line"},
    {"Cx", 2, other, "connection"}, {"Qd", 4, other, "quad"},        {"Py", 5, other, "pyramid"},
    {"Pr", 6, other, "prism"},      {"Oc", 6, other, "octahedron"},  {"Hx", 8, other, "hexahedron"}};

const CarpElement& element_type(TextScanner& in) {
  const std::string_view code = in.word("an element type");
  for (const CarpElement& type : element_types)
    if (type.code == code) return type;
  in.fail("{} is not an element type (known are Tt, Tr, Ln, Cx, Qd, Py, Pr, Oc, Hx); repair the file", in_quotes(code));
}

void read_pts(const std::filesystem::path& path, Dataset& result) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  result.points.resize(in.count("the number of points", 6));
  read_coordinates(in, result.points);
}

// Returns the kind of every element in file order, which is the order of the fibres.
std::vector<CellKind> read_elements(const std::filesystem::path& path, Dataset& result) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t points = result.points.size();
  std::vector<CellKind> kinds(in.count("the number of elements", 7));
  std::array<std::vector<std::int32_t>, cell_kinds.size()> regions;
  for (CellKind& kind : kinds) {
    const CarpElement& type = element_type(in);
    // Most files hold one kind of element; what is reserved in vain is never touched.
    if (&kind == kinds.data()) reserve_cells(result, type.kind, kinds.size());
    std::array<VertexId, 8> nodes;
    for (int k = 0; k < type.nodes; ++k) nodes[static_cast<std::size_t>(k)] = in.vertex(0, points);
    const auto region = in.more_on_line() ? in.whole_number<std::int32_t>("a region tag") : 0;
    in.skip_rest();
    kind = type.kind;
    add_cell(result, kind, nodes);
    if (kind == CellKind::other) count_ignored(result.ignored_cells, type.name);
    else regions[static_cast<std::size_t>(kind)].push_back(region);
  }
  for (std::size_t k = 0; k < cell_kinds.size(); ++k)
    if (!regions[k].empty()) arrays_of(result, cell_kinds[k]).set({"region", 1, std::move(regions[k])});
  return kinds;
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

void read_fibers(const std::filesystem::path& path, const std::vector<CellKind>& kinds, Dataset& result) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t values = read_fiber_header(in, kinds.size());
  constexpr std::array names{"fiber", "sheet", "normal"};
  std::array<std::array<std::vector<double>, names.size()>, cell_kinds.size()> directions;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (in.at_end())
      in.fail("there are too few fibres (rows: {}, elements in the .elem file: {}); use the file of the same mesh", i,
              kinds.size());
    for (std::size_t k = 0; k < values; ++k) {
      const double value = in.coordinate("a fibre component");
      if (kinds[i] != CellKind::other) directions[static_cast<std::size_t>(kinds[i])][k / 3].push_back(value);
    }
    if (in.more_on_line()) in.fail("too many numbers in the line (rows differ in length); repair the file");
  }
  if (!in.at_end()) {
    in.peek();
    in.fail("there are too many fibres (elements in the .elem file: {}); use the file of the same mesh", kinds.size());
  }
  for (std::size_t k = 0; k < cell_kinds.size(); ++k)
    for (std::size_t d = 0; d < names.size(); ++d)
      if (!directions[k][d].empty()) arrays_of(result, cell_kinds[k]).set({names[d], 3, std::move(directions[k][d])});
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
    for_each_written(dataset, cell_kinds[k], [&](std::size_t tuple, std::span<const VertexId> corners) {
      out.print("{}", element_types[k].code);
      for (const VertexId v : corners) out.print(" {}", v.value);
      out.print(" {}\n", label_at(labels, tuple));
    });
  }
  out.finish();
}

void print_direction(ByteWriter& out, const DataArray* array, std::size_t tuple, const char* otherwise) {
  if (array == nullptr) out.print("{}", otherwise);
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
    for_each_written(dataset, kind, [&](std::size_t tuple, std::span<const VertexId>) {
      print_direction(out, fiber, tuple, "1 0 0");
      if (sheets) out.print(" ");
      if (sheets) print_direction(out, sheet, tuple, "0 1 0");
      out.print("\n");
    });
  }
  out.finish();
}

}  // namespace

Dataset read_carp(const std::filesystem::path& path) {
  const auto points = require_companion(path, ".pts"), elements = require_companion(path, ".elem");
  Dataset result;
  read_pts(points, result);
  const std::vector<CellKind> kinds = read_elements(elements, result);
  for (const char* extension : {".lon", ".fib"})
    if (const auto fibers = find_companion(path, extension)) {
      read_fibers(*fibers, kinds, result);
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
