#include "isochron/solve/simplex/cuda/surface.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "isochron/core/cuda/fill.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/stopwatch.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/cuda/surface_build.h"
#include "isochron/solve/simplex/cuda/surface_passes.h"

// A block takes a patch, holds its records in registers and its times in shared memory, and updates all its vertices in
// hops, each from its own ring, until none falls by a gain that counts. Then it stores what fell and tells the patches
// that have those vertices as ghosts. The block's hops cost a tenth of what grid-wide synchronisations cost.
//
// No update is lost: whenever a time falls, everything that depends on it is updated once more and sees that time or an
// earlier one. Inside a patch the warp that lowered it leaves its bit for the next hop, and every warp knows whose
// vertices its records name. Between patches the time is stored before the patches that name it are notified, and a
// patch clears its flag before it reads its ghosts. Times fall by gains that count only, so the work ends.

namespace isochron::cuda {
namespace {

constexpr unsigned all_lanes = 0xffffffffU;
constexpr std::uint32_t none = SurfacePatches<float>::none;
constexpr std::uint32_t gives_up = 2;  ///< see `Board::keep`
constexpr std::uint32_t near_count = SurfacePatches<float>::near_count;

/// Doubles need more registers, so their blocks are smaller.
template <class T>
constexpr std::uint32_t max_threads = sizeof(T) == 4 ? 1024 : 512;

/// Work of a solve, summed over its threads.
struct Work {
  unsigned long long solves, updates, visits;
  std::uint32_t given_up;
};

/// The memory of the queue, which decides whose turn it is.
struct Turns {
  std::uint32_t* state;  ///< by patch
  std::uint32_t* counters;
  std::uint32_t* slots;     ///< rings of patches + 1, 0 where one is empty
  std::uint32_t ring_mask;  ///< size of a ring, a power of two, less one
  float bands_per_time;     ///< how finely it sorts
  std::uint32_t max_turns;  ///< of a block, before it gives up
};

template <class T>
struct View {
  PatchShape shape;
  const T* edge;
  const T* lengths;
  const std::uint32_t* ends;
  const std::uint32_t* ghosts;
  const std::uint32_t* extra_offsets;  ///< null when there are no extras
  const ExtraRecord<T>* extras;
  const std::uint32_t* reach;
  const std::uint32_t* near;
  const std::uint32_t* far_offsets;
  const std::uint32_t* far;
  T tolerance;
  std::uint32_t hops;       ///< of a block, before it stores and tells
  std::uint32_t warp_hops;  ///< of a warp by itself, in one hop of the block
  T* time;                  ///< by place
  Turns turns;
  Work* work;
};

/// What the threads of a block share, beside the times.
struct Board {
  std::uint32_t changed[3];  ///< warps whose vertices fell, one bit each: read, written and cleared in turn
  std::uint32_t touched;     ///< neighbours to notify
  std::uint32_t earliest;    ///< of what they are notified of: the bits of a float, which sort as the times do
  std::uint32_t patch;
  std::uint32_t keep;  ///< whether the block goes on with its patch: 0, 1 or `gives_up`
  std::uint32_t visits;
};

/// One block's work on one patch after the other. Every function is called by all threads of the block.
template <class T, int Lanes, int Held>
class Visit {
 public:
  __device__ Visit(const View<T>& view, Board& board, T* times)
      : v_(view), board_(board), times_(times), lane_(threadIdx.x % Lanes), own_(threadIdx.x / Lanes) {
    if (threadIdx.x == 0) {
      times_[view.shape.nowhere()] = detail::infinity<T>();
      board_.touched = 0;
      board_.earliest = none;
      board_.visits = 0;
    }
  }

  /// Fetches the patch's own times and its records. Nobody else writes these times while the patch is open.
  __device__ void open(std::uint32_t patch) {
    patch_ = patch;
    const std::uint32_t threads = blockDim.x, place = patch * v_.shape.vertices + own_;
    ghost_ = v_.ghosts[patch * std::size_t{threads} + threadIdx.x];
    now_ = stored_ = __ldcg(v_.time + place);
    edge_ = v_.edge[place];
    reach_ = v_.reach[place];
    neighbour_ = threadIdx.x < near_count ? v_.near[patch * (near_count + 1) + threadIdx.x] : none;
    const bool extra = v_.extra_offsets != nullptr && v_.extra_offsets[place] < v_.extra_offsets[place + 1];
    extra_lanes_ = __ballot_sync(all_lanes, extra && lane_ == 0);
    std::uint32_t needs = 0;
    bool ghosts = extra;
#pragma unroll
    for (int r = 0; r < Held; ++r) {
      const std::size_t row = std::size_t{patch} * Held + r;
      const T* value = v_.lengths + row * SurfacePatches<T>::values * threads + threadIdx.x;
      records_[r] = {value[0], value[threads], value[2 * threads], value[3 * threads], value[4 * threads]};
      ends_[r] = v_.ends[row * threads + threadIdx.x];
      needs |= warp_bit(ends_[r] & 0xffffU) | warp_bit(ends_[r] >> 16);
      ghosts = ghosts || is_ghost(ends_[r] & 0xffffU) || is_ghost(ends_[r] >> 16);
    }
    // Extras name places anywhere, so they follow every change.
    needs_ = extra_lanes_ != 0 ? all_lanes : __reduce_or_sync(all_lanes, needs);
    names_ghosts_ = __any_sync(all_lanes, ghosts);
    again_ = true;
    changed_ = 0;
    if (lane_ == 0) times_[own_] = now_;
  }

  /// Takes over what others stored since, and updates until nothing falls (true) or for `hops` hops.
  __device__ bool relax() {
    times_[v_.shape.vertices + threadIdx.x] = ghost_ == none ? detail::infinity<T>() : __ldcg(v_.time + ghost_);
    if (threadIdx.x < 3) board_.changed[threadIdx.x] = 0;
    if (threadIdx.x == 0) ++board_.visits;
    __syncthreads();
    again_ = again_ || names_ghosts_;
    for (std::uint32_t hop = 0; hop < v_.hops; ++hop) {
      std::uint32_t& next = board_.changed[(hop + 1) % 3];
      if (threadIdx.x == 0) board_.changed[(hop + 2) % 3] = 0;
      if (again_ || (changed_ & needs_) != 0) again_ = settle_warp(&next);
      __syncthreads();
      changed_ = next;
      if (changed_ == 0) return true;
    }
    return false;
  }

  /// Stores what fell and has `turns` notify the neighbours that it concerns. Ends with the stores made and the first
  /// warp's work done; others may go ahead of it up to the next barrier.
  template <class Telling>
  __device__ void publish(const Telling& turns) {
    const bool fell = now_ < stored_;
    if (fell && lane_ == 0) __stcg(v_.time + patch_ * v_.shape.vertices + own_, now_);
    const std::uint32_t concerned = __reduce_or_sync(all_lanes, fell ? reach_ : 0U);
    if (concerned != 0) {
      const auto time = static_cast<float>(now_);
      const std::uint32_t earliest = __reduce_min_sync(all_lanes, fell && reach_ != 0 ? __float_as_uint(time) : none);
      if (threadIdx.x % warpSize == 0) {
        atomicOr(&board_.touched, concerned);
        atomicMin(&board_.earliest, earliest);
      }
    }
    stored_ = now_;
    __syncthreads();
    if (threadIdx.x >= warpSize) return;
    const std::uint32_t touched = board_.touched;
    const float earliest = __uint_as_float(board_.earliest);
    __syncwarp();
    if (threadIdx.x == 0) {
      board_.touched = 0;
      board_.earliest = none;
    }
    __threadfence();  // the block's stores, which the barrier has shown to this thread, come before the telling
    if (threadIdx.x < near_count && ((touched >> threadIdx.x) & 1U) != 0) turns.notify(neighbour_, earliest);
    if ((touched >> near_count) != 0)
      for (std::uint32_t i = v_.far_offsets[patch_] + threadIdx.x; i < v_.far_offsets[patch_ + 1]; i += warpSize)
        turns.notify(v_.far[i], earliest);
    __syncwarp();
  }

  __device__ void add_work() const {
    if (solves_ != 0) atomicAdd(&v_.work->solves, static_cast<unsigned long long>(solves_));
    if (updates_ != 0) atomicAdd(&v_.work->updates, static_cast<unsigned long long>(updates_));
    if (threadIdx.x == 0) atomicAdd(&v_.work->visits, static_cast<unsigned long long>(board_.visits));
  }

 private:
  static constexpr std::uint32_t vertices_per_warp = 32 / Lanes;

  /// The warp that owns a local vertex; ghosts and nowhere have none.
  [[nodiscard]] __device__ std::uint32_t warp_bit(std::uint32_t local) const {
    return local < v_.shape.vertices ? 1U << (local / vertices_per_warp) : 0U;
  }

  [[nodiscard]] __device__ bool is_ghost(std::uint32_t local) const {
    return local >= v_.shape.vertices && local < v_.shape.nowhere();
  }

  /// Updates this warp's vertices until they rest, or a few times. What falls is left in `changed` for the next hop;
  /// true when the last time something still fell.
  __device__ bool settle_warp(std::uint32_t* changed) {
    bool fell = true, any = false;
    for (std::uint32_t i = 0; i < v_.warp_hops && fell; ++i) {
      fell = __any_sync(all_lanes, update());
      any = any || fell;
      __syncwarp();
    }
    if (any && threadIdx.x % warpSize == 0) atomicOr(changed, 1U << (threadIdx.x / warpSize));
    return fell;
  }

  /// Other warps may lower what is read here at the same time: the old and the new time are both good, for their bit
  /// brings this warp back in the next hop.
  __device__ bool update() {
    T best = detail::infinity<T>();
#pragma unroll
    for (int r = 0; r < Held; ++r) {
      const T ua = times_[ends_[r] & 0xffffU], ub = times_[ends_[r] >> 16];
      best = detail::smaller(best, candidate(records_[r], ua, ub));
    }
    if (extra_lanes_ != 0) best = detail::smaller(best, best_extra());
#pragma unroll
    for (int step = Lanes / 2; step > 0; step /= 2)
      best = detail::smaller(best, __shfl_xor_sync(all_lanes, best, step));
    if (lane_ == 0 && best < detail::infinity<T>()) ++updates_;
    const T least = now_ < detail::infinity<T>() ? countable_gain(v_.tolerance, edge_, now_) : T(0);
    if (!(best < now_ - least)) return false;
    now_ = best;
    if (lane_ == 0) times_[own_] = best;
    return true;
  }

  __device__ T candidate(const PreparedEdge<T>& edge, T ua, T ub) {
    if (ua < detail::infinity<T>() || ub < detail::infinity<T>()) ++solves_;
    return edge.time(ua, ub);
  }

  /// The extras of the warp's vertices, one vertex after the other, by all its lanes.
  __device__ T best_extra() {
    T mine = detail::infinity<T>();
    for (std::uint32_t left = extra_lanes_; left != 0; left &= left - 1) {
      const std::uint32_t leader = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t place = patch_ * v_.shape.vertices + (threadIdx.x / warpSize * warpSize + leader) / Lanes;
      T best = detail::infinity<T>();
      for (std::uint32_t i = v_.extra_offsets[place] + threadIdx.x % warpSize; i < v_.extra_offsets[place + 1];
           i += warpSize) {
        const ExtraRecord<T>& extra = v_.extras[i];
        best = detail::smaller(best, candidate(extra.edge, time_at(extra.a), time_at(extra.b)));
      }
#pragma unroll
      for (int step = 16; step > 0; step /= 2) best = detail::smaller(best, __shfl_xor_sync(all_lanes, best, step));
      if (threadIdx.x % warpSize / Lanes == leader / Lanes) mine = best;
    }
    return mine;
  }

  [[nodiscard]] __device__ T time_at(std::uint32_t place) const {
    const std::uint32_t local = place - patch_ * v_.shape.vertices;  // wraps round when the place lies before the patch
    return local < v_.shape.vertices ? times_[local] : __ldcg(v_.time + place);
  }

  const View<T>& v_;
  Board& board_;
  T* times_;
  const std::uint32_t lane_, own_;
  std::uint32_t patch_ = 0;
  PreparedEdge<T> records_[Held];
  std::uint32_t ends_[Held];
  std::uint32_t ghost_ = none, neighbour_ = none, reach_ = 0, needs_ = 0, extra_lanes_ = 0;
  std::uint32_t changed_ = 0;  ///< warps whose vertices fell in the last hop
  bool again_ = true;          ///< this warp's still fell when it was left
  bool names_ghosts_ = true;
  T now_ = 0, stored_ = 0, edge_ = 0;
  std::uint32_t solves_ = 0, updates_ = 0;
};

/// Turns without grid-wide synchronisation, earlier patches first: who works on late ones while early ones wait works
/// in vain. A patch is idle (0), notified and waiting in a ring (`notified`), open in a block (`opened`), or both: then
/// the block goes on with it. So a patch waits at most once and is open in at most one block. Who finds it idle puts it
/// into a ring; whoever opens it, or goes on with it, clears `notified` before reading its ghosts, and what is stored
/// after that comes with another notification.
///
/// There is a ring for each band of time, and bands share rings in turn, which may put patches out of order but loses
/// none. Places in a ring are drawn by ticket. A ring has more places than there are patches and blocks, so a place is
/// empty again, or about to be emptied, when its next ticket is drawn.
class Queue {
 public:
  static constexpr std::uint32_t rings = 32;  ///< one a lane of the warp that takes
  static constexpr std::uint32_t notified = 1, opened = 2;
  /// Counters: tickets put into each ring, tickets taken from each, patches closed, the ring taken from last, whether
  /// a block gave up.
  static constexpr std::uint32_t put = 0, taken = rings, closed = 2 * rings, last = 2 * rings + 1;
  static constexpr std::uint32_t given_up = 2 * rings + 2;
  static constexpr std::uint32_t counters = 2 * rings + 3;

  explicit __device__ Queue(const Turns& turns) : t_(turns) {}

  __device__ void notify(std::uint32_t patch, float time) const {
    if (atomicOr(t_.state + patch, notified) != 0) return;
    const std::uint32_t ring = static_cast<std::uint32_t>(fminf(time * t_.bands_per_time, 1e9F)) % rings;
    std::uint32_t* slot = slot_of(ring, atomicAdd(t_.counters + put + ring, 1U));
    while (atomicCAS(slot, 0U, patch + 1) != 0) __nanosleep(20);
  }

  /// Opens the next patch, or none when all work is done. By the first warp of a block that has none open.
  __device__ std::uint32_t take() const {
    const std::uint32_t ring = threadIdx.x;
    while (true) {
      const std::uint32_t next = __ldcg(t_.counters + taken + ring);
      // Either may be out of date: then the ticket is not ours, or is for the next look.
      const bool any = static_cast<std::int32_t>(__ldcg(t_.counters + put + ring) - next) > 0;
      const std::uint32_t order = (ring - __ldcg(t_.counters + last) + look_back) % rings;
      const std::uint32_t first = __reduce_min_sync(all_lanes, any ? order : rings);
      if (first == rings) {
        if (all_closed() || __ldcg(t_.counters + given_up) != 0) return none;
        __nanosleep(20);
        continue;
      }
      std::uint32_t entry = 0;
      if (any && order == first && atomicCAS(t_.counters + taken + ring, next, next + 1) == next) {
        std::uint32_t* slot = slot_of(ring, next);
        while ((entry = atomicExch(slot, 0U)) == 0) __nanosleep(20);
        __stcg(t_.counters + last, ring);
        reopen(entry - 1);
      }
      entry = __reduce_max_sync(all_lanes, entry);
      if (entry != 0) return entry - 1;
    }
  }

  /// Blocks that find no patch end then, though not all are closed.
  __device__ void give_up() const { __stcg(t_.counters + given_up, 1U); }

  /// From now on whoever tells this patch makes its block go on. By one thread, before a barrier and reading the
  /// ghosts.
  __device__ void reopen(std::uint32_t patch) const {
    atomicExch(t_.state + patch, opened);
    __threadfence();
  }

  /// Closes a patch at rest, unless it was notified meanwhile: then it stays open, and 1 is returned. By a thread that
  /// has published, so that the block's stores and tellings come before the closing.
  [[nodiscard]] __device__ std::uint32_t close_or_reopen(std::uint32_t patch) const {
    if (atomicCAS(t_.state + patch, opened, 0U) == opened) {
      atomicAdd(t_.counters + closed, 1U);
      return 0;
    }
    reopen(patch);
    return 1;
  }

 private:
  /// Rings this far before the last one hold what came out of order, not what lies far ahead.
  static constexpr std::uint32_t look_back = rings / 4;

  [[nodiscard]] __device__ std::uint32_t* slot_of(std::uint32_t ring, std::uint32_t ticket) const {
    return t_.slots + ring * (std::size_t{t_.ring_mask} + 1) + (ticket & t_.ring_mask);
  }

  /// True when as many patches were closed as were put. The closed ones are counted first: had any been waiting or open
  /// then, more would have been put. And with none waiting or open, nobody can put another.
  [[nodiscard]] __device__ bool all_closed() const {
    const std::uint32_t ended = __shfl_sync(all_lanes, __ldcg(t_.counters + closed), 0);
    __threadfence();
    return __reduce_add_sync(all_lanes, __ldcg(t_.counters + put + threadIdx.x)) == ended;
  }

  const Turns& t_;
};

template <class T>
__device__ T* block_times() {
  extern __shared__ double times_of_block[];
  return reinterpret_cast<T*>(times_of_block);
}

template <class T, int Lanes, int Held>
__global__ void __launch_bounds__(max_threads<T>) surface_queue(View<T> view) {
  __shared__ Board board;
  Visit<T, Lanes, Held> visit(view, board, block_times<T>());
  const Queue queue(view.turns);
  while (true) {
    if (threadIdx.x < warpSize) {
      const std::uint32_t next = queue.take();
      if (threadIdx.x == 0) board.patch = next;
    }
    __syncthreads();
    const std::uint32_t patch = board.patch;
    if (patch == none) break;
    visit.open(patch);
    do {
      const bool rests = visit.relax();
      visit.publish(queue);
      // A patch that does not rest is kept in any case; another warp sees to that while the first one tells.
      if (!rests && threadIdx.x == blockDim.x - 1) queue.reopen(patch);
      if (threadIdx.x == 0) {
        board.keep = rests ? queue.close_or_reopen(patch) : 1;
        if (board.visits >= view.turns.max_turns && board.keep != 0) board.keep = gives_up;
      }
      __syncthreads();
    } while (board.keep == 1);
    if (board.keep == gives_up) {
      if (threadIdx.x == 0) {
        queue.give_up();
        view.work->given_up = 1;
      }
      break;
    }
  }
  visit.add_work();
}

/// Sets the seeds' times and gives a turn to their patches and to those that name them, all in the first ring.
template <class T>
__global__ void start_turns(View<T> view, const Seed* seeds, std::size_t count, const std::uint32_t* place_of) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const auto notify = [&](std::uint32_t patch) {
    if (atomicOr(view.turns.state + patch, Queue::notified) == 0)
      view.turns.slots[atomicAdd(view.turns.counters + Queue::put, 1U)] = patch + 1;
  };
  const std::uint32_t place = place_of[seeds[i].vertex.value], patch = place / view.shape.vertices,
                      reach = view.reach[place];
  view.time[place] = static_cast<T>(seeds[i].time);
  notify(patch);
  for (std::uint32_t k = 0; k < near_count; ++k)
    if (((reach >> k) & 1U) != 0) notify(view.near[patch * (near_count + 1) + k]);
  if ((reach >> near_count) != 0)
    for (std::uint32_t k = view.far_offsets[patch]; k < view.far_offsets[patch + 1]; ++k) notify(view.far[k]);
}

template <class T>
struct Kernel {
  PatchShape shape;
  void (*run)(View<T>);
};

template <class T, int Lanes, int Held>
Kernel<T> kernel_of(const SurfaceTuning& tuning) {
  // Whole warps, and a bit of a word for each.
  const std::uint32_t vertices = std::bit_floor(std::clamp(tuning.patch_vertices, 32U / Lanes, max_threads<T> / Lanes));
  return {{vertices, Lanes, Held}, surface_queue<T, Lanes, Held>};
}

/// The smallest layout that holds all records of nearly every vertex: 6 on regular meshes, 12 on irregular ones with
/// virtual elements.
template <class T>
Kernel<T> choose_kernel(const SurfaceTopology& topology, const SurfaceRecords<T>& records,
                        const SurfaceTuning& tuning) {
  const std::size_t few = topology.vertices() / 1000;
  if (vertices_beyond(topology, records, 6) <= few) return kernel_of<T, 2, 3>(tuning);
  if (vertices_beyond(topology, records, 8) <= few) return kernel_of<T, 2, 4>(tuning);
  return kernel_of<T, 4, 3>(tuning);
}

/// What suits a device: so far every one takes the numbers of compute capability 9.0.
SurfaceTuning tuning_of(const Device&) { return {}; }

template <class T>
class SurfaceOnDevice final : public MeshSolver<T> {
 public:
  SurfaceOnDevice(const Device& device, const MeshInput<3>& mesh, const MetricInput& metric, ObtuseSplit split,
                  const SurfaceTuning& tuning)
      : mesh_(mesh), split_(split), tuning_(tuning), multiprocessors_(device.multiprocessors) {
    require_memory(surface_bytes(mesh.vertex_count(), mesh.element_count(), sizeof(T), metric.bytes_to_send()),
                   "this mesh");
    topology_ = build_surface_topology(mesh);
    cut(metric);
  }

  void set_metric(const MetricInput& metric) override {
    patches_ = SurfacePatches<T>();  // its memory may be needed
    cut(metric);
  }

  [[nodiscard]] MeshSummary summary() const override {
    MeshSummary summary = summary_;
    summary.device_bytes = topology_.bytes() + patches_.bytes() + time_.bytes() + state_.bytes() + slots_.bytes();
    return summary;
  }

  [[nodiscard]] std::size_t layers_that_fit() const override { return 1; }

  Counters solve(std::span<const StartSeeds> layers, T tolerance, double band_width, double& seconds) override {
    const DeviceArray<Seed> seeds{std::span<const Seed>(layers.front().seeds)};
    View<T> view = make_view(tolerance, band_width > 0 ? band_width : tuning_.band_width);
    void* arguments[] = {&view};
    const Stopwatch watch;
    fill(time_, time_.size(), detail::infinity<T>());
    for (DeviceArray<std::uint32_t>* array : {&state_, &slots_, &counters_}) array->clear();
    work_.clear();
    launch_for(seeds.size(), start_turns<T>, view, seeds.data(), seeds.size(), patches_.place_of.data());
    check(cudaLaunchCooperativeKernel(kernel_.run, dim3(blocks_), dim3(patches_.shape.threads()), arguments,
                                      shared_bytes(), nullptr),
          "starting a kernel");
    seconds = watch.seconds("solving");
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    Counters counters;
    counters.local_solves = work.solves;
    counters.vertex_updates = work.updates;
    counters.rounds = work.visits;
    converged_ = work.given_up == 0;
    return counters;
  }
  [[nodiscard]] bool converged() const override { return converged_; }

  void times(std::size_t, double base, std::span<double> result) override {
    if (user_times_.size() == 0) user_times_ = DeviceArray<double>(mesh_.vertex_count());
    surface_times(patches_, time_.data(), summary_.unit, base, user_times_);
    user_times_.download_to(result);
  }
  void times(std::size_t, double base, DeviceArray<double>& result) override {
    surface_times(patches_, time_.data(), summary_.unit, base, result);
  }

  void load_times(std::span<const double> times, double base) override {
    load_surface_times(patches_, times, summary_.unit, base, time_.data());
  }

  void labels(std::size_t, std::span<const Seed> seeds, DeviceArray<std::int32_t>& result) override {
    surface_labels(patches_, time_.data(), seeds, result);
  }

  Residual residual(std::size_t, std::span<const Seed> seeds, double limit) override {
    return surface_residual(patches_, time_.data(), seeds, limit);
  }

  std::vector<ElementId> elements_near(std::span<const VertexId> vertices, int rings) override {
    return surface_elements_near(topology_, vertices, rings);
  }

 private:
  /// Everything that depends on the metric.
  void cut(const MetricInput& metric) {
    const SurfaceRecords<T> records = build_surface_records<T>(topology_, mesh_, metric, split_);
    summary_ = records.summary;
    kernel_ = choose_kernel(topology_, records, tuning_);
    patches_ = cut_into_patches(topology_, records, kernel_.shape);
    fit_blocks();
    ring_size_ = std::bit_ceil(patches_.count + blocks_);
    time_ = DeviceArray<T>(patches_.places());
    state_ = DeviceArray<std::uint32_t>(patches_.count);
    slots_ = DeviceArray<std::uint32_t>(std::size_t{ring_size_} * Queue::rings);
  }

  [[nodiscard]] std::size_t shared_bytes() const { return (patches_.shape.nowhere() + 1) * sizeof(T); }

  /// All blocks must run at once: they wait for one another's patches.
  void fit_blocks() {
    int fitting = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel_.run,
                                                        static_cast<int>(patches_.shape.threads()), shared_bytes()),
          "asking how much of a kernel fits");
    const auto wanted = static_cast<std::uint32_t>(std::min(fitting, tuning_.blocks_per_multiprocessor));
    blocks_ = std::min(std::max(1U, patches_.count), wanted * static_cast<std::uint32_t>(multiprocessors_));
  }

  View<T> make_view(T tolerance, double band_width) {
    View<T> view{};
    view.shape = patches_.shape;
    view.edge = patches_.edge.data();
    view.lengths = patches_.lengths.data();
    view.ends = patches_.ends.data();
    view.ghosts = patches_.ghosts.data();
    view.extra_offsets = patches_.extra_offsets.data();
    view.extras = patches_.extras.data();
    view.reach = patches_.reach.data();
    view.near = patches_.near.data();
    view.far_offsets = patches_.far_offsets.data();
    view.far = patches_.far.data();
    view.tolerance = tolerance;
    view.hops = std::max(1U, tuning_.hops);
    view.warp_hops = std::max(1U, tuning_.warp_hops);
    view.time = time_.data();
    view.turns.state = state_.data();
    view.turns.counters = counters_.data();
    view.turns.slots = slots_.data();
    view.turns.ring_mask = ring_size_ - 1;
    view.turns.max_turns = tuning_.max_turns > 0 ? tuning_.max_turns : max_rounds(summary_.size(mesh_.vertex_count()));
    view.turns.bands_per_time = static_cast<float>(1 / (band_width * summary_.mean_edge));
    view.work = work_.data();
    return view;
  }

  MeshInput<3> mesh_;
  ObtuseSplit split_;
  SurfaceTuning tuning_;
  int multiprocessors_;
  Kernel<T> kernel_{};
  SurfaceTopology topology_;
  SurfacePatches<T> patches_;
  MeshSummary summary_;
  bool converged_ = true;
  DeviceArray<T> time_;
  DeviceArray<std::uint32_t> state_, slots_, counters_{Queue::counters};
  DeviceArray<Work> work_{1};
  DeviceArray<double> user_times_;
  std::uint32_t blocks_ = 0, ring_size_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<MeshSolver<T>> make_surface_solver(const MeshInput<3>& mesh, const MetricInput& metric,
                                                   ObtuseSplit split, const std::optional<SurfaceTuning>& tuning) {
  const Device device = require_device();
  return std::make_unique<SurfaceOnDevice<T>>(device, mesh, metric, split, tuning.value_or(tuning_of(device)));
}

template std::unique_ptr<MeshSolver<float>> make_surface_solver(const MeshInput<3>&, const MetricInput&, ObtuseSplit,
                                                                const std::optional<SurfaceTuning>&);
template std::unique_ptr<MeshSolver<double>> make_surface_solver(const MeshInput<3>&, const MetricInput&, ObtuseSplit,
                                                                 const std::optional<SurfaceTuning>&);

}  // namespace isochron::cuda
