// How kernels read a grid's stencils. For .cu files only.
//
// Both views have the same members. `open` gives what a cell reads, with `none` (a cell whose time stays +inf and that
// is never put on a list) where there is nothing to read. Those that read x are, where `symmetric`, the cells that x
// reads, and always those of `for_more_dependents`.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include <cuda_runtime.h>

#include "isochron/local/stencil_update.h"
#include "isochron/solve/grid/cuda/listed_stencils.h"

namespace isochron::cuda {

/// What a cell's update reads.
template <class T, int Terms>
struct CellStencil {
  T weight[Terms];
  std::uint32_t near[2 * Terms];             ///< neighbours at −e_i and +e_i: 2i and 2i+1
  std::uint32_t word;                        ///< of the view
  std::uint32_t dependents, dependents_end;  ///< of `ListView`: pieces
};

/// Times are read past the first-level cache, which others' writes do not reach.
template <class T>
__device__ T read_time(const T* time, std::uint32_t cell) {
  return __ldcg(time + cell);
}

template <int N, class T>
__device__ void read_times(const T* time, const std::uint32_t (&cells)[N], T (&times)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) times[i] = read_time(time, cells[i]);
}

/// Cells numbered as in the box, one stencil for all (or along the axes and scaled): neighbours are computed.
template <class T, int Dim, int Terms>
struct BoxView {
  static constexpr int dim = Dim, terms = Terms;
  static constexpr bool symmetric = true;
  static constexpr bool along_axes_only = Terms == Dim;
  static constexpr std::uint32_t none = 0;  ///< a corner of the border
  static constexpr std::uint32_t edges_bit = 1U << 31U;
  static constexpr std::uint32_t near_edges_bit = 1U << 30U;  ///< a neighbour along an axis has edges
  using Cell = CellStencil<T, Terms>;

  std::uint32_t count;
  const std::uint8_t* allowed_cells;
  T weight[Terms];
  std::uint32_t step[Terms];  ///< sums wrap around
  const float* scale;         ///< null, or `scale_stride` values a cell
  std::uint32_t scale_stride;
  const std::uint32_t* usable;  ///< as `OffsetProblem::usable`, with `near_edges_bit`; null along the axes
  std::uint32_t axis_step[Dim];
  T axis_time[Dim];

  [[nodiscard]] __device__ bool allowed(std::uint32_t x) const { return allowed_cells[x] != 0; }
  [[nodiscard]] __device__ Cell open(std::uint32_t x) const {
    Cell cell;
    if constexpr (along_axes_only) {
      cell.word = 0;
      for (int i = 0; i < Terms; ++i) {
        cell.weight[i] = weight[i];
        if (scale != nullptr)
          cell.weight[i] *= T(__ldg(scale + std::size_t{x} * scale_stride + (scale_stride == 1 ? 0 : i)));
        cell.near[2 * i] = x - step[i];
        cell.near[2 * i + 1] = x + step[i];
      }
    } else {
      cell.word = __ldg(usable + x);
      for (int i = 0; i < Terms; ++i) {
        cell.weight[i] = weight[i];
        cell.near[2 * i] = (cell.word >> (2 * i) & 1U) != 0 ? x - step[i] : none;
        cell.near[2 * i + 1] = (cell.word >> (2 * i + 1) & 1U) != 0 ? x + step[i] : none;
      }
    }
    return cell;
  }
  [[nodiscard]] __device__ bool has_edges(const Cell& cell) const {
    return !along_axes_only && (cell.word & edges_bit) != 0;
  }
  /// Calls `visit(y, time)` for the neighbours along the axes and the times of the steps.
  template <class Visit>
  __device__ void for_edges(const Cell&, std::uint32_t x, Visit&& visit) const {
    for (int axis = 0; axis < Dim; ++axis) {
      visit(x - axis_step[axis], axis_time[axis]);
      visit(x + axis_step[axis], axis_time[axis]);
    }
  }
  /// The one behind a neighbour that is there: term i, side 0 at −e_i, 1 at +e_i.
  [[nodiscard]] __device__ std::uint32_t second(const Cell& cell, std::uint32_t x, int i, int side) const {
    if (!along_axes_only && (cell.word >> (12 + 2 * i + side) & 1U) == 0) return none;
    return side == 0 ? x - 2 * step[i] : x + 2 * step[i];
  }
  /// What of the dependents is read before it is known whether they are notified.
  struct Ahead {};
  [[nodiscard]] __device__ Ahead look_ahead(const Cell&, const T*) const { return {}; }
  /// Calls `visit` with arrays of cells, which may hold `none`, and of their times.
  template <class Visit>
  __device__ void for_more_dependents(std::uint32_t x, const Cell& cell, const Ahead&, const T* time,
                                      Visit&& visit) const {
    if constexpr (!along_axes_only) {
      if ((cell.word & near_edges_bit) == 0) return;
      std::uint32_t cells[2 * Dim];
      for (int axis = 0; axis < Dim; ++axis) {
        const std::uint32_t back = x - axis_step[axis], ahead = x + axis_step[axis];
        cells[2 * axis] = (__ldg(usable + back) & edges_bit) != 0 ? back : none;
        cells[2 * axis + 1] = (__ldg(usable + ahead) & edges_bit) != 0 ? ahead : none;
      }
      T times[2 * Dim];
      read_times(time, cells, times);
      visit(cells, times);
    }
  }
};

/// Cells numbered by their place in the list; see `ListedStencils`.
template <class T, int Dim, int Terms>
struct ListView {
  static constexpr int dim = Dim, terms = Terms;
  static constexpr bool symmetric = false;
  using Cell = CellStencil<T, Terms>;

  std::uint32_t count;  ///< `none` included
  std::uint32_t none;
  const ListedRecord<Terms>* records;
  const ListedEdges<Dim>* edges;
  const std::uint32_t* dependents;
  const std::uint32_t* far;  ///< for second order: those behind `near`

  [[nodiscard]] __device__ bool allowed(std::uint32_t x) const { return x != none; }
  [[nodiscard]] __device__ Cell open(std::uint32_t x) const {
    const auto record = read_pieces(records + x);
    Cell cell;
    cell.word = record.edges;
    cell.dependents = record.dependents;
    cell.dependents_end = __ldg(&records[x + 1].dependents);
    for (int i = 0; i < Terms; ++i) cell.weight[i] = T(record.weight[i]);
    for (int i = 0; i < 2 * Terms; ++i) cell.near[i] = record.near[i];
    return cell;
  }
  [[nodiscard]] __device__ bool has_edges(const Cell& cell) const {
    return Terms != Dim && cell.word != ListedRecord<Terms>::no_edges;
  }
  template <class Visit>
  __device__ void for_edges(const Cell& cell, std::uint32_t, Visit&& visit) const {
    const auto edge = read_pieces(edges + cell.word);
    for (int i = 0; i < 2 * Dim; ++i) visit(edge.near[i], T(edge.time[i / 2]));
  }
  [[nodiscard]] __device__ std::uint32_t second(const Cell&, std::uint32_t x, int i, int side) const {
    return __ldg(far + std::size_t{x} * (2 * Terms) + 2 * i + side);
  }
  /// The first dependents, as many as most cells have, and their times: a round is a chain of reads, and these need not
  /// wait in it until the cell's own time is known.
  struct Ahead {
    static constexpr std::uint32_t pieces = 2;
    std::uint32_t cells[pieces * dependents_piece];
    T times[pieces * dependents_piece];
    std::uint32_t next;  ///< piece that was not read
  };
  [[nodiscard]] __device__ Ahead look_ahead(const Cell& cell, const T* time) const {
    Ahead ahead;
    ahead.next = cell.dependents;
    for (std::uint32_t& y : ahead.cells) y = none;
#pragma unroll
    for (std::uint32_t k = 0; k < Ahead::pieces; ++k)
      if (ahead.next < cell.dependents_end) read_dependents(ahead.next++, ahead.cells + k * dependents_piece);
    read_times(time, ahead.cells, ahead.times);
    return ahead;
  }
  template <class Visit>
  __device__ void for_more_dependents(std::uint32_t, const Cell& cell, const Ahead& ahead, const T* time,
                                      Visit&& visit) const {
    visit(ahead.cells, ahead.times);
    for (std::uint32_t piece = ahead.next; piece < cell.dependents_end; ++piece) {
      std::uint32_t cells[dependents_piece];
      T times[dependents_piece];
      read_dependents(piece, cells);
      read_times(time, cells, times);
      visit(cells, times);
    }
  }

 private:
  __device__ void read_dependents(std::uint32_t piece, std::uint32_t* cells) const {
    const auto* words = reinterpret_cast<const uint4*>(dependents + std::size_t{piece} * dependents_piece);
    static_assert(dependents_piece == 8);
    const uint4 low = __ldg(words), high = __ldg(words + 1);
    cells[0] = low.x, cells[1] = low.y, cells[2] = low.z, cells[3] = low.w;
    cells[4] = high.x, cells[5] = high.y, cells[6] = high.z, cells[7] = high.w;
  }
  /// Reads a record in pieces of 16 bytes.
  template <class Record>
  [[nodiscard]] __device__ static Record read_pieces(const Record* record) {
    constexpr unsigned pieces = sizeof(Record) / sizeof(uint4);
    static_assert(sizeof(Record) % sizeof(uint4) == 0);
    uint4 words[pieces];
    for (unsigned i = 0; i < pieces; ++i) words[i] = __ldg(reinterpret_cast<const uint4*>(record) + i);
    Record result;
    memcpy(&result, words, sizeof result);
    return result;
  }
};

/// The travel time of a cell's shortest step; see `shortest_step`.
template <class T, int Terms>
__device__ T shortest_step(const CellStencil<T, Terms>& cell) {
  T largest = 0;
  for (int i = 0; i < Terms; ++i) largest = cell.weight[i] > largest ? cell.weight[i] : largest;
  return T(1) / std::sqrt(largest);
}

/// The cell's update from what it sees at its neighbours.
template <class T, class View>
__device__ T pulled_time(const View& view, const typename View::Cell& cell, const T (&seen)[2 * View::terms],
                         std::uint32_t x, const T* time) {
  T m[View::terms], weight[View::terms];
  for (int i = 0; i < View::terms; ++i) {
    m[i] = seen[2 * i] < seen[2 * i + 1] ? seen[2 * i] : seen[2 * i + 1];
    weight[i] = cell.weight[i];
  }
  T result = upwind_time(m, weight);
  if (view.has_edges(cell))
    view.for_edges(cell, x, [&](std::uint32_t y, T step) {
      const T along = read_time(time, y) + step;
      result = along < result ? along : result;
    });
  return result;
}

}  // namespace isochron::cuda
