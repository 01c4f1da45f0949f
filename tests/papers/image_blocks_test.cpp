// Where paper 004's blocks keep their values: device memory in two orders, shared memory with two halos.
#include "isochron/papers/image_blocks.h"

#include <array>
#include <limits>
#include <set>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "solve/grid_samples.h"

namespace isochron::test {
namespace TEST_FILE {

/// The place of the neighbour down (side 0) or up (side 1) an axis.
template <int Dim>
unsigned neighbour_place(const SharedPlaces<Dim>& places, int axis, int side) {
  return side == 0 ? places.back[axis] : places.ahead[axis];
}

/// Threads that share a bank with another one when all read their neighbours on one side at once, `together` threads
/// at a time. So many banks of one number each.
template <int Dim, class Halo>
int bank_conflicts(unsigned together) {
  int conflicts = 0;
  for (int axis = 0; axis < Dim; ++axis)
    for (const int side : {0, 1})
      for (unsigned first = 0; first < block_cells; first += together) {
        std::set<unsigned> banks;
        for (unsigned cell = first; cell < first + together; ++cell)
          banks.insert(neighbour_place<Dim>(Halo::places(cell), axis, side) % together);
        conflicts += static_cast<int>(together) - static_cast<int>(banks.size());
      }
  return conflicts;
}

TEST(BlockHalos, NeighboursAtPredefinedBanksNeverCollide) {
  for (const unsigned together : {16U, 32U}) {  // half a warp of the paper's GPU, and a warp of today's
    EXPECT_EQ((bank_conflicts<2, BankedHalo<2>>(together)), 0);
    EXPECT_EQ((bank_conflicts<3, BankedHalo<3>>(together)), 0);
    EXPECT_GT((bank_conflicts<2, PlainHalo<2>>(together)), 0);
    EXPECT_GT((bank_conflicts<3, PlainHalo<3>>(together)), 0);
  }
}

TEST(BlockHalos, TakeThreeTimesTheBlockAndTwoSlicesMore) {
  EXPECT_EQ(BankedHalo<2>::size, 3 * 64U);
  EXPECT_EQ(BankedHalo<3>::size, 3 * 64U + 2 * 16U);
  EXPECT_EQ(PlainHalo<2>::size, 100U);
  EXPECT_EQ(PlainHalo<3>::size, 216U);
}

/// Neighbours in the block are found where they have their own times, others where nobody else looks.
template <int Dim, class Halo>
void expect_own_places() {
  std::set<unsigned> taken;
  for (unsigned cell = 0; cell < block_cells; ++cell) {
    const unsigned own = Halo::places(cell).own;
    EXPECT_LT(own, Halo::size);
    EXPECT_TRUE(taken.insert(own).second) << cell;
  }
  unsigned beyond = 0;
  for (unsigned cell = 0; cell < block_cells; ++cell)
    for (int axis = 0; axis < Dim; ++axis)
      for (const int side : {0, 1}) {
        const unsigned place = neighbour_place<Dim>(Halo::places(cell), axis, side);
        EXPECT_LT(place, Halo::size);
        const unsigned at = at_in_block<Dim>(cell, axis), step = step_in_block<Dim>(axis);
        if (at == (side == 0 ? 0 : block_side<Dim> - 1)) {
          EXPECT_TRUE(taken.insert(place).second) << cell;
          const unsigned opposite = beyond_face<Dim>(cell, axis);
          EXPECT_EQ(at_in_block<Dim>(opposite, axis), block_side<Dim> - 1 - at);
          for (int k = 0; k < Dim; ++k)
            EXPECT_TRUE(k == axis || at_in_block<Dim>(opposite, k) == at_in_block<Dim>(cell, k));
          ++beyond;
        } else {
          EXPECT_EQ(place, Halo::places(side == 0 ? cell - step : cell + step).own);
        }
      }
  EXPECT_EQ(beyond, 2 * Dim * block_cells / block_side<Dim>);
}

TEST(BlockHalos, EveryTimeHasOnePlace) {
  expect_own_places<2, PlainHalo<2>>();
  expect_own_places<3, PlainHalo<3>>();
  expect_own_places<2, BankedHalo<2>>();
  expect_own_places<3, BankedHalo<3>>();
}

Metric metric_of(const ImageGrid& grid, bool uniform) {
  const SymTensor3d m = fiber_metric(3, {1, 0.5, grid.flat() ? 0.0 : 0.3});
  if (uniform) return Metric::constant(m);
  std::vector<SymTensor3f> tensors;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const auto scale = static_cast<float>(1 + v);
    tensors.push_back({scale * static_cast<float>(m.xx), scale * static_cast<float>(m.xy),
                       scale * static_cast<float>(m.xz), scale * static_cast<float>(m.yy),
                       scale * static_cast<float>(m.yz), scale * static_cast<float>(m.zz)});
  }
  return Metric(TensorMetric{std::move(tensors)});
}

/// An empty corner, and holes elsewhere.
std::vector<std::uint8_t> mask_of(const ImageGrid& grid) {
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    if ((i > 7 && j > 7) || v % 5 == 0) mask[v] = 0;
  }
  return mask;
}

template <class T>
void expect_equal(const SymTensor3<T>& a, const SymTensor3<T>& b) {
  EXPECT_EQ((Vec3<T>{a.xx, a.xy, a.xz}), (Vec3<T>{b.xx, b.xy, b.xz}));
  EXPECT_EQ((Vec3<T>{a.yy, a.yz, a.zz}), (Vec3<T>{b.yy, b.yz, b.zz}));
}

/// What the threads of a block on the GPU do, one after the other: all load, then each looks at its neighbours.
template <class Halo, class T, int Dim>
void expect_neighbours_loaded(const TensorProblem<T, Dim>& problem, const BlockView<T, Dim>& view, std::uint32_t block,
                              const std::vector<T>& in_box) {
  std::array<T, Halo::size> shared;
  shared.fill(std::numeric_limits<T>::quiet_NaN());
  for (unsigned thread = 0; thread < block_cells; ++thread)
    load_times(view, block_cell(view, block, thread), Halo::places(thread), shared.data());
  for (unsigned thread = 0; thread < block_cells; ++thread) {
    const BlockCell<T, Dim> mine = block_cell(view, block, thread);
    const SharedPlaces<Dim> places = Halo::places(thread);
    if (!mine.allowed) {
      EXPECT_EQ(shared[places.own], std::numeric_limits<T>::infinity());
      continue;
    }
    EXPECT_EQ(shared[places.own], in_box[mine.cell]);
    expect_equal(mine.tensor, problem.tensor(mine.cell));
    const AxisTimes<T> u = neighbour_times<T>(places, shared.data());
    for (int k = 0; k < Dim; ++k) {
      const std::ptrdiff_t step = problem.cells->box.axis_step(k);
      EXPECT_EQ(u.back[k], in_box[mine.cell - step]) << thread << " down axis " << k;
      EXPECT_EQ(u.ahead[k], in_box[mine.cell + step]) << thread << " up axis " << k;
    }
  }
}

template <class T, int Dim>
void expect_values_in_place(const TensorProblem<T, Dim>& problem, BlockOrder order) {
  const ImageBlocks<T, Dim> blocks(problem, order);
  const GridCells& cells = *problem.cells;
  std::vector<T> in_box(cells.box.cell_count, std::numeric_limits<T>::infinity());
  std::vector<T> time(blocks.slots(), std::numeric_limits<T>::infinity());
  std::set<std::size_t> slots;
  for (const std::uint32_t x : cells.list) {
    ASSERT_LT(blocks.slot(x), blocks.slots());
    EXPECT_TRUE(slots.insert(blocks.slot(x)).second);
    expect_equal(blocks.tensor(x), problem.tensor(x));
    in_box[x] = time[blocks.slot(x)] = static_cast<T>(x);
  }
  BlockView<T, Dim> view{};
  view.blocks = blocks.blocks().data();
  view.order = order;
  view.tensors = blocks.components().data();
  view.component = blocks.components().size() / 6;
  for (int k = 0; k < Dim; ++k) view.step[k] = static_cast<std::uint32_t>(cells.box.axis_step(k));
  view.time = time.data();
  std::size_t allowed = 0;
  for (std::uint32_t b = 0; b < blocks.blocks().size(); ++b) {
    expect_neighbours_loaded<PlainHalo<Dim>>(problem, view, b, in_box);
    expect_neighbours_loaded<BankedHalo<Dim>>(problem, view, b, in_box);
    for (unsigned thread = 0; thread < block_cells; ++thread) {
      const BlockCell<T, Dim> mine = block_cell(view, b, thread);
      if (!mine.allowed) continue;
      ++allowed;
      EXPECT_EQ(mine.slot, blocks.slot(mine.cell));
      EXPECT_EQ(b, blocks.block_of(mine.cell));
    }
  }
  EXPECT_EQ(allowed, cells.list.size());
}

TEST(ImageBlocks, ThreadsFindTheirCellsAndNeighbours) {
  ImageGrid space, plane, small;
  space.shape = {11, 9, 6};
  plane.shape = {19, 21, 1};
  small.shape = {1, 2, 3};
  for (const ImageGrid& grid : {space, plane, small})
    for (const bool masked : {false, true})
      for (const bool uniform : {false, true}) {
        const std::vector<std::uint8_t> mask = masked ? mask_of(grid) : std::vector<std::uint8_t>();
        const GridCells cells = make_cells(grid, mask);
        const Metric metric = metric_of(grid, uniform);
        const auto any = make_tensors<float>({grid, metric}, cells, 1);
        for (const BlockOrder order : {BlockOrder::rows, BlockOrder::blocks})
          std::visit([&](const auto& problem) { expect_values_in_place(problem, order); }, any);
      }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
