// Cells on their way between files and data sets: kinds, labels, segments of lines, and lists of mixed cells.
#pragma once

#include <utility>

#include "isochron/io/stretches.h"
#include "isochron/io/text_rows.h"
#include "isochron/io/values.h"
#include "isochron/mesh/cut_cells.h"

namespace isochron {

/// Throws InputError about the file: a coordinate that is not finite, more points than ids can number, a cell with a
/// vertex that is not there, an array that does not fit.
void check_dataset(const std::filesystem::path& path, const Dataset& dataset);

/// The kinds of cells that a data set has; files have others too.
enum class CellKind : std::uint8_t { tet, triangle, line, other };
inline constexpr std::array cell_kinds{CellKind::tet, CellKind::triangle, CellKind::line};

/// Calls `body(kind, cells, arrays)` for the tetrahedra, the triangles and the lines, in this order.
template <class AnyDataset, class Body>
void for_each_block(AnyDataset& dataset, Body&& body) {
  body(CellKind::tet, dataset.tets.cells, dataset.tets.data);
  body(CellKind::triangle, dataset.triangles.cells, dataset.triangles.data);
  body(CellKind::line, dataset.lines, dataset.line_data);
}
DataArrays& arrays_of(Dataset& dataset, CellKind kind);
const DataArrays& arrays_of(const Dataset& dataset, CellKind kind);
/// The corners of all cells.
template <class Cells>
std::size_t corner_count(const Cells& cells) {
  std::size_t corners = 0;
  for (const auto& cell : cells) corners += cell.size();
  return corners;
}
/// Adds to a data set's count of cells of a kind that is not used.
void count_ignored(std::vector<std::pair<std::string, std::size_t>>& ignored, std::string_view kind,
                   std::size_t cells = 1);
/// Adds to a data set's count of cells that were cut.
void count_cut(std::vector<CutCells>& cut, std::string_view kind, std::size_t cells, std::size_t pieces);

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

/// The cells of a kind in formats that know only lines of two vertices: polylines count as their straight pieces.
std::size_t cells_written(const Dataset& dataset, CellKind kind);
/// Calls `body(tuple, corners)` for each of these cells; `tuple` is where its values are in the arrays of the kind.
template <class Body>
void for_each_written(const Dataset& dataset, CellKind kind, Body&& body) {
  for_each_block(dataset, [&](CellKind block, const auto& cells, const DataArrays&) {
    if (block != kind) return;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::span<const VertexId> corners(cells[i]);
      if (kind != CellKind::line) body(i, corners);
      else
        for (std::size_t k = 1; k < corners.size(); ++k) body(i, corners.subspan(k - 1, 2));
    }
  });
}

/// Writes a row for each of these cells, which `print(text, row, tuple, corners)` makes; rows count from 0. Several
/// threads call it at once.
using PrintCell = std::function<void(PrintedText&, std::size_t, std::size_t, std::span<const VertexId>)>;
void print_cells(ByteWriter& out, const Dataset& dataset, CellKind kind, const PrintCell& print);

/// Writes x, y and z of every point, a line each, behind the text in front.
void print_points(ByteWriter& out, std::string_view front, const std::vector<Vec3d>& points);

/// Fills the points of a text file that has three coordinates in each line; more words in the line are passed over.
void read_coordinates(TextScanner& in, std::vector<Vec3d>& points);

/// Appends one tuple, its values separated by blanks, so that reading them gives the same values again.
void print_tuple(PrintedText& out, const DataArray& array, std::size_t tuple);

/// VTK's numbers of the cell kinds that are distinguished here.
enum VtkCell : int {
  kind_vertex = 1,
  kind_poly_vertex = 2,
  kind_line = 3,
  kind_poly_line = 4,
  kind_triangle = 5,
  kind_triangle_strip = 6,
  kind_polygon = 7,
  kind_pixel = 8,
  kind_quad = 9,
  kind_tetra = 10,
  kind_voxel = 11,
  kind_hexahedron = 12,
  kind_wedge = 13,
  kind_pyramid = 14,
};

/// The kind that files get for a cell of a data set.
constexpr std::uint8_t vtk_kind(CellKind kind, std::size_t corners) {
  if (kind == CellKind::line) return corners == 2 ? kind_line : kind_poly_line;
  return kind == CellKind::tet ? kind_tetra : kind_triangle;
}

/// Cells of a stretch of a file: their kinds (VTK's, or others that a reader tells apart) and corners.
class CellList {
 public:
  /// Makes room for so many corners.
  void reserve(std::size_t corners) { corners_.reserve(corners); }
  void add(int kind, std::span<const VertexId> corners) {
    if (count_ == 0) kind_ = kind, each_ = corners.size();
    if (!mixed_ && (kind != kind_ || corners.size() != each_)) mix();
    corners_.insert(corners_.end(), corners.begin(), corners.end());
    ++count_;
    if (!mixed_) return;
    kinds_.push_back(static_cast<std::int16_t>(kind));
    ends_.push_back(corners_.size());
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Whether all cells are of this kind and have as many corners.
  [[nodiscard]] bool all_are(int kind, std::size_t corners) const {
    return count_ == 0 || (!mixed_ && kind_ == kind && each_ == corners);
  }
  [[nodiscard]] std::span<const VertexId> corners() const { return corners_; }
  /// Calls `body(kind, corners)` for each.
  template <class Body>
  void for_each(Body&& body) const {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t end = mixed_ ? ends_[i] : begin + each_;
      body(mixed_ ? int{kinds_[i]} : kind_, std::span(corners_).subspan(begin, end - begin));
      begin = end;
    }
  }

 private:
  void mix();  ///< from now on each cell has its own kind and number of corners

  std::vector<VertexId> corners_;
  std::vector<std::int16_t> kinds_;
  std::vector<std::size_t> ends_;
  std::size_t count_ = 0, each_ = 0;
  int kind_ = 0;
  bool mixed_ = false;
};

/// The lists that parts of rows (`read_rows`) have in `cells`.
template <class Part>
std::vector<const CellList*> lists_of(const std::vector<Part>& parts) {
  std::vector<const CellList*> lists;
  for (const Part& part : parts) lists.push_back(&part.cells);
  return lists;
}

/// What a cell of a file became; nothing when it was left out.
struct AddedCells {
  CellKind kind = CellKind::other;
  std::uint32_t count = 0;
};

/// Puts the cells of a file into a data set. Strips become triangles; polygons and solids are cut; everything else that
/// is no triangle, tetrahedron or line is counted in `ignored_cells`.
class CellAdder {
 public:
  /// The data set's points must be complete and must outlive this.
  explicit CellAdder(Dataset& dataset, CornerOrder order = CornerOrder::ids)
      : dataset_(dataset), cutter_(dataset.points, order) {}

  /// Makes room for this many cells of a VTK kind, to avoid growing in steps.
  void reserve(int kind, std::size_t cells);
  /// The next cell: its VTK kind, and its corners in VTK's order.
  AddedCells add(int kind, std::span<const VertexId> corners);
  /// The next cells where all lists have only triangles or only tetrahedra; else none is added. Several threads copy.
  AddedCells add_all(std::span<const CellList* const> lists);

 private:
  AddedCells cut_polygon(std::span<const VertexId> corners);
  AddedCells cut_solid(SolidShape shape, std::span<const VertexId> corners);
  AddedCells leave_out(const std::string& kind);

  Dataset& dataset_;
  CellCutter cutter_;
};

/// Feed it every cell of a file with `add`, then hand over each cell array.
class CellSorter {
 public:
  /// `path` is for messages. The data set's points must be complete and must outlive the sorter.
  CellSorter(Dataset& dataset, std::filesystem::path path, CornerOrder order = CornerOrder::ids)
      : dataset_(dataset), path_(std::move(path)), adder_(dataset, order) {}

  /// Makes room for this many cells of a VTK kind, or for cells of these kinds, to avoid growing in steps.
  void reserve(int kind, std::size_t cells) { adder_.reserve(kind, cells); }
  void reserve(std::span<const std::uint8_t> kinds);
  /// The next cell. Throws InputError when an id is not one of a point.
  template <class Int>
  void add(int kind, std::span<const Int> ids) {
    scratch_.clear();
    for (const Int id : ids) {
      if constexpr (std::is_signed_v<Int>) {
        if (id < 0) fail_id(count_, static_cast<long long>(id));
      }
      if (static_cast<std::uint64_t>(id) >= dataset_.points.size()) fail_id(count_, static_cast<long long>(id));
      scratch_.emplace_back(static_cast<std::size_t>(id));
    }
    add(kind, scratch_);
  }
  /// The next cell, whose corners are known to be points.
  void add(int kind, std::span<const VertexId> corners);
  /// Like `CellAdder::add_all`; false where none is added, as where an id is not one of a point.
  bool add_all(std::span<const CellList* const> lists);
  /// The next cells, whose ids may be none of a point.
  void add_each(const CellList& list);
  /// The next cell is of a kind that is not used.
  void leave_out(std::string_view kind);
  /// The next cells, whose ids follow one another up to their ends; `kind_of(i)` is the kind of the i-th of them.
  template <class Int, class End, class KindOf>
  void add_runs(const std::vector<Int>& ids, const std::vector<End>& ends, KindOf&& kind_of) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto end = static_cast<std::size_t>(ends[i]);
      add(kind_of(i), std::span<const Int>(ids).subspan(begin, end - begin));
      begin = end;
    }
  }
  /// The next cells, all triangles or all tetrahedra. `read(take)` calls `take(first, count, id_of)` for stretches of
  /// them, on several threads; `id_of(i, k)` is corner k of the i-th of a stretch.
  template <int Corners, class Read>
  void add_simplices(std::size_t cells, const Read& read) {
    GrowingVector places(dataset_.block<Corners>().cells, cells);
    const std::size_t points = dataset_.points.size();
    const auto is_point = [&](auto id) { return std::cmp_greater_equal(id, 0) && std::cmp_less(id, points); };
    read([&](std::size_t first, std::size_t some, const auto& id_of) {
      auto* const to = places.up_to(first + some) + first;
      bool good = true;
      for (std::size_t i = 0; i < some; ++i)
        for (int k = 0; k < Corners; ++k) {
          const auto id = id_of(i, k);
          good = good && is_point(id);
          to[i][static_cast<std::size_t>(k)] = VertexId(static_cast<std::uint32_t>(id));
        }
      for (std::size_t i = 0; !good && i < some; ++i)
        for (int k = 0; k < Corners; ++k)
          if (!is_point(id_of(i, k))) fail_id(count_ + first + i, static_cast<long long>(id_of(i, k)));
    });
    origins_[static_cast<std::size_t>(Corners == 4 ? CellKind::tet : CellKind::triangle)].push(count_, cells);
    count_ += cells;
  }
  /// Cells added so far.
  [[nodiscard]] std::size_t cell_count() const { return count_; }
  /// Splits an array with one tuple per added cell over the three kinds; the pieces of a cell get its values.
  void add_array(DataArray array);

 private:
  // The added cells that a block's cells came from; nothing is stored while they are 0, 1, 2, …
  struct Origins {
    std::vector<std::uint32_t> cells;
    std::size_t count = 0;
    bool consecutive = true;
    /// Cells in a row, from this one on.
    void push(std::size_t cell, std::size_t in_a_row = 1);
  };

  void give(const Origins& origins, DataArrays& data, DataArray& array) const;
  [[noreturn]] void fail_id(std::size_t cell, long long id) const;

  Dataset& dataset_;
  std::filesystem::path path_;
  CellAdder adder_;
  std::size_t count_ = 0;
  std::array<Origins, cell_kinds.size()> origins_;
  std::vector<VertexId> scratch_;
};

}  // namespace isochron
