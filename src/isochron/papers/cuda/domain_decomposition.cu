// The two domain decompositions of paper 001 section 6. Vertices are divided among subdomains; a subdomain is active
// when one of its vertices may gain.
//   several: rounds over all active subdomains (Algorithm 9). Their lists are cut into stretches of a block's size, so
//            that several blocks share a subdomain.
//   one:     a block takes a subdomain and works on it until nothing in it falls (Algorithm 10); then the next launch
//            takes up those that were woken from outside.
//
// No update is lost. A vertex that falls writes its time, and only then asks for all that can gain from it. Who pulls a
// vertex takes the request off first and reads the times after that. So a request is either seen together with the time
// that it was made for, or stays for the next round; its subdomain is in that round because the asker says so. Each
// vertex is written by one thread at a time, that of the block which works on it.
#include <algorithm>
#include <cstdint>

#include <thrust/iterator/counting_iterator.h>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/papers/methods.h"
#include "isochron/papers/vertex_parts.h"
#include "isochron/solve/simplex/cuda/pull_arrays.h"

namespace isochron::cuda {
namespace {

constexpr unsigned block_threads = 256;
/// Blocks of kernels that learn on the device how much there is to do; enough to fill any multiprocessor.
constexpr unsigned blocks_per_multiprocessor = 8;
constexpr std::uint32_t no_part = 0xffffffffU;

/// Work of a solve, summed over its blocks.
struct Work {
  unsigned long long solves, updates;
  std::uint32_t given_up;  ///< whether a subdomain did not come to rest
};

template <class T, int Corners>
struct View {
  const ElementRecord<T, Corners>* elements;
  Incidences pulls, wakes;
  const T* edge;
  const std::uint32_t* part_of;  ///< by vertex
  const std::uint32_t* begin;    ///< by subdomain, into `member`
  const std::uint32_t* member;
  T tolerance;
  T* time;
  std::uint32_t* wanted;        ///< by vertex: 1 when it may gain
  std::uint32_t* part_round;    ///< by subdomain: the last round that it is active in
  std::uint32_t* active;        ///< the active subdomains
  std::uint32_t* list;          ///< the vertices to pull of each subdomain, from its own `begin` on
  std::uint32_t* list_size;     ///< by active subdomain
  std::uint32_t* stretch_ends;  ///< by active subdomain: stretches of lists up to and with its own
  std::uint32_t max_sweeps;     ///< of a subdomain in a round
  Work* work;
};

/// Times are read past the first-level cache, which other multiprocessors' writes do not reach.
template <class T>
struct SharedByBlocks {
  const T* data;
  [[nodiscard]] __device__ T load(std::uint32_t v) const { return __ldcg(data + v); }
};

using Scan = cub::BlockScan<std::uint32_t, block_threads>;

template <class T>
struct Shared {
  typename Scan::TempStorage scan;
  std::uint32_t end[block_threads];    ///< of each thread's stretch of the pairs
  std::uint32_t shift[block_threads];  ///< from a pair's number to its incidence
  T time[block_threads];
};

/// What the threads of a block do together. All of them must call each of these.
template <class T, int Corners>
class Block {
 public:
  __device__ Block(const View<T, Corners>& view, Shared<T>& shared) : v_(view), s_(shared) {}

  /// Takes the requests off the vertices of a subdomain and lists those that had one. Returns their number.
  __device__ std::uint32_t collect(std::uint32_t part) {
    const std::uint32_t begin = v_.begin[part], end = v_.begin[part + 1];
    std::uint32_t count = 0;
    for (std::uint32_t first = begin; first < end; first += block_threads) {
      const bool mine = threadIdx.x < end - first;
      const std::uint32_t v = mine ? v_.member[first + threadIdx.x] : 0;
      const bool takes_part = mine && __ldcg(v_.wanted + v) != 0 && atomicExch(v_.wanted + v, 0U) != 0;
      std::uint32_t place = 0, found = 0;
      Scan(s_.scan).ExclusiveSum(takes_part ? 1U : 0U, place, found);
      if (takes_part) v_.list[begin + count + place] = v;
      count += found;
      __syncthreads();
    }
    __threadfence();  // the requests are off before any time is read
    __syncthreads();
    return count;
  }

  /// Pulls up to a block of vertices and wakes those around the ones that fell. Subdomain `own` is not woken.
  __device__ void sweep(const std::uint32_t* vertices, std::uint32_t count, std::uint32_t own, std::uint32_t round) {
    const bool mine = threadIdx.x < count;
    const std::uint32_t v = mine ? vertices[threadIdx.x] : 0;
    s_.time[threadIdx.x] = detail::infinity<T>();
    solves_ += for_each_pair(v_.pulls, v, mine, [this](std::uint32_t slot, std::uint32_t incidence) {
      const T found = candidate(v_.elements[incidence >> 2], static_cast<int>(incidence & 3U), times());
      if (found < detail::infinity<T>()) lower_to(&s_.time[slot], found);
    });
    updates_ += count;
    const T found = s_.time[threadIdx.x];
    const bool fell = mine && counts(found, times().load(v), v_.tolerance, v_.edge[v]);
    if (fell) __stcg(v_.time + v, found);
    wake(v, fell, own, round);
  }

  /// Asks for all that can gain from the vertices v of threads that say `fell`; their times must be in `s_.time`.
  __device__ void wake(std::uint32_t v, bool fell, std::uint32_t own, std::uint32_t round) {
    __syncthreads();
    __threadfence();  // the block's new times are out before anyone is asked to read them
    for_each_pair(v_.wakes, v, fell, [&](std::uint32_t slot, std::uint32_t incidence) {
      const ElementRecord<T, Corners>& record = v_.elements[incidence >> 2];
      for (std::uint32_t k = 0; k < Corners; ++k) {
        const std::uint32_t n = detail::vertex_at(record.corner[k]);
        if (k == (incidence & 3U) || !may_gain(record.corner[k], times().load(n), s_.time[slot])) continue;
        atomicExch(v_.wanted + n, 1U);
        const std::uint32_t part = v_.part_of[n];
        if (part != own && __ldcg(v_.part_round + part) != round + 1) __stcg(v_.part_round + part, round + 1);
      }
    });
  }

  __device__ void set_time(T time) { s_.time[threadIdx.x] = time; }

  __device__ void add_work() const {
    if (threadIdx.x != 0) return;
    atomicAdd(&v_.work->solves, solves_);
    atomicAdd(&v_.work->updates, updates_);
  }

 private:
  [[nodiscard]] __device__ SharedByBlocks<T> times() const { return {v_.time}; }

  /// Calls `visit(thread, incidence)` for every incidence of the vertices v of threads that take part, with the pairs
  /// spread evenly over the block whatever the valences. Returns their number.
  template <class Visit>
  __device__ std::uint32_t for_each_pair(const Incidences& incidences, std::uint32_t v, bool takes_part,
                                         const Visit& visit) {
    const std::uint32_t count = takes_part ? incidences.count(v) : 0;
    std::uint32_t end = 0;
    Scan(s_.scan).InclusiveSum(count, end);
    s_.end[threadIdx.x] = end;
    s_.shift[threadIdx.x] = incidences.offsets[v] - (end - count);  // modulo 2³², as the sum below
    __syncthreads();
    const std::uint32_t total = s_.end[block_threads - 1];
    for (std::uint64_t i = threadIdx.x; i < total; i += block_threads) {
      const auto pair = static_cast<std::uint32_t>(i);
      const std::uint32_t slot = first_above(s_.end, block_threads, pair);
      visit(slot, incidences.list[pair + s_.shift[slot]]);
    }
    __syncthreads();
    return total;
  }

  const View<T, Corners>& v_;
  Shared<T>& s_;
  unsigned long long solves_ = 0, updates_ = 0;
};

/// The seeds have their times: all around them may gain in the first round.
template <class T, int Corners>
__global__ void __launch_bounds__(block_threads)
    wake_around_seeds(View<T, Corners> view, const std::uint32_t* seeds, std::uint32_t count) {
  __shared__ Shared<T> shared;
  Block<T, Corners> block(view, shared);
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  const bool mine = i < count;
  const std::uint32_t v = mine ? seeds[i] : 0;
  block.set_time(view.time[v]);
  block.wake(v, mine, no_part, 0);
}

/// One block an active subdomain, until nothing in it falls, or for too long.
template <class T, int Corners>
__global__ void __launch_bounds__(block_threads) solve_subdomains(View<T, Corners> view, std::uint32_t round) {
  __shared__ Shared<T> shared;
  Block<T, Corners> block(view, shared);
  const std::uint32_t part = view.active[blockIdx.x];
  const std::uint32_t* list = view.list + view.begin[part];
  std::uint32_t count = block.collect(part);
  for (std::uint32_t sweep = 0; count > 0 && sweep < view.max_sweeps; ++sweep, count = block.collect(part))
    for (std::uint32_t first = 0; first < count; first += block_threads)
      block.sweep(list + first, min(block_threads, count - first), part, round);
  if (count > 0) view.work->given_up = 1;
  block.add_work();
}

/// One block an active subdomain: lists what is to be pulled.
template <class T, int Corners>
__global__ void __launch_bounds__(block_threads) list_subdomains(View<T, Corners> view) {
  __shared__ Shared<T> shared;
  const std::uint32_t count = Block<T, Corners>(view, shared).collect(view.active[blockIdx.x]);
  if (threadIdx.x != 0) return;
  view.list_size[blockIdx.x] = count;
  view.stretch_ends[blockIdx.x] = (count + block_threads - 1) / block_threads;
}

/// One block a stretch of a list.
template <class T, int Corners>
__global__ void __launch_bounds__(block_threads)
    sweep_lists(View<T, Corners> view, std::uint32_t subdomains, std::uint32_t round) {
  __shared__ Shared<T> shared;
  Block<T, Corners> block(view, shared);
  const std::uint32_t total = view.stretch_ends[subdomains - 1];
  for (std::uint32_t stretch = blockIdx.x; stretch < total; stretch += gridDim.x) {
    const std::uint32_t slot = first_above(view.stretch_ends, subdomains, stretch);
    const std::uint32_t before = slot == 0 ? 0 : view.stretch_ends[slot - 1];
    const std::uint32_t first = (stretch - before) * block_threads;
    const std::uint32_t* list = view.list + view.begin[view.active[slot]];
    block.sweep(list + first, min(block_threads, view.list_size[slot] - first), no_part, round);
  }
  block.add_work();
}

template <class T, int Corners>
class DomainDecompositionOnDevice final : public MeshSchedule<T, Corners> {
 public:
  DomainDecompositionOnDevice(const Device& device, const SimplexProblem<T, Corners>& problem,
                              const Subdomains& subdomains, SubdomainBlocks blocks)
      : DomainDecompositionOnDevice(device, problem, subdomains, blocks, PullLists<T, Corners>(problem)) {}

  void run(SolveState<T>& state, int /*threads*/, std::vector<std::string>& /*notes*/) override {
    if (state.seeds.empty()) return;
    const Timer whole;
    const View<T, Corners> view = start(state);
    const Timer timer;
    std::uint32_t round = 1;
    for (; !state.gives_up_after_rounds(round); ++round) {
      if (state.progress.cancelled()) throw Cancelled();
      const std::uint32_t active = choose_active(round);
      if (active == 0) break;
      if (blocks_ == SubdomainBlocks::one) solve_active(view, active, round);
      else sweep_active(view, active, round);
    }
    const double solving = timer.seconds();
    time_.download_to(std::span<T>(state.time));
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    if (work.given_up != 0) state.converged = false;
    state.counters.local_solves += work.solves;
    state.counters.vertex_updates += work.updates;
    state.counters.rounds += round - 1;
    state.transfer_seconds += whole.seconds() - solving;
  }

 private:
  using Places = thrust::counting_iterator<std::uint32_t>;

  DomainDecompositionOnDevice(const Device& device, const SimplexProblem<T, Corners>& problem,
                              const Subdomains& subdomains, SubdomainBlocks blocks, const PullLists<T, Corners>& lists)
      : blocks_(blocks),
        subdomains_(static_cast<std::uint32_t>(subdomains.count())),
        max_blocks_(static_cast<unsigned>(device.multiprocessors) * blocks_per_multiprocessor),
        incidences_(lists),
        elements_(upload_records(problem, lists)),
        edge_(std::span<const T>(problem.edge)),
        time_(problem.vertex_count),
        part_of_(std::span<const std::uint32_t>(subdomains.part_of)),
        begin_(std::span<const std::uint32_t>(subdomains.begin)),
        member_(std::span<const std::uint32_t>(subdomains.member)),
        wanted_(problem.vertex_count),
        part_round_(subdomains_),
        active_(subdomains_),
        list_(problem.vertex_count),
        list_size_(subdomains_),
        stretch_ends_(subdomains_),
        count_(1),
        work_(1) {
    std::size_t selecting = 0, adding = 0;
    check(select(nullptr, selecting, {}), "asking how much memory a list needs");
    check(add_up(nullptr, adding, subdomains_), "asking how much memory a scan needs");
    temporary_ = DeviceArray<unsigned char>(std::max({selecting, adding, std::size_t{1}}));
  }

  /// Uploads the times and wakes everything around the seeds.
  View<T, Corners> start(const SolveState<T>& state) {
    time_.upload_from(std::span<const T>(state.time));
    list_.upload_from(std::span<const std::uint32_t>(state.seeds));
    wanted_.clear();
    part_round_.clear();
    work_.clear();
    View<T, Corners> view{};
    view.elements = elements_.data();
    view.pulls = incidences_.pulls();
    view.wakes = incidences_.wakes();
    view.edge = edge_.data();
    view.part_of = part_of_.data();
    view.begin = begin_.data();
    view.member = member_.data();
    view.tolerance = state.tolerance;
    view.time = time_.data();
    view.wanted = wanted_.data();
    view.part_round = part_round_.data();
    view.active = active_.data();
    view.list = list_.data();
    view.list_size = list_size_.data();
    view.stretch_ends = stretch_ends_.data();
    view.work = work_.data();
    view.max_sweeps = max_rounds({state.time.size(), state.contrast});
    const auto seeds = static_cast<std::uint32_t>(state.seeds.size());
    launch(wake_around_seeds<T, Corners>, 1 + seeds / block_threads, block_threads, 0, view, list_.data(), seeds);
    return view;
  }

  cudaError_t select(void* memory, std::size_t& bytes, InRound chosen) {
    return cub::DeviceSelect::If(memory, bytes, Places(0), active_.data(), count_.data(), static_cast<int>(subdomains_),
                                 chosen);
  }
  cudaError_t add_up(void* memory, std::size_t& bytes, std::uint32_t count) {
    return cub::DeviceScan::InclusiveSum(memory, bytes, stretch_ends_.data(), stretch_ends_.data(),
                                         static_cast<int>(count));
  }

  /// Compacts the subdomains that are active in a round and returns their number.
  std::uint32_t choose_active(std::uint32_t round) {
    std::size_t bytes = temporary_.bytes();
    check(select(temporary_.data(), bytes, {part_round_.data(), round}), "compacting a list");
    std::uint32_t count = 0;
    count_.download_to(std::span<std::uint32_t>(&count, 1));
    return count;
  }

  void solve_active(const View<T, Corners>& view, std::uint32_t active, std::uint32_t round) {
    launch(solve_subdomains<T, Corners>, active, block_threads, 0, view, round);
  }

  void sweep_active(const View<T, Corners>& view, std::uint32_t active, std::uint32_t round) {
    launch(list_subdomains<T, Corners>, active, block_threads, 0, view);
    std::size_t bytes = temporary_.bytes();
    check(add_up(temporary_.data(), bytes, active), "adding up a list");
    launch(sweep_lists<T, Corners>, max_blocks_, block_threads, 0, view, active, round);
  }

  SubdomainBlocks blocks_;
  std::uint32_t subdomains_;
  unsigned max_blocks_;
  IncidenceArrays incidences_;
  DeviceArray<ElementRecord<T, Corners>> elements_;
  DeviceArray<T> edge_, time_;
  DeviceArray<std::uint32_t> part_of_, begin_, member_, wanted_, part_round_, active_, list_, list_size_, stretch_ends_,
      count_;
  DeviceArray<Work> work_;
  DeviceArray<unsigned char> temporary_;
};

}  // namespace

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_domain_decomposition(const SimplexProblem<T, Corners>& problem,
                                                                    const SimplexMesh<Corners>& mesh,
                                                                    const SolveOptions& options) {
  const Device device = require_device();
  const PaperOptions& paper = options.paper;
  return std::make_unique<DomainDecompositionOnDevice<T, Corners>>(
      device, problem, make_subdomains(problem, mesh, paper.subdomains, paper.partitioner), paper.subdomain_blocks);
}

#define ISOCHRON_INSTANTIATE(T, corners)                                        \
  template std::unique_ptr<MeshSchedule<T, corners>> make_domain_decomposition( \
      const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const SolveOptions&);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::cuda
