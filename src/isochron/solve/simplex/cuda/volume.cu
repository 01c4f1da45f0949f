// Rounds of pushes on the device. A round goes over a list of vertices whose time fell; each offers its tetrahedra's
// other corners a better time and puts those that take it on the next round's list. Each round ends
// with one grid-wide synchronisation.
//
// No fall of a time is lost: who lowers a time in round r sees to it that the vertex is on the list of round r + 1
// (the stamp says whether it already is), and the synchronisation between the rounds makes the lowered time visible to
// whoever processes that list. A vertex is left out only when its time is the one it last pushed with.
#include "isochron/solve/simplex/cuda/volume.h"

#include <array>
#include <cmath>

#include <cooperative_groups.h>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/core/cuda/fill.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/stopwatch.h"
#include "isochron/local/push_batch.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/cuda/tuning.h"
#include "isochron/solve/simplex/cuda/volume_build.h"
#include "isochron/solve/simplex/cuda/volume_passes.h"

namespace isochron::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned block_threads = 512;
constexpr unsigned lanes = 32;         ///< that share a vertex's tetrahedra, of which there are about 24
constexpr unsigned queue_size = 1024;  ///< vertices that a block collects in a round before it writes them itself
constexpr unsigned max_layers = 64;

struct Work {
  unsigned long long solves, updates, rounds;
  unsigned long long left;  ///< vertices that still waited when the rounds were given up
};

/// What the kernel reads and writes. An entry of a list is layer · vertices + vertex.
template <class T>
struct View {
  std::uint32_t vertices;
  std::uint32_t layers;
  const StarHead* heads;
  const std::uint64_t* stars;
  const T* edge;
  T tolerance;
  std::uint32_t max_rounds;
  T width;  ///< vertices later than the layer's earliest by more than this wait a round
  T* time;
  T* pushed;             ///< time of the last push
  std::uint32_t* stamp;  ///< round (counted from 1) on whose list the entry was last put
  std::uint32_t* list[2];
  std::uint32_t* count;  ///< three, taken in turn: one is read, one counts what is queued, one is cleared
  T* least;              ///< three by layer, likewise: the earliest time on a list
  Work* work;
};

/// What a block holds in shared memory over a round: the vertices it pushes from, and its part of the next list, kept
/// here so that the list's counter is not asked for every vertex.
template <class T>
struct BlockMemory {
  T push_time[block_threads];
  std::uint32_t push_entry[block_threads];
  StarHead push_head[block_threads];
  std::uint32_t push_count;
  std::uint32_t pushes_taken;
  std::uint32_t queue[queue_size];
  std::uint32_t queue_count;
  T horizon[max_layers];
  typename TimeBits<T>::Type least[max_layers];

  /// The number of a push that no tile has taken yet; past the last one, that there are none.
  template <class Tile>
  __device__ std::uint32_t next_push(const Tile& tile) {
    std::uint32_t taken = 0;
    if (tile.thread_rank() == 0) taken = atomicAdd(&pushes_taken, 1U);
    return tile.shfl(taken, 0);
  }
};

/// What a tile holds: its star's neighbours with their times before the push and the best offered, and the local solves
/// to do (tetrahedron · 4 + target).
template <class T>
struct TileMemory {
  T time[max_neighbours];
  typename TimeBits<T>::Type best[max_neighbours];
  std::uint16_t solve[3 * max_tets];
};

/// Thin faces are rare: kept out of the loop, they do not cost it registers.
template <class T>
__device__ __noinline__ T thin_push_time(T ux, T up, T uq, T xp, T xq, T pq, T xt, T pt, T qt) {
  return detail::any_push_time(ux, up, uq, xp, xq, pq, xt, pt, qt);
}

/// Puts entries on the next round's list.
template <class T>
class Enqueuer {
 public:
  __device__ Enqueuer(const View<T>& view, BlockMemory<T>& block, std::uint32_t round)
      : v_(view),
        block_(block),
        stamp_(round + 2),
        list_(view.list[(round + 1) & 1]),
        count_(view.count + (round + 1) % 3) {}

  __device__ void put(std::uint32_t entry, std::uint32_t layer, T time) const {
    if (TimeBits<T>::of(time) < block_.least[layer]) atomicMin(&block_.least[layer], TimeBits<T>::of(time));
    if (atomicExch(v_.stamp + entry, stamp_) == stamp_) return;
    const std::uint32_t place = atomicAdd(&block_.queue_count, 1U);
    if (place < queue_size) block_.queue[place] = entry;
    else list_[atomicAdd(count_, 1U)] = entry;
  }

 private:
  const View<T>& v_;
  BlockMemory<T>& block_;
  std::uint32_t stamp_;
  std::uint32_t* list_;
  std::uint32_t* count_;
};

/// Pushes from one vertex at a time, the work shared by a tile of threads.
template <class T, class Tile>
class Pusher {
 public:
  __device__ Pusher(const View<T>& view, TileMemory<T>& memory, const Tile& tile) : v_(view), m_(memory), tile_(tile) {}

  __device__ void push(const Enqueuer<T>& next, std::uint32_t entry, T ux, StarHead head) {
    const std::uint32_t layer = v_.layers == 1 ? 0 : entry / v_.vertices;
    while (true) {
      push_star(next, head, layer, ux);
      if (head.next == 0) break;
      head = v_.heads[head.next];
    }
  }

  [[nodiscard]] __device__ unsigned solves() const { return solves_; }

 private:
  __device__ void push_star(const Enqueuer<T>& next, const StarHead& head, std::uint32_t layer, T ux) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(v_.stars + head.begin);
    const unsigned lane = tile_.thread_rank(), tets = head.tets, neighbours = head.neighbours;
    T* time = v_.time + std::size_t{layer} * v_.vertices;
    for (unsigned i = lane; i < neighbours; i += lanes) {
      m_.time[i] = __ldcg(time + words[i]);  // past the first-level cache, which others' writes do not reach
      m_.best[i] = TimeBits<T>::of(detail::infinity<T>());
    }
    tile_.sync();
    const unsigned count = list_solves(words + neighbours, tets, static_cast<T>(head.lead_step), ux);
    tile_.sync();
    const T* lengths = reinterpret_cast<const T*>(words + words_before_lengths(tets, neighbours));
    for (unsigned i = lane; i < count; i += lanes) solve(words + neighbours, lengths, tets, m_.solve[i], ux);
    solves_ += lane == 0 ? count : 0;
    tile_.sync();
    for (unsigned i = lane; i < neighbours; i += lanes) {
      const T best = TimeBits<T>::back(m_.best[i]), now = m_.time[i];
      if (best < now) take(next, words[i], layer, best, now);
    }
    tile_.sync();
  }

  /// Lists the targets that can gain: those that are late enough for an arrival through x, and later than some other
  /// corner. Listed, they fill the lanes; tetrahedron by tetrahedron most lanes would wait for a few.
  __device__ unsigned list_solves(const std::uint32_t* corners, unsigned tets, T lead_step, T ux) {
    unsigned count = 0;
    for (unsigned first = 0; first < tets; first += lanes) {
      const unsigned i = first + tile_.thread_rank();
      unsigned wanted = 0;
      if (i < tets) {
        const std::uint32_t word = corners[i];
        const T ua = m_.time[place_of(word, 0)], ub = m_.time[place_of(word, 1)], uc = m_.time[place_of(word, 2)];
        const auto gains = [&](unsigned corner, T time, T other, T another) {
          const unsigned level = lead_level_of(word, corner);
          const T lead = level == no_lead ? -detail::infinity<T>()
                                          : lead_step * static_cast<T>(static_cast<int>(level) - int{lead_of_zero});
          return time > ux + lead && (time > ux || time > other || time > another);
        };
        wanted = (gains(0, ua, ub, uc) ? 1U : 0U) | (gains(1, ub, ua, uc) ? 2U : 0U) | (gains(2, uc, ua, ub) ? 4U : 0U);
      }
      for (unsigned t = 0; t < 3; ++t) {
        const bool mine = ((wanted >> t) & 1U) != 0;
        const unsigned all = tile_.ballot(mine);
        if (mine)
          m_.solve[count + __popc(all & ((1U << tile_.thread_rank()) - 1))] = static_cast<std::uint16_t>(i * 4 + t);
        count += __popc(all);
      }
    }
    return count;
  }

  /// Target t of a tetrahedron from x and its other corners p, q.
  __device__ void solve(const std::uint32_t* corners, const T* lengths, unsigned tets, unsigned which, T ux) {
    const unsigned i = which >> 2, t = which & 3U;
    const unsigned p = t == 0 ? 1 : 0, q = t == 2 ? 1 : 2;
    const std::uint32_t word = corners[i];
    const auto length = [&](unsigned k) { return lengths[k * tets + i]; };
    // xa, xb, xc come first, then ab, ac, bc: the pair (p, q) is at p + q + 2.
    const T xp = length(p), xq = length(q), pq = length(p + q + 2), xt = length(t), pt = length(p + t + 2),
            qt = length(q + t + 2);
    const unsigned target = place_of(word, t);
    const T up = m_.time[place_of(word, p)], uq = m_.time[place_of(word, q)];
    bool thin;
    T time = detail::push_time_lane(ux, up, uq, xp, xq, pq, xt, pt, qt, thin);
    if (thin) time = thin_push_time(ux, up, uq, xp, xq, pq, xt, pt, qt);
    if (time < m_.time[target]) atomicMin(m_.best + target, TimeBits<T>::of(time));
  }

  /// Lowers a neighbour's time when the gain counts.
  __device__ void take(const Enqueuer<T>& next, std::uint32_t vertex, std::uint32_t layer, T best, T now) {
    if (now < detail::infinity<T>() && !(best < now - countable_gain(v_.tolerance, v_.edge[vertex], now))) return;
    const std::uint32_t entry = layer * v_.vertices + vertex;
    lower_to(v_.time + entry, best);
    next.put(entry, layer, best);
  }

  const View<T>& v_;
  TileMemory<T>& m_;
  const Tile& tile_;
  unsigned solves_ = 0;
};

/// Looks at one entry of the list: it is pushed from in this round, waits for the next one, or is done.
template <class T>
__device__ void sort_entry(const View<T>& view, BlockMemory<T>& block, const Enqueuer<T>& next, std::uint32_t entry) {
  const std::uint32_t layer = view.layers == 1 ? 0 : entry / view.vertices;
  const T time = __ldcg(view.time + entry);
  if (time == __ldcg(view.pushed + entry)) return;
  if (time > block.horizon[layer]) {
    next.put(entry, layer, time);
    return;
  }
  view.pushed[entry] = time;
  const std::uint32_t place = atomicAdd(&block.push_count, 1U);
  block.push_entry[place] = entry;
  block.push_time[place] = time;
  block.push_head[place] = view.heads[entry - layer * view.vertices];
}

/// At a round's start: the horizons of its layers; its own part of the next list empty.
template <class T>
__device__ void open_round(const View<T>& view, BlockMemory<T>& block, std::uint32_t round) {
  for (unsigned layer = threadIdx.x; layer < view.layers; layer += block_threads) {
    block.horizon[layer] = __ldcg(view.least + (round % 3) * max_layers + layer) + view.width;
    block.least[layer] = TimeBits<T>::of(detail::infinity<T>());
  }
  if (threadIdx.x == 0) block.queue_count = block.push_count = block.pushes_taken = 0;
  if (blockIdx.x == 0) {
    const std::uint32_t clear = (round + 2) % 3;
    if (threadIdx.x == 0) view.count[clear] = 0;
    for (unsigned layer = threadIdx.x; layer < view.layers; layer += block_threads)
      view.least[clear * max_layers + layer] = detail::infinity<T>();
  }
  __syncthreads();
}

/// At a round's end: the block's queue goes to the list of the next round.
template <class T>
__device__ void close_round(const View<T>& view, BlockMemory<T>& block, std::uint32_t round) {
  __shared__ std::uint32_t begin;
  const std::uint32_t next = (round + 1) % 3;
  const std::uint32_t count = block.queue_count < queue_size ? block.queue_count : queue_size;
  if (count == 0) return;
  if (threadIdx.x == 0) begin = atomicAdd(view.count + next, count);
  for (unsigned layer = threadIdx.x; layer < view.layers; layer += block_threads)
    if (block.least[layer] < TimeBits<T>::of(detail::infinity<T>()))
      lower_to(view.least + next * max_layers + layer, TimeBits<T>::back(block.least[layer]));
  __syncthreads();
  std::uint32_t* list = view.list[(round + 1) & 1];
  for (unsigned i = threadIdx.x; i < count; i += block_threads) list[begin + i] = block.queue[i];
}

template <class T>
__global__ void __launch_bounds__(block_threads, 2) push_rounds(const __grid_constant__ View<T> view) {
  constexpr unsigned tiles = block_threads / lanes;
  __shared__ BlockMemory<T> block;
  __shared__ TileMemory<T> tile_memory[tiles];
  const cg::grid_group grid = cg::this_grid();
  const auto tile = cg::tiled_partition<lanes>(cg::this_thread_block());
  Pusher<T, decltype(tile)> pusher(view, tile_memory[threadIdx.x / lanes], tile);
  unsigned long long updates = 0;
  std::uint32_t round = 0;
  while (true) {
    const std::uint32_t count = __ldcg(view.count + round % 3);
    if (count == 0 || round == view.max_rounds) {
      if (grid.thread_rank() == 0) view.work->left = count;
      break;
    }
    open_round(view, block, round);
    const Enqueuer<T> next(view, block, round);
    const std::uint32_t* list = view.list[round & 1];
    // Neighbouring entries go to different blocks: they are alike, and so the blocks' work is.
    for (std::uint64_t first = blockIdx.x; first < count; first += std::uint64_t{gridDim.x} * block_threads) {
      const std::uint64_t i = first + std::uint64_t{threadIdx.x} * gridDim.x;
      if (i < count) sort_entry(view, block, next, __ldcg(list + i));
      __syncthreads();
      const std::uint32_t pushes = block.push_count;
      updates += pushes;
      // Each tile takes the next push that is left: some take several times as long as others.
      for (std::uint32_t k = block.next_push(tile); k < pushes; k = block.next_push(tile))
        pusher.push(next, block.push_entry[k], block.push_time[k], block.push_head[k]);
      __syncthreads();
      if (threadIdx.x == 0) block.push_count = block.pushes_taken = 0;
      __syncthreads();
    }
    close_round(view, block, round);
    ++round;
    grid.sync();
  }
  __shared__ unsigned long long solves;
  if (threadIdx.x == 0) solves = 0;
  __syncthreads();
  if (pusher.solves() > 0) atomicAdd(&solves, static_cast<unsigned long long>(pusher.solves()));
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&view.work->solves, solves);
  atomicAdd(&view.work->updates, updates);
  if (blockIdx.x == 0) view.work->rounds = round;
}

// ---- before and after the rounds

/// The vertex of a seed is layer · vertices + the user's number.
template <class T>
__global__ void set_seeds(const SeedTime<T>* seeds, std::size_t count, const std::uint32_t* old_to_new,
                          std::uint32_t vertices, T* time, std::uint32_t* list) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t vertex = seeds[i].vertex % vertices, entry = seeds[i].vertex - vertex + old_to_new[vertex];
  time[entry] = seeds[i].time;
  list[i] = entry;
}

template <class T>
class VolumeOnDevice final : public MeshSolver<T> {
 public:
  VolumeOnDevice(const Device& device, const MeshInput<4>& mesh, const MetricInput& metric, const PushTuning& tuning)
      : mesh_(mesh), tuning_(tuning), multiprocessors_(device.multiprocessors) {
    build_topology(volume_, mesh, metric);
    build_stars(volume_, mesh, metric);
    choose_grid();
  }

  void set_metric(const MetricInput& metric) override {
    drop_layers();
    build_stars(volume_, mesh_, metric);
  }

  [[nodiscard]] MeshSummary summary() const override {
    MeshSummary summary = volume_.summary;
    summary.device_bytes += layer_bytes() * layers_;
    return summary;
  }

  [[nodiscard]] std::size_t layers_that_fit() const override {
    const std::size_t most = std::size_t{0xfffffff0U} / volume_.vertices;
    // What times, labels and the search around sources take in between.
    const std::size_t reserve = volume_.vertices * 56;
    const std::size_t free = free_bytes();
    const std::size_t room = layers_ + (free > reserve ? (free - reserve) / 10 * 9 / layer_bytes() : 0);
    return std::clamp<std::size_t>(std::min(most, room), 1, max_layers);
  }

  Counters solve(std::span<const StartSeeds> layers, T tolerance, double band_width, double& seconds) override {
    make_room(layers.size());
    const std::size_t entries = volume_.vertices * layers.size();
    start(layers);
    View<T> view = this->view();
    view.layers = static_cast<std::uint32_t>(layers.size());
    view.tolerance = tolerance;
    const double width = band_width > 0 ? band_width : tuning_.width;
    view.width = static_cast<T>(width * volume_.summary.mean_edge);
    view.max_rounds = tuning_.max_rounds > 0 ? tuning_.max_rounds : max_rounds(volume_.summary.size(volume_.vertices));
    void* arguments[] = {&view};
    const Stopwatch watch;
    fill(time_, entries, detail::infinity<T>());
    fill(pushed_, entries, T(-1));
    stamp_.clear();
    launch_for(seeds_.size(), set_seeds<T>, device_seeds_.data(), seeds_.size(), volume_.order.old_to_new.data(),
               static_cast<std::uint32_t>(volume_.vertices), time_.data(), lists_[0].data());
    check(cudaLaunchCooperativeKernel(push_rounds<T>, dim3(static_cast<unsigned>(blocks_)), dim3(block_threads),
                                      arguments, 0, nullptr),
          "starting a kernel");
    seconds = watch.seconds("solving");
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    Counters counters;
    counters.local_solves = work.solves;
    counters.vertex_updates = work.updates;
    counters.rounds = work.rounds;
    converged_ = work.left == 0;
    return counters;
  }
  [[nodiscard]] bool converged() const override { return converged_; }

  void times(std::size_t layer, double base, std::span<double> result) override {
    if (user_times_.size() == 0) user_times_ = DeviceArray<double>(volume_.vertices);
    volume_times(volume_, layer_time(layer), base, user_times_);
    user_times_.download_to(result);
  }
  void times(std::size_t layer, double base, DeviceArray<double>& result) override {
    volume_times(volume_, layer_time(layer), base, result);
  }

  void load_times(std::span<const double> times, double base) override {
    make_room(1);
    load_volume_times(volume_, times, base, time_.data());
  }

  void labels(std::size_t layer, std::span<const Seed> seeds, DeviceArray<std::int32_t>& result) override {
    volume_labels(volume_, layer_time(layer), seeds, result);
  }

  Residual residual(std::size_t layer, std::span<const Seed> seeds, double limit) override {
    return volume_residual(volume_, layer_time(layer), seeds, limit);
  }

  std::vector<ElementId> elements_near(std::span<const VertexId> vertices, int rings) override {
    return volume_elements_near(volume_, vertices, rings);
  }

 private:
  [[nodiscard]] const T* layer_time(std::size_t layer) const { return time_.data() + layer * volume_.vertices; }

  [[nodiscard]] std::size_t layer_bytes() const {
    return volume_.vertices * (2 * sizeof(T) + 3 * sizeof(std::uint32_t));
  }

  void choose_grid() {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, push_rounds<T>, block_threads, 0),
          "asking how much of a kernel fits");
    blocks_ = std::min(blocks, tuning_.blocks) * multiprocessors_;
  }

  void make_room(std::size_t layers) {
    if (layers <= layers_) return;
    const std::size_t entries = volume_.vertices * layers;
    drop_layers();
    time_ = DeviceArray<T>(entries);
    pushed_ = DeviceArray<T>(entries);
    stamp_ = DeviceArray<std::uint32_t>(entries);
    for (auto& list : lists_) list = DeviceArray<std::uint32_t>(entries);
    layers_ = layers;
  }

  void drop_layers() {
    layers_ = 0;
    for (DeviceArray<T>* array : {&time_, &pushed_}) *array = {};
    for (DeviceArray<std::uint32_t>* array : {&stamp_, &lists_[0], &lists_[1]}) *array = {};
  }

  void start(std::span<const StartSeeds> layers) {
    seeds_.clear();
    std::vector<T> least(3 * max_layers, std::numeric_limits<T>::infinity());
    for (std::size_t k = 0; k < layers.size(); ++k)
      for (const Seed& seed : layers[k].seeds) {
        seeds_.push_back(
            {static_cast<std::uint32_t>(k * volume_.vertices + seed.vertex.index()), static_cast<T>(seed.time)});
        least[k] = std::min(least[k], seeds_.back().time);
      }
    device_seeds_ = DeviceArray<SeedTime<T>>(std::span<const SeedTime<T>>(seeds_));
    least_.upload_from(std::span<const T>(least));
    const std::array<std::uint32_t, 3> counts{static_cast<std::uint32_t>(seeds_.size()), 0, 0};
    count_.upload_from(std::span<const std::uint32_t>(counts));
    work_.clear();
  }

  View<T> view() {
    View<T> view{};
    view.vertices = static_cast<std::uint32_t>(volume_.vertices);
    view.heads = volume_.heads.data();
    view.stars = volume_.stars.data();
    view.edge = volume_.edge.data();
    view.time = time_.data();
    view.pushed = pushed_.data();
    view.stamp = stamp_.data();
    view.list[0] = lists_[0].data();
    view.list[1] = lists_[1].data();
    view.count = count_.data();
    view.least = least_.data();
    view.work = work_.data();
    return view;
  }

  MeshInput<4> mesh_;
  PushTuning tuning_;
  int multiprocessors_;
  DeviceVolume<T> volume_;
  bool converged_ = true;
  std::size_t layers_ = 0;  ///< that there is memory for
  DeviceArray<T> time_, pushed_, least_{3 * max_layers};
  DeviceArray<std::uint32_t> stamp_, count_{3};
  std::array<DeviceArray<std::uint32_t>, 2> lists_;
  DeviceArray<Work> work_{1};
  DeviceArray<double> user_times_;
  std::vector<SeedTime<T>> seeds_;
  DeviceArray<SeedTime<T>> device_seeds_;
  int blocks_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<MeshSolver<T>> make_volume_solver(const MeshInput<4>& mesh, const MetricInput& metric,
                                                  const std::optional<PushTuning>& tuning) {
  const Device device = require_device();
  return std::make_unique<VolumeOnDevice<T>>(device, mesh, metric, tuning.value_or(push_tuning(device)));
}

template std::unique_ptr<MeshSolver<float>> make_volume_solver(const MeshInput<4>&, const MetricInput&,
                                                               const std::optional<PushTuning>&);
template std::unique_ptr<MeshSolver<double>> make_volume_solver(const MeshInput<4>&, const MetricInput&,
                                                                const std::optional<PushTuning>&);

}  // namespace isochron::cuda
