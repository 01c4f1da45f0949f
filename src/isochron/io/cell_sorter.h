// Sorts cells that come in one mixed list (VTK's way) into triangles, tetrahedra and lines, with their arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// VTK's numbers of the cell kinds that are told apart here.
enum CellKind : int {
  kind_vertex = 1,
  kind_poly_vertex = 2,
  kind_line = 3,
  kind_poly_line = 4,
  kind_triangle = 5,
  kind_triangle_strip = 6,
  kind_polygon = 7,
  kind_quad = 9,
  kind_tetra = 10,
};

/// Feed it every cell of a file with `add`, call `finish`, then hand over each cell array. Strips become triangles;
/// polygons of three corners are triangles; everything that is no triangle, tetrahedron or line is counted in
/// `ignored_cells`.
class CellSorter {
 public:
  /// `path` is for messages. The data set's points must be complete and must outlive the sorter.
  CellSorter(Dataset& dataset, std::string path) : dataset_(dataset), path_(std::move(path)) {}

  /// Makes room for this many cells of a VTK kind, to avoid growing in steps.
  void reserve(int kind, std::size_t cells);
  /// The next cell. Throws InputError when an id is not one of a point.
  template <class Int>
  void add(int kind, std::span<const Int> ids) {
    scratch_.clear();
    for (const Int id : ids) {
      if constexpr (std::is_signed_v<Int>) {
        if (id < 0) fail_id(static_cast<long long>(id));
      }
      if (static_cast<std::uint64_t>(id) >= dataset_.points.size()) fail_id(static_cast<long long>(id));
      scratch_.emplace_back(static_cast<std::size_t>(id));
    }
    place(kind);
  }
  /// Writes the counts of ignored cells to the data set.
  void finish();
  /// Cells added so far.
  [[nodiscard]] std::size_t cell_count() const { return count_; }
  /// Splits an array with one tuple per added cell over the three kinds.
  void add_array(DataArray array);

 private:
  // The added cells that a block's cells came from; nothing is stored while they are 0, 1, 2, …
  struct Origins {
    std::vector<std::uint32_t> cells;
    std::size_t count = 0;
    bool consecutive = true;
    void push(std::size_t cell);
  };

  void place(int kind);
  void ignore(int kind);
  void give(const Origins& origins, DataArrays& data, DataArray& array) const;
  [[noreturn]] void fail_id(long long id) const;

  Dataset& dataset_;
  std::string path_;
  std::size_t count_ = 0;
  Origins triangles_, tets_, lines_;
  std::vector<VertexId> scratch_;
  std::map<std::string, std::size_t> ignored_;
};

/// Adds the array under its name, under `fallback` if it has none, or with a number behind if the name is taken.
void add_named(DataArrays& data, DataArray array, const std::string& fallback);

}  // namespace isochron
