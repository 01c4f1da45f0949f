#include "isochron/io/mesh/cells.h"

#include <cmath>
#include <numeric>

#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

void check_points(const std::filesystem::path& path, const Dataset& dataset) {
  if (dataset.points.size() >= VertexId::invalid_value)
    bad_file(path, "{} points are too many (ids have 32 bits); split the mesh", dataset.points.size());
  for (std::size_t i = 0; i < dataset.points.size(); ++i) {
    const Vec3d& p = dataset.points[i];
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) continue;
    bad_file(path, "point {} is at ({}, {}, {}) (coordinates must be finite); repair the mesh", i, p.x, p.y, p.z);
  }
}

template <class Cells>
void check_ids(const std::filesystem::path& path, const Cells& cells, std::size_t points, std::string_view kind) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const VertexId v : cells[i]) {
      if (v.index() < points) continue;
      bad_file(path, "{} {} has vertex {} (the mesh has vertices 0 to {}); repair the mesh", kind, i, v.value,
               points - 1);
    }
  }
}

std::string kind_name(int kind, std::size_t corners) {
  switch (kind) {
    case 0: return "empty cell";
    case kind_vertex:
    case kind_poly_vertex: return "vertex";
    case kind_line:
    case kind_poly_line: return "line of one point";
    case kind_triangle:
    case kind_triangle_strip: return "triangle with too few corners";
    case kind_tetra: return "tetrahedron with too few corners";
    case kind_polygon: return corners == 4 ? "quad" : corners < 3 ? "polygon with too few corners" : "polygon";
    case 8: return "pixel";
    case kind_quad: return "quad";
    case 11: return "voxel";
    case 12: return "hexahedron";
    case 13: return "wedge";
    case 14: return "pyramid";
    case 21: return "quadratic line";
    case 22: return "quadratic triangle";
    case 23: return "quadratic quad";
    case 24: return "quadratic tetrahedron";
    case 25: return "quadratic hexahedron";
    case 42: return "polyhedron";
    default: return fmt::format("VTK cell type {}", kind);
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
  for (const Vec3d& p : points) out.print("{}{} {} {}\n", front, p.x, p.y, p.z);
}

void read_coordinates(TextScanner& in, std::vector<Vec3d>& points) {
  for (Vec3d& p : points) {
    for (int k = 0; k < 3; ++k) p[k] = in.coordinate();
    in.skip_rest();
  }
}

void reserve_cells(Dataset& dataset, CellKind kind, std::size_t more) {
  if (kind == CellKind::tet) dataset.tets.cells.reserve(dataset.tets.cells.size() + more);
  if (kind == CellKind::triangle) dataset.triangles.cells.reserve(dataset.triangles.cells.size() + more);
}

void add_cell(Dataset& dataset, CellKind kind, std::span<const VertexId> v) {
  if (kind == CellKind::tet) dataset.tets.cells.push_back({v[0], v[1], v[2], v[3]});
  else if (kind == CellKind::triangle) dataset.triangles.cells.push_back({v[0], v[1], v[2]});
  else if (kind == CellKind::line) dataset.lines.push_back({v[0], v[1]});
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

void print_tuple(ByteWriter& out, const DataArray& array, std::size_t tuple) {
  const auto width = static_cast<std::size_t>(array.components);
  std::visit(
      [&](const auto& values) {
        const auto first = values.data() + tuple * width;
        out.print("{}", fmt::join(first, first + width, " "));
      },
      array.values);
}

void CellSorter::Origins::push(std::size_t cell) {
  if (consecutive && cell != count) {
    consecutive = false;
    cells.resize(count);
    std::iota(cells.begin(), cells.end(), 0U);
  }
  if (!consecutive) cells.push_back(static_cast<std::uint32_t>(cell));
  ++count;
}

void CellSorter::reserve(int kind, std::size_t cells) {
  if (kind == kind_triangle) reserve_cells(dataset_, CellKind::triangle, cells);
  if (kind == kind_tetra) reserve_cells(dataset_, CellKind::tet, cells);
  if (kind == kind_line || kind == kind_poly_line) dataset_.lines.reserve(dataset_.lines.size() + cells);
}

void CellSorter::reserve(std::span<const std::uint8_t> kinds) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t kind : kinds) ++counts[kind];
  for (int kind = 0; kind < 256; ++kind) reserve(kind, counts[static_cast<std::size_t>(kind)]);
}

void CellSorter::fail_id(long long id) const {
  bad_file(path_,
           "cell {} refers to point {} but the points are 0 to {}; the file may be damaged, get or "
           "write it again",
           count_, id, static_cast<long long>(dataset_.points.size()) - 1);
}

void CellSorter::place(int kind) {
  const std::vector<VertexId>& ids = scratch_;
  const bool triangle = (kind == kind_triangle || kind == kind_polygon) && ids.size() == 3;
  if (kind == kind_tetra && ids.size() == 4) {
    add_cell(dataset_, CellKind::tet, ids);
    tets_.push(count_);
  } else if (triangle || (kind == kind_triangle_strip && ids.size() >= 3)) {
    for (std::size_t i = 0; i + 2 < ids.size(); ++i) {
      // Every second triangle of a strip is turned round to keep the side that faces out.
      const std::size_t odd = i % 2;
      dataset_.triangles.cells.push_back({ids[i], ids[i + 1 + odd], ids[i + 2 - odd]});
      triangles_.push(count_);
    }
  } else if ((kind == kind_line || kind == kind_poly_line) && ids.size() >= 2) {
    dataset_.lines.push_back(ids);
    lines_.push(count_);
  } else {
    ++ignored_[kind_name(kind, ids.size())];
  }
  ++count_;
}

void CellSorter::finish() {
  for (const auto& [name, cells] : ignored_) count_ignored(dataset_.ignored_cells, name, cells);
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
  give(triangles_, dataset_.triangles.data, array);
  give(tets_, dataset_.tets.data, array);
  give(lines_, dataset_.line_data, array);
}

}  // namespace isochron
