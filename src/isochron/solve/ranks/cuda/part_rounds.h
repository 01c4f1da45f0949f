// Rounds of pushes on a part in device memory, whatever its vertices push through. A round goes over a list of vertices
// whose time fell; each offers others a better time and puts those that take it on the list of the next round, or on
// the far list when they lie behind the horizon. For .cu files only.
//
// No fall of a time is lost: who lowers a time puts the vertex on a list afterwards, unless it is there (the stamp says
// so of a round's list, the mark of the far list). A vertex on the far list that falls to before the horizon is on a
// round's list as well. It leaves a list only to be pushed from with the time it has then, or because it was pushed
// from with that very time. Between rounds the grid meets, so a round sees all times of those before it; a time that
// falls in the round that reads it is read late by some, and pushed from again in the next one.
//
// A `Rule` says how vertices push:
//
// - `lanes`, the threads that share the work of one;
// - `edge(v)`, the travel time that gains at v are measured by;
// - `push(time, x, ux, lane, offer)`, one thread's share of the pushes from x, whose time is ux: calls
//   `offer(v, now, found)` for own vertices with the time that they have and one that may be better, and gives the
//   number of updates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <cooperative_groups.h>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/core/cuda/fill.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/device.h"
#include "isochron/solve/cuda/counts.h"
#include "isochron/solve/ranks/cuda/device_part.h"

namespace isochron::ranks {

inline constexpr unsigned part_threads = 256;  ///< of a block

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

/// What the rounds read and write.
template <class T>
struct PartLists {
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
  const auto here = cooperative_groups::coalesced_threads();
  std::uint32_t first = 0;
  if (here.thread_rank() == 0) first = atomicAdd(count, here.size());
  return here.shfl(first, 0) + here.thread_rank();
}

/// Lowers a time; true when it did.
template <class T>
__device__ bool lowered(T* place, T time) {
  const auto bits = cuda::TimeBits<T>::of(time);
  return bits < atomicMin(reinterpret_cast<typename cuda::TimeBits<T>::Type*>(place), bits);
}

/// Has a vertex whose time fell wait for a round, or for the horizon.
template <class T>
__device__ void queue(const PartLists<T>& lists, std::uint32_t v, T time, std::uint32_t round) {
  Queues<T>& queues = *lists.queues;
  if (time < lists.horizon) {
    if (atomicExch(lists.stamp + v, round) != round) lists.near[round & 1][next_place(&queues.near[round % 3])] = v;
  } else {
    if (time < __ldcg(&queues.far_least)) cuda::lower_to(&queues.far_least, time);
    if (atomicExch(lists.mark + v, 1U) == 0) lists.far[lists.side][next_place(&queues.far[lists.side])] = v;
  }
}

/// What a tile of threads pushes from.
template <class T>
struct Taken {
  T time;
  bool wanted;  ///< not when it was pushed from with this time
};

/// The entry of a list, looked up by one thread for its tile: the time may fall meanwhile, and all must use the same.
template <class T, class Tile>
__device__ Taken<T> take(const PartLists<T>& lists, const Tile& tile, std::uint32_t x) {
  T time = T(0);
  int wanted = 0;
  if (tile.thread_rank() == 0) {
    time = __ldcg(lists.time + x);
    wanted = time != __ldcg(lists.pushed + x) ? 1 : 0;
    if (wanted != 0) lists.pushed[x] = time;
  }
  return {tile.shfl(time, 0), tile.shfl(wanted, 0) != 0};
}

template <class T, class Rule>
__global__ void __launch_bounds__(part_threads, sizeof(T) == 4 ? 4 : 2)
    push_rounds(const __grid_constant__ PartLists<T> lists, const __grid_constant__ Rule rule, std::uint32_t most) {
  constexpr unsigned width = Rule::lanes, tiles = part_threads / width;
  __shared__ unsigned long long all_solves, all_pushes;
  if (threadIdx.x == 0) all_solves = all_pushes = 0;
  const auto grid = cooperative_groups::this_grid();
  const auto tile = cooperative_groups::tiled_partition<width>(cooperative_groups::this_thread_block());
  Queues<T>& queues = *lists.queues;
  unsigned solves = 0, pushes = 0;
  const std::uint32_t first_round = __ldcg(&queues.round);
  std::uint32_t round = first_round;
  for (std::uint32_t done = 0; done < most; ++done, ++round) {
    const std::uint32_t count = __ldcg(&queues.near[round % 3]);
    if (count == 0) break;
    if (grid.thread_rank() == 0) queues.near[(round + 2) % 3] = 0;
    const std::uint32_t* list = lists.near[round & 1];
    // Takes a candidate when the gain counts.
    const auto offer = [&](std::uint32_t v, T now, T found) {
      if (!(found < now) || !cuda::counts(found, now, lists.tolerance, rule.edge(v))) return;
      if (lowered(lists.time + v, found)) queue(lists, v, found, round + 1);
    };
    // Neighbouring entries go to different blocks: they are alike, and so the blocks' work is.
    for (std::uint64_t i = blockIdx.x + std::uint64_t{threadIdx.x / width} * gridDim.x; i < count;
         i += std::uint64_t{gridDim.x} * tiles) {
      const std::uint32_t x = __ldcg(list + i);
      const Taken<T> from = take(lists, tile, x);
      if (!from.wanted) continue;
      solves += rule.push(lists.time, x, from.time, tile.thread_rank(), offer);
      ++pushes;
    }
    grid.sync();
  }
  __syncthreads();
  if (solves > 0) atomicAdd(&all_solves, static_cast<unsigned long long>(solves));
  if (tile.thread_rank() == 0 && pushes > 0) atomicAdd(&all_pushes, static_cast<unsigned long long>(pushes));
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&queues.solves, all_solves);
  atomicAdd(&queues.updates, all_pushes);
  if (blockIdx.x != 0) return;
  if (round > first_round) queues.round = round;  // all blocks have met since they read it
  queues.changed = 0;
}

// ---- between the rounds

template <class T, class Rule>
__global__ void lower_times(const __grid_constant__ PartLists<T> lists, const __grid_constant__ Rule rule,
                            const std::uint32_t* vertices, const T* times, std::size_t count) {
  const std::size_t i = cuda::thread_number();
  if (i >= count) return;
  const std::uint32_t v = vertices[i];
  if (lowered(lists.time + v, times[i]) && cuda::counts(times[i], lists.pushed[v], lists.tolerance, rule.edge(v)))
    queue(lists, v, times[i], lists.queues->round);
}

/// Before the far list is read: the other one grows now.
template <class T>
__global__ void turn_far(Queues<T>* queues, unsigned side) {
  queues->far[side] = 0;
  queues->far_least = std::numeric_limits<T>::infinity();
}

/// What waits behind the old horizon goes on a round's list, or on the other far list.
template <class T>
__global__ void sort_far(const __grid_constant__ PartLists<T> lists) {
  const std::uint32_t* list = lists.far[1 - lists.side];
  const std::uint32_t count = lists.queues->far[1 - lists.side];
  for (std::size_t i = cuda::thread_number(); i < count; i += std::size_t{gridDim.x} * blockDim.x) {
    const std::uint32_t v = list[i];
    lists.mark[v] = 0;
    const T time = lists.time[v];
    if (time != lists.pushed[v]) queue(lists, v, time, lists.queues->round);
  }
}

template <class T>
__global__ void find_changed(const __grid_constant__ PartLists<T> lists) {
  const std::size_t i = cuda::thread_number();
  if (i >= lists.border) return;
  const T time = lists.time[lists.border_vertex[i]];
  if (!(time < lists.horizon) || time == lists.sent[i]) return;
  lists.sent[i] = time;
  lists.changed[next_place(&lists.queues->changed)] = {static_cast<std::uint32_t>(i), time};
}

// ---- the part

inline std::vector<std::uint32_t> border_vertices(const Halo& halo) {
  std::vector<std::uint32_t> vertices(halo.border());
  for (std::size_t v = 0; v < halo.border_of.size(); ++v)
    if (halo.border_of[v] != Halo::none) vertices[halo.border_of[v]] = static_cast<std::uint32_t>(v);
  return vertices;
}

/// `Arrays` has what vertices push through in device memory, and `rule()`, a `Rule` that reads it.
template <class T, class Arrays>
class PartOnDevice final : public DevicePart<T> {
  using Rule = typename Arrays::Rule;
  template <class Value>
  using DeviceArray = cuda::DeviceArray<Value>;

 public:
  PartOnDevice(const cuda::Device& device, Arrays&& arrays, std::size_t vertices, const Halo& halo)
      : arrays_(std::move(arrays)),
        border_vertex_(std::span<const std::uint32_t>(border_vertices(halo))),
        sent_(halo.border()),
        time_(vertices),
        pushed_(vertices),
        stamp_(vertices),
        mark_(vertices),
        changed_(halo.border()),
        lanes_(halo),
        rule_(arrays_.rule()) {
    for (auto* list : {&near_[0], &near_[1], &far_[0], &far_[1]}) *list = DeviceArray<std::uint32_t>(vertices);
    int blocks = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, push_rounds<T, Rule>, part_threads, 0),
                "asking how much of a kernel fits");
    blocks_ = static_cast<unsigned>(blocks * device.multiprocessors);
    set_lists();
  }

  void clear(T tolerance) override {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    lists_.tolerance = tolerance;
    lists_.horizon = T(0);
    lists_.side = 0;
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
    lower_all(given_vertices_.data(), given_times_.data(), vertices.size());
  }

  void lower(const DeviceMessage& message) override {
    const std::size_t count = message.bytes / Outbox<T>::value_bytes;
    const auto* times = reinterpret_cast<const T*>(message.memory.data());
    lower_all(reinterpret_cast<const std::uint32_t*>(times + count), times, count);
    cuda::wait();
  }

  void open(T horizon) override {
    lists_.horizon = horizon;
    lists_.side = 1 - lists_.side;
    cuda::launch(turn_far<T>, 1, 1, 0, lists_.queues, lists_.side);
    cuda::launch(sort_far<T>, blocks_, part_threads, 0, lists_);
  }

  void push(std::uint32_t rounds) override {
    void* arguments[] = {&lists_, &rule_, &rounds};
    cuda::check(
        cudaLaunchCooperativeKernel(push_rounds<T, Rule>, dim3(blocks_), dim3(part_threads), arguments, 0, nullptr),
        "starting a kernel");
    cuda::launch_for(lists_.border, find_changed<T>, lists_);
  }

  [[nodiscard]] PartStanding<T> standing() override {
    Queues<T> queues{};
    queues_.download_to(std::span<Queues<T>>(&queues, 1));
    PartStanding<T> result;
    result.near = queues.near[queues.round % 3];
    result.far = queues.far[lists_.side];
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
  void lower_all(const std::uint32_t* vertices, const T* times, std::size_t count) {
    cuda::launch_for(count, lower_times<T, Rule>, lists_, rule_, vertices, times, count);
  }

  void set_lists() {
    lists_.time = time_.data();
    lists_.pushed = pushed_.data();
    lists_.stamp = stamp_.data();
    lists_.mark = mark_.data();
    for (int k = 0; k < 2; ++k) {
      lists_.near[k] = near_[k].data();
      lists_.far[k] = far_[k].data();
    }
    lists_.border = static_cast<std::uint32_t>(border_vertex_.size());
    lists_.border_vertex = border_vertex_.data();
    lists_.sent = sent_.data();
    lists_.changed = changed_.data();
    lists_.queues = queues_.data();
  }

  Arrays arrays_;
  DeviceArray<std::uint32_t> border_vertex_;
  DeviceArray<T> sent_, time_, pushed_;
  DeviceArray<std::uint32_t> stamp_, mark_;
  DeviceArray<std::uint32_t> near_[2], far_[2];
  DeviceArray<BorderTime<T>> changed_;
  BorderLanes<T> lanes_;
  DeviceArray<std::uint32_t> given_vertices_;  ///< what `lower` is given
  DeviceArray<T> given_times_;
  DeviceArray<Queues<T>> queues_{1};
  Rule rule_;
  PartLists<T> lists_{};
  unsigned blocks_ = 0;
};

}  // namespace isochron::ranks
