// Paper 001's subdomains in device memory, and what the threads of a block do with one of them. For .cu files only.
#pragma once

#include <cstdint>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/papers/subdomains.h"
#include "isochron/solve/simplex/cuda/pull_arrays.h"

namespace isochron::cuda {

inline constexpr unsigned warp_threads = 32, whole_warp = 0xffffffffU;
/// Threads that share the incidences of a vertex.
inline constexpr unsigned vertex_threads = 8, vertices_of_warp = warp_threads / vertex_threads;

/// Work of a solve, summed over its threads.
struct SubdomainWork {
  unsigned long long solves, updates;
  std::uint32_t given_up;  ///< whether a subdomain did not come to rest
};

template <class T, int Corners>
struct SubdomainView {
  const ElementRecord<T, Corners>* elements;  ///< their corners are local
  Incidences pulls, wakes;                    ///< by copy
  const T* edge;                              ///< by copy
  const std::uint32_t* begin;                 ///< by subdomain: its first copy
  const std::uint32_t* word_begin;            ///< by subdomain: its first word of bits
  const VertexCopy* first_copy;               ///< by vertex
  const std::uint32_t* group_of;              ///< by copy
  const std::uint32_t* group_begin;
  const VertexCopy* group;
  T tolerance, band;
  T* time;                      ///< by copy
  std::uint32_t* fallen;        ///< bits of copies: those around it have not been asked
  std::uint32_t* wanted;        ///< bits of copies: to be pulled
  std::uint32_t* list;          ///< by copy: of each subdomain from its `begin` on
  T* own_time;                  ///< by copy: of subdomains while they are solved, that shared memory is too small for
  std::uint32_t* own_fallen;    ///< their bits
  std::uint32_t* active_in;     ///< by subdomain: the last round that it is active in
  std::uint32_t* active;        ///< the active subdomains
  std::uint32_t* list_size;     ///< by active subdomain
  std::uint32_t* stretch_ends;  ///< by active subdomain: stretches of lists up to and with its own
  std::uint32_t max_sweeps;     ///< of a subdomain in a round
  SubdomainWork* work;
};

template <class T>
__device__ T earlier(T a, T b) {
  return a < b ? a : b;
}
template <class T>
__device__ T earliest_of_warp(T time) {
  for (unsigned step = warp_threads / 2; step > 0; step /= 2)
    time = earlier(time, __shfl_xor_sync(whole_warp, time, step));
  return time;
}

/// Has a subdomain take part in the next round.
template <class View>
__device__ void wake_subdomain(const View& view, std::uint32_t subdomain, std::uint32_t round) {
  if (__ldcg(view.active_in + subdomain) != round + 1) __stcg(view.active_in + subdomain, round + 1);
}

/// Says that a copy was lowered from outside, with its time written before.
template <class View>
__device__ void call(const View& view, VertexCopy copy, std::uint32_t round) {
  __threadfence();
  atomicOr(view.fallen + view.word_begin[copy.subdomain] + copy.local / 32, 1U << copy.local % 32);
  wake_subdomain(view, copy.subdomain, round);
}

/// Lowers the other copies of a copy's vertex that are later.
template <class T, int Corners>
__device__ void pass_on(const SubdomainView<T, Corners>& view, std::uint32_t copy, T time, std::uint32_t round) {
  const std::uint32_t group = view.group_of[copy];
  if (group == Subdomains<T, Corners>::alone) return;
  for (std::uint32_t g = view.group_begin[group]; g < view.group_begin[group + 1]; ++g) {
    const VertexCopy other = view.group[g];
    T* const place = view.time + view.begin[other.subdomain] + other.local;
    if (!(time < __ldcg(place))) continue;  // this copy itself has the time by now
    lower_to(place, time);
    call(view, other, round);
  }
}

/// What a block works with: times, bits and a list of a subdomain's copies, in shared or global memory.
template <class T>
struct Room {
  T* time;
  std::uint32_t *fallen, *wanted, *list;
};

/// Times that other threads may lower at this moment.
template <class T>
struct LocalTimes {
  const volatile T* data;
  [[nodiscard]] __device__ T load(std::uint32_t v) const { return data[v]; }
};

/// What a thread did.
struct Tally {
  unsigned long long solves = 0, updates = 0;

  /// All threads of a warp call it.
  __device__ void add_to(SubdomainWork* work) const {
    unsigned long long sum = solves;
    for (unsigned step = warp_threads / 2; step > 0; step /= 2) sum += __shfl_xor_sync(whole_warp, sum, step);
    if (threadIdx.x % warp_threads == 0 && sum > 0) atomicAdd(&work->solves, sum);
    if (updates > 0) atomicAdd(&work->updates, updates);
  }
};

/// A block, or one of several, at work on a subdomain. Vertices are numbers of its copies, from 0.
template <class T, int Corners>
class Worker {
 public:
  __device__ Worker(const SubdomainView<T, Corners>& view, std::uint32_t subdomain, const Room<T>& room)
      : v_(view),
        room_(room),
        first_(view.begin[subdomain]),
        size_(view.begin[subdomain + 1] - first_),
        words_((size_ + 31) / 32),
        pulls_{view.pulls.offsets + first_, view.pulls.list},
        wakes_{view.wakes.offsets + first_, view.wakes.list} {}

  [[nodiscard]] __device__ T time(std::uint32_t v) const { return LocalTimes<T>{room_.time}.load(v); }

  /// Lists the vertices with set bits that `takes(vertex)`, takes off these bits, and adds their number to `count`. All
  /// threads of the block call it, and nobody else touches the bits. A warp takes a word.
  template <class Takes>
  __device__ void compact(std::uint32_t* bits, std::uint32_t* count, const Takes& takes) const {
    const unsigned lane = threadIdx.x % warp_threads;
    for (std::uint32_t w = threadIdx.x / warp_threads; w < words_; w += blockDim.x / warp_threads) {
      const std::uint32_t word = *static_cast<volatile std::uint32_t*>(bits + w);
      if (word == 0) continue;
      const std::uint32_t v = w * 32 + lane;
      const bool taken = (word >> lane & 1U) != 0 && takes(v);
      const std::uint32_t all = __ballot_sync(whole_warp, taken);
      std::uint32_t place = 0;
      if (lane == 0 && all != 0) {
        bits[w] = word & ~all;
        place = atomicAdd(count, static_cast<std::uint32_t>(__popc(all)));
      }
      place = __shfl_sync(whole_warp, place, 0);
      if (taken) room_.list[place + __popc(all & ((1U << lane) - 1))] = v;
    }
  }

  /// Has all be pulled that can gain from a vertex. The threads that share it call it, each for its incidences.
  __device__ void wake_around(std::uint32_t vertex) const {
    const T its_time = time(vertex);
    for (std::uint32_t i = wakes_.offsets[vertex] + threadIdx.x % vertex_threads; i < wakes_.offsets[vertex + 1];
         i += vertex_threads) {
      const std::uint32_t incidence = wakes_.list[i];
      const ElementRecord<T, Corners>& record = v_.elements[incidence >> 2];
      for (std::uint32_t k = 0; k < Corners; ++k) {
        const std::uint32_t n = detail::vertex_at(record.corner[k]);
        if (k == (incidence & 3U) || !may_gain(record.corner[k], time(n), its_time)) continue;
        const std::uint32_t bit = 1U << n % 32;
        if ((*static_cast<volatile std::uint32_t*>(room_.wanted + n / 32) & bit) == 0)
          atomicOr(room_.wanted + n / 32, bit);
      }
    }
  }

  __device__ void wake_around_listed(std::uint32_t count) const {
    for (std::uint32_t i = threadIdx.x / vertex_threads; i < count; i += blockDim.x / vertex_threads)
      wake_around(room_.list[i]);
  }

  /// Pulls vertices, and calls `fell(vertex, time)` by all threads that share one whose time it lowered. All threads of
  /// the block call it.
  template <class Fell>
  __device__ void pull(const std::uint32_t* vertices, std::uint32_t count, Tally& tally, const Fell& fell) const {
    const unsigned lane = threadIdx.x % warp_threads;
    const LocalTimes<T> times{room_.time};
    std::uint32_t solves = 0;
    for (std::uint32_t at = threadIdx.x / warp_threads * vertices_of_warp; at < count;
         at += blockDim.x / warp_threads * vertices_of_warp) {
      const std::uint32_t mine = at + lane / vertex_threads;
      const std::uint32_t v = mine < count ? vertices[mine] : 0;
      const std::uint32_t end = mine < count ? pulls_.offsets[v + 1] : 0;
      T found = detail::infinity<T>();
      for (std::uint32_t i = mine < count ? pulls_.offsets[v] + lane % vertex_threads : 0; i < end;
           i += vertex_threads) {
        const std::uint32_t incidence = pulls_.list[i];
        found = earlier(found, candidate(v_.elements[incidence >> 2], static_cast<int>(incidence & 3U), times));
        ++solves;
      }
      for (unsigned step = vertex_threads / 2; step > 0; step /= 2)
        found = earlier(found, __shfl_xor_sync(whole_warp, found, step));
      const bool lowers = mine < count && counts(found, time(v), v_.tolerance, v_.edge[first_ + v]);
      __syncwarp();  // all who share the vertex have compared
      if (lowers && lane % vertex_threads == 0) *static_cast<volatile T*>(room_.time + v) = found;
      __syncwarp();
      if (lowers) fell(v, found);
    }
    tally.solves += solves;
    if (threadIdx.x == 0) tally.updates += count;
  }

  /// Takes the bits of lowered copies over, then the times. Returns the earliest lowered one of this thread's.
  __device__ T load(std::uint32_t* outside_fallen) const {
    for (std::uint32_t w = threadIdx.x; w < words_; w += blockDim.x) {
      room_.fallen[w] = atomicExch(outside_fallen + w, 0U);
      room_.wanted[w] = 0;
    }
    __threadfence();  // the bits are off before any time is read
    __syncthreads();
    T first = detail::infinity<T>();
    for (std::uint32_t v = threadIdx.x; v < size_; v += blockDim.x) {
      const T now = __ldcg(v_.time + first_ + v);
      room_.time[v] = now;
      if ((room_.fallen[v / 32] >> v % 32 & 1U) != 0) first = earlier(first, now);
    }
    return first;
  }

  /// Writes what became earlier to the copies in global memory, this subdomain's and the others'.
  __device__ void store(std::uint32_t round) const {
    for (std::uint32_t v = threadIdx.x; v < size_; v += blockDim.x) {
      T* const place = v_.time + first_ + v;
      const T now = time(v);
      if (!(now < __ldcg(place))) continue;
      lower_to(place, now);
      pass_on(v_, first_ + v, now, round);
    }
  }

 private:
  const SubdomainView<T, Corners>& v_;
  Room<T> room_;
  std::uint32_t first_, size_, words_;
  Incidences pulls_, wakes_;
};

}  // namespace isochron::cuda
