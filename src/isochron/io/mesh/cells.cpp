#include "isochron/io/mesh/cells.h"

#include <cmath>
#include <numeric>

#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

void check_points(const std::filesystem::path& path, const Dataset& dataset) {
  if (dataset.points.size() >= VertexId::invalid_value)
    bad_file(path, "{} points are too many (ids have 32 bits); split the mesh", dataset.points.size());
  const std::size_t bad = parallel_find(usual_threads(), dataset.points.size(), [&](std::size_t i) {
    const Vec3d& p = dataset.points[i];
    return !std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z);
  });
  if (bad == dataset.points.size()) return;
  const Vec3d& p = dataset.points[bad];
  bad_file(path, "point {} is at ({}, {}, {}) (coordinates must be finite); repair the mesh", bad, p.x, p.y, p.z);
}

template <class Cells>
void check_ids(const std::filesystem::path& path, const Cells& cells, std::size_t points, std::string_view kind) {
  const auto is_bad = [&](VertexId v) { return v.index() >= points; };
  const std::size_t bad = parallel_find(usual_threads(), cells.size(), [&](std::size_t i) {
    return std::any_of(cells[i].begin(), cells[i].end(), is_bad);
  });
  if (bad == cells.size()) return;
  const VertexId vertex = *std::find_if(cells[bad].begin(), cells[bad].end(), is_bad);
  bad_file(path, "{} {} has vertex {} (the mesh has vertices 0 to {}); repair the mesh", kind, bad, vertex.value,
           points - 1);
}

std::string kind_name(int kind) {
  switch (kind) {
    case 0: return "empty cell";
    case kind_vertex:
    case kind_poly_vertex: return "vertex";
    case kind_line:
    case kind_poly_line: return "line of one point";
    case kind_triangle:
    case kind_triangle_strip: return "triangle with too few corners";
    case kind_tetra: return "tetrahedron with too few corners";
    case kind_polygon: return "polygon with too few corners";
    case kind_pixel:
    case kind_quad: return "quad with too few corners";
    case kind_voxel:
    case kind_hexahedron: return "hexahedron with too few corners";
    case kind_wedge: return "prism with too few corners";
    case kind_pyramid: return "pyramid with too few corners";
    case 21: return "quadratic line";
    case 22: return "quadratic triangle";
    case 23: return "quadratic quad";
    case 24: return "quadratic tetrahedron";
    case 25: return "quadratic hexahedron";
    case 42: return "polyhedron";
    default: return fmt::format("VTK cell type {}", kind);
  }
}

std::string_view name_of(SolidShape shape) {
  return shape == SolidShape::pyramid ? "pyramid" : shape == SolidShape::prism ? "prism" : "hexahedron";
}

/// The simplices that a cell of a kind becomes, where that does not depend on its corners.
std::pair<CellKind, std::size_t> usual_pieces(int kind) {
  switch (kind) {
    case kind_line:
    case kind_poly_line: return {CellKind::line, 1};
    case kind_triangle: return {CellKind::triangle, 1};
    case kind_pixel:
    case kind_quad: return {CellKind::triangle, 2};
    case kind_tetra: return {CellKind::tet, 1};
    case kind_pyramid: return {CellKind::tet, 2};
    case kind_wedge: return {CellKind::tet, 3};
    case kind_voxel:
    case kind_hexahedron: return {CellKind::tet, 6};
    default: return {CellKind::other, 0};
  }
}

}  // namespace

void check_dataset(const std::filesystem::path& path, const Dataset& dataset) {
  check_points(path, dataset);
  const std::size_t points = dataset.points.size();
  check_ids(path, dataset.triangles.cells, points, "triangle");
  check_ids(path, dataset.tets.cells, points, "tetrahedron");
  check_ids(path, dataset.lines, points, "line");
  check_arrays(path, dataset.point_data, points, "points", "mesh");
  check_arrays(path, dataset.triangles.data, dataset.triangles.cells.size(), "triangles", "mesh");
  check_arrays(path, dataset.tets.data, dataset.tets.cells.size(), "tetrahedra", "mesh");
  check_arrays(path, dataset.line_data, dataset.lines.size(), "lines", "mesh");
}

const DataArrays& arrays_of(const Dataset& dataset, CellKind kind) {
  return kind == CellKind::tet        ? dataset.tets.data
         : kind == CellKind::triangle ? dataset.triangles.data
                                      : dataset.line_data;
}
DataArrays& arrays_of(Dataset& dataset, CellKind kind) {
  return const_cast<DataArrays&>(arrays_of(std::as_const(dataset), kind));
}

std::size_t cells_written(const Dataset& dataset, CellKind kind) {
  if (kind == CellKind::tet) return dataset.tets.cells.size();
  if (kind == CellKind::triangle) return dataset.triangles.cells.size();
  std::size_t pieces = 0;
  for (const auto& line : dataset.lines) pieces += line.empty() ? 0 : line.size() - 1;
  return pieces;
}

void print_points(ByteWriter& out, std::string_view front, const std::vector<Vec3d>& points) {
  out.print_rows(points.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
    for (const Vec3d& p : std::span(points).subspan(first, count))
      text << front << p.x << ' ' << p.y << ' ' << p.z << '\n';
  });
}

void read_coordinates(TextScanner& in, std::vector<Vec3d>& points) {
  read_rows(in, points.size(), 0, [&](TextScanner& row, std::size_t i) {
    for (int k = 0; k < 3; ++k) points[i][k] = row.coordinate();
    row.skip_rest();
  });
}

void print_cells(ByteWriter& out, const Dataset& dataset, CellKind kind, const PrintCell& print) {
  for_each_block(dataset, [&](CellKind block, const auto& cells, const DataArrays&) {
    if (block != kind) return;
    std::vector<std::size_t> rows;  // before each line; other cells are one row each
    if (kind == CellKind::line)
      for (std::size_t i = 0; i < cells.size(); ++i)
        rows.push_back(i == 0 ? 0 : rows[i - 1] + std::max<std::size_t>(cells[i - 1].size(), 1) - 1);
    out.print_rows(cells.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
      for (std::size_t i = first; i < first + count; ++i) {
        const std::span<const VertexId> corners(cells[i]);
        if (rows.empty()) print(text, i, i, corners);
        else
          for (std::size_t k = 1; k < corners.size(); ++k) print(text, rows[i] + k - 1, i, corners.subspan(k - 1, 2));
      }
    });
  });
}

const DataArray* find_labels(const DataArrays& arrays, std::string_view preferred) {
  for (const std::string_view name :
       {preferred, std::string_view("region"), std::string_view("gmsh:physical"), std::string_view("medit:ref")}) {
    const DataArray* array = arrays.find(name);
    if (array != nullptr && array->components == 1) return array;
  }
  return nullptr;
}

std::int64_t label_at(const DataArray* labels, std::size_t tuple) {
  if (labels == nullptr) return 0;
  const double value = labels->at(tuple);
  return std::abs(value) <= std::numeric_limits<std::int32_t>::max() ? std::llround(value) : 0;
}

void set_labels(DataArrays& arrays, std::string name, std::vector<std::int32_t> labels) {
  if (std::all_of(labels.begin(), labels.end(), [](std::int32_t label) { return label == 0; })) return;
  arrays.set({std::move(name), 1, std::move(labels)});
}

void set_numbers(DataArrays& arrays, std::string name, std::vector<double> values) {
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) {
    return std::abs(v) <= std::numeric_limits<std::int32_t>::max() && v == std::trunc(v);
  });
  if (whole) arrays.set({std::move(name), 1, std::vector<std::int32_t>(values.begin(), values.end())});
  else arrays.set({std::move(name), 1, std::move(values)});
}

void count_ignored(std::vector<std::pair<std::string, std::size_t>>& ignored, std::string_view kind,
                   std::size_t cells) {
  const auto it = std::find_if(ignored.begin(), ignored.end(), [&](const auto& entry) { return entry.first == kind; });
  if (it == ignored.end()) ignored.emplace_back(kind, cells);
  else it->second += cells;
}

void count_cut(std::vector<CutCells>& cut, std::string_view kind, std::size_t cells, std::size_t pieces) {
  auto it = std::find_if(cut.begin(), cut.end(), [&](const CutCells& entry) { return entry.kind == kind; });
  if (it == cut.end()) it = cut.insert(it, {std::string(kind)});
  it->cells += cells;
  it->pieces += pieces;
}

void print_tuple(PrintedText& out, const DataArray& array, std::size_t tuple) {
  const auto width = static_cast<std::size_t>(array.components);
  std::visit([&](const auto& values) { out << std::span(values).subspan(tuple * width, width); }, array.values);
}

void CellList::mix() {
  mixed_ = true;
  kinds_.assign(count_, static_cast<std::int16_t>(kind_));
  for (std::size_t i = 0; i < count_; ++i) ends_.push_back((i + 1) * each_);
}

void CellSorter::Origins::push(std::size_t cell, std::size_t in_a_row) {
  if (in_a_row == 0) return;
  if (consecutive && cell != count) {
    consecutive = false;
    cells.resize(count);
    std::iota(cells.begin(), cells.end(), 0U);
  }
  for (std::size_t i = 0; !consecutive && i < in_a_row; ++i) cells.push_back(static_cast<std::uint32_t>(cell + i));
  count += in_a_row;
}

void CellAdder::reserve(int kind, std::size_t cells) {
  const auto [simplex, pieces] = usual_pieces(kind);
  const auto grow = [&, more = pieces * cells](auto& list) { list.reserve(list.size() + more); };
  if (simplex == CellKind::tet) grow(dataset_.tets.cells);
  if (simplex == CellKind::triangle) grow(dataset_.triangles.cells);
  if (simplex == CellKind::line) grow(dataset_.lines);
}

AddedCells CellAdder::add_all(std::span<const CellList* const> lists) {
  const auto all_are = [&](int kind, std::size_t corners) {
    return std::all_of(lists.begin(), lists.end(), [&](const CellList* list) { return list->all_are(kind, corners); });
  };
  const auto append = [&](auto& cells) {
    using Cell = typename std::decay_t<decltype(cells)>::value_type;
    std::vector<std::size_t> begin;
    std::size_t end = cells.size();
    for (const CellList* list : lists) begin.push_back(std::exchange(end, end + list->count()));
    const std::size_t added = end - cells.size();
    if (end > cells.capacity()) make_room(cells, std::max(end, 2 * cells.capacity()));  // files of many small blocks
    cells.resize(end);
    parallel_tasks(usual_threads(), lists.size(), [&](std::size_t i) {
      const auto from = std::as_bytes(lists[i]->corners());
      if (!from.empty()) std::memcpy(static_cast<void*>(&cells[begin[i]]), from.data(), from.size());
    });
    static_assert(sizeof(Cell) % sizeof(VertexId) == 0 && std::is_trivially_copyable_v<Cell>);
    return static_cast<std::uint32_t>(added);
  };
  if (all_are(kind_tetra, 4)) return {CellKind::tet, append(dataset_.tets.cells)};
  if (all_are(kind_triangle, 3) || all_are(kind_polygon, 3))
    return {CellKind::triangle, append(dataset_.triangles.cells)};
  return {};
}

AddedCells CellAdder::leave_out(const std::string& kind) {
  count_ignored(dataset_.ignored_cells, kind);
  return {};
}

AddedCells CellAdder::cut_polygon(std::span<const VertexId> corners) {
  if (corners.size() > CellCutter::max_corners)
    return leave_out(fmt::format("polygon with more than {} corners", CellCutter::max_corners));
  const std::string_view name = corners.size() == 4 ? "quad" : "polygon";
  const auto pieces = cutter_.triangles(corners);
  if (pieces.empty()) return leave_out(fmt::format("{} that has no area or crosses itself", name));
  dataset_.triangles.cells.insert(dataset_.triangles.cells.end(), pieces.begin(), pieces.end());
  count_cut(dataset_.cut_cells, name, 1, pieces.size());
  return {CellKind::triangle, static_cast<std::uint32_t>(pieces.size())};
}

AddedCells CellAdder::cut_solid(SolidShape shape, std::span<const VertexId> corners) {
  const auto pieces = cutter_.tets(shape, corners);
  if (pieces.empty()) return leave_out(fmt::format("{} that has no volume", name_of(shape)));
  dataset_.tets.cells.insert(dataset_.tets.cells.end(), pieces.begin(), pieces.end());
  count_cut(dataset_.cut_cells, name_of(shape), 1, pieces.size());
  return {CellKind::tet, static_cast<std::uint32_t>(pieces.size())};
}

AddedCells CellAdder::add(int kind, std::span<const VertexId> v) {
  const std::size_t corners = v.size();
  if (kind == kind_tetra && corners == 4) {
    dataset_.tets.cells.push_back({v[0], v[1], v[2], v[3]});
    return {CellKind::tet, 1};
  }
  if ((kind == kind_triangle || kind == kind_polygon) && corners == 3) {
    dataset_.triangles.cells.push_back({v[0], v[1], v[2]});
    return {CellKind::triangle, 1};
  }
  if ((kind == kind_line || kind == kind_poly_line) && corners >= 2) {
    dataset_.lines.emplace_back(v.begin(), v.end());
    return {CellKind::line, 1};
  }
  if (kind == kind_triangle_strip && corners >= 3) {
    // Every second triangle of a strip is turned round to keep the side that faces out.
    for (std::size_t i = 0; i + 2 < corners; ++i)
      dataset_.triangles.cells.push_back({v[i], v[i + 1 + i % 2], v[i + 2 - i % 2]});
    return {CellKind::triangle, static_cast<std::uint32_t>(corners - 2)};
  }
  if ((kind == kind_polygon && corners > 3) || (kind == kind_quad && corners == 4)) return cut_polygon(v);
  if (kind == kind_pixel && corners == 4) return cut_polygon(std::array{v[0], v[1], v[3], v[2]});
  if (kind == kind_pyramid && corners == 5) return cut_solid(SolidShape::pyramid, v);
  if (kind == kind_wedge && corners == 6) return cut_solid(SolidShape::prism, v);
  if (kind == kind_hexahedron && corners == 8) return cut_solid(SolidShape::hexahedron, v);
  if (kind == kind_voxel && corners == 8)
    return cut_solid(SolidShape::hexahedron, std::array{v[0], v[1], v[3], v[2], v[4], v[5], v[7], v[6]});
  return leave_out(kind_name(kind));
}

void CellSorter::reserve(std::span<const std::uint8_t> kinds) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t kind : kinds) ++counts[kind];
  for (int kind = 0; kind < 256; ++kind) reserve(kind, counts[static_cast<std::size_t>(kind)]);
}

void CellSorter::fail_id(std::size_t cell, long long id) const {
  const std::size_t points = dataset_.points.size();
  damaged_file(path_, "cell {} refers to point {} but {}", cell, id,
               points == 0 ? "there are no points" : fmt::format("the points are 0 to {}", points - 1));
}

bool CellSorter::add_all(std::span<const CellList* const> lists) {
  const bool valid = parallel_find(usual_threads(), lists.size(), [&](std::size_t i) {
                       const auto corners = lists[i]->corners();
                       return std::any_of(corners.begin(), corners.end(),
                                          [&](VertexId v) { return v.index() >= dataset_.points.size(); });
                     }) == lists.size();
  const AddedCells added = valid ? adder_.add_all(lists) : AddedCells{};
  if (added.count == 0) return false;
  origins_[static_cast<std::size_t>(added.kind)].push(count_, added.count);
  count_ += added.count;
  return true;
}

void CellSorter::add_each(const CellList& list) {
  std::vector<std::uint32_t> ids;
  list.for_each([&](int kind, std::span<const VertexId> corners) {
    ids.clear();
    for (const VertexId v : corners) ids.push_back(v.value);
    add(kind, std::span<const std::uint32_t>(ids));
  });
}

void CellSorter::leave_out(std::string_view kind) {
  count_ignored(dataset_.ignored_cells, kind);
  ++count_;
}

void CellSorter::add(int kind, std::span<const VertexId> corners) {
  const AddedCells added = adder_.add(kind, corners);
  for (std::uint32_t i = 0; i < added.count; ++i) origins_[static_cast<std::size_t>(added.kind)].push(count_);
  ++count_;
}

void CellSorter::give(const Origins& origins, DataArrays& data, DataArray& array) const {
  if (origins.count == 0) return;
  if (origins.consecutive && origins.count == count_) {
    add_named(data, std::move(array), "cell_array");
    return;
  }
  std::vector<std::uint32_t> tuples = origins.cells;
  if (origins.consecutive) {
    tuples.resize(origins.count);
    std::iota(tuples.begin(), tuples.end(), 0U);
  }
  add_named(data, chosen_tuples(array, tuples), "cell_array");
}

void CellSorter::add_array(DataArray array) {
  // A block that takes the whole array is alone, so moving it away hurts nobody.
  for (std::size_t k = 0; k < cell_kinds.size(); ++k) give(origins_[k], arrays_of(dataset_, cell_kinds[k]), array);
}

}  // namespace isochron
