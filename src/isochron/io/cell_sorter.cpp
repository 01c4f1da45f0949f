#include "isochron/io/cell_sorter.h"

#include <algorithm>

#include "isochron/io/array_columns.h"

namespace isochron {

namespace {

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

void CellSorter::Origins::push(std::size_t cell) {
  if (consecutive && cell != count) {
    consecutive = false;
    cells.resize(count);
    for (std::size_t i = 0; i < count; ++i) cells[i] = static_cast<std::uint32_t>(i);
  }
  if (!consecutive) cells.push_back(static_cast<std::uint32_t>(cell));
  ++count;
}

void CellSorter::reserve(int kind, std::size_t cells) {
  if (kind == kind_triangle) dataset_.triangles.cells.reserve(dataset_.triangles.cells.size() + cells);
  if (kind == kind_tetra) dataset_.tets.cells.reserve(dataset_.tets.cells.size() + cells);
  if (kind == kind_line || kind == kind_poly_line) dataset_.lines.reserve(dataset_.lines.size() + cells);
}

void CellSorter::fail_id(long long id) const {
  throw InputError(
      fmt::format("{}: cell {} refers to point {} but the points are 0 to {}; the file may be damaged, get or "
                  "write it again",
                  path_, count_, id, static_cast<long long>(dataset_.points.size()) - 1));
}

void CellSorter::ignore(int kind) { ++ignored_[kind_name(kind, scratch_.size())]; }

void CellSorter::place(int kind) {
  const std::vector<VertexId>& ids = scratch_;
  const bool triangle = (kind == kind_triangle || kind == kind_polygon) && ids.size() == 3;
  if (kind == kind_tetra && ids.size() == 4) {
    dataset_.tets.cells.push_back({ids[0], ids[1], ids[2], ids[3]});
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
    ignore(kind);
  }
  ++count_;
}

void CellSorter::finish() {
  for (const auto& [name, cells] : ignored_) count_ignored(dataset_, name, cells);
}

void CellSorter::give(const Origins& origins, DataArrays& data, DataArray& array) const {
  if (origins.count == 0) return;
  if (origins.consecutive && origins.count == count_) {
    add_named(data, std::move(array), "cell_array");
    return;
  }
  const auto components = static_cast<std::size_t>(array.components);
  DataArray part{array.name, array.components, {}};
  std::visit(
      [&](const auto& all) {
        auto values = std::decay_t<decltype(all)>(origins.count * components);
        for (std::size_t i = 0; i < origins.count; ++i) {
          const std::size_t from = origins.consecutive ? i : origins.cells[i];
          std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from * components), components,
                      values.begin() + static_cast<std::ptrdiff_t>(i * components));
        }
        part.values = std::move(values);
      },
      array.values);
  add_named(data, std::move(part), "cell_array");
}

void CellSorter::add_array(DataArray array) {
  // A block that takes the whole array is alone, so moving it away hurts nobody.
  give(triangles_, dataset_.triangles.data, array);
  give(tets_, dataset_.tets.data, array);
  give(lines_, dataset_.line_data, array);
}

void add_named(DataArrays& data, DataArray array, const std::string& fallback) {
  if (array.name.empty()) array.name = fallback;
  const std::string wanted = array.name;
  for (int number = 2; data.find(array.name) != nullptr; ++number) array.name = fmt::format("{}_{}", wanted, number);
  data.set(std::move(array));
}

}  // namespace isochron
