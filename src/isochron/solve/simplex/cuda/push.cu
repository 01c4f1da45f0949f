#include "isochron/solve/simplex/cuda/schedule.h"

#include <array>
#include <cstdint>
#include <vector>

#include <cooperative_groups.h>

#include "isochron/core/cuda/check.h"
#include "isochron/core/cuda/device_array.h"
#include "isochron/core/timer.h"
#include "isochron/local/simplex_update.h"

namespace isochron::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int block_threads = 256;
/// Threads that share the elements of one vertex.
template <int Corners>
constexpr int lanes = Corners == 4 ? 8 : 4;

/// Work of a solve, summed over its threads.
struct Work {
  unsigned long long solves, updates, rounds;
};

/// What the kernel reads and writes. Lists hold vertices whose time fell; `queued` marks those on the next one.
template <class T, int Corners>
struct View {
  const std::uint32_t* offsets;
  const std::uint32_t* incidences;
  const ElementRecord<T, Corners>* elements;
  const StarRecord<T>* stars;
  const std::uint32_t* virtual_offsets;  ///< by face vertex; null without virtual elements
  const std::uint32_t* virtual_list;
  const VirtualRecord<T, Corners>* virtual_records;
  const T* edge;
  T tolerance;
  T* time;
  std::uint32_t* queued;
  std::uint32_t* list[2];
  std::uint32_t* count;  ///< three, taken in turn: one is read, one counts what is queued, one is cleared
  Work* work;
};

__device__ inline float lower_to(float* place, float value) {
  return __int_as_float(atomicMin(reinterpret_cast<int*>(place), __float_as_int(value)));
}
__device__ inline double lower_to(double* place, double value) {
  return __longlong_as_double(atomicMin(reinterpret_cast<long long*>(place), __double_as_longlong(value)));
}

template <class T, int Corners>
class Pusher {
 public:
  __device__ Pusher(const View<T, Corners>& view, int round)
      : v_(view), next_(view.list[(round + 1) & 1]), next_count_(view.count + (round + 1) % 3) {}

  template <class Tile>
  __device__ void push(std::uint32_t x, const Tile& tile) {
    // The mark is taken off before the time is read: whoever lowers x after that queues it again.
    if (tile.thread_rank() == 0) atomicExch(v_.queued + x, 0U);
    __threadfence();
    tile.sync();
    const T ux = __ldcg(v_.time + x);
    const std::uint32_t begin = v_.offsets[x], end = v_.offsets[x + 1];
    for (std::uint32_t i = begin + tile.thread_rank(); i < end; i += tile.size()) {
      if constexpr (Corners == 4) push_tet(v_.incidences[i], ux);
      else push_triangle(v_.stars[i], ux);
    }
    if (v_.virtual_offsets != nullptr)
      for (std::uint32_t i = v_.virtual_offsets[x] + tile.thread_rank(); i < v_.virtual_offsets[x + 1];
           i += tile.size())
        push_virtual(v_.virtual_records[v_.virtual_list[i] >> 2]);
  }

  [[nodiscard]] __device__ unsigned long long solves() const { return solves_; }

 private:
  static constexpr std::uint32_t obtuse_flag = ElementRecord<T, Corners>::obtuse_flag;

  /// Lowers the target's time when the gain counts, and queues it.
  __device__ void offer(std::uint32_t target, T candidate, T now) {
    const T inf = detail::infinity<T>();
    const T least = now < inf ? countable_gain(v_.tolerance, v_.edge[target], now) : T(0);
    if (!(candidate < now - least)) return;
    if (!(candidate < lower_to(v_.time + target, candidate))) return;
    __threadfence();
    if (atomicExch(v_.queued + target, 1U) != 0U) return;
    const cg::coalesced_group together = cg::coalesced_threads();
    std::uint32_t place = 0;
    if (together.thread_rank() == 0) place = atomicAdd(next_count_, together.size());
    next_[together.shfl(place, 0) + together.thread_rank()] = target;
  }

  __device__ void push_tet(std::uint32_t incidence, T ux) {
    const ElementRecord<T, 4>& record = v_.elements[incidence >> 2];
    const int x = static_cast<int>(incidence & 3U);
    const int a = (x + 1) & 3, b = (x + 2) & 3, c = (x + 3) & 3;
    const std::uint32_t va = record.corner[a], vb = record.corner[b], vc = record.corner[c];
    const T ua = time_of(va), ub = time_of(vb), uc = time_of(vc);
    const T xa = record.length[edge_index(x, a)], xb = record.length[edge_index(x, b)],
            xc = record.length[edge_index(x, c)], ab = record.length[edge_index(a, b)],
            ac = record.length[edge_index(a, c)], bc = record.length[edge_index(b, c)];
    push_corner(va, ux, ua, ub, uc, xb, xc, bc, xa, ab, ac);
    push_corner(vb, ux, ub, ua, uc, xa, xc, ac, xb, ab, bc);
    push_corner(vc, ux, uc, ua, ub, xa, xb, ab, xc, ac, bc);
  }

  /// Target t from x and the element's other corners b, c.
  __device__ void push_corner(std::uint32_t t, T ux, T ut, T ub, T uc, T xb, T xc, T bc, T xt, T bt, T ct) {
    const bool acute = (t & obtuse_flag) == 0;
    if (ut <= ux && (acute || (ut <= ub && ut <= uc))) return;
    ++solves_;
    const T time = detail::push_time(ux, ub, uc, xb, xc, bc, xt, bt, ct);
    if (time < ut) offer(t & ~obtuse_flag, time, ut);
  }

  __device__ void push_triangle(const StarRecord<T>& star, T ux) {
    const T ua = time_of(star.corner_a), ub = time_of(star.corner_b);
    push_edge(star.corner_a, ux, ua, ub, star.xb, star.xa, star.ab);
    push_edge(star.corner_b, ux, ub, ua, star.xa, star.xb, star.ab);
  }

  __device__ void push_edge(std::uint32_t t, T ux, T ut, T ub, T xb, T xt, T bt) {
    const bool acute = (t & obtuse_flag) == 0;
    if (ut <= ux && (acute || ut <= ub)) return;
    ++solves_;
    T lambda;
    const T time = detail::edge_time(ub, ux, xb, bt, xt, lambda);
    if (time < ut) offer(t & ~obtuse_flag, time, ut);
  }

  __device__ void push_virtual(const VirtualRecord<T, Corners>& record) {
    const T now = time_of(record.target);
    const T u0 = time_of(record.face[0]), u1 = time_of(record.face[1]);
    const auto& l = record.length;
    ++solves_;
    T time;
    if constexpr (Corners == 4) {
      const T u2 = time_of(record.face[2]);
      time = detail::tet_update_scaled(u0, u1, u2, TetLengths<T>{l[0], l[1], l[2], l[3], l[4], l[5]}).time;
    } else {
      time = detail::triangle_update_scaled(u0, u1, TriangleLengths<T>{l[0], l[1], l[2]}).time;
    }
    if (time < now) offer(record.target, time, now);
  }

  /// Times are read past the first-level cache, which other multiprocessors' writes do not reach.
  [[nodiscard]] __device__ T time_of(std::uint32_t v) const { return __ldcg(v_.time + (v & ~obtuse_flag)); }

  const View<T, Corners>& v_;
  std::uint32_t* next_;
  std::uint32_t* next_count_;
  unsigned long long solves_ = 0;
};

/// Rounds until no time falls. One meeting of the grid a round.
template <class T, int Corners>
__global__ void __launch_bounds__(block_threads) push_rounds(View<T, Corners> view) {
  const cg::grid_group grid = cg::this_grid();
  const auto tile = cg::tiled_partition<lanes<Corners>>(cg::this_thread_block());
  const std::uint32_t tiles = gridDim.x * (block_threads / lanes<Corners>);
  const std::uint32_t first = blockIdx.x * (block_threads / lanes<Corners>)+threadIdx.x / lanes<Corners>;
  unsigned long long solves = 0, updates = 0;
  int round = 0;
  while (true) {
    const std::uint32_t count = __ldcg(view.count + round % 3);
    if (count == 0) break;
    if (grid.thread_rank() == 0) view.count[(round + 2) % 3] = 0;
    Pusher<T, Corners> pusher(view, round);
    const std::uint32_t* list = view.list[round & 1];
    for (std::uint32_t i = first; i < count; i += tiles) pusher.push(__ldcg(list + i), tile);
    solves += pusher.solves();
    updates += count;
    ++round;
    grid.sync();
  }
  atomicAdd(&view.work->solves, solves);
  if (grid.thread_rank() == 0) {
    view.work->updates = updates;
    view.work->rounds = static_cast<unsigned long long>(round);
  }
}

template <class T, int Corners>
class PushOnDevice final : public DeviceSchedule<T, Corners> {
 public:
  PushOnDevice(const Device& device, const SimplexProblem<T, Corners>& problem)
      : vertices_(problem.vertex_count),
        offsets_(std::span<const std::uint32_t>(problem.adjacency.offsets)),
        edge_(std::span<const T>(problem.edge)),
        time_(vertices_),
        queued_(vertices_),
        lists_{DeviceArray<std::uint32_t>(vertices_), DeviceArray<std::uint32_t>(vertices_)},
        count_(3),
        work_(1) {
    if constexpr (Corners == 4) {
      incidences_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(problem.adjacency.incidences));
      elements_ = DeviceArray<ElementRecord<T, Corners>>(std::span<const ElementRecord<T, Corners>>(problem.elements));
    } else {
      stars_ = DeviceArray<StarRecord<T>>(std::span<const StarRecord<T>>(problem.stars));
    }
    if (const auto& extra = problem.virtual_elements; !extra.empty()) {
      virtual_offsets_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(extra.face_offsets));
      virtual_list_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(extra.face_list));
      virtual_records_ =
          DeviceArray<VirtualRecord<T, Corners>>(std::span<const VirtualRecord<T, Corners>>(extra.records));
    }
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, push_rounds<T, Corners>, block_threads, 0),
          "asking how much of a kernel fits");
    blocks_ = blocks * device.multiprocessors;
  }

  void run(SolveState<T>& state) override {
    if (state.seeds.empty()) return;
    const Timer whole;
    time_.upload_from(std::span<const T>(state.time));
    queued_.clear();
    lists_[0].upload_from(std::span<const std::uint32_t>(state.seeds));
    const std::array<std::uint32_t, 3> counts{static_cast<std::uint32_t>(state.seeds.size()), 0, 0};
    count_.upload_from(std::span<const std::uint32_t>(counts));
    work_.clear();
    View<T, Corners> view{};
    view.offsets = offsets_.data();
    view.incidences = incidences_.data();
    view.elements = elements_.data();
    view.stars = stars_.data();
    view.virtual_offsets = virtual_offsets_.data();
    view.virtual_list = virtual_list_.data();
    view.virtual_records = virtual_records_.data();
    view.edge = edge_.data();
    view.tolerance = state.tolerance;
    view.time = time_.data();
    view.queued = queued_.data();
    view.list[0] = lists_[0].data();
    view.list[1] = lists_[1].data();
    view.count = count_.data();
    view.work = work_.data();
    void* arguments[] = {&view};
    const Timer timer;
    check(cudaLaunchCooperativeKernel(push_rounds<T, Corners>, dim3(static_cast<unsigned>(blocks_)),
                                      dim3(block_threads), arguments, 0, nullptr),
          "starting a kernel");
    check(cudaDeviceSynchronize(), "solving");
    const double solving = timer.seconds();
    time_.download_to(std::span<T>(state.time));
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    state.counters.local_solves += work.solves;
    state.counters.vertex_updates += work.updates;
    state.counters.rounds += work.rounds;
    state.transfer_seconds += whole.seconds() - solving;
  }

 private:
  std::size_t vertices_;
  DeviceArray<std::uint32_t> offsets_, incidences_;
  DeviceArray<ElementRecord<T, Corners>> elements_;
  DeviceArray<StarRecord<T>> stars_;
  DeviceArray<std::uint32_t> virtual_offsets_, virtual_list_;
  DeviceArray<VirtualRecord<T, Corners>> virtual_records_;
  DeviceArray<T> edge_, time_;
  DeviceArray<std::uint32_t> queued_;
  std::array<DeviceArray<std::uint32_t>, 2> lists_;
  DeviceArray<std::uint32_t> count_;
  DeviceArray<Work> work_;
  int blocks_ = 0;
};

}  // namespace

template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_push(const SimplexProblem<T, Corners>& problem) {
  return std::make_unique<PushOnDevice<T, Corners>>(require_device(), problem);
}

template std::unique_ptr<DeviceSchedule<float, 3>> make_push(const SimplexProblem<float, 3>&);
template std::unique_ptr<DeviceSchedule<float, 4>> make_push(const SimplexProblem<float, 4>&);
template std::unique_ptr<DeviceSchedule<double, 3>> make_push(const SimplexProblem<double, 3>&);
template std::unique_ptr<DeviceSchedule<double, 4>> make_push(const SimplexProblem<double, 4>&);

}  // namespace isochron::cuda
