// Small things the text formats share: labels, ignored cells, tuples as text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// What an array is attached to.
enum class ArrayPlace { points, triangles, tets, lines };

/// The array that holds a cell's region under the name that some format gives it ("region", "gmsh:physical",
/// "medit:ref"); `preferred` is looked for first. Null when there is none.
const DataArray* find_labels(const DataArrays& arrays, std::string_view preferred);

/// The label of a tuple as a whole number; 0 without an array, or where it is no number.
std::int64_t label_at(const DataArray* labels, std::size_t tuple);

/// Stores labels unless all are zero, which is how files say "none".
void set_labels(DataArrays& arrays, std::string name, std::vector<std::int32_t> labels);

/// Stores a column of numbers, as 32-bit integers when all of them are.
void set_numbers(DataArrays& arrays, std::string name, std::vector<double> values);

/// Adds to the count of cells of a kind that is not used.
void count_ignored(Dataset& dataset, std::string_view kind, std::size_t cells = 1);

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

/// Appends one tuple, its values separated by blanks, so that reading them gives the same values again.
void print_tuple(TextSink& sink, const DataArray& array, std::size_t tuple);

}  // namespace isochron
