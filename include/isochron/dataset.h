// What a mesh file holds: points, cells of several kinds, and named arrays on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/types.h"

namespace isochron {

// ---- What a file holds: points, cells of several kinds, and named arrays on them.

/// A named array with `components` values per tuple, kept in the type it came in.
struct DataArray {
  using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                              std::vector<std::int64_t>, std::vector<std::uint8_t>>;
  std::string name;
  int components = 1;
  Values values;

  [[nodiscard]] std::size_t value_count() const;
  [[nodiscard]] std::size_t tuple_count() const { return value_count() / static_cast<std::size_t>(components); }
  /// Value `component` of tuple `tuple`, as double.
  [[nodiscard]] double at(std::size_t tuple, int component = 0) const;
};

/// Arrays of one attachment (points, triangles or tetrahedra), in file order, names unique.
class DataArrays {
 public:
  [[nodiscard]] const DataArray* find(std::string_view name) const;
  /// The array called `name`. Throws InputError that lists the existing names; `where` says what was searched.
  [[nodiscard]] const DataArray& require(std::string_view name, std::string_view where) const;
  /// Adds the array, in place of one of the same name.
  void set(DataArray array);
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const std::vector<DataArray>& all() const { return arrays_; }
  [[nodiscard]] std::vector<DataArray>& all() { return arrays_; }
  [[nodiscard]] bool empty() const { return arrays_.empty(); }

 private:
  std::vector<DataArray> arrays_;
};

/// Cells of one kind with their arrays (each array has one tuple per cell).
template <int Corners>
struct CellBlock {
  std::vector<std::array<VertexId, Corners>> cells;
  DataArrays data;
};

/// Cells of a kind that were cut into simplices when they were read; each piece has its cell's values.
struct CutCells {
  std::string kind;  ///< "quad", "polygon", "pyramid", "prism" or "hexahedron"
  std::size_t cells = 0;
  std::size_t pieces = 0;  ///< triangles of quads and polygons, tetrahedra of the others

  [[nodiscard]] bool flat() const { return kind == "quad" || kind == "polygon"; }
};

/// A file's content in memory. Every array in `point_data` has one tuple per point.
struct Dataset {
  std::vector<Vec3d> points;
  CellBlock<3> triangles;
  CellBlock<4> tets;
  /// Line elements and polylines (paths, cables), each a run of point ids. `line_data` has one tuple per line.
  std::vector<std::vector<VertexId>> lines;
  DataArrays line_data;
  DataArrays point_data;
  /// Cells that were cut, counted by kind.
  std::vector<CutCells> cut_cells;
  /// Cells of kinds that are not used, counted by name ("polyhedron": 12), for a warning.
  std::vector<std::pair<std::string, std::size_t>> ignored_cells;
  /// Things a reader noticed that the user should know, one line each.
  std::vector<std::string> warnings;

  template <int Corners>
  [[nodiscard]] CellBlock<Corners>& block() {
    if constexpr (Corners == 3) return triangles;
    else return tets;
  }
  template <int Corners>
  [[nodiscard]] const CellBlock<Corners>& block() const {
    if constexpr (Corners == 3) return triangles;
    else return tets;
  }
};

/// Moves points and cells of one kind out of the data set (arrays stay); `restore_mesh` puts them back. No copies.
template <int Corners>
SimplexMesh<Corners> take_mesh(Dataset& dataset) {
  return {std::move(dataset.points), std::move(dataset.block<Corners>().cells)};
}
template <int Corners>
void restore_mesh(Dataset& dataset, SimplexMesh<Corners>&& mesh) {
  dataset.points = std::move(mesh.points);
  dataset.block<Corners>().cells = std::move(mesh.elements);
}

// ---- In which order files keep the components of symmetric tensors.

/// Where the six components of a symmetric tensor stand. Nine components are always a full matrix, row by row.
enum class TensorOrder {
  vtk,     ///< xx, yy, zz, xy, yz, xz (VTK, ParaView)
  row,     ///< xx, xy, xz, yy, yz, zz (FSL, and NRRD)
  mrtrix,  ///< xx, yy, zz, xy, xz, yz
  lower    ///< xx, xy, yy, xz, yz, zz (NIfTI's symmatrix: the lower triangle row by row)
};

/// The tensor of six or nine components; of nine the symmetric part.
inline SymTensor3d tensor_of(std::span<const double> t, TensorOrder order) {
  if (t.size() == 9) return {t[0], 0.5 * (t[1] + t[3]), 0.5 * (t[2] + t[6]), t[4], 0.5 * (t[5] + t[7]), t[8]};
  switch (order) {
    case TensorOrder::row: return {t[0], t[1], t[2], t[3], t[4], t[5]};
    case TensorOrder::mrtrix: return {t[0], t[3], t[4], t[1], t[5], t[2]};
    case TensorOrder::lower: return {t[0], t[1], t[3], t[2], t[4], t[5]};
    default: return {t[0], t[3], t[5], t[1], t[4], t[2]};
  }
}

}  // namespace isochron
