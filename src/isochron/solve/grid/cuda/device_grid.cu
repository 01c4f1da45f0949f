// Rounds of pulls on the device. A round goes over a list of cells. One whose neighbours' times fell (it is stale) is
// computed again; one whose own time fell puts the later cells that read it on the next round's list, as stale. Each
// round ends with one grid-wide synchronisation.
//
// No fall of a time is lost: who lowers a time either marks all later readers stale for the next round (the stamp has
// the round and whether the cell is stale then), or keeps itself on the list, and the synchronisation between the
// rounds makes the lowered time visible to those who read it. A cell that is not later than the one that fell does not
// depend on it, and times only fall, so a reader that looks later than it is costs an update and nothing else.
#include "isochron/solve/grid/cuda/device_grid.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <cooperative_groups.h>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/stopwatch.h"
#include "isochron/device.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/cuda/worst_vertex.h"
#include "isochron/solve/grid/cuda/second_order.h"
#include "isochron/solve/grid/cuda/stencils_on_device.h"
#include "isochron/solve/grid/cuda/tuning.h"

namespace isochron::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned block_threads = 512;
constexpr unsigned warp_threads = 32;
constexpr unsigned queue_size =
    4096;  ///< entries that a block collects in a round before threads write them themselves
constexpr unsigned max_layers = 128;
static_assert(max_layers <= block_threads, "a thread for each layer");
constexpr std::uint32_t never = 0xffffffffU;  ///< stamp of cells that are never put on a list

template <class T>
__device__ constexpr T infinity() {
  return std::numeric_limits<T>::infinity();
}

struct Work {
  unsigned long long updates, rounds;
  unsigned long long left;  ///< cells that still waited when the rounds were given up
};

/// What the rounds read and write. An entry is layer · cells + cell.
template <class T>
struct Lists {
  std::uint32_t cells;
  std::uint32_t layers;
  T tolerance;
  std::uint32_t max_rounds;
  T width;  ///< cells later than the layer's earliest by more than this wait a round
  T* time;
  T* sent;               ///< the time that its dependents were notified of; +inf: none
  std::uint32_t* stamp;  ///< 2 · round (from 0 on) on whose list the entry was last put, + 1 when stale
  std::uint32_t* list[2];
  std::uint32_t* count;  ///< three, taken in turn: one is read, one counts what is put, one is cleared
  T* least;              ///< three by layer, likewise: the earliest time of those on a list, or below
  Work* work;
};

/// A block's part of the next list, and of the horizons.
template <class T>
struct BlockMemory {
  std::uint32_t queue[queue_size];
  std::uint32_t queue_count;
  std::uint32_t queue_begin;
  T horizon[max_layers];
  typename TimeBits<T>::Type least[max_layers];
};

/// Puts cells of a layer on the next round's list.
template <class T>
class Enqueuer {
 public:
  __device__ Enqueuer(const Lists<T>& lists, BlockMemory<T>& block, std::uint32_t round)
      : block_(block),
        stamp_(lists.stamp),
        fresh_below_(2 * (round + 1)),
        list_(lists.list[(round + 1) & 1]),
        count_(lists.count + (round + 1) % 3) {}

  /// Those of `cells` that `wanted` has a bit for, as stale. `first` is the layer's first entry.
  template <int N>
  __device__ void put_stale(const std::uint32_t (&cells)[N], unsigned wanted, std::uint32_t first) const {
    // All are on their way before the first answer is looked at.
    std::uint32_t before[N];
#pragma unroll
    for (int i = 0; i < N; ++i)
      before[i] = (wanted >> i & 1U) != 0 ? atomicMax(stamp_ + first + cells[i], fresh_below_ + 1) : fresh_below_;
    unsigned fresh = 0;
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (before[i] < fresh_below_) fresh |= 1U << i;
    if (fresh == 0) return;
    std::uint32_t place = atomicAdd(&block_.queue_count, static_cast<unsigned>(__popc(fresh)));
#pragma unroll
    for (int i = 0; i < N; ++i)
      if ((fresh >> i & 1U) != 0) write(place++, first + cells[i]);
  }
  /// An entry that waits.
  __device__ void put_again(std::uint32_t entry) const {
    if (atomicMax(stamp_ + entry, fresh_below_) < fresh_below_) write(atomicAdd(&block_.queue_count, 1U), entry);
  }
  /// No entry of the layer that was put is earlier.
  __device__ void lower_least(std::uint32_t layer, T time) const {
    const auto bits = TimeBits<T>::of(time);
    if (bits < block_.least[layer]) atomicMin(&block_.least[layer], bits);
  }

 private:
  __device__ void write(std::uint32_t place, std::uint32_t entry) const {
    if (place < queue_size) block_.queue[place] = entry;
    else list_[atomicAdd(count_, 1U)] = entry;
  }

  BlockMemory<T>& block_;
  std::uint32_t* stamp_;
  std::uint32_t fresh_below_;
  std::uint32_t* list_;
  std::uint32_t* count_;
};

/// What one thread does with one entry of the list.
template <class T, class View>
class Puller {
 public:
  __device__ Puller(const Lists<T>& lists, const View& view, const BlockMemory<T>& block)
      : l_(lists), view_(view), block_(block) {}

  __device__ void process(const Enqueuer<T>& next, std::uint32_t entry) {
    const std::uint32_t layer = l_.layers == 1 ? 0 : entry / l_.cells;
    const std::uint32_t first = layer * l_.cells, x = entry - first;
    T* time = l_.time + first;
    const T horizon = block_.horizon[layer];
    // Another round's stamp is there when the entry was put again in this one; it then says stale, which is safe.
    const bool stale = (__ldcg(l_.stamp + entry) & 1U) != 0;
    const T sent = __ldcg(l_.sent + entry);
    T now = read_time(time, x);
    const typename View::Cell cell = view_.open(x);
    if (stale || now <= horizon) {
      T seen[2 * View::terms];
      if (stale || View::symmetric) read_times(time, cell.near, seen);
      const typename View::Ahead ahead = view_.look_ahead(cell, time);
      if (stale) {
        ++updates_;
        const T again = pulled_time(view_, cell, seen, x, time);
        const T least = now < infinity<T>() ? countable_gain(l_.tolerance, shortest_step(cell), now) : T(0);
        if (again < now - least) time[x] = now = again;
      }
      if (now == sent) return;
      if (now <= horizon) {
        l_.sent[entry] = now;
        notify(next, cell, ahead, seen, x, now, layer);
        return;
      }
    }
    next.lower_least(layer, now);
    next.put_again(entry);
  }

  [[nodiscard]] __device__ unsigned long long updates() const { return updates_; }

 private:
  /// Marks the later readers of x stale.
  __device__ void notify(const Enqueuer<T>& next, const typename View::Cell& cell, const typename View::Ahead& ahead,
                         const T (&seen)[2 * View::terms], std::uint32_t x, T now, std::uint32_t layer) {
    const std::uint32_t first = layer * l_.cells;
    unsigned any = 0;
    if constexpr (View::symmetric) {
      unsigned wanted = 0;
#pragma unroll
      for (int i = 0; i < 2 * View::terms; ++i)
        if (cell.near[i] != view_.none && seen[i] > now) wanted |= 1U << i;
      next.put_stale(cell.near, wanted, first);
      any = wanted;
    }
    view_.for_more_dependents(x, cell, ahead, l_.time + first, [&](const auto& cells, const auto& times) {
      constexpr int n = sizeof(cells) / sizeof(cells[0]);
      unsigned wanted = 0;
#pragma unroll
      for (int i = 0; i < n; ++i)
        if (cells[i] != view_.none && times[i] > now) wanted |= 1U << i;
      next.put_stale(cells, wanted, first);
      any |= wanted;
    });
    if (any != 0) next.lower_least(layer, now);
  }

  const Lists<T>& l_;
  const View& view_;
  const BlockMemory<T>& block_;
  unsigned long long updates_ = 0;
};

/// At a round's start: the horizons of its layers; its own part of the next list empty. `least` is of the layer with
/// the thread's number.
template <class T>
__device__ void open_round(const Lists<T>& lists, BlockMemory<T>& block, std::uint32_t round, T least) {
  if (threadIdx.x < lists.layers) {
    block.horizon[threadIdx.x] = least + lists.width;
    block.least[threadIdx.x] = TimeBits<T>::of(infinity<T>());
  }
  if (threadIdx.x == 0) block.queue_count = 0;
  if (blockIdx.x == 0) {
    const std::uint32_t clear = (round + 2) % 3;
    if (threadIdx.x == 0) lists.count[clear] = 0;
    if (threadIdx.x < lists.layers) lists.least[clear * max_layers + threadIdx.x] = infinity<T>();
  }
  __syncthreads();
}

/// At a round's end: the block's queue goes to the list of the next round.
template <class T>
__device__ void close_round(const Lists<T>& lists, BlockMemory<T>& block, std::uint32_t round) {
  __syncthreads();
  const std::uint32_t count = block.queue_count < queue_size ? block.queue_count : queue_size;
  if (count == 0) return;
  const std::uint32_t next = (round + 1) % 3;
  if (threadIdx.x == 0) block.queue_begin = atomicAdd(lists.count + next, count);
  if (threadIdx.x < lists.layers && block.least[threadIdx.x] < TimeBits<T>::of(infinity<T>()))
    lower_to(lists.least + next * max_layers + threadIdx.x, TimeBits<T>::back(block.least[threadIdx.x]));
  __syncthreads();
  std::uint32_t* list = lists.list[(round + 1) & 1] + block.queue_begin;
  for (unsigned i = threadIdx.x; i < count; i += block_threads) list[i] = block.queue[i];
}

template <class T, class View>
__global__ void __launch_bounds__(block_threads)
    pull_rounds(const __grid_constant__ Lists<T> lists, const __grid_constant__ View view) {
  __shared__ BlockMemory<T> block;
  const cg::grid_group grid = cg::this_grid();
  Puller<T, View> puller(lists, view, block);
  // Warps take pieces of the list, and neighbouring pieces go to different blocks, so that all have work.
  const std::uint64_t mine =
      std::uint64_t{threadIdx.x / warp_threads * gridDim.x + blockIdx.x} * warp_threads + threadIdx.x % warp_threads;
  std::uint32_t round = 0;
  while (true) {
    // Both are on their way at once: a round is short, and waiting is most of it.
    const T least = __ldcg(lists.least + (round % 3) * max_layers + threadIdx.x % max_layers);
    const std::uint32_t count = __ldcg(lists.count + round % 3);
    if (count == 0 || round == lists.max_rounds) {
      if (grid.thread_rank() == 0) lists.work->left = count;
      break;
    }
    open_round(lists, block, round, least);
    const Enqueuer<T> next(lists, block, round);
    const std::uint32_t* list = lists.list[round & 1];
    for (std::uint64_t i = mine; i < count; i += std::uint64_t{gridDim.x} * block_threads)
      puller.process(next, __ldcg(list + i));
    close_round(lists, block, round);
    ++round;
    grid.sync();
  }
  __shared__ unsigned long long updates;
  if (threadIdx.x == 0) updates = 0;
  __syncthreads();
  if (puller.updates() > 0) atomicAdd(&updates, puller.updates());
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&lists.work->updates, updates);
  if (blockIdx.x == 0) lists.work->rounds = round;
}

// ---- before and after the rounds

/// Nothing has arrived, and nothing waits, in any layer.
template <class T, class View>
__global__ void reset(const __grid_constant__ Lists<T> lists, const __grid_constant__ View view) {
  const std::size_t entries = std::size_t{lists.cells} * lists.layers;
  for (std::size_t i = thread_number(); i < entries; i += std::size_t{gridDim.x} * blockDim.x) {
    const auto x = static_cast<std::uint32_t>(lists.layers == 1 ? i : i % lists.cells);
    lists.time[i] = infinity<T>();
    lists.sent[i] = infinity<T>();
    lists.stamp[i] = view.allowed(x) ? 0 : never;
  }
}

template <class T>
__global__ void set_seeds(const SeedTime<T>* seeds, std::size_t count, const __grid_constant__ Lists<T> lists) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t entry = seeds[i].vertex;
  lists.time[entry] = seeds[i].time;
  lists.sent[entry] = T(-1);  // nobody knows of it yet
  lists.list[0][i] = entry;
}

/// The seeds of one layer as cells of it.
template <class T>
__global__ void in_layer(SeedTime<T>* seeds, std::size_t count, std::uint32_t first) {
  const std::size_t i = thread_number();
  if (i < count) seeds[i].vertex -= first;
}

/// Marks the seeds, which may not be later than their own time.
template <class T, class View>
__global__ void check_seeds(const SeedTime<T>* seeds, std::size_t count, const __grid_constant__ View view,
                            const T* time, std::uint8_t* seeded, unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t x = seeds[i].vertex;
  seeded[x] = 1;
  if (!(time[x] <= seeds[i].time)) report_difference(time[x], seeds[i].time, shortest_step(view.open(x)), x, worst);
}

template <class T, class View>
__global__ void residual_pass(const __grid_constant__ View view, const T* time, const std::uint8_t* seeded,
                              unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= view.count) return;
  const auto x = static_cast<std::uint32_t>(i);
  if (!view.allowed(x)) return;
  const auto cell = view.open(x);
  T seen[2 * View::terms];
  for (int k = 0; k < 2 * View::terms; ++k) seen[k] = time[cell.near[k]];
  const T now = time[x], again = pulled_time(view, cell, seen, x, time);
  if (now == again || (seeded[x] != 0 && !(again < now))) return;
  report_difference(now, again, shortest_step(cell), x, worst);
}

/// Whether one stencil does for all cells. Then cells are reached nearly in the order of their times, and bands only
/// keep them waiting.
template <class T, int Dim>
bool same_everywhere(const AxisProblem<T, Dim>& problem) {
  return problem.scale_stride == 0;
}
template <class T, int Dim>
bool same_everywhere(const OffsetProblem<T, Dim>& problem) {
  return problem.uniform();
}

template <class T, class Stencils>
class DeviceGridOf final : public DeviceGrid<T> {
 public:
  using View = typename Stencils::View;

  template <class Problem>
  DeviceGridOf(const Device& device, const Problem& problem, int order, int threads)
      : tuning_(grid_tuning(device)),
        multiprocessors_(device.multiprocessors),
        mean_edge_(problem.mean_edge),
        width_(same_everywhere(problem) ? std::numeric_limits<double>::infinity() : tuning_.width),
        order_(order),
        stencils_(problem, order, threads) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&max_blocks_, pull_rounds<T, View>, block_threads, 0),
          "asking how much of a kernel fits");
  }

  [[nodiscard]] CellNumbers numbers() const override { return Stencils::numbers; }
  [[nodiscard]] std::size_t cell_count() const override { return stencils_.view().count; }
  [[nodiscard]] std::size_t device_bytes() const override {
    return stencils_.bytes() + layer_bytes() * layers_ + memory_.bytes();
  }
  [[nodiscard]] std::size_t layers_that_fit() const override {
    const std::size_t most = std::size_t{0xfffffff0U} / cell_count();
    const std::size_t marks = order_ == 2 ? 2 : 1;  // of seeds, for the check
    const std::size_t reserve = marks * cell_count() + missing_pass_bytes() + (std::size_t{64} << 20);
    const std::size_t free = free_bytes();
    const std::size_t room = layers_ + (free > reserve ? (free - reserve) / layer_bytes() : 0);
    return std::clamp<std::size_t>(std::min(most, room), 1, max_layers);
  }

  Counters solve(std::span<const StartSeeds> layers, T tolerance, double band_width, double& seconds) override {
    make_room(layers.size());
    start(layers);
    Lists<T> lists = this->lists(layers.size());
    lists.tolerance = tolerance;
    lists.max_rounds = this->most_rounds();
    lists.width = static_cast<T>((band_width > 0 ? band_width : width_) * static_cast<double>(mean_edge_));
    View view = stencils_.view();
    void* arguments[] = {&lists, &view};
    const Stopwatch watch;
    launch(reset<T, View>, static_cast<std::size_t>(multiprocessors_) * 8, launch_threads, 0, lists, view);
    launch_for(seeds_.size(), set_seeds<T>, device_seeds_.data(), seeds_.size(), lists);
    check(cudaLaunchCooperativeKernel(pull_rounds<T, View>, dim3(grid_size(layers.size())), dim3(block_threads),
                                      arguments, 0, nullptr),
          "starting a kernel");
    if (order_ == 2) raise_order(layers);
    seconds = watch.seconds("solving");
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    Counters counters;
    if (order_ == 2) work.updates += layers.size() * cell_count();
    counters.local_solves = counters.vertex_updates = work.updates;
    counters.rounds = work.rounds;
    converged_ = work.left == 0;
    return counters;
  }
  [[nodiscard]] bool converged() const override { return converged_; }

  void times(std::size_t layer, std::span<T> result) const override {
    download(result.data(), layer_result(layer), cell_count() * sizeof(T));
  }
  [[nodiscard]] const T* times(std::size_t layer) const override { return layer_result(layer); }

  void set_scale(DeviceArray<float>&& scale, T mean_edge) override {
    if constexpr (requires { stencils_.set_scale(std::move(scale)); }) {
      stencils_.set_scale(std::move(scale));
      mean_edge_ = mean_edge;
    }
  }

  void load_times(std::span<const T> times) override {
    make_room(1);
    (order_ == 2 ? second_ : time_).upload_from(times);
  }

  Residual residual(std::size_t layer, std::span<const Seed> seeds, double limit) override {
    DeviceArray<std::uint8_t> seeded(cell_count());
    DeviceValue<unsigned long long> worst;
    seeded.clear();
    const std::vector<SeedTime<T>> entries = seed_entries(seeds, 0);
    const DeviceArray<SeedTime<T>> on_device{std::span<const SeedTime<T>>(entries)};
    const View view = stencils_.view();
    launch_for(entries.size(), check_seeds<T, View>, on_device.data(), entries.size(), view, layer_result(layer),
               seeded.data(), worst.data());
    if (order_ == 2)
      second_order_residual(view, layer_time(layer), layer_result(layer), on_device.data(), entries.size(),
                            seeded.data(), worst.data());
    launch_for(cell_count(), residual_pass<T, View>, view, layer_time(layer), seeded.data(), worst.data());
    return found_residual(worst.read(), limit);
  }

 private:
  [[nodiscard]] const T* layer_time(std::size_t layer) const { return time_.data() + layer * cell_count(); }
  /// Of the order that was asked for.
  [[nodiscard]] const T* layer_result(std::size_t layer) const {
    return order_ == 2 ? second_.data() + layer * cell_count() : layer_time(layer);
  }
  [[nodiscard]] std::size_t layer_bytes() const {
    const std::size_t arrays = order_ == 2 ? 3 : 2;
    return cell_count() * (arrays * sizeof(T) + 3 * sizeof(std::uint32_t));
  }

  /// What the pass of second order takes, once for all layers, when it does not have it yet.
  [[nodiscard]] std::size_t missing_pass_bytes() const {
    return order_ == 2 && memory_.order.size() == 0 ? SecondOrderMemory<T>::bytes_for(cell_count()) : 0;
  }

  /// From first-order to second-order times, layer by layer.
  void raise_order(std::span<const StartSeeds> layers) {
    std::size_t first_seed = 0;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const std::size_t count = layers[k].seeds.size();
      launch_for(count, in_layer<T>, device_seeds_.data() + first_seed, count,
                 static_cast<std::uint32_t>(k * cell_count()));
      second_order_times(stencils_.view(), layer_time(k), device_seeds_.data() + first_seed, count, memory_,
                         second_.data() + k * cell_count());
      first_seed += count;
    }
  }

  [[nodiscard]] unsigned grid_size(std::size_t layers) const {
    const int wanted = cell_count() * layers <= tuning_.few_cells ? tuning_.few_blocks : tuning_.blocks;
    return static_cast<unsigned>(std::max(1, std::min(max_blocks_, wanted)) * multiprocessors_);
  }

  void make_room(std::size_t layers) {
    if (layers <= layers_) return;
    layers_ = 0;
    for (DeviceArray<T>* array : {&time_, &sent_, &second_}) *array = {};
    for (DeviceArray<std::uint32_t>* array : {&stamp_, &list_[0], &list_[1]}) *array = {};
    require_memory(layer_bytes() * layers + missing_pass_bytes(), "this image");
    const std::size_t entries = cell_count() * layers;
    for (DeviceArray<T>* array : {&time_, &sent_}) *array = DeviceArray<T>(entries);
    if (order_ == 2) {
      second_ = DeviceArray<T>(entries);
      memory_.make_room(cell_count());
    }
    for (DeviceArray<std::uint32_t>* array : {&stamp_, &list_[0], &list_[1]})
      *array = DeviceArray<std::uint32_t>(entries);
    layers_ = layers;
  }

  [[nodiscard]] std::vector<SeedTime<T>> seed_entries(std::span<const Seed> seeds, std::size_t layer) const {
    std::vector<SeedTime<T>> entries;
    entries.reserve(seeds.size());
    for (const Seed& seed : seeds)
      entries.push_back(
          {static_cast<std::uint32_t>(layer * cell_count() + seed.vertex.index()), static_cast<T>(seed.time)});
    return entries;
  }

  void start(std::span<const StartSeeds> layers) {
    seeds_.clear();
    std::vector<T> least(3 * max_layers, std::numeric_limits<T>::infinity());
    for (std::size_t k = 0; k < layers.size(); ++k)
      for (const SeedTime<T>& entry : seed_entries(layers[k].seeds, k)) {
        seeds_.push_back(entry);
        least[k] = std::min(least[k], entry.time);
      }
    if (device_seeds_.size() < seeds_.size()) device_seeds_ = DeviceArray<SeedTime<T>>(seeds_.size());
    device_seeds_.upload_from(std::span<const SeedTime<T>>(seeds_));
    least_.upload_from(std::span<const T>(least));
    const std::array<std::uint32_t, 3> counts{static_cast<std::uint32_t>(seeds_.size()), 0, 0};
    count_.upload_from(std::span<const std::uint32_t>(counts));
    work_.clear();
  }

  Lists<T> lists(std::size_t layers) {
    Lists<T> result{};
    result.cells = static_cast<std::uint32_t>(cell_count());
    result.layers = static_cast<std::uint32_t>(layers);
    result.time = time_.data();
    result.sent = sent_.data();
    result.stamp = stamp_.data();
    for (int i : {0, 1}) result.list[i] = list_[i].data();
    result.count = count_.data();
    result.least = least_.data();
    result.work = work_.data();
    return result;
  }

  GridTuning tuning_;
  int multiprocessors_;
  int max_blocks_ = 0;
  bool converged_ = true;
  T mean_edge_;
  double width_;  ///< of the time band, in mean edges
  int order_;
  Stencils stencils_;
  std::size_t layers_ = 0;  ///< that there is memory for
  DeviceArray<T> time_, sent_, second_, least_{3 * max_layers};
  DeviceArray<std::uint32_t> stamp_, count_{3};
  std::array<DeviceArray<std::uint32_t>, 2> list_;
  DeviceArray<Work> work_{1};
  std::vector<SeedTime<T>> seeds_;
  DeviceArray<SeedTime<T>> device_seeds_;
  SecondOrderMemory<T> memory_;
};

}  // namespace

template <class Problem>
std::unique_ptr<DeviceGrid<typename Problem::Scalar>> make_device_grid(const Problem& problem, int order, int threads) {
  using T = typename Problem::Scalar;
  const Device device = require_device();
  const GridCells& cells = *problem.cells;
  const double share = static_cast<double>(cells.list.size()) / static_cast<double>(cells.box.cell_count);
  const bool computable = Problem::terms == Problem::dim || same_everywhere(problem);
  if (computable && share >= grid_tuning(device).min_box_share)
    return std::make_unique<DeviceGridOf<T, BoxOnDevice<T, Problem::dim, Problem::terms>>>(device, problem, order,
                                                                                           threads);
  return std::make_unique<DeviceGridOf<T, ListOnDevice<T, Problem::dim, Problem::terms>>>(device, problem, order,
                                                                                          threads);
}

template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_speed_grid(const AxisProblem<T, Dim>& problem, DeviceArray<float>&& scale,
                                               int order) {
  auto grid = std::make_unique<DeviceGridOf<T, BoxOnDevice<T, Dim, Dim>>>(require_device(), problem, order, 1);
  grid->set_scale(std::move(scale), problem.mean_edge);
  return grid;
}
template std::unique_ptr<DeviceGrid<float>> make_speed_grid(const AxisProblem<float, 2>&, DeviceArray<float>&&, int);
template std::unique_ptr<DeviceGrid<float>> make_speed_grid(const AxisProblem<float, 3>&, DeviceArray<float>&&, int);
template std::unique_ptr<DeviceGrid<double>> make_speed_grid(const AxisProblem<double, 2>&, DeviceArray<float>&&, int);
template std::unique_ptr<DeviceGrid<double>> make_speed_grid(const AxisProblem<double, 3>&, DeviceArray<float>&&, int);

#define ISOCHRON_INSTANTIATE(problem)                                                                 \
  template std::unique_ptr<DeviceGrid<float>> make_device_grid(const problem<float, 2>&, int, int);   \
  template std::unique_ptr<DeviceGrid<float>> make_device_grid(const problem<float, 3>&, int, int);   \
  template std::unique_ptr<DeviceGrid<double>> make_device_grid(const problem<double, 2>&, int, int); \
  template std::unique_ptr<DeviceGrid<double>> make_device_grid(const problem<double, 3>&, int, int);
ISOCHRON_INSTANTIATE(AxisProblem)
ISOCHRON_INSTANTIATE(OffsetProblem)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::cuda
