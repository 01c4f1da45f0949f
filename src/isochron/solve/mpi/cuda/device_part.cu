// Rounds of pushes on a part. A round goes over a list of vertices whose time fell; each offers its elements' other
// corners a better time and puts those that take it on the list of the next round, or on the far list when they lie
// behind the horizon.
//
// No fall of a time is lost: who lowers a time puts the vertex on a list afterwards, unless it is there (the stamp says
// so of a round's list, the mark of the far list). A vertex on the far list that falls to before the horizon is on a
// round's list as well. It leaves a list only to be pushed from with the time it has then, or because it was pushed
// from with that very time. Between rounds the grid meets, so a round sees all times of those before it; a time that
// falls in the round that reads it is read late by some, and pushed from again in the next one.
#include "isochron/solve/mpi/cuda/device_part.h"

#include <algorithm>

#include <cooperative_groups.h>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/core/cuda/fill.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/local/push_batch.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/cuda/pull_arrays.h"

namespace isochron::mpi {
namespace {

namespace cg = cooperative_groups;
using cuda::DeviceArray;
using cuda::TimeBits;

constexpr unsigned block_threads = 256;
/// Threads that share a vertex's elements, of which there are about 24 tetrahedra or 6 triangles.
template <int Corners>
inline constexpr unsigned lanes = Corners == 4 ? 32 : 8;

/// How long the lists are, and what was done.
template <class T>
struct Queues {
  std::uint32_t near[3];  ///< of three rounds that follow each other: one is read, one grows, one is cleared
  std::uint32_t far[2];   ///< of the two far lists
  std::uint32_t round;    ///< the next one, counted from 1
  std::uint32_t changed;
  T far_least;
  unsigned long long solves, updates;
};

template <class T, int Corners>
struct View {
  std::uint32_t owned;
  const std::uint32_t* offsets;  ///< of each vertex's elements
  const std::uint32_t* incidences;
  const ElementRecord<T, Corners>* elements;
  const StarRecord<T>* stars;
  const std::uint32_t* face_offsets;  ///< of each vertex's virtual elements; null when there are none
  const std::uint32_t* face_list;
  const VirtualRecord<T, Corners>* virtual_records;
  const T* edge;
  T tolerance;
  T horizon;
  T* time;
  T* pushed;             ///< time of the last push, +inf before the first
  std::uint32_t* stamp;  ///< the round on whose list a vertex was last put
  std::uint32_t* mark;   ///< 1 while a vertex is on the far list
  std::uint32_t* near[2];
  std::uint32_t* far[2];
  unsigned side;  ///< the far list that grows
  std::uint32_t border;
  const std::uint32_t* border_vertex;
  T* sent;  ///< by place in the border: the time that was last found
  BorderTime<T>* changed;
  Queues<T>* queues;
};

/// A place at the end of a list, asked for once by all threads that are here together.
__device__ __forceinline__ std::uint32_t next_place(std::uint32_t* count) {
  const cg::coalesced_group here = cg::coalesced_threads();
  std::uint32_t first = 0;
  if (here.thread_rank() == 0) first = atomicAdd(count, here.size());
  return here.shfl(first, 0) + here.thread_rank();
}

/// Lowers a time; true when it did.
template <class T>
__device__ bool lowered(T* place, T time) {
  const auto bits = TimeBits<T>::of(time);
  return bits < atomicMin(reinterpret_cast<typename TimeBits<T>::Type*>(place), bits);
}

/// Has a vertex whose time fell wait for a round, or for the horizon.
template <class T, int Corners>
__device__ void queue(const View<T, Corners>& view, std::uint32_t v, T time, std::uint32_t round) {
  Queues<T>& queues = *view.queues;
  if (time < view.horizon) {
    if (atomicExch(view.stamp + v, round) != round) view.near[round & 1][next_place(&queues.near[round % 3])] = v;
  } else {
    if (time < __ldcg(&queues.far_least)) cuda::lower_to(&queues.far_least, time);
    if (atomicExch(view.mark + v, 1U) == 0) view.far[view.side][next_place(&queues.far[view.side])] = v;
  }
}

/// Thin faces are rare: kept out of the loop, they do not cost it registers.
template <class T>
__device__ __noinline__ T thin_push_time(T ux, T up, T uq, T xp, T xq, T pq, T xt, T pt, T qt) {
  return detail::any_push_time(ux, up, uq, xp, xq, pq, xt, pt, qt);
}

/// Pushes from one vertex: each thread does it through some of the vertex's elements.
template <class T, int Corners>
class Pusher {
 public:
  __device__ Pusher(const View<T, Corners>& view, unsigned lane) : v_(view), lane_(lane) {}

  __device__ void push(std::uint32_t x, T ux, std::uint32_t next_round) {
    next_ = next_round;
    for (std::uint32_t i = v_.offsets[x] + lane_; i < v_.offsets[x + 1]; i += lanes<Corners>) push_element(i, ux);
    if (v_.face_offsets == nullptr) return;
    for (std::uint32_t i = v_.face_offsets[x] + lane_; i < v_.face_offsets[x + 1]; i += lanes<Corners>)
      push_virtual(v_.virtual_records[v_.face_list[i] >> 2]);
  }

  [[nodiscard]] __device__ unsigned solves() const { return solves_; }

 private:
  /// Past the first-level cache, which others' writes do not reach.
  [[nodiscard]] __device__ T time(std::uint32_t v) const { return __ldcg(v_.time + v); }

  __device__ void push_element(std::uint32_t incidence, T ux) {
    if constexpr (Corners == 4) push_tet(v_.incidences[incidence], ux);
    else push_triangle(v_.stars[incidence], ux);
  }

  __device__ void push_tet(std::uint32_t incidence, T ux) {
    const ElementRecord<T, 4>& record = v_.elements[incidence >> 2];
    const int x = static_cast<int>(incidence & 3U);
    const int a = (x + 1) & 3, b = (x + 2) & 3, c = (x + 3) & 3;
    const std::uint32_t corner[3] = {record.corner[a], record.corner[b], record.corner[c]};
    const T from_x[3] = {record.length[edge_index(x, a)], record.length[edge_index(x, b)],
                         record.length[edge_index(x, c)]};
    const T opposite[3] = {record.length[edge_index(b, c)], record.length[edge_index(a, c)],
                           record.length[edge_index(a, b)]};
    const T u[3] = {time(detail::vertex_at(corner[0])), time(detail::vertex_at(corner[1])),
                    time(detail::vertex_at(corner[2]))};
#pragma unroll
    for (int t = 0; t < 3; ++t) {
      const int p = (t + 1) % 3, q = (t + 2) % 3;
      const std::uint32_t target = detail::vertex_at(corner[t]);
      if (target >= v_.owned || !can_gain(corner[t], u[t], ux, detail::smaller(u[p], u[q]))) continue;
      ++solves_;
      bool thin;
      T found = detail::push_time_lane(ux, u[p], u[q], from_x[p], from_x[q], opposite[t], from_x[t], opposite[q],
                                       opposite[p], thin);
      if (thin)
        found = thin_push_time(ux, u[p], u[q], from_x[p], from_x[q], opposite[t], from_x[t], opposite[q], opposite[p]);
      offer(target, u[t], found);
    }
  }

  __device__ void push_triangle(const StarRecord<T>& star, T ux) {
    const std::uint32_t a = detail::vertex_at(star.corner_a), b = detail::vertex_at(star.corner_b);
    const T ua = time(a), ub = time(b);
    T lambda;
    if (a < v_.owned && can_gain(star.corner_a, ua, ux, ub)) {
      ++solves_;
      offer(a, ua, detail::edge_time(ub, ux, star.xb, star.ab, star.xa, lambda));
    }
    if (b < v_.owned && can_gain(star.corner_b, ub, ux, ua)) {
      ++solves_;
      offer(b, ub, detail::edge_time(ua, ux, star.xa, star.ab, star.xb, lambda));
    }
  }

  /// An acute corner gains from x when it is later than x, another from any earlier corner.
  __device__ static bool can_gain(std::uint32_t corner, T now, T ux, T others) {
    return now > ux || ((corner & detail::corner_flags) != 0 && now > others);
  }

  __device__ void push_virtual(const VirtualRecord<T, Corners>& record) {
    if (record.target >= v_.owned) return;
    const T now = time(record.target);
    const T u0 = time(record.face[0]), u1 = time(record.face[1]);
    const auto& l = record.length;
    if constexpr (Corners == 4) {
      const T u2 = time(record.face[2]);
      if (now <= detail::smaller(detail::smaller(u0, u1), u2)) return;
      ++solves_;
      offer(record.target, now,
            detail::tet_update_scaled(u0, u1, u2, TetLengths<T>{l[0], l[1], l[2], l[3], l[4], l[5]}).time);
    } else {
      if (now <= detail::smaller(u0, u1)) return;
      ++solves_;
      offer(record.target, now, detail::triangle_update_scaled(u0, u1, TriangleLengths<T>{l[0], l[1], l[2]}).time);
    }
  }

  /// Takes a candidate when the gain counts.
  __device__ void offer(std::uint32_t target, T now, T found) {
    if (!(found < now) || !cuda::counts(found, now, v_.tolerance, v_.edge[target])) return;
    if (lowered(v_.time + target, found)) queue(v_, target, found, next_);
  }

  const View<T, Corners>& v_;
  unsigned lane_;
  std::uint32_t next_ = 0;
  unsigned solves_ = 0;
};

/// What a tile of threads pushes from.
template <class T>
struct Push {
  std::uint32_t x;
  T time;
  bool wanted;  ///< not when it was pushed from with this time
};

/// The entry of a list, looked up by one thread for its tile: the time may fall meanwhile, and all must use the same.
template <class T, int Corners, class Tile>
__device__ Push<T> take(const View<T, Corners>& view, const Tile& tile, std::uint32_t x) {
  T time = T(0);
  int wanted = 0;
  if (tile.thread_rank() == 0) {
    time = __ldcg(view.time + x);
    wanted = time != __ldcg(view.pushed + x) ? 1 : 0;
    if (wanted != 0) view.pushed[x] = time;
  }
  return {x, tile.shfl(time, 0), tile.shfl(wanted, 0) != 0};
}

template <class T, int Corners>
__global__ void __launch_bounds__(block_threads, sizeof(T) == 4 ? 4 : 2)
    push_rounds(const __grid_constant__ View<T, Corners> view, std::uint32_t most) {
  constexpr unsigned width = lanes<Corners>, tiles = block_threads / width;
  __shared__ unsigned long long solves, updates;
  if (threadIdx.x == 0) solves = updates = 0;
  const cg::grid_group grid = cg::this_grid();
  const auto tile = cg::tiled_partition<width>(cg::this_thread_block());
  Pusher<T, Corners> pusher(view, tile.thread_rank());
  Queues<T>& queues = *view.queues;
  unsigned pushes = 0;
  const std::uint32_t first_round = __ldcg(&queues.round);
  std::uint32_t round = first_round;
  for (std::uint32_t done = 0; done < most; ++done, ++round) {
    const std::uint32_t count = __ldcg(&queues.near[round % 3]);
    if (count == 0) break;
    if (grid.thread_rank() == 0) queues.near[(round + 2) % 3] = 0;
    const std::uint32_t* list = view.near[round & 1];
    // Neighbouring entries go to different blocks: they are alike, and so the blocks' work is.
    for (std::uint64_t i = blockIdx.x + std::uint64_t{threadIdx.x / width} * gridDim.x; i < count;
         i += std::uint64_t{gridDim.x} * tiles) {
      const Push<T> from = take(view, tile, __ldcg(list + i));
      if (!from.wanted) continue;
      pusher.push(from.x, from.time, round + 1);
      ++pushes;
    }
    grid.sync();
  }
  __syncthreads();
  if (pusher.solves() > 0) atomicAdd(&solves, static_cast<unsigned long long>(pusher.solves()));
  if (tile.thread_rank() == 0 && pushes > 0) atomicAdd(&updates, static_cast<unsigned long long>(pushes));
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&queues.solves, solves);
  atomicAdd(&queues.updates, updates);
  if (blockIdx.x != 0) return;
  if (round > first_round) queues.round = round;  // all blocks have met since they read it
  queues.changed = 0;
}

// ---- between the rounds

template <class T, int Corners>
__global__ void lower_times(View<T, Corners> view, const std::uint32_t* vertices, const T* times, std::size_t count) {
  const std::size_t i = cuda::thread_number();
  if (i >= count) return;
  const std::uint32_t v = vertices[i];
  if (lowered(view.time + v, times[i]) && cuda::counts(times[i], view.pushed[v], view.tolerance, view.edge[v]))
    queue(view, v, times[i], view.queues->round);
}

/// Before the far list is read: the other one grows now.
template <class T>
__global__ void turn_far(Queues<T>* queues, unsigned side) {
  queues->far[side] = 0;
  queues->far_least = detail::infinity<T>();
}

/// What waits behind the old horizon goes on a round's list, or on the other far list.
template <class T, int Corners>
__global__ void sort_far(View<T, Corners> view) {
  const std::uint32_t* list = view.far[1 - view.side];
  const std::uint32_t count = view.queues->far[1 - view.side];
  for (std::size_t i = cuda::thread_number(); i < count; i += std::size_t{gridDim.x} * blockDim.x) {
    const std::uint32_t v = list[i];
    view.mark[v] = 0;
    const T time = view.time[v];
    if (time != view.pushed[v]) queue(view, v, time, view.queues->round);
  }
}

template <class T, int Corners>
__global__ void find_changed(View<T, Corners> view) {
  const std::size_t i = cuda::thread_number();
  if (i >= view.border) return;
  const T time = view.time[view.border_vertex[i]];
  if (!(time < view.horizon) || time == view.sent[i]) return;
  view.sent[i] = time;
  view.changed[next_place(&view.queues->changed)] = {static_cast<std::uint32_t>(i), time};
}

// ---- the part

std::vector<std::uint32_t> border_vertices(const Halo& halo) {
  std::vector<std::uint32_t> vertices(halo.border());
  for (std::size_t v = 0; v < halo.border_of.size(); ++v)
    if (halo.border_of[v] != Halo::none) vertices[halo.border_of[v]] = static_cast<std::uint32_t>(v);
  return vertices;
}

template <class T, int Corners>
class PartOnDevice final : public DevicePart<T> {
 public:
  PartOnDevice(const cuda::Device& device, const SimplexProblem<T, Corners>& problem, std::uint32_t owned,
               const Halo& halo)
      : offsets_(std::span<const std::uint32_t>(problem.adjacency.offsets)),
        edge_(std::span<const T>(problem.edge)),
        border_vertex_(std::span<const std::uint32_t>(border_vertices(halo))),
        sent_(halo.border()),
        time_(problem.vertex_count),
        pushed_(problem.vertex_count),
        stamp_(problem.vertex_count),
        mark_(problem.vertex_count),
        changed_(halo.border()),
        lanes_(halo) {
    for (auto* list : {&near_[0], &near_[1], &far_[0], &far_[1]})
      *list = DeviceArray<std::uint32_t>(problem.vertex_count);
    upload_elements(problem);
    int blocks = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, push_rounds<T, Corners>, block_threads, 0),
                "asking how much of a kernel fits");
    blocks_ = static_cast<unsigned>(blocks * device.multiprocessors);
    set_view(owned);
  }

  void clear(T tolerance) override {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    view_.tolerance = tolerance;
    view_.horizon = T(0);
    view_.side = 0;
    cuda::fill(time_, time_.size(), infinity);
    cuda::fill(pushed_, pushed_.size(), infinity);
    cuda::fill(sent_, sent_.size(), infinity);
    stamp_.clear();
    mark_.clear();
    Queues<T> start{};
    start.round = 1;
    start.far_least = infinity;
    queues_.upload_from(std::span<const Queues<T>>(&start, 1));
  }

  void lower(std::span<const std::uint32_t> vertices, std::span<const T> times) override {
    if (vertices.size() > given_vertices_.size()) {
      given_vertices_ = DeviceArray<std::uint32_t>(vertices.size());
      given_times_ = DeviceArray<T>(vertices.size());
    }
    given_vertices_.upload_from(vertices);
    given_times_.upload_from(times);
    cuda::launch_for(vertices.size(), lower_times<T, Corners>, view_, given_vertices_.data(), given_times_.data(),
                     vertices.size());
  }

  void lower(const DeviceMessage& message) override {
    const std::size_t count = message.bytes / Outbox<T>::value_bytes;
    const auto* times = reinterpret_cast<const T*>(message.memory.data());
    cuda::launch_for(count, lower_times<T, Corners>, view_, reinterpret_cast<const std::uint32_t*>(times + count),
                     times, count);
    cuda::wait();
  }

  void open(T horizon) override {
    view_.horizon = horizon;
    view_.side = 1 - view_.side;
    cuda::launch(turn_far<T>, 1, 1, 0, view_.queues, view_.side);
    cuda::launch(sort_far<T, Corners>, blocks_, block_threads, 0, view_);
  }

  void push(std::uint32_t rounds) override {
    void* arguments[] = {&view_, &rounds};
    cuda::check(
        cudaLaunchCooperativeKernel(push_rounds<T, Corners>, dim3(blocks_), dim3(block_threads), arguments, 0, nullptr),
        "starting a kernel");
    cuda::launch_for(view_.border, find_changed<T, Corners>, view_);
  }

  [[nodiscard]] PartStanding<T> standing() override {
    Queues<T> queues{};
    queues_.download_to(std::span<Queues<T>>(&queues, 1));
    PartStanding<T> result;
    result.near = queues.near[queues.round % 3];
    result.far = queues.far[view_.side];
    result.far_least = queues.far_least;
    result.changed = queues.changed;
    result.solves = queues.solves;
    result.updates = queues.updates;
    result.rounds = queues.round - 1;
    return result;
  }

  void changed(std::vector<BorderTime<T>>& result, std::uint32_t count) override {
    result.resize(count);
    changed_.download_to(std::span<BorderTime<T>>(result));
  }

  std::vector<PackedMessage> pack(std::uint32_t count) override { return lanes_.pack(changed_.data(), count); }

  void times(std::span<T> result) override { time_.download_to(result); }

 private:
  void upload_elements(const SimplexProblem<T, Corners>& problem) {
    if constexpr (Corners == 4) {
      incidences_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(problem.adjacency.incidences));
      elements_ = DeviceArray<ElementRecord<T, 4>>(std::span<const ElementRecord<T, 4>>(problem.elements));
    } else {
      stars_ = DeviceArray<StarRecord<T>>(std::span<const StarRecord<T>>(problem.stars));
    }
    const auto& extra = problem.virtual_elements;
    if (extra.empty()) return;
    face_offsets_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(extra.face_offsets));
    face_list_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(extra.face_list));
    virtual_records_ =
        DeviceArray<VirtualRecord<T, Corners>>(std::span<const VirtualRecord<T, Corners>>(extra.records));
  }

  void set_view(std::uint32_t owned) {
    view_.owned = owned;
    view_.offsets = offsets_.data();
    view_.incidences = incidences_.data();
    view_.elements = elements_.data();
    view_.stars = stars_.data();
    view_.face_offsets = face_offsets_.data();
    view_.face_list = face_list_.data();
    view_.virtual_records = virtual_records_.data();
    view_.edge = edge_.data();
    view_.time = time_.data();
    view_.pushed = pushed_.data();
    view_.stamp = stamp_.data();
    view_.mark = mark_.data();
    for (int k = 0; k < 2; ++k) {
      view_.near[k] = near_[k].data();
      view_.far[k] = far_[k].data();
    }
    view_.border = static_cast<std::uint32_t>(border_vertex_.size());
    view_.border_vertex = border_vertex_.data();
    view_.sent = sent_.data();
    view_.changed = changed_.data();
    view_.queues = queues_.data();
  }

  DeviceArray<std::uint32_t> offsets_, incidences_;
  DeviceArray<ElementRecord<T, Corners>> elements_;
  DeviceArray<StarRecord<T>> stars_;
  DeviceArray<std::uint32_t> face_offsets_, face_list_;
  DeviceArray<VirtualRecord<T, Corners>> virtual_records_;
  DeviceArray<T> edge_;
  DeviceArray<std::uint32_t> border_vertex_;
  DeviceArray<T> sent_, time_, pushed_;
  DeviceArray<std::uint32_t> stamp_, mark_;
  DeviceArray<std::uint32_t> near_[2], far_[2];
  DeviceArray<BorderTime<T>> changed_;
  BorderLanes<T> lanes_;
  DeviceArray<std::uint32_t> given_vertices_;  ///< what `lower` is given
  DeviceArray<T> given_times_;
  DeviceArray<Queues<T>> queues_{1};
  View<T, Corners> view_{};
  unsigned blocks_ = 0;
};

}  // namespace

template <class T, int Corners>
std::unique_ptr<DevicePart<T>> make_device_part(const SimplexProblem<T, Corners>& problem, std::uint32_t owned,
                                                const Halo& halo) {
  return std::make_unique<PartOnDevice<T, Corners>>(cuda::require_device(), problem, owned, halo);
}

template std::unique_ptr<DevicePart<float>> make_device_part(const SimplexProblem<float, 3>&, std::uint32_t,
                                                             const Halo&);
template std::unique_ptr<DevicePart<float>> make_device_part(const SimplexProblem<float, 4>&, std::uint32_t,
                                                             const Halo&);
template std::unique_ptr<DevicePart<double>> make_device_part(const SimplexProblem<double, 3>&, std::uint32_t,
                                                              const Halo&);
template std::unique_ptr<DevicePart<double>> make_device_part(const SimplexProblem<double, 4>&, std::uint32_t,
                                                              const Halo&);

}  // namespace isochron::mpi
