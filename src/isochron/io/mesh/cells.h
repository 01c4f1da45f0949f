// Cells on their way between files and data sets: kinds, labels, segments of lines, and lists of mixed cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/io/values.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Throws InputError about the file: a coordinate that is not finite, more points than ids can number, a cell with a
/// vertex that is not there, an array that does not fit.
void check_dataset(const std::filesystem::path& path, const Dataset& dataset);

/// The kinds of cells that a data set has; files have others too.
enum class CellKind : std::uint8_t { tet, triangle, line, other };
inline constexpr std::array cell_kinds{CellKind::tet, CellKind::triangle, CellKind::line};

DataArrays& arrays_of(Dataset& dataset, CellKind kind);
const DataArrays& arrays_of(const Dataset& dataset, CellKind kind);
/// Makes room for more cells of a kind, to avoid growing in steps; lines grow as they come.
void reserve_cells(Dataset& dataset, CellKind kind, std::size_t more);
/// Adds a cell with these corners.
void add_cell(Dataset& dataset, CellKind kind, std::span<const VertexId> corners);
/// Adds to the count of cells of a kind that is not used.
void count_ignored(Dataset& dataset, std::string_view kind, std::size_t cells = 1);

/// What an array is attached to.
enum class ArrayPlace { points, cells };

/// The array that holds a cell's region under the name that some format gives it ("region", "gmsh:physical",
/// "medit:ref"); `preferred` is looked for first. Null when there is none.
const DataArray* find_labels(const DataArrays& arrays, std::string_view preferred);

/// The label of a tuple as a whole number; 0 without an array, or where it is no number.
std::int64_t label_at(const DataArray* labels, std::size_t tuple);

/// Stores labels unless all are zero, which is how files say "none".
void set_labels(DataArrays& arrays, std::string name, std::vector<std::int32_t> labels);

/// Stores a column of numbers, as 32-bit integers when all of them are.
void set_numbers(DataArrays& arrays, std::string name, std::vector<double> values);

/// The straight pieces of polylines, for formats that know only edges of two vertices.
class SegmentList {
 public:
  explicit SegmentList(const std::vector<std::vector<VertexId>>& lines) : lines_(lines) {
    for (const auto& line : lines) size_ += line.empty() ? 0 : line.size() - 1;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Calls `body(line, a, b)` for every piece, in order; `line` is the index of its polyline.
  template <class Body>
  void for_each(Body&& body) const {
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      for (std::size_t k = 1; k < lines_[line].size(); ++k) body(line, lines_[line][k - 1], lines_[line][k]);
    }
  }

 private:
  const std::vector<std::vector<VertexId>>& lines_;
  std::size_t size_ = 0;
};

/// The cells of a kind in formats that know only such edges.
std::size_t cells_written(const Dataset& dataset, CellKind kind);

/// Appends x, y and z, separated by blanks.
inline void print_point(ByteWriter& out, const Vec3d& p) { out.print("{} {} {}", p.x, p.y, p.z); }

/// Appends one tuple, its values separated by blanks, so that reading them gives the same values again.
void print_tuple(ByteWriter& out, const DataArray& array, std::size_t tuple);

/// VTK's numbers of the cell kinds that are distinguished here.
enum VtkCell : int {
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
  CellSorter(Dataset& dataset, std::filesystem::path path) : dataset_(dataset), path_(std::move(path)) {}

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
  std::filesystem::path path_;
  std::size_t count_ = 0;
  Origins triangles_, tets_, lines_;
  std::vector<VertexId> scratch_;
  std::map<std::string, std::size_t> ignored_;
};

}  // namespace isochron
