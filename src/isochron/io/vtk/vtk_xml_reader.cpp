#include "isochron/io/vtk/vtk_xml_reader.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include "isochron/core/error.h"
#include "isochron/io/cell_sorter.h"
#include "isochron/io/vtk/vtk_arrays.h"

namespace isochron {

namespace {

// What is taken out of VTK's data set before that is let go.
struct Parts {
  struct Cells {
    int kind = 0;  // 0: see `kinds`
    vtkSmartPointer<vtkCellArray> list;
  };
  ArrayPointer points;
  std::vector<Cells> cells;
  vtkSmartPointer<vtkUnsignedCharArray> kinds;
  std::vector<ArrayPointer> point_arrays;
  std::vector<ArrayPointer> cell_arrays;
};

template <class Grid>
void take_shared(Grid& grid, Parts& parts) {
  if (grid.GetPoints() != nullptr) parts.points = grid.GetPoints()->GetData();
  take_arrays(grid.GetPointData(), parts.point_arrays);
  take_arrays(grid.GetCellData(), parts.cell_arrays);
}

// Runs a reader. It and its output are gone when this returns; only the parts are left.
template <class Reader>
Parts read_parts(const std::string& path, std::vector<std::string>& warnings) {
  vtkNew<Reader> reader;
  reader->SetFileName(path.c_str());
  run_vtk_reader(*reader, path, warnings);
  Parts parts;
  auto* grid = reader->GetOutput();
  take_shared(*grid, parts);
  if constexpr (std::is_same_v<Reader, vtkXMLPolyDataReader>) {
    parts.cells = {{kind_poly_vertex, grid->GetVerts()},
                   {kind_poly_line, grid->GetLines()},
                   {kind_polygon, grid->GetPolys()},
                   {kind_triangle_strip, grid->GetStrips()}};
  } else {
    parts.cells = {{0, grid->GetCells()}};
    parts.kinds = grid->GetCellTypesArray();
  }
  return parts;
}

std::vector<Vec3d> convert_points(vtkDataArray& array, const std::string& path) {
  if (array.GetNumberOfComponents() != 3) vtk_damaged(path, "the points do not have three coordinates");
  std::vector<Vec3d> points(static_cast<std::size_t>(array.GetNumberOfTuples()));
  with_vtk_values(array, [&](auto values) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i] = {static_cast<double>(values[3 * i]), static_cast<double>(values[3 * i + 1]),
                   static_cast<double>(values[3 * i + 2])};
    }
  });
  return points;
}

// Adds the cells of one list; VTK does not check what it read, so this does.
template <class Int, class KindOf>
void add_cells(std::span<const Int> offsets, std::span<const Int> ids, CellSorter& sorter, const std::string& path,
               KindOf&& kind_of) {
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const Int begin = offsets[i];
    const Int end = offsets[i + 1];
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) > ids.size()) {
      vtk_damaged(path, fmt::format("the offsets of cell {} do not fit the connectivity", i));
    }
    sorter.add(kind_of(i), ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

void sort_cells(Parts& parts, CellSorter& sorter, const std::string& path) {
  std::span<const std::uint8_t> kinds;
  if (parts.kinds != nullptr) kinds = vtk_values<std::uint8_t>(*parts.kinds);
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t kind : kinds) ++counts[kind];
  for (int kind = 0; kind < 256; ++kind) sorter.reserve(kind, counts[static_cast<std::size_t>(kind)]);
  for (Parts::Cells& cells : parts.cells) {
    if (cells.list == nullptr || cells.list->GetNumberOfCells() == 0) continue;
    const auto count = static_cast<std::size_t>(cells.list->GetNumberOfCells());
    if (cells.kind == 0 && kinds.size() != count) {
      vtk_damaged(path, fmt::format("the numbers of cells and of cell types differ ({} and {})", count, kinds.size()));
    }
    if (cells.kind == kind_polygon) sorter.reserve(kind_triangle, count);
    const auto kind_of = [&](std::size_t i) { return cells.kind == 0 ? int{kinds[i]} : cells.kind; };
    vtkDataArray& offsets = *cells.list->GetOffsetsArray();
    vtkDataArray& ids = *cells.list->GetConnectivityArray();
    if (cells.list->IsStorage64Bit()) {
      add_cells(vtk_values<std::int64_t>(offsets), vtk_values<std::int64_t>(ids), sorter, path, kind_of);
    } else {
      add_cells(vtk_values<std::int32_t>(offsets), vtk_values<std::int32_t>(ids), sorter, path, kind_of);
    }
    cells.list = nullptr;
  }
  parts.kinds = nullptr;
  sorter.finish();
}

template <class Reader>
Dataset read_xml(const std::filesystem::path& path) {
  const std::string name = path.string();
  Dataset dataset;
  Parts parts = read_parts<Reader>(name, dataset.warnings);
  if (parts.points != nullptr) dataset.points = convert_points(*parts.points, name);
  parts.points = nullptr;
  CellSorter sorter(dataset, name);
  sort_cells(parts, sorter, name);
  for (ArrayPointer& array : parts.point_arrays) {
    check_tuples(*array, dataset.points.size(), name);
    if (!dataset.points.empty()) add_named(dataset.point_data, converted_array(*array), "point_array");
    array = nullptr;
  }
  for (ArrayPointer& array : parts.cell_arrays) {
    check_tuples(*array, sorter.cell_count(), name);
    sorter.add_array(converted_array(*array));
    array = nullptr;
  }
  return dataset;
}

}  // namespace

Dataset read_vtu(const std::filesystem::path& path) { return read_xml<vtkXMLUnstructuredGridReader>(path); }

Dataset read_vtp(const std::filesystem::path& path) { return read_xml<vtkXMLPolyDataReader>(path); }

}  // namespace isochron
