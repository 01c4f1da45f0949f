// The sparse system of a linearised solution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/adjoint/rows.h"

namespace isochron {

/// u = W u + c, with the rows in groups: a row depends on rows of earlier groups, and on others of its own group only
/// where the dependence is circular. There W has weights ≥ 0 that sum to at most 1 a row, and from each row a way leads
/// to a row of an earlier group: I − W is a non-singular M-matrix. Small groups are solved by elimination, larger ones
/// by Gauss–Seidel sweeps, which converge.
class DependenceSystem {
 public:
  struct Shape {
    std::vector<std::uint32_t> user;  ///< of the first rows: the user's vertex, invalid where none is
    std::size_t vertices = 0, elements = 0;
    std::vector<std::uint8_t> movable;  ///< per source: whether it has a derivative with respect to its position
    bool on_mesh = true;                ///< not an image, whose voxels stay where they are
    std::vector<double> onset = {};     ///< of each source
    bool level_set = false;             ///< whether one is a source
    double accuracy = 0;                ///< how far times may be from what their rows give, as a share of the largest
  };

  DependenceSystem(DependenceRows rows, Shape shape);

  [[nodiscard]] const DependenceRows& rows() const { return rows_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::size_t node_begin(std::size_t row) const { return row == 0 ? 0 : rows_.node_end[row - 1]; }
  [[nodiscard]] std::size_t term_begin(std::size_t row) const { return row == 0 ? 0 : rows_.term_end[row - 1]; }

  /// From c to u, in place.
  void solve(std::span<double> values) const;
  /// The transposed system: from the weights of u to those of c, in place.
  void solve_transposed(std::span<double> values) const;
  /// The same for one row's u alone: calls `visit(row, weight)` for those c that it depends on. `scratch` has a 0 for
  /// each row, before and after.
  template <class Visit>
  void weights_of(std::uint32_t row, std::vector<double>& scratch, Visit&& visit) const {
    const std::vector<std::uint32_t> places = ancestors(row);  // of rows in order_, descending
    scratch[row] = 1;
    std::size_t k = 0;
    while (k < places.size()) {
      const std::size_t group = group_of(places[k]);
      const std::size_t begin = group_begin_[group];
      pass_back(begin, group_begin_[group + 1], scratch);
      for (; k < places.size() && places[k] >= begin; ++k) {
        double& value = scratch[order_[places[k]]];
        if (value != 0) visit(order_[places[k]], value);
        value = 0;
      }
    }
  }

 private:
  [[nodiscard]] std::size_t group_of(std::uint32_t place) const;
  [[nodiscard]] std::vector<std::uint32_t> ancestors(std::uint32_t row) const;
  /// Solves a small group by elimination, after what comes from others has been added.
  void solve_small(std::size_t begin, std::size_t end, bool transposed, std::span<double> values) const;
  /// The transposed system within one group, then to the groups before it.
  void pass_back(std::size_t begin, std::size_t end, std::span<double> values) const;

  DependenceRows rows_;
  Shape shape_;
  std::vector<std::uint32_t> order_;        ///< rows, group by group
  std::vector<std::uint32_t> place_;        ///< of each row in `order_`
  std::vector<std::uint32_t> group_begin_;  ///< in `order_`, and its end
};

}  // namespace isochron
