// Images cut into blocks of 64 voxels for paper 004's schedule (its section 5.2): which cells a block has, where their
// values lie in device memory, and where a thread finds times in shared memory. Needs no CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/local/godunov_update.h"
#include "isochron/options.h"
#include "isochron/papers/axis_schemes.h"

namespace isochron {

inline constexpr unsigned block_cells = 64;
inline constexpr std::uint32_t no_block = 0xffffffffU;

/// Cells along the sides of a block.
template <int Dim>
inline constexpr unsigned block_side = Dim == 3 ? 4 : 8;

/// From a cell of a block to the next along an axis, where the first axis runs fastest.
template <int Dim>
ISOCHRON_HD constexpr unsigned step_in_block(int axis) {
  unsigned step = 1;
  for (int k = 0; k < axis; ++k) step *= block_side<Dim>;
  return step;
}

/// Where a cell is along an axis of its block.
template <int Dim>
ISOCHRON_HD constexpr unsigned at_in_block(unsigned cell, int axis) {
  return cell / step_in_block<Dim>(axis) % block_side<Dim>;
}

/// The cell of the next block that a cell on the face towards it has for neighbour: the one opposite.
template <int Dim>
ISOCHRON_HD constexpr unsigned beyond_face(unsigned cell, int axis) {
  const unsigned across = (block_side<Dim> - 1) * step_in_block<Dim>(axis);
  return at_in_block<Dim>(cell, axis) == 0 ? cell + across : cell - across;
}

/// Where a thread finds the times of its cell and of that cell's neighbours in shared memory. A neighbour in another
/// block has a place that no other thread reads.
template <int Dim>
struct SharedPlaces {
  unsigned own;
  unsigned back[Dim], ahead[Dim];
};

/// One layer of cells around the block, as an image would have it: (4 + 2)³ times.
template <int Dim>
struct PlainHalo {
  static constexpr unsigned wide = block_side<Dim> + 2;
  static constexpr unsigned size = wide * wide * (Dim == 3 ? wide : 1);

  ISOCHRON_HD static constexpr SharedPlaces<Dim> places(unsigned cell) {
    SharedPlaces<Dim> places{};
    unsigned width = 1;
    for (int k = 0; k < Dim; ++k) {
      places.own += (at_in_block<Dim>(cell, k) + 1) * width;
      width *= wide;
    }
    width = 1;
    for (int k = 0; k < Dim; ++k) {
      places.back[k] = places.own - width;
      places.ahead[k] = places.own + width;
      width *= wide;
    }
    return places;
  }
};

/// The paper's "predefined banks" (its Figures 4 and 5): a neighbour beyond a face lies at the bank of the cell at the
/// opposite face, which no thread reads when all read their neighbours on that side. The first axis has 64 places for
/// that, the second another 64; the third, of which the cells of a slice are read at once, two slices more.
template <int Dim>
struct BankedHalo {
  static constexpr unsigned slice = block_side<Dim> * block_side<Dim>;
  static constexpr unsigned size = 3 * block_cells + (Dim == 3 ? 2 * slice : 0);

  ISOCHRON_HD static constexpr SharedPlaces<Dim> places(unsigned cell) {
    SharedPlaces<Dim> places{};
    places.own = cell;
    for (int k = 0; k < Dim; ++k) {
      const unsigned at = at_in_block<Dim>(cell, k), step = step_in_block<Dim>(k);
      places.back[k] = at > 0 ? cell - step : beyond(cell, k);
      places.ahead[k] = at + 1 < block_side<Dim> ? cell + step : beyond(cell, k);
    }
    return places;
  }

 private:
  ISOCHRON_HD static constexpr unsigned beyond(unsigned cell, int axis) {
    const unsigned opposite = beyond_face<Dim>(cell, axis);
    if (axis < 2) return (1 + static_cast<unsigned>(axis)) * block_cells + opposite;
    return 3 * block_cells + (opposite < slice ? opposite : opposite - (block_cells - 2 * slice));
  }
};

/// A block that has allowed cells.
template <int Dim>
struct ImageBlock {
  std::uint32_t first;                ///< its first cell, numbered as in the box
  std::uint32_t neighbours[2 * Dim];  ///< blocks, down and up each axis
  std::uint64_t allowed;              ///< a bit for each of its cells
};

/// The blocks in memory. Each array has a value in each slot.
template <class T, int Dim>
struct BlockView {
  const ImageBlock<Dim>* blocks;
  BlockOrder order;
  const T* tensors;         ///< six components, one behind the other
  std::size_t component;    ///< from one component to the next; 1: one tensor for all
  std::uint32_t step[Dim];  ///< from a cell of the box to the next along an axis
  T tolerance;
  T* time;
};

/// One cell of a block: what a thread works on.
template <class T, int Dim>
struct BlockCell {
  std::uint32_t block;
  unsigned inside;  ///< its number in the block
  bool allowed;
  std::uint32_t cell;    ///< numbered as in the box; beyond it there may be none
  std::size_t slot;      ///< of an allowed cell, or of any where values are packed
  SymTensor3<T> tensor;  ///< of an allowed cell
};

template <class T, int Dim>
ISOCHRON_HD BlockCell<T, Dim> block_cell(const BlockView<T, Dim>& view, std::uint32_t b, unsigned inside) {
  BlockCell<T, Dim> mine{};
  const ImageBlock<Dim>& block = view.blocks[b];
  mine.block = b;
  mine.inside = inside;
  mine.allowed = (block.allowed >> inside & 1U) != 0;
  mine.cell = block.first;
  for (int axis = 0; axis < Dim; ++axis) mine.cell += at_in_block<Dim>(inside, axis) * view.step[axis];
  mine.slot = view.order == BlockOrder::blocks ? std::size_t{b} * block_cells + inside : mine.cell;
  if (!mine.allowed) return mine;
  const T* d = view.tensors + (view.component == 1 ? 0 : mine.slot);
  const std::size_t next = view.component;
  mine.tensor = {d[0], d[next], d[2 * next], d[3 * next], d[4 * next], d[5 * next]};
  return mine;
}

/// The time of an allowed cell's neighbour in the next block, down (side 0) or up (side 1) an axis.
template <class T, int Dim>
ISOCHRON_HD T time_beyond_face(const BlockView<T, Dim>& view, const BlockCell<T, Dim>& mine, int axis, int side) {
  if (view.order == BlockOrder::rows)  // the box has a border
    return view.time[side == 0 ? mine.slot - view.step[axis] : mine.slot + view.step[axis]];
  const std::uint32_t next = view.blocks[mine.block].neighbours[2 * axis + side];
  if (next == no_block) return std::numeric_limits<T>::infinity();
  return view.time[std::size_t{next} * block_cells + beyond_face<Dim>(mine.inside, axis)];
}

/// Puts a cell's time into the shared ones, and those of its neighbours in other blocks, which no other cell asks for.
template <class T, int Dim>
ISOCHRON_HD void load_times(const BlockView<T, Dim>& view, const BlockCell<T, Dim>& mine,
                            const SharedPlaces<Dim>& places, T* times) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  times[places.own] = mine.allowed ? view.time[mine.slot] : inf;
  for (int axis = 0; axis < Dim; ++axis) {
    const unsigned at = at_in_block<Dim>(mine.inside, axis);
    if (at == 0) times[places.back[axis]] = mine.allowed ? time_beyond_face(view, mine, axis, 0) : inf;
    if (at == block_side<Dim> - 1)
      times[places.ahead[axis]] = mine.allowed ? time_beyond_face(view, mine, axis, 1) : inf;
  }
}

/// A cell's neighbours, once all cells of the block have loaded their times.
template <class T, int Dim>
ISOCHRON_HD AxisTimes<T> neighbour_times(const SharedPlaces<Dim>& places, const T* times) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  AxisTimes<T> u{{inf, inf, inf}, {inf, inf, inf}};
  for (int axis = 0; axis < Dim; ++axis) {
    u.back[axis] = times[places.back[axis]];
    u.ahead[axis] = times[places.ahead[axis]];
  }
  return u;
}

/// The blocks of a problem, and which cell is where in them.
template <class T, int Dim>
class ImageBlocks {
 public:
  ImageBlocks(const TensorProblem<T, Dim>& problem, BlockOrder order) : order_(order), box_(problem.cells->box) {
    for (int axis = 0; axis < 3; ++axis)
      count_[axis] = axis < Dim ? (extent(axis) + block_side<Dim> - 1) / block_side<Dim> : 1;
    number_.assign(std::size_t{count_[0]} * count_[1] * count_[2], no_block);
    for (const std::uint32_t cell : problem.cells->list) add(cell);
    for (std::size_t b = 0; b < blocks_.size(); ++b) link(b);
    fill_components(problem);
  }

  [[nodiscard]] const std::vector<ImageBlock<Dim>>& blocks() const { return blocks_; }
  [[nodiscard]] BlockOrder order() const { return order_; }
  /// Places of cells' values in memory: those of all blocks, or those of the box.
  [[nodiscard]] std::size_t slots() const {
    return order_ == BlockOrder::blocks ? blocks_.size() * block_cells : box_.cell_count;
  }
  [[nodiscard]] std::uint32_t block_of(std::uint32_t cell) const { return number_[place(cell).block]; }
  [[nodiscard]] std::size_t slot(std::uint32_t cell) const {
    if (order_ == BlockOrder::rows) return cell;
    const Place p = place(cell);
    return std::size_t{number_[p.block]} * block_cells + p.inside;
  }

  /// D of all cells: first xx of all slots, then xy and so on; six values when there is one tensor for all.
  [[nodiscard]] const std::vector<T>& components() const { return components_; }
  [[nodiscard]] bool one_tensor() const { return components_.size() == 6; }
  [[nodiscard]] SymTensor3<T> tensor(std::uint32_t cell) const {
    const std::size_t stride = components_.size() / 6, at = one_tensor() ? 0 : slot(cell);
    const auto c = [&](std::size_t i) { return components_[i * stride + at]; };
    return {c(0), c(1), c(2), c(3), c(4), c(5)};
  }

 private:
  struct Place {
    std::size_t block;
    unsigned inside;
    std::array<unsigned, 3> at;  ///< of the block
  };

  [[nodiscard]] unsigned extent(int axis) const {
    return static_cast<unsigned>(axis == 0 ? box_.shape.x : axis == 1 ? box_.shape.y : box_.shape.z);
  }
  [[nodiscard]] Place place(std::uint32_t cell) const {
    const Vec3i index = box_.index(cell) - box_.lower;
    Place result{0, 0, {}};
    const std::array<unsigned, 3> at{static_cast<unsigned>(index.x), static_cast<unsigned>(index.y),
                                     static_cast<unsigned>(index.z)};
    std::size_t stride = 1;
    for (int axis = 0; axis < Dim; ++axis) {
      result.at[axis] = at[axis] / block_side<Dim>;
      result.block += stride * result.at[axis];
      result.inside += at[axis] % block_side<Dim> * step_in_block<Dim>(axis);
      stride *= count_[axis];
    }
    return result;
  }

  void add(std::uint32_t cell) {
    const Place p = place(cell);
    if (number_[p.block] == no_block) {
      number_[p.block] = static_cast<std::uint32_t>(blocks_.size());
      ImageBlock<Dim> block{};
      const Vec3i first{static_cast<int>(p.at[0] * block_side<Dim>), static_cast<int>(p.at[1] * block_side<Dim>),
                        static_cast<int>(p.at[2] * block_side<Dim>)};
      block.first = box_.cell(box_.lower + first);
      blocks_.push_back(block);
      at_.push_back(p.at);
    }
    blocks_[number_[p.block]].allowed |= std::uint64_t{1} << p.inside;
  }

  void link(std::size_t b) {
    std::size_t stride = 1;
    const std::size_t here = at_[b][0] + std::size_t{count_[0]} * (at_[b][1] + std::size_t{count_[1]} * at_[b][2]);
    for (int axis = 0; axis < Dim; ++axis) {
      blocks_[b].neighbours[2 * axis] = at_[b][axis] > 0 ? number_[here - stride] : no_block;
      blocks_[b].neighbours[2 * axis + 1] = at_[b][axis] + 1 < count_[axis] ? number_[here + stride] : no_block;
      stride *= count_[axis];
    }
  }

  void fill_components(const TensorProblem<T, Dim>& problem) {
    const bool one = problem.tensor_of.empty();
    const std::size_t stride = one ? 1 : slots();
    components_.assign(6 * stride, T(0));
    const auto set = [&](std::size_t at, const SymTensor3<T>& d) {
      const T values[6] = {d.xx, d.xy, d.xz, d.yy, d.yz, d.zz};
      for (std::size_t i = 0; i < 6; ++i) components_[i * stride + at] = values[i];
    };
    if (one) return set(0, problem.tensors[0]);
    for (const std::uint32_t cell : problem.cells->list) set(slot(cell), problem.tensor(cell));
  }

  BlockOrder order_;
  GridBox box_;
  std::array<unsigned, 3> count_{};
  std::vector<std::uint32_t> number_;  ///< of the blocks of the whole box
  std::vector<std::array<unsigned, 3>> at_;
  std::vector<ImageBlock<Dim>> blocks_;
  std::vector<T> components_;
};

}  // namespace isochron
