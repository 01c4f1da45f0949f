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
#include "isochron/papers/image_blocks.h"
#include "isochron/papers/methods.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/cuda/worst_vertex.h"

namespace isochron::cuda {
namespace {

constexpr int default_iterations = 6;

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

/// Updates a block's cells so many times and stores them; whether the last time changed any by more than the
/// tolerance. All threads of the block call it and get the same answer.
template <class Halo, class T, int Dim>
__device__ bool update_block(const BlockView<T, Dim>& view, std::uint32_t b, int iterations) {
  __shared__ T times[Halo::size];
  const BlockCell<T, Dim> mine = block_cell(view, b, threadIdx.x);
  const SharedPlaces<Dim> places = Halo::places(threadIdx.x);
  load_times(view, mine, places, times);
  __syncthreads();
  const T before = times[places.own];
  bool changed = false;
  for (int i = 0; i < iterations; ++i) {
    const T now = times[places.own];
    const T fresh = mine.allowed ? godunov_time(mine.tensor, neighbour_times<T>(places, times)) : infinity<T>();
    __syncthreads();
    const T least = now < infinity<T>() ? countable_gain(view.tolerance, shortest_step(mine.tensor, Dim), now) : T(0);
    changed = mine.allowed && fresh < now - least;
    if (changed) times[places.own] = fresh;  // less than the tolerance counts as nothing: see `list_all`
    __syncthreads();
  }
  if (mine.allowed && times[places.own] < before) view.time[mine.slot] = times[places.own];
  return __syncthreads_or(changed) != 0;
}

/// Step 1: the active blocks, one a thread block.
template <class Halo, class T, int Dim>
__global__ void __launch_bounds__(block_cells)
    update_active(const __grid_constant__ BlockView<T, Dim> view, const BlockLists lists, int iterations) {
  const std::uint32_t b = lists.active[blockIdx.x];
  const bool changed = update_block<Halo>(view, b, iterations);
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
template <class Halo, class T, int Dim>
__global__ void __launch_bounds__(block_cells)
    check_candidates(const __grid_constant__ BlockView<T, Dim> view, const BlockLists lists) {
  const std::uint32_t b = lists.candidates[blockIdx.x];
  if (threadIdx.x == 0) lists.is_candidate[b] = 0;
  if (lists.is_active[b] != 0) return;  // the same for all threads: nobody else changes it
  const bool changed = update_block<Halo>(view, b, 1);
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
  std::size_t slot;
  T edge;  ///< the shortest step there
};

template <class T>
__global__ void set_seeds(const BlockSeed<T>* seeds, std::size_t count, T* time) {
  const std::size_t i = thread_number();
  if (i < count) time[seeds[i].slot] = seeds[i].time;
}

/// Brings the times of blocks to the box, whose other cells stay as they are.
template <class T, int Dim>
__global__ void __launch_bounds__(block_cells) unpack(const __grid_constant__ BlockView<T, Dim> view, T* in_box) {
  const BlockCell<T, Dim> mine = block_cell(view, blockIdx.x, threadIdx.x);
  if (mine.allowed) in_box[mine.cell] = view.time[mine.slot];
}
/// Takes the times of blocks from the box.
template <class T, int Dim>
__global__ void __launch_bounds__(block_cells) pack(const __grid_constant__ BlockView<T, Dim> view, const T* in_box) {
  const BlockCell<T, Dim> mine = block_cell(view, blockIdx.x, threadIdx.x);
  view.time[mine.slot] = mine.allowed ? in_box[mine.cell] : infinity<T>();
}

/// Marks the seeds, which may not be later than their own time.
template <class T>
__global__ void check_seeds(const BlockSeed<T>* seeds, std::size_t count, const T* time, std::uint8_t* seeded,
                            unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const T now = time[seeds[i].slot];
  seeded[seeds[i].slot] = 1;
  if (!(now <= seeds[i].time)) report_difference(now, seeds[i].time, seeds[i].edge, seeds[i].vertex, worst);
}

/// The check of `check_axis_scheme`: times that an update would lower, or that none can have given. Seeds may be
/// earlier than their neighbours say.
template <class T, int Dim>
__global__ void __launch_bounds__(block_cells) residual_pass(const __grid_constant__ BlockView<T, Dim> view,
                                                             const std::uint8_t* seeded, unsigned long long* worst) {
  using Halo = BankedHalo<Dim>;
  __shared__ T times[Halo::size];
  const BlockCell<T, Dim> mine = block_cell(view, blockIdx.x, threadIdx.x);
  const SharedPlaces<Dim> places = Halo::places(threadIdx.x);
  load_times(view, mine, places, times);
  __syncthreads();
  if (!mine.allowed) return;
  const T now = times[places.own];
  const T again = nearest_godunov_time<Dim>(mine.tensor, neighbour_times<T>(places, times), now);
  if (now == again || (seeded[mine.slot] != 0 && !(again < now))) return;
  report_difference(now, again, shortest_step(mine.tensor, Dim), mine.cell, worst);
}

template <class T, int Dim>
class BlockFim final : public DeviceGrid<T> {
 public:
  BlockFim(const TensorProblem<T, Dim>& problem, const PaperOptions& options)
      : iterations_(options.inner_iterations > 0 ? options.inner_iterations : default_iterations),
        banked_(options.block_halo == BlockHalo::banked),
        cells_(problem.cells->box.cell_count),
        blocks_(problem, options.block_order) {
    const std::size_t count = blocks_.blocks().size(), boxed = packed() ? cells_ : 0;
    require_memory((blocks_.slots() + boxed) * sizeof(T) +
                       count * (sizeof(ImageBlock<Dim>) + 5 * sizeof(std::uint32_t)) +
                       blocks_.components().size() * sizeof(T),
                   "this image");
    device_blocks_ = DeviceArray<ImageBlock<Dim>>(std::span<const ImageBlock<Dim>>(blocks_.blocks()));
    tensors_ = DeviceArray<T>(std::span<const T>(blocks_.components()));
    for (int axis = 0; axis < Dim; ++axis) step_[axis] = static_cast<std::uint32_t>(problem.cells->box.axis_step(axis));
    for (auto& list : lists_) list = DeviceArray<std::uint32_t>(count);
    is_active_ = DeviceArray<std::uint32_t>(count);
    is_candidate_ = DeviceArray<std::uint32_t>(count);
    time_ = DeviceArray<T>(blocks_.slots());
    if (!packed()) return;
    in_box_ = DeviceArray<T>(cells_);
    fill(in_box_, cells_, infinity<T>());
  }

  [[nodiscard]] CellNumbers numbers() const override { return CellNumbers::box; }
  [[nodiscard]] std::size_t cell_count() const override { return cells_; }
  [[nodiscard]] std::size_t device_bytes() const override {
    return device_blocks_.bytes() + tensors_.bytes() + time_.bytes() + in_box_.bytes() + 3 * lists_[0].bytes() +
           is_active_.bytes() + is_candidate_.bytes();
  }
  [[nodiscard]] std::size_t layers_that_fit() const override { return 1; }
  [[nodiscard]] bool converged() const override { return converged_; }

  Counters solve(std::span<const StartSeeds> layers, T tolerance, double /*band_width*/, double& seconds) override {
    const std::vector<BlockSeed<T>> seeds = entries(layers[0].seeds);
    const DeviceArray<BlockSeed<T>> device_seeds{std::span<const BlockSeed<T>>(seeds)};
    const std::uint32_t active = start(seeds);
    BlockView<T, Dim> view = this->view();
    view.tolerance = tolerance;
    const Stopwatch watch;
    fill(time_, blocks_.slots(), infinity<T>());
    launch_for(seeds.size(), set_seeds<T>, device_seeds.data(), seeds.size(), time_.data());
    const Counters counters = banked_ ? run<BankedHalo<Dim>>(view, active) : run<PlainHalo<Dim>>(view, active);
    if (packed()) launch(unpack<T, Dim>, block_count(), block_cells, 0, view, in_box_.data());
    seconds = watch.seconds("solving");
    return counters;
  }

  void times(std::size_t /*layer*/, std::span<T> result) const override { box_times().download_to(result); }
  [[nodiscard]] const T* times(std::size_t /*layer*/) const override { return box_times().data(); }
  void load_times(std::span<const T> times) override {
    if (!packed()) return time_.upload_from(times);
    in_box_.upload_from(times);
    launch(pack<T, Dim>, block_count(), block_cells, 0, view(), in_box_.data());
  }

  Residual residual(std::size_t /*layer*/, std::span<const Seed> seeds, double limit) override {
    DeviceValue<unsigned long long> worst;
    const std::vector<BlockSeed<T>> seed_entries = entries(seeds);
    const DeviceArray<BlockSeed<T>> device_seeds{std::span<const BlockSeed<T>>(seed_entries)};
    DeviceArray<std::uint8_t> seeded(blocks_.slots());
    seeded.clear();
    launch_for(seed_entries.size(), check_seeds<T>, device_seeds.data(), seed_entries.size(), time_.data(),
               seeded.data(), worst.data());
    launch(residual_pass<T, Dim>, block_count(), block_cells, 0, view(), seeded.data(), worst.data());
    return found_residual(worst.read(), limit);
  }

 private:
  [[nodiscard]] bool packed() const { return blocks_.order() == BlockOrder::blocks; }
  [[nodiscard]] std::uint32_t block_count() const { return static_cast<std::uint32_t>(blocks_.blocks().size()); }
  [[nodiscard]] const DeviceArray<T>& box_times() const { return packed() ? in_box_ : time_; }

  /// Rounds until no block changes, or too many. The first `active` blocks of the list are the seeds'.
  template <class Halo>
  Counters run(const BlockView<T, Dim>& view, std::uint32_t active) {
    BlockLists lists{lists_[0].data(),   lists_[1].data(),  lists_[2].data(),    counts_.data(),
                     counts_.data() + 1, is_active_.data(), is_candidate_.data()};
    Counters counters;
    bool settled = false;
    for (; !settled && counters.rounds < this->most_rounds(); ++counters.rounds) {
      counts_.clear();
      std::array<std::uint32_t, 2> counts{0, block_count()};
      if (active > 0) {
        launch(update_active<Halo, T, Dim>, active, block_cells, 0, view, lists, iterations_);
        counts_.download_to(counts);
      } else {
        launch_for(block_count(), list_all, lists, block_count());
      }
      launch(check_candidates<Halo, T, Dim>, counts[1], block_cells, 0, view, lists);
      counters.vertex_updates +=
          block_cells * (std::uint64_t{active} * static_cast<std::uint64_t>(iterations_) + counts[1]);
      if (counts[1] > 0) counts_.download_to(counts);
      settled = active == 0 && counts[0] == 0;
      active = counts[0];
      std::swap(lists.active, lists.next);
    }
    converged_ = settled;
    counters.local_solves = counters.vertex_updates;
    return counters;
  }

  [[nodiscard]] std::vector<BlockSeed<T>> entries(std::span<const Seed> seeds) const {
    std::vector<BlockSeed<T>> result;
    for (const Seed& seed : seeds) {
      const auto cell = static_cast<std::uint32_t>(seed.vertex.value);
      result.push_back(
          {{cell, static_cast<T>(seed.time)}, blocks_.slot(cell), shortest_step(blocks_.tensor(cell), Dim)});
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

  BlockView<T, Dim> view() {
    BlockView<T, Dim> view{};
    view.blocks = device_blocks_.data();
    view.order = blocks_.order();
    view.tensors = tensors_.data();
    view.component = tensors_.size() / 6;
    for (int axis = 0; axis < Dim; ++axis) view.step[axis] = step_[axis];
    view.time = time_.data();
    return view;
  }

  int iterations_;
  bool banked_;
  std::size_t cells_;
  ImageBlocks<T, Dim> blocks_;
  bool converged_ = true;
  std::uint32_t step_[Dim]{};
  DeviceArray<ImageBlock<Dim>> device_blocks_;
  DeviceArray<T> tensors_;
  std::array<DeviceArray<std::uint32_t>, 3> lists_;
  DeviceArray<std::uint32_t> is_active_, is_candidate_, counts_{2};
  DeviceArray<T> time_;
  DeviceArray<T> in_box_;  ///< where times are packed in blocks: they in the order of the box
};

}  // namespace

template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_block_fim(const TensorProblem<T, Dim>& problem, const PaperOptions& options) {
  require_device();
  return std::make_unique<BlockFim<T, Dim>>(problem, options);
}

template std::unique_ptr<DeviceGrid<float>> make_block_fim(const TensorProblem<float, 2>&, const PaperOptions&);
template std::unique_ptr<DeviceGrid<float>> make_block_fim(const TensorProblem<float, 3>&, const PaperOptions&);
template std::unique_ptr<DeviceGrid<double>> make_block_fim(const TensorProblem<double, 2>&, const PaperOptions&);
template std::unique_ptr<DeviceGrid<double>> make_block_fim(const TensorProblem<double, 3>&, const PaperOptions&);

}  // namespace isochron::cuda
