// The two domain decompositions of paper 001 section 6. The elements are divided among subdomains; each has copies of
// the vertices of its elements with their times, and solves with these alone. Interface maps say which copies are of
// the same vertex. A subdomain is active when a time of its copies was lowered from outside, or when it is not done.
//   several: Algorithm 9. A round goes once over the lists of all active subdomains. They are cut into stretches, so
//            that several blocks share a subdomain. The paper's blocks keep what belongs to their elements in shared
//            memory; here the threads of a vertex need it once and exchange what they found through registers. A
//            kernel over all interface vertices then has the copies of each agree.
//   one:     Algorithm 10. A block takes an active subdomain, with its times and lists in shared memory where they fit,
//            solves until nothing in it falls, and lowers the other copies of its interface vertices; those of which
//            one was later take part in the next round. Vertices that fell ask those around them in the order of their
//            times, as Algorithm 3 allows: those that are later than the earliest by a few edges wait.
//
// No update is lost. A copy whose time falls has its bit in `fallen` set after its time is written, by whoever lowered
// it: its subdomain (in `several` it asks those around it at once instead) or another one. The bit is taken off before
// times are read, and then all vertices that can gain from this one are pulled with times that are at least as early.
// A bit that is set after it was taken off stays for the next round, and who sets it from outside has that subdomain
// take part. Whoever lowers a copy by solving lowers all other copies of the vertex that are later, so that in the end
// the copies of a vertex agree. A copy in global memory may be lowered from outside while its subdomain is solved in
// shared memory: it is then lowered to the earlier of both times, and only one that is the earliest is passed on.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "isochron/core/cuda/launch.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/papers/cuda/subdomain_worker.h"
#include "isochron/papers/methods.h"

namespace isochron::cuda {
namespace {

/// A block's threads: an update in double precision takes twice the registers.
template <class T>
constexpr unsigned max_threads = sizeof(T) == sizeof(float) ? 1024 : 512;
constexpr unsigned min_threads = 128;
/// Of the kernels over stretches of lists.
constexpr unsigned stretch_threads = 256, stretch_vertices = stretch_threads / vertex_threads;
/// Blocks of kernels that learn on the device how much there is to do; enough to fill any multiprocessor.
constexpr unsigned blocks_per_multiprocessor = 8;
/// How much later than the earliest a vertex may be to go on, in mean edge travel times.
constexpr double band_edges = 3;

/// What the threads of a block that solves a subdomain share beside its room.
template <class T>
struct Sweep {
  T earliest[2];  ///< of the fallen vertices in this sweep, and in the next
  std::uint32_t fallen, wanted;
};

template <class T>
__device__ void lower_earliest(T* place, T time) {
  const T first = earliest_of_warp(time);
  if (threadIdx.x % warp_threads == 0 && first < detail::infinity<T>()) lower_to(place, first);
}

/// Bytes of shared memory that a subdomain of `size` copies takes.
template <class T>
__host__ __device__ constexpr std::size_t room_bytes(std::size_t size) {
  return size * (sizeof(T) + sizeof(std::uint32_t)) + 2 * ((size + 31) / 32) * sizeof(std::uint32_t);
}

template <class T, bool in_shared_memory, int Corners>
__device__ Room<T> room_of(const SubdomainView<T, Corners>& view, std::uint32_t subdomain) {
  const std::uint32_t first = view.begin[subdomain], word = view.word_begin[subdomain];
  if constexpr (in_shared_memory) {
    extern __shared__ __align__(16) unsigned char memory[];
    const std::uint32_t size = view.begin[subdomain + 1] - first, words = view.word_begin[subdomain + 1] - word;
    T* const time = reinterpret_cast<T*>(memory);
    auto* const list = reinterpret_cast<std::uint32_t*>(time + size);
    return {time, list + size, list + size + words, list};
  } else {
    return {view.own_time + first, view.own_fallen + word, view.wanted + word, view.list + first};
  }
}

/// One block an active subdomain, until nothing in it falls, or for too long.
template <class T, int Corners, bool in_shared_memory>
__global__ void __launch_bounds__(max_threads<T>)
    solve_subdomains(SubdomainView<T, Corners> view, std::uint32_t round) {
  __shared__ Sweep<T> s;
  const std::uint32_t subdomain = view.active[blockIdx.x];
  const Room<T> room = room_of<T, in_shared_memory>(view, subdomain);
  const Worker<T, Corners> worker(view, subdomain, room);
  Tally tally;
  if (threadIdx.x == 0) s = {{detail::infinity<T>(), detail::infinity<T>()}, 0, 0};
  const T first = worker.load(view.fallen + view.word_begin[subdomain]);
  lower_earliest(&s.earliest[0], first);
  __syncthreads();
  for (std::uint32_t sweep = 0;; ++sweep) {
    T* const next = &s.earliest[(sweep + 1) % 2];
    const T earliest = s.earliest[sweep % 2];
    if (!(earliest < detail::infinity<T>())) break;
    if (sweep == view.max_sweeps) {
      if (threadIdx.x == 0) view.work->given_up = 1;
      break;
    }
    T waiting = detail::infinity<T>();
    worker.compact(room.fallen, &s.fallen, [&](std::uint32_t v) {
      const T time = worker.time(v);
      const bool goes_on = !(time > earliest + view.band);
      if (!goes_on) waiting = earlier(waiting, time);
      return goes_on;
    });
    lower_earliest(next, waiting);
    __syncthreads();
    if (threadIdx.x == 0) s.earliest[sweep % 2] = detail::infinity<T>(), s.wanted = 0;
    worker.wake_around_listed(s.fallen);
    __syncthreads();
    if (threadIdx.x == 0) s.fallen = 0;
    worker.compact(room.wanted, &s.wanted, [](std::uint32_t) { return true; });
    __syncthreads();
    waiting = detail::infinity<T>();
    worker.pull(room.list, s.wanted, tally, [&](std::uint32_t v, T time) {
      waiting = earlier(waiting, time);
      if (threadIdx.x % vertex_threads == 0) atomicOr(room.fallen + v / 32, 1U << v % 32);
    });
    lower_earliest(next, waiting);
    __syncthreads();
  }
  worker.store(round);
  tally.add_to(view.work);
}

/// One block an active subdomain: lists what is to be pulled.
template <class T, int Corners>
__global__ void __launch_bounds__(1024) list_subdomains(SubdomainView<T, Corners> view) {
  __shared__ std::uint32_t called, count;
  const std::uint32_t subdomain = view.active[blockIdx.x], word = view.word_begin[subdomain];
  const Room<T> room{view.time + view.begin[subdomain], view.fallen + word, view.wanted + word,
                     view.list + view.begin[subdomain]};
  const Worker<T, Corners> worker(view, subdomain, room);
  if (threadIdx.x == 0) called = count = 0;
  __syncthreads();
  const auto any = [](std::uint32_t) { return true; };
  worker.compact(room.fallen, &called, any);
  __syncthreads();
  worker.wake_around_listed(called);
  __syncthreads();
  worker.compact(room.wanted, &count, any);
  __syncthreads();
  if (threadIdx.x != 0) return;
  view.list_size[blockIdx.x] = count;
  view.stretch_ends[blockIdx.x] = (count + stretch_vertices - 1) / stretch_vertices;
}

/// One block a stretch of a list.
template <class T, int Corners>
__global__ void __launch_bounds__(stretch_threads)
    sweep_lists(SubdomainView<T, Corners> view, std::uint32_t subdomains, std::uint32_t round) {
  Tally tally;
  const std::uint32_t total = view.stretch_ends[subdomains - 1];
  for (std::uint32_t stretch = blockIdx.x; stretch < total; stretch += gridDim.x) {
    const std::uint32_t slot = first_above(view.stretch_ends, subdomains, stretch);
    const std::uint32_t before = slot == 0 ? 0 : view.stretch_ends[slot - 1];
    const std::uint32_t first = (stretch - before) * stretch_vertices;
    const std::uint32_t subdomain = view.active[slot], word = view.word_begin[subdomain];
    const Room<T> room{view.time + view.begin[subdomain], view.fallen + word, view.wanted + word,
                       view.list + view.begin[subdomain]};
    const Worker<T, Corners> worker(view, subdomain, room);
    worker.pull(room.list + first, min(stretch_vertices, view.list_size[slot] - first), tally, [&](std::uint32_t v, T) {
      worker.wake_around(v);
      wake_subdomain(view, subdomain, round);
    });
  }
  tally.add_to(view.work);
}

/// One thread an interface vertex: all its copies get the earliest time of them.
template <class T, int Corners>
__global__ void synchronise_copies(SubdomainView<T, Corners> view, std::size_t groups, std::uint32_t round) {
  const std::size_t group = thread_number();
  if (group >= groups) return;
  const std::uint32_t begin = view.group_begin[group], end = view.group_begin[group + 1];
  const auto place = [&](VertexCopy copy) { return view.time + view.begin[copy.subdomain] + copy.local; };
  T first = detail::infinity<T>();
  for (std::uint32_t g = begin; g < end; ++g) first = earlier(first, *place(view.group[g]));
  for (std::uint32_t g = begin; g < end; ++g) {
    const VertexCopy copy = view.group[g];
    if (!(first < *place(copy))) continue;
    *place(copy) = first;
    call(view, copy, round);
  }
}

/// Visits all copies of a vertex.
template <class T, int Corners, class Visit>
__device__ void for_copies(const SubdomainView<T, Corners>& view, std::uint32_t vertex, const Visit& visit) {
  const VertexCopy first = view.first_copy[vertex];
  if (first.subdomain == VertexCopy::none) return;
  const std::uint32_t group = view.group_of[view.begin[first.subdomain] + first.local];
  if (group == Subdomains<T, Corners>::alone) return visit(first);
  for (std::uint32_t g = view.group_begin[group]; g < view.group_begin[group + 1]; ++g) visit(view.group[g]);
}

template <class T, int Corners>
__global__ void scatter_times(SubdomainView<T, Corners> view, const T* of_vertex, std::size_t vertices) {
  const std::size_t v = thread_number();
  if (v >= vertices) return;
  for_copies(view, static_cast<std::uint32_t>(v),
             [&](VertexCopy copy) { view.time[view.begin[copy.subdomain] + copy.local] = of_vertex[v]; });
}

/// Vertices without an element keep their times.
template <class T, int Corners>
__global__ void gather_times(SubdomainView<T, Corners> view, T* of_vertex, std::size_t vertices) {
  const std::size_t v = thread_number();
  if (v >= vertices) return;
  const VertexCopy copy = view.first_copy[v];
  if (copy.subdomain != VertexCopy::none) of_vertex[v] = view.time[view.begin[copy.subdomain] + copy.local];
}

/// All around the seeds may gain in the first round.
template <class T, int Corners>
__global__ void call_seeds(SubdomainView<T, Corners> view, const std::uint32_t* seeds, std::size_t count) {
  const std::size_t i = thread_number();
  if (i < count) for_copies(view, seeds[i], [&](VertexCopy copy) { call(view, copy, 0); });
}

inline std::size_t most_shared_bytes() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking for its properties");
  constexpr std::size_t beside = 1024;  // what kernels and the system take
  return static_cast<std::size_t>(bytes) - beside;
}

/// Where the bits of each subdomain begin.
inline std::vector<std::uint32_t> words_of(const std::vector<std::uint32_t>& begin) {
  std::vector<std::uint32_t> words(begin.size(), 0);
  for (std::size_t d = 0; d + 1 < begin.size(); ++d) words[d + 1] = words[d] + (begin[d + 1] - begin[d] + 31) / 32;
  return words;
}

template <class T, int Corners>
std::vector<T> edges_of_copies(const SimplexProblem<T, Corners>& problem, const Subdomains<T, Corners>& subdomains) {
  std::vector<T> edge(subdomains.vertex.size());
  for (std::size_t c = 0; c < edge.size(); ++c) edge[c] = problem.edge[subdomains.vertex[c]];
  return edge;
}

template <class T>
DeviceArray<T> uploaded(const std::vector<T>& values) {
  return DeviceArray<T>(std::span<const T>(values));
}

template <class T, int Corners>
class DomainDecompositionOnDevice final : public MeshSchedule<T, Corners> {
 public:
  DomainDecompositionOnDevice(const Device& device, const SimplexProblem<T, Corners>& problem,
                              const Subdomains<T, Corners>& parts, SubdomainBlocks blocks)
      : blocks_(blocks),
        multiprocessors_(static_cast<unsigned>(device.multiprocessors)),
        subdomains_(static_cast<std::uint32_t>(parts.count())),
        band_(static_cast<T>(band_edges) * problem.mean_edge),
        elements_(uploaded(parts.records)),
        pull_offsets_(uploaded(parts.pulls.offsets)),
        pull_list_(uploaded(parts.pulls.list)),
        wake_offsets_(uploaded(parts.wakes.offsets)),
        wake_list_(uploaded(parts.wakes.list)),
        edge_(uploaded(edges_of_copies(problem, parts))),
        begin_(uploaded(parts.begin)),
        word_begin_(uploaded(words_of(parts.begin))),
        group_of_(uploaded(parts.group_of)),
        group_begin_(uploaded(parts.group_begin)),
        first_copy_(uploaded(parts.first_copy)),
        group_(uploaded(parts.group)),
        of_vertex_(problem.vertex_count),
        time_(parts.vertex.size()),
        seeds_(problem.vertex_count),
        fallen_(words_of(parts.begin).back()),
        active_in_(subdomains_),
        active_(subdomains_),
        list_size_(subdomains_),
        stretch_ends_(subdomains_),
        count_(1),
        work_(1) {
    std::uint32_t largest = 0;
    for (std::size_t d = 0; d < parts.count(); ++d) largest = std::max(largest, parts.begin[d + 1] - parts.begin[d]);
    shared_bytes_ = room_bytes<T>(largest);
    in_shared_memory_ = blocks == SubdomainBlocks::one && shared_bytes_ <= most_shared_bytes();
    if (in_shared_memory_) {
      check(cudaFuncSetAttribute(solve_subdomains<T, Corners, true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(most_shared_bytes())),
            "asking for shared memory");
    } else {
      wanted_ = DeviceArray<std::uint32_t>(fallen_.size());
      list_ = DeviceArray<std::uint32_t>(time_.size());
      if (blocks == SubdomainBlocks::one) {
        own_time_ = DeviceArray<T>(time_.size());
        own_fallen_ = DeviceArray<std::uint32_t>(fallen_.size());
      }
    }
    std::size_t selecting = 0, adding = 0;
    check(select(nullptr, selecting, {}), "asking how much memory a list needs");
    check(add_up(nullptr, adding, subdomains_), "asking how much memory a scan needs");
    temporary_ = DeviceArray<unsigned char>(std::max({selecting, adding, std::size_t{1}}));
  }

  void run(SolveState<T>& state, int /*threads*/, std::vector<std::string>& /*notes*/) override {
    if (state.seeds.empty()) return;
    const Timer whole;
    const SubdomainView<T, Corners> view = start(state);
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
    launch_for(of_vertex_.size(), gather_times<T, Corners>, view, of_vertex_.data(), of_vertex_.size());
    of_vertex_.download_to(std::span<T>(state.time));
    SubdomainWork work{};
    work_.download_to(std::span<SubdomainWork>(&work, 1));
    if (work.given_up != 0) state.converged = false;
    state.counters.local_solves += work.solves;
    state.counters.vertex_updates += work.updates;
    state.counters.rounds += round - 1;
    state.transfer_seconds += whole.seconds() - solving;
  }

 private:
  using Places = thrust::counting_iterator<std::uint32_t>;

  /// Uploads the times and wakes everything around the seeds.
  SubdomainView<T, Corners> start(const SolveState<T>& state) {
    of_vertex_.upload_from(std::span<const T>(state.time));
    seeds_.upload_from(std::span<const std::uint32_t>(state.seeds));
    fallen_.clear();
    if (wanted_.size() > 0) wanted_.clear();
    active_in_.clear();
    work_.clear();
    SubdomainView<T, Corners> view = view_of_arrays();
    view.tolerance = state.tolerance;
    view.max_sweeps = state.most_rounds();
    launch_for(of_vertex_.size(), scatter_times<T, Corners>, view, of_vertex_.data(), of_vertex_.size());
    launch_for(state.seeds.size(), call_seeds<T, Corners>, view, seeds_.data(), state.seeds.size());
    return view;
  }

  SubdomainView<T, Corners> view_of_arrays() {
    SubdomainView<T, Corners> view{};
    view.elements = elements_.data();
    view.pulls = {pull_offsets_.data(), pull_list_.data()};
    view.wakes = wake_offsets_.size() == 0 ? view.pulls : Incidences{wake_offsets_.data(), wake_list_.data()};
    view.edge = edge_.data();
    view.begin = begin_.data();
    view.word_begin = word_begin_.data();
    view.first_copy = first_copy_.data();
    view.group_of = group_of_.data();
    view.group_begin = group_begin_.data();
    view.group = group_.data();
    view.band = band_;
    view.time = time_.data();
    view.fallen = fallen_.data();
    view.wanted = wanted_.data();
    view.list = list_.data();
    view.own_time = own_time_.data();
    view.own_fallen = own_fallen_.data();
    view.active_in = active_in_.data();
    view.active = active_.data();
    view.list_size = list_size_.data();
    view.stretch_ends = stretch_ends_.data();
    view.work = work_.data();
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
    check(select(temporary_.data(), bytes, {active_in_.data(), round}), "compacting a list");
    std::uint32_t count = 0;
    count_.download_to(std::span<std::uint32_t>(&count, 1));
    return count;
  }

  /// As many threads a block as keep all multiprocessors at work on so many blocks.
  [[nodiscard]] unsigned threads_for(std::uint32_t active) const {
    unsigned threads = max_threads<T>;
    while (threads > min_threads && std::uint64_t{threads} * active > max_threads<T> * multiprocessors_) threads /= 2;
    return threads;
  }

  void solve_active(const SubdomainView<T, Corners>& view, std::uint32_t active, std::uint32_t round) {
    const auto kernel = in_shared_memory_ ? solve_subdomains<T, Corners, true> : solve_subdomains<T, Corners, false>;
    launch(kernel, active, threads_for(active), in_shared_memory_ ? shared_bytes_ : 0, view, round);
  }

  void sweep_active(const SubdomainView<T, Corners>& view, std::uint32_t active, std::uint32_t round) {
    launch(list_subdomains<T, Corners>, active, threads_for(active), 0, view);
    std::size_t bytes = temporary_.bytes();
    check(add_up(temporary_.data(), bytes, active), "adding up a list");
    launch(sweep_lists<T, Corners>, multiprocessors_ * blocks_per_multiprocessor, stretch_threads, 0, view, active,
           round);
    launch_for(group_begin_.size() - 1, synchronise_copies<T, Corners>, view, group_begin_.size() - 1, round);
  }

  SubdomainBlocks blocks_;
  unsigned multiprocessors_;
  std::uint32_t subdomains_;
  bool in_shared_memory_ = false;
  std::size_t shared_bytes_ = 0;
  T band_;
  DeviceArray<ElementRecord<T, Corners>> elements_;
  DeviceArray<std::uint32_t> pull_offsets_, pull_list_, wake_offsets_, wake_list_;
  DeviceArray<T> edge_;
  DeviceArray<std::uint32_t> begin_, word_begin_, group_of_, group_begin_;
  DeviceArray<VertexCopy> first_copy_, group_;
  DeviceArray<T> of_vertex_, time_, own_time_;
  DeviceArray<std::uint32_t> seeds_, fallen_, own_fallen_, wanted_, list_, active_in_, active_, list_size_,
      stretch_ends_, count_;
  DeviceArray<SubdomainWork> work_;
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
