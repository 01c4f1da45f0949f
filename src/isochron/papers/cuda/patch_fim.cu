// Patches of vertices as the units of a fast iterative method: patchFIM on triangles (paper 000 Algorithms 2.2 to 2.5),
// tetFIM-A on tetrahedra (paper 003 Algorithm 1).
//
// A round has the papers' three steps. Update: each active patch is swept a few times, with the times of its halo as
// they were when it was loaded; it is settled when the last sweep changed nothing. Check: the patches that depend on
// settled ones are swept once. Compaction: patches that are not settled and those that the check changed are the next
// round's active ones; the host reads how many.
//
// Why no update is lost: whenever a sweep changes a patch, the patch is on the next active list (the check) or stays in
// its sweeps (the update), and it leaves the list only settled, whereupon all its dependents are swept with its final
// times: in the check of that round or, where they stay active anyway, in the next update, which loads their halo anew.
// Should the patch change in that very check, it is active again. (Paper 000 also drops unsettled patches that the
// check finds unchanged; nobody would hear of what they changed before. Here they stay, as in the text of paper 003.)
// So when the list is empty, every vertex was computed after the last change of all it depends on, and gained nothing
// that counts. That lists are filled in any order and halos are read while others write them does no harm: times only
// fall, and who changes is heard again.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "isochron/core/cuda/launch.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/papers/cuda/patch_data.h"
#include "isochron/papers/methods.h"

namespace isochron::cuda {
namespace {

/// More than this leaves a thread too few registers; larger patches take turns.
constexpr int max_threads = 256;
constexpr int warp_threads = 32;
constexpr std::uint64_t in_shared_memory = ~std::uint64_t{0};

/// Work of a solve, summed over its threads.
struct Work {
  unsigned long long solves, updates;
};

/// The patches and their times.
template <class T>
struct PatchView {
  const std::uint32_t *vertex_begin, *halo_begin, *halo, *dependent_begin, *dependent;
  const std::uint64_t* scratch_begin;  ///< by patch: where its room is in `scratch`, unless it is in shared memory
  T* scratch;
  const T* edge;
  T* time;
  T tolerance;
};

/// The lists of a round. A patch is on each at most once.
struct RoundView {
  std::uint32_t number;  ///< marks of earlier rounds do not count
  std::uint32_t active_count;
  const std::uint32_t* active;
  std::uint32_t *next, *check;
  std::uint32_t* counts;           ///< of next and check
  std::uint32_t *stays, *checked;  ///< by patch: the last round that left it active, that put it on the check list
  Work* work;
};

/// One patch, while a block works on it.
template <class T>
struct Patch {
  std::uint32_t id, first, own, halo_first, halo;
  T* time;  ///< of its own vertices, then of its halo
  T* room;  ///< what a layout needs beside
};

/// Each thread updates a vertex from its strips. The coordinates lie in the room behind a value for each vertex.
template <class T, int Corners>
struct StripLayout {
  StripView<T> strips;

  /// The patches' vertices and halos lie one behind the other.
  __device__ void load(const Patch<T>& patch) const {
    const T* const point = strips.point + std::size_t{3} * (std::size_t{patch.first} + patch.halo_first);
    const std::uint32_t count = 3 * (patch.own + patch.halo);
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) patch.room[patch.own + i] = point[i];
  }

  /// Fills the room with the earliest arrival at every vertex. Returns this thread's local solves.
  __device__ unsigned long long solve(const Patch<T>& patch) const {
    unsigned long long solves = 0;
    for (std::uint32_t i = threadIdx.x; i < patch.own; i += blockDim.x) {
      const StripVertex<T> vertex{patch.id, patch.first + i, patch.own, i, patch.time, patch.room + patch.own};
      patch.room[i] = earliest_from_strips<Corners>(strips, vertex, solves);
    }
    return solves;
  }

  [[nodiscard]] __device__ T result(const Patch<T>& patch, std::uint32_t i) const { return patch.room[i]; }
};

/// Each thread updates all corners of an element; then each gathers what is offered to a vertex.
template <class T, int Corners>
struct CellLayout {
  CellView<T> cells;

  __device__ void load(const Patch<T>& /*patch*/) const {}

  /// Fills the slots of the room with candidates. Returns this thread's local solves.
  __device__ unsigned long long solve(const Patch<T>& patch) const {
    const std::uint32_t begin = cells.begin[patch.id], count = cells.begin[patch.id + 1] - begin;
    unsigned long long solves = 0;
    for (std::uint32_t c = threadIdx.x; c < count; c += blockDim.x) {
      PatchSimplex<T, T, Corners> simplex;
      std::uint32_t updated = 0;
      for (int k = 0; k < Corners; ++k) {
        const std::uint32_t corner = cells.corner[std::size_t{cells.count} * k + begin + c];
        simplex.node[k] = patch.time[corner & ~updated_flag];
        if ((corner & updated_flag) != 0) updated |= 1U << k;
      }
      for (int e = 0; e < simplex.edges; ++e)
        simplex.length[e] = cells.length[std::size_t{cells.count} * e + begin + c];
      T* const slot = patch.room + std::size_t{c} * Corners;
#pragma unroll 1
      for (int k = 0; k < Corners; ++k) {
        simplex.turn();
        if ((updated >> k & 1U) == 0) continue;
        T time = detail::infinity<T>();
        if (earliest_of_face(simplex) < simplex.node[Corners - 1]) {
          ++solves;
          time = arrival_at_last(simplex);
        }
        slot[k] = time;
      }
    }
    return solves;
  }

  [[nodiscard]] __device__ T result(const Patch<T>& patch, std::uint32_t i) const {
    const std::uint32_t v = patch.first + i, end = cells.gather_begin[v + 1];
    T best = detail::infinity<T>();
    for (std::uint32_t g = cells.gather_begin[v]; g < end; ++g) {
      const T time = patch.room[cells.gather[g]];
      if (time < best) best = time;
    }
    return best;
  }
};

/// A block's way through its patches.
template <class T, class Layout>
class Sweeper {
 public:
  __device__ Sweeper(const PatchView<T>& view, const Layout& layout, T* shared)
      : view_(view), layout_(layout), shared_(shared) {}

  /// Loads patch p, sweeps it until nothing changes but at most `sweeps` times, and stores what changed. True when the
  /// last sweep changed nothing. All threads of the block call it, and all get the same answer.
  __device__ bool settle(std::uint32_t p, int sweeps) {
    const Patch<T> patch = load(p);
    bool changed = true, ever = false;
    for (int s = 0; s < sweeps && changed; ++s) {
      changed = sweep(patch);
      ever = ever || changed;
      if (threadIdx.x == 0) updates_ += patch.own;
    }
    if (ever)
      for (std::uint32_t i = threadIdx.x; i < patch.own; i += blockDim.x)
        __stcg(view_.time + patch.first + i, patch.time[i]);
    __syncthreads();  // the next patch uses the same memory
    return !changed;
  }

  /// Adds up what the threads of a warp did. All of them call it.
  __device__ void report(Work* work) const {
    const unsigned long long solves = warp_sum(solves_), updates = warp_sum(updates_);
    if (threadIdx.x % warp_threads != 0) return;
    if (solves > 0) atomicAdd(&work->solves, solves);
    if (updates > 0) atomicAdd(&work->updates, updates);
  }

 private:
  __device__ static unsigned long long warp_sum(unsigned long long value) {
    for (int step = warp_threads / 2; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffU, value, step);
    return value;
  }

  __device__ Patch<T> load(std::uint32_t p) const {
    Patch<T> patch;
    patch.id = p;
    patch.first = view_.vertex_begin[p];
    patch.own = view_.vertex_begin[p + 1] - patch.first;
    patch.halo_first = view_.halo_begin[p];
    patch.halo = view_.halo_begin[p + 1] - patch.halo_first;
    const std::uint64_t begin = view_.scratch_begin[p];
    patch.time = begin == in_shared_memory ? shared_ : view_.scratch + begin;
    patch.room = patch.time + patch.own + patch.halo;
    // Times are read past the first-level cache, which other multiprocessors' writes do not reach.
    for (std::uint32_t i = threadIdx.x; i < patch.own; i += blockDim.x)
      patch.time[i] = __ldcg(view_.time + patch.first + i);
    for (std::uint32_t i = threadIdx.x; i < patch.halo; i += blockDim.x)
      patch.time[patch.own + i] = __ldcg(view_.time + view_.halo[patch.halo_first + i]);
    layout_.load(patch);
    __syncthreads();
    return patch;
  }

  /// All vertices of the patch once, from the times before the sweep. True when one of them gained what counts.
  __device__ bool sweep(const Patch<T>& patch) {
    solves_ += layout_.solve(patch);
    __syncthreads();
    bool changed = false;
    for (std::uint32_t i = threadIdx.x; i < patch.own; i += blockDim.x) {
      const T candidate = layout_.result(patch, i), now = patch.time[i];
      const T least =
          now < detail::infinity<T>() ? countable_gain(view_.tolerance, view_.edge[patch.first + i], now) : T(0);
      if (!(candidate < now - least)) continue;
      patch.time[i] = candidate;
      changed = true;
    }
    return __syncthreads_or(changed ? 1 : 0) != 0;
  }

  const PatchView<T>& view_;
  const Layout& layout_;
  T* shared_;
  unsigned long long solves_ = 0, updates_ = 0;
};

template <class T>
__device__ T* shared_room() {
  extern __shared__ __align__(16) unsigned char room[];
  return reinterpret_cast<T*>(room);
}

__device__ inline void append(std::uint32_t* list, std::uint32_t* count, std::uint32_t patch) {
  list[atomicAdd(count, 1U)] = patch;
}

/// First step: the active patches. Those that are not settled stay active, those that are call their dependents.
template <class T, class Layout>
__global__ void __launch_bounds__(max_threads)
    update_active(PatchView<T> view, Layout layout, RoundView round, int sweeps) {
  Sweeper<T, Layout> sweeper(view, layout, shared_room<T>());
  for (std::uint32_t i = blockIdx.x; i < round.active_count; i += gridDim.x) {
    const std::uint32_t p = round.active[i];
    if (!sweeper.settle(p, sweeps)) {
      if (threadIdx.x == 0) {
        round.stays[p] = round.number;
        append(round.next, round.counts, p);
      }
      continue;
    }
    const std::uint32_t end = view.dependent_begin[p + 1];
    for (std::uint32_t d = view.dependent_begin[p] + threadIdx.x; d < end; d += blockDim.x) {
      const std::uint32_t q = view.dependent[d];
      if (atomicExch(round.checked + q, round.number) != round.number) append(round.check, round.counts + 1, q);
    }
  }
  sweeper.report(round.work);
}

/// Second step: one sweep of the patches that were called and are not active anyway.
template <class T, class Layout>
__global__ void __launch_bounds__(max_threads) check_called(PatchView<T> view, Layout layout, RoundView round) {
  Sweeper<T, Layout> sweeper(view, layout, shared_room<T>());
  const std::uint32_t count = round.counts[1];
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const std::uint32_t p = round.check[i];
    if (round.stays[p] == round.number) continue;
    if (!sweeper.settle(p, 1) && threadIdx.x == 0) append(round.next, round.counts, p);
  }
  sweeper.report(round.work);
}

/// Values of internal vertices to their places in the patches, and back.
template <class T>
__global__ void to_places(const std::uint32_t* place_of, std::uint32_t count, const T* internal, T* placed) {
  const std::uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < count) placed[place_of[v]] = internal[v];
}
template <class T>
__global__ void from_places(const std::uint32_t* place_of, std::uint32_t count, const T* placed, T* internal) {
  const std::uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < count) internal[v] = placed[place_of[v]];
}

int sweeps_of(const PaperOptions& options, int corners) {
  if (options.inner_iterations < 0)
    throw UsageError(std::to_string(options.inner_iterations) +
                     " inner iterations make no sense; give at least 1, or 0 for the papers' own number");
  if (options.inner_iterations > 0) return options.inner_iterations;
  return corners == 3 ? 7 : 3;
}

std::size_t device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "choosing a device");
  check(cudaDeviceGetAttribute(&value, attribute, device), "asking for its properties");
  return static_cast<std::size_t>(value);
}

template <class T, int Corners, class Layout>
class PatchFim final : public MeshSchedule<T, Corners> {
 public:
  PatchFim(const SimplexProblem<T, Corners>& problem, PatchPacking packing, PatchData<T> data, Layout layout,
           int sweeps)
      : packing_(std::move(packing)),
        data_(std::move(data)),
        layout_(layout),
        sweeps_(sweeps),
        place_of_(std::span<const std::uint32_t>(packing_.place_of)),
        edge_(packing_.vertices()),
        time_(packing_.vertices()),
        internal_time_(packing_.vertices()),
        lists_{Numbers(packing_.patches()), Numbers(packing_.patches())},
        check_list_(packing_.patches()),
        counts_(2),
        stays_(packing_.patches()),
        checked_(packing_.patches()),
        work_(1) {
    internal_time_.upload_from(std::span<const T>(problem.edge));
    launch_for(packing_.vertices(), to_places<T>, place_of_.data(), packing_.vertices(), internal_time_.data(),
               edge_.data());
    const std::uint64_t warps = (data_.busiest + warp_threads - 1) / warp_threads;
    threads_ = static_cast<int>(std::clamp<std::uint64_t>(warps * warp_threads, warp_threads, max_threads));
    place_rooms();
    fit_kernels();
  }

  void run(SolveState<T>& state, int /*threads*/, std::vector<std::string>& /*notes*/) override {
    if (state.seeds.empty()) return;
    const Timer whole;
    const std::vector<std::uint32_t> active = patches_of(state.seeds);
    upload_times(state);
    lists_[0].upload_from(std::span<const std::uint32_t>(active));
    stays_.clear();
    checked_.clear();
    work_.clear();
    check(cudaDeviceSynchronize(), "copying to it");
    const Timer timer;
    const std::uint64_t rounds = solve(state, static_cast<std::uint32_t>(active.size()));
    const double solving = timer.seconds();
    download_times(state);
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    state.counters.local_solves += work.solves;
    state.counters.vertex_updates += work.updates;
    state.counters.rounds += rounds;
    state.counters.element_bytes = data_.element_bytes();
    state.counters.layout_seconds = data_.seconds;
    state.transfer_seconds += whole.seconds() - solving;
  }

 private:
  using Numbers = DeviceArray<std::uint32_t>;

  /// Patches that have a seed; in the first round their dependents hear of it.
  [[nodiscard]] std::vector<std::uint32_t> patches_of(const std::vector<std::uint32_t>& seeds) const {
    std::vector<std::uint32_t> patches;
    patches.reserve(seeds.size());
    for (const std::uint32_t v : seeds) patches.push_back(packing_.patch_of[packing_.place_of[v]]);
    std::sort(patches.begin(), patches.end());
    patches.erase(std::unique(patches.begin(), patches.end()), patches.end());
    return patches;
  }

  /// Rounds until no patch is active, or too many. Returns how many.
  std::uint64_t solve(SolveState<T>& state, std::uint32_t active_count) {
    const PatchView<T> view = view_of(state.tolerance);
    std::uint32_t number = 0;
    while (active_count > 0 && !state.gives_up_after_rounds(number)) {
      if (state.progress.cancelled()) throw Cancelled();
      ++number;
      const RoundView round{number,         active_count,  lists_[0].data(), lists_[1].data(), check_list_.data(),
                            counts_.data(), stays_.data(), checked_.data(),  work_.data()};
      counts_.clear();
      launch(update_active<T, Layout>, active_count, threads_, shared_bytes_, view, layout_, round, sweeps_);
      launch(check_called<T, Layout>, check_blocks_, threads_, shared_bytes_, view, layout_, round);
      counts_.download_to(std::span<std::uint32_t>(&active_count, 1));
      std::swap(lists_[0], lists_[1]);
    }
    return number;
  }

  /// Where each patch's room is: in shared memory if it fits, otherwise in the device's.
  void place_rooms() {
    std::vector<std::uint64_t> begin(data_.room.size(), in_shared_memory);
    std::uint64_t scratch = 0;
    for (std::size_t p = 0; p < begin.size(); ++p) {
      const std::size_t bytes = data_.room[p] * sizeof(T);
      if (bytes <= max_shared_bytes_) {
        shared_bytes_ = std::max(shared_bytes_, bytes);
      } else {
        begin[p] = scratch;
        scratch += data_.room[p];
      }
    }
    scratch_ = DeviceArray<T>(scratch);
    scratch_begin_ = DeviceArray<std::uint64_t>(std::span<const std::uint64_t>(begin));
  }

  void fit_kernels() {
    // The limit is the kernel's, not ours: another problem's schedule may need more of it than this one.
    for (const auto kernel : {reinterpret_cast<const void*>(update_active<T, Layout>),
                              reinterpret_cast<const void*>(check_called<T, Layout>)})
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(max_shared_bytes_)),
            "asking for shared memory");
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, check_called<T, Layout>, threads_, shared_bytes_),
          "asking how much of a kernel fits");
    const std::size_t resident = std::max(blocks, 1) * device_attribute(cudaDevAttrMultiProcessorCount);
    check_blocks_ = std::min<std::size_t>(packing_.patches(), resident);
  }

  PatchView<T> view_of(T tolerance) {
    const PatchTopology& topology = data_.topology;
    return {topology.vertex_begin.data(),
            topology.halo_begin.data(),
            topology.halo.data(),
            topology.dependent_begin.data(),
            topology.dependent.data(),
            scratch_begin_.data(),
            scratch_.data(),
            edge_.data(),
            time_.data(),
            tolerance};
  }

  void upload_times(const SolveState<T>& state) {
    internal_time_.upload_from(std::span<const T>(state.time));
    launch_for(packing_.vertices(), to_places<T>, place_of_.data(), packing_.vertices(), internal_time_.data(),
               time_.data());
  }
  void download_times(SolveState<T>& state) {
    launch_for(packing_.vertices(), from_places<T>, place_of_.data(), packing_.vertices(), time_.data(),
               internal_time_.data());
    internal_time_.download_to(std::span<T>(state.time));
  }

  PatchPacking packing_;
  PatchData<T> data_;
  Layout layout_;
  int sweeps_, threads_ = warp_threads;
  std::size_t max_shared_bytes_ = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);  ///< for a block
  std::size_t shared_bytes_ = 0, check_blocks_ = 0;
  Numbers place_of_;
  DeviceArray<T> edge_, time_, internal_time_, scratch_;
  DeviceArray<std::uint64_t> scratch_begin_;
  std::array<Numbers, 2> lists_;  ///< active patches of this round and of the next
  Numbers check_list_, counts_, stays_, checked_;
  DeviceArray<Work> work_;
};

}  // namespace

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>& problem,
                                                         const SimplexMesh<Corners>& mesh, const Metric& metric,
                                                         const SolveOptions& options) {
  const PaperOptions& paper = options.paper;
  const int sweeps = sweeps_of(paper, Corners);
  PatchPacking packing = pack_vertices(problem, mesh, paper);
  if (paper.layout == PatchLayout::cell_assembly) {
    require_device();
    PatchData<T> data = build_cells(problem, packing);
    const CellLayout<T, Corners> layout{data.cells.view()};
    return std::make_unique<PatchFim<T, Corners, CellLayout<T, Corners>>>(problem, std::move(packing), std::move(data),
                                                                          layout, sweeps);
  }
  const OneRingStrips<T> strips = make_one_ring_strips(problem, mesh, metric, packing, usual_threads());
  require_device();
  PatchData<T> data = upload_strips(strips, packing);
  const StripLayout<T, Corners> layout{data.strips.view()};
  return std::make_unique<PatchFim<T, Corners, StripLayout<T, Corners>>>(problem, std::move(packing), std::move(data),
                                                                         layout, sweeps);
}

#define ISOCHRON_INSTANTIATE(T, corners)                             \
  template std::unique_ptr<MeshSchedule<T, corners>> make_patch_fim( \
      const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const Metric&, const SolveOptions&);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::cuda
