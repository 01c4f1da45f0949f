// Paper 004's Algorithm 5.1: the anisotropic Godunov Hamiltonian on blocks of 64 cells. A thread block loads a block of
// cells with one layer around it, updates all its cells together several times, and stores them. A block whose last
// update changed nothing leaves the active list; then its neighbours are updated once, and those that change become
// active. The host counts the rounds, as in the paper.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/fill.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/stopwatch.h"
#include "isochron/device.h"
#include "isochron/local/godunov_update.h"
#include "isochron/papers/methods.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/cuda/worst_vertex.h"

namespace isochron::cuda {
namespace {

constexpr unsigned block_cells = 64;
constexpr std::uint32_t no_block = 0xffffffffU;
constexpr std::uint64_t max_rounds = 20000;
constexpr int default_iterations = 6;

/// Cells along the sides of a block.
template <int Dim>
constexpr unsigned side = Dim == 3 ? 4 : 8;
/// The same with one more on each side, and all cells of that.
template <int Dim>
constexpr unsigned wide = side<Dim> + 2;
template <int Dim>
constexpr unsigned wide_cells = Dim == 3 ? wide<3>* wide<3>* wide<3> : wide<2>* wide<2>;

/// A block that has allowed cells.
template <int Dim>
struct Block {
  std::uint32_t first;                ///< its first cell, numbered as in the box
  std::uint32_t neighbours[2 * Dim];  ///< blocks, down and up each axis
  std::uint64_t allowed;              ///< a bit for each of its cells
};

template <class T, int Dim>
struct View {
  const Block<Dim>* blocks;
  const SymTensor3<T>* tensors;  ///< of the cells of all blocks, or one
  bool one_tensor;
  std::uint32_t step[Dim];  ///< from a cell to the next along an axis
  T tolerance;
  T* time;
};

/// The lists of a round: blocks that stay or become active, and those to look at.
struct BlockLists {
  std::uint32_t *active, *next, *candidates;
  std::uint32_t *next_count, *candidate_count;
  std::uint32_t *is_active, *is_candidate;  ///< by block
};

template <class T>
__device__ constexpr T infinity() {
  return std::numeric_limits<T>::infinity();
}

template <class T>
ISOCHRON_HD T shortest_step(const SymTensor3<T>& d, int dim) {
  T largest = d.xx > d.yy ? d.xx : d.yy;
  if (dim == 3 && d.zz > largest) largest = d.zz;
  return T(1) / std::sqrt(largest);
}

/// One thread's cell of a block.
template <class T, int Dim>
struct Mine {
  bool allowed;
  std::uint32_t cell;  ///< numbered as in the box
  unsigned place;      ///< in the shared times
  unsigned at[Dim];    ///< along the axes of the block
  SymTensor3<T> tensor;
};

template <class T, int Dim>
__device__ Mine<T, Dim> my_cell(const View<T, Dim>& view, std::uint32_t b, unsigned thread) {
  Mine<T, Dim> mine;
  const Block<Dim>& block = view.blocks[b];
  mine.allowed = (block.allowed >> thread & 1U) != 0;
  mine.cell = block.first;
  mine.place = 0;
  unsigned rest = thread, width = 1;
  for (int axis = 0; axis < Dim; ++axis) {
    mine.at[axis] = rest % side<Dim>;
    rest /= side<Dim>;
    mine.cell += mine.at[axis] * view.step[axis];
    mine.place += (mine.at[axis] + 1) * width;
    width *= wide<Dim>;
  }
  if (mine.allowed) mine.tensor = view.tensors[view.one_tensor ? 0 : std::size_t{b} * block_cells + thread];
  return mine;
}

/// The shared times of a block: its own, and those beside its faces, which only allowed cells ask for.
template <class T, int Dim>
__device__ void load_times(const View<T, Dim>& view, const Mine<T, Dim>& mine, T* times) {
  times[mine.place] = mine.allowed ? view.time[mine.cell] : infinity<T>();
  unsigned width = 1;
  for (int axis = 0; axis < Dim; ++axis) {
    if (mine.at[axis] == 0)
      times[mine.place - width] = mine.allowed ? view.time[mine.cell - view.step[axis]] : infinity<T>();
    if (mine.at[axis] == side<Dim> - 1)
      times[mine.place + width] = mine.allowed ? view.time[mine.cell + view.step[axis]] : infinity<T>();
    width *= wide<Dim>;
  }
}

template <class T, int Dim>
__device__ T updated_time(const Mine<T, Dim>& mine, const T* times) {
  AxisTimes<T> u{{infinity<T>(), infinity<T>(), infinity<T>()}, {infinity<T>(), infinity<T>(), infinity<T>()}};
  unsigned width = 1;
  for (int axis = 0; axis < Dim; ++axis) {
    u.back[axis] = times[mine.place - width];
    u.ahead[axis] = times[mine.place + width];
    width *= wide<Dim>;
  }
  return godunov_time(mine.tensor, u);
}

/// Updates a block's cells so many times and stores them; whether the last time changed any by more than the
/// tolerance. All threads of the block call it and get the same answer.
template <class T, int Dim>
__device__ bool update_block(const View<T, Dim>& view, std::uint32_t b, int iterations) {
  __shared__ T times[wide_cells<Dim>];
  const Mine<T, Dim> mine = my_cell(view, b, threadIdx.x);
  load_times(view, mine, times);
  __syncthreads();
  const T before = times[mine.place];
  bool changed = false;
  for (int i = 0; i < iterations; ++i) {
    const T now = times[mine.place];
    const T fresh = mine.allowed ? updated_time(mine, times) : infinity<T>();
    __syncthreads();
    const T least = now < infinity<T>() ? countable_gain(view.tolerance, shortest_step(mine.tensor, Dim), now) : T(0);
    changed = mine.allowed && fresh < now - least;
    if (changed) times[mine.place] = fresh;  // less than the tolerance counts as nothing: see `list_all`
    __syncthreads();
  }
  if (mine.allowed && times[mine.place] < before) view.time[mine.cell] = times[mine.place];
  return __syncthreads_or(changed) != 0;
}

/// Step 1: the active blocks, one a thread block.
template <class T, int Dim>
__global__ void __launch_bounds__(block_cells)
    update_active(const __grid_constant__ View<T, Dim> view, const BlockLists lists, int iterations) {
  const std::uint32_t b = lists.active[blockIdx.x];
  const bool changed = update_block(view, b, iterations);
  if (threadIdx.x == 0) {
    lists.is_active[b] = changed ? 1 : 0;
    if (changed) lists.next[atomicAdd(lists.next_count, 1U)] = b;
  }
  if (changed || threadIdx.x >= 2 * Dim) return;
  const std::uint32_t neighbour = view.blocks[b].neighbours[threadIdx.x];
  if (neighbour == no_block) return;
  if (atomicExch(lists.is_candidate + neighbour, 1U) == 0)
    lists.candidates[atomicAdd(lists.candidate_count, 1U)] = neighbour;
}

/// Step 2: the neighbours of blocks that settled, those that settled in this round too included.
template <class T, int Dim>
__global__ void __launch_bounds__(block_cells)
    check_candidates(const __grid_constant__ View<T, Dim> view, const BlockLists lists) {
  const std::uint32_t b = lists.candidates[blockIdx.x];
  if (threadIdx.x == 0) lists.is_candidate[b] = 0;
  if (lists.is_active[b] != 0) return;  // the same for all threads: nobody else changes it
  const bool changed = update_block(view, b, 1);
  if (threadIdx.x != 0 || !changed) return;
  lists.is_active[b] = 1;
  lists.next[atomicAdd(lists.next_count, 1U)] = b;
}

/// Before the end every block is a candidate once more. The update is not monotone at strong anisotropy: a neighbour's
/// change below the tolerance may call for another choice of derivatives and a much earlier time, which the paper's
/// lists do not notice.
__global__ void list_all(const BlockLists lists, std::uint32_t count) {
  const std::size_t b = thread_number();
  if (b < count) lists.candidates[b] = static_cast<std::uint32_t>(b);
}

template <class T>
struct BlockSeed : SeedTime<T> {
  T edge;  ///< the shortest step there
};

template <class T>
__global__ void set_seeds(const BlockSeed<T>* seeds, std::size_t count, T* time) {
  const std::size_t i = thread_number();
  if (i < count) time[seeds[i].vertex] = seeds[i].time;
}

/// How far an update would still lower a time: the late side of `check_axis_scheme`.
template <class T, int Dim>
__global__ void __launch_bounds__(block_cells)
    residual_pass(const __grid_constant__ View<T, Dim> view, unsigned long long* worst) {
  __shared__ T times[wide_cells<Dim>];
  const Mine<T, Dim> mine = my_cell(view, blockIdx.x, threadIdx.x);
  load_times(view, mine, times);
  __syncthreads();
  if (!mine.allowed) return;
  const T now = times[mine.place], again = updated_time(mine, times);
  if (again < now) report_difference(now, again, shortest_step(mine.tensor, Dim), mine.cell, worst);
}

/// Seeds may not be later than their own time.
template <class T>
__global__ void check_seeds(const BlockSeed<T>* seeds, std::size_t count, const T* time, unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const T now = time[seeds[i].vertex];
  if (!(now <= seeds[i].time)) report_difference(now, seeds[i].time, seeds[i].edge, seeds[i].vertex, worst);
}

/// The blocks of a problem, and whose block a cell is in.
template <class T, int Dim>
class Blocks {
 public:
  explicit Blocks(const TensorProblem<T, Dim>& problem) : box_(problem.cells->box) {
    for (int axis = 0; axis < 3; ++axis) count_[axis] = axis < Dim ? (extent(axis) + side<Dim> - 1) / side<Dim> : 1;
    number_.assign(std::size_t{count_[0]} * count_[1] * count_[2], no_block);
    for (const std::uint32_t cell : problem.cells->list) add(cell);
    for (std::size_t b = 0; b < blocks.size(); ++b) link(b);
    fill_tensors(problem);
  }

  [[nodiscard]] std::uint32_t block_of(std::uint32_t cell) const { return number_[place(cell).block]; }
  [[nodiscard]] const SymTensor3<T>& tensor(std::uint32_t cell) const {
    return tensors[tensors.size() == 1 ? 0 : std::size_t{block_of(cell)} * block_cells + place(cell).inside];
  }

  std::vector<Block<Dim>> blocks;
  std::vector<SymTensor3<T>> tensors;

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
    unsigned inside_stride = 1;
    for (int axis = 0; axis < Dim; ++axis) {
      result.at[axis] = at[axis] / side<Dim>;
      result.block += stride * result.at[axis];
      result.inside += inside_stride * (at[axis] % side<Dim>);
      stride *= count_[axis];
      inside_stride *= side<Dim>;
    }
    return result;
  }

  void add(std::uint32_t cell) {
    const Place p = place(cell);
    if (number_[p.block] == no_block) {
      number_[p.block] = static_cast<std::uint32_t>(blocks.size());
      Block<Dim> block{};
      const Vec3i first{static_cast<int>(p.at[0] * side<Dim>), static_cast<int>(p.at[1] * side<Dim>),
                        static_cast<int>(p.at[2] * side<Dim>)};
      block.first = box_.cell(box_.lower + first);
      blocks.push_back(block);
      at_.push_back(p.at);
    }
    blocks[number_[p.block]].allowed |= std::uint64_t{1} << p.inside;
  }

  void link(std::size_t b) {
    std::size_t stride = 1;
    const std::size_t here = at_[b][0] + std::size_t{count_[0]} * (at_[b][1] + std::size_t{count_[1]} * at_[b][2]);
    for (int axis = 0; axis < Dim; ++axis) {
      blocks[b].neighbours[2 * axis] = at_[b][axis] > 0 ? number_[here - stride] : no_block;
      blocks[b].neighbours[2 * axis + 1] = at_[b][axis] + 1 < count_[axis] ? number_[here + stride] : no_block;
      stride *= count_[axis];
    }
  }

  void fill_tensors(const TensorProblem<T, Dim>& problem) {
    if (problem.tensor_of.empty()) {
      tensors = problem.tensors;
      return;
    }
    tensors.resize(blocks.size() * block_cells);
    for (const std::uint32_t cell : problem.cells->list) {
      const Place p = place(cell);
      tensors[std::size_t{number_[p.block]} * block_cells + p.inside] = problem.tensor(cell);
    }
  }

  GridBox box_;
  std::array<unsigned, 3> count_{};
  std::vector<std::uint32_t> number_;  ///< of the blocks of the whole box
  std::vector<std::array<unsigned, 3>> at_;
};

template <class T, int Dim>
class BlockFim final : public DeviceGrid<T> {
 public:
  BlockFim(const TensorProblem<T, Dim>& problem, int iterations)
      : iterations_(iterations > 0 ? iterations : default_iterations),
        cells_(problem.cells->box.cell_count),
        blocks_(problem) {
    const std::size_t count = blocks_.blocks.size();
    require_memory(cells_ * sizeof(T) + count * (sizeof(Block<Dim>) + 5 * sizeof(std::uint32_t)) +
                       blocks_.tensors.size() * sizeof(SymTensor3<T>),
                   "this image");
    device_blocks_ = DeviceArray<Block<Dim>>(std::span<const Block<Dim>>(blocks_.blocks));
    tensors_ = DeviceArray<SymTensor3<T>>(std::span<const SymTensor3<T>>(blocks_.tensors));
    one_tensor_ = problem.tensor_of.empty();
    for (int axis = 0; axis < Dim; ++axis) step_[axis] = static_cast<std::uint32_t>(problem.cells->box.axis_step(axis));
    for (auto& list : lists_) list = DeviceArray<std::uint32_t>(count);
    is_active_ = DeviceArray<std::uint32_t>(count);
    is_candidate_ = DeviceArray<std::uint32_t>(count);
    time_ = DeviceArray<T>(cells_);
  }

  [[nodiscard]] CellNumbers numbers() const override { return CellNumbers::box; }
  [[nodiscard]] std::size_t cell_count() const override { return cells_; }
  [[nodiscard]] std::size_t device_bytes() const override {
    return device_blocks_.bytes() + tensors_.bytes() + time_.bytes() + 3 * lists_[0].bytes() + is_active_.bytes() +
           is_candidate_.bytes();
  }
  [[nodiscard]] std::size_t layers_that_fit() const override { return 1; }
  [[nodiscard]] bool converged() const override { return converged_; }

  Counters solve(std::span<const StartSeeds> layers, T tolerance, double /*band_width*/, double& seconds) override {
    const std::vector<BlockSeed<T>> seeds = entries(layers[0].seeds);
    const DeviceArray<BlockSeed<T>> device_seeds{std::span<const BlockSeed<T>>(seeds)};
    std::uint32_t active = start(seeds);
    View<T, Dim> view = this->view();
    view.tolerance = tolerance;
    BlockLists lists{lists_[0].data(),   lists_[1].data(),  lists_[2].data(),    counts_.data(),
                     counts_.data() + 1, is_active_.data(), is_candidate_.data()};
    Counters counters;
    const Stopwatch watch;
    fill(time_, cells_, infinity<T>());
    launch_for(seeds.size(), set_seeds<T>, device_seeds.data(), seeds.size(), time_.data());
    const auto count = static_cast<std::uint32_t>(blocks_.blocks.size());
    bool settled = false;
    for (; !settled && counters.rounds < max_rounds; ++counters.rounds) {
      counts_.clear();
      std::array<std::uint32_t, 2> counts{0, count};
      if (active > 0) {
        launch(update_active<T, Dim>, active, block_cells, 0, view, lists, iterations_);
        counts_.download_to(counts);
      } else {
        launch_for(count, list_all, lists, count);
      }
      launch(check_candidates<T, Dim>, counts[1], block_cells, 0, view, lists);
      counters.vertex_updates +=
          block_cells * (std::uint64_t{active} * static_cast<std::uint64_t>(iterations_) + counts[1]);
      if (counts[1] > 0) counts_.download_to(counts);
      settled = active == 0 && counts[0] == 0;
      active = counts[0];
      std::swap(lists.active, lists.next);
    }
    seconds = watch.seconds("solving");
    converged_ = settled;
    counters.local_solves = counters.vertex_updates;
    return counters;
  }

  void times(std::size_t /*layer*/, std::span<T> result) const override { time_.download_to(result); }
  [[nodiscard]] const T* times(std::size_t /*layer*/) const override { return time_.data(); }
  void load_times(std::span<const T> times) override { time_.upload_from(times); }

  Residual residual(std::size_t /*layer*/, std::span<const Seed> seeds, double limit) override {
    DeviceValue<unsigned long long> worst;
    const std::vector<BlockSeed<T>> seed_entries = entries(seeds);
    const DeviceArray<BlockSeed<T>> device_seeds{std::span<const BlockSeed<T>>(seed_entries)};
    launch(residual_pass<T, Dim>, blocks_.blocks.size(), block_cells, 0, view(), worst.data());
    launch_for(seed_entries.size(), check_seeds<T>, device_seeds.data(), seed_entries.size(), time_.data(),
               worst.data());
    return found_residual(worst.read(), limit);
  }

 private:
  [[nodiscard]] std::vector<BlockSeed<T>> entries(std::span<const Seed> seeds) const {
    std::vector<BlockSeed<T>> result;
    for (const Seed& seed : seeds) {
      const auto cell = static_cast<std::uint32_t>(seed.vertex.value);
      result.push_back({{cell, static_cast<T>(seed.time)}, shortest_step(blocks_.tensor(cell), Dim)});
    }
    return result;
  }

  /// The seeds' blocks are active first; gives their number.
  std::uint32_t start(const std::vector<BlockSeed<T>>& seeds) {
    std::vector<std::uint32_t> active;
    for (const BlockSeed<T>& seed : seeds) active.push_back(blocks_.block_of(seed.vertex));
    std::sort(active.begin(), active.end());
    active.erase(std::unique(active.begin(), active.end()), active.end());
    lists_[0].upload_from(std::span<const std::uint32_t>(active));
    is_active_.clear();
    is_candidate_.clear();
    return static_cast<std::uint32_t>(active.size());
  }

  View<T, Dim> view() {
    View<T, Dim> view{};
    view.blocks = device_blocks_.data();
    view.tensors = tensors_.data();
    view.one_tensor = one_tensor_;
    for (int axis = 0; axis < Dim; ++axis) view.step[axis] = step_[axis];
    view.time = time_.data();
    return view;
  }

  int iterations_;
  std::size_t cells_;
  Blocks<T, Dim> blocks_;
  bool one_tensor_ = false;
  bool converged_ = true;
  std::uint32_t step_[Dim]{};
  DeviceArray<Block<Dim>> device_blocks_;
  DeviceArray<SymTensor3<T>> tensors_;
  std::array<DeviceArray<std::uint32_t>, 3> lists_;
  DeviceArray<std::uint32_t> is_active_, is_candidate_, counts_{2};
  DeviceArray<T> time_;
};

}  // namespace

template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_block_fim(const TensorProblem<T, Dim>& problem, int inner_iterations) {
  require_device();
  return std::make_unique<BlockFim<T, Dim>>(problem, inner_iterations);
}

template std::unique_ptr<DeviceGrid<float>> make_block_fim(const TensorProblem<float, 2>&, int);
template std::unique_ptr<DeviceGrid<float>> make_block_fim(const TensorProblem<float, 3>&, int);
template std::unique_ptr<DeviceGrid<double>> make_block_fim(const TensorProblem<double, 2>&, int);
template std::unique_ptr<DeviceGrid<double>> make_block_fim(const TensorProblem<double, 3>&, int);

}  // namespace isochron::cuda
