// Which source reached each vertex of a mesh on the device: see `LabelSpread`. For .cu files only.
//
// Warps take vertices in the order of their times and wait for the mixes they need, those of earlier vertices. So the
// earliest that is not done never waits, and a warp that waits goes on as soon as the one before it has written.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "isochron/solve/common/label_mix.h"
#include "isochron/solve/simplex/cuda/passes.h"

namespace isochron::cuda {
namespace detail_passes {

constexpr std::uint32_t nowhere = 0xffffffffU;

/// What a vertex has its label from; `nowhere` where there is less.
template <int Ends>
struct UpwindEnds {
  std::uint32_t from[Ends];
  float weight[Ends];
};

/// What a mix has beside its first label.
struct MixRest {
  std::int32_t second;
  float share;
};

/// The mixes of all vertices: a word for each, which is a label alone or, from `mixed` down, says that there is a rest.
struct Mixes {
  static constexpr std::int32_t unknown = -1, stuck = -2, mixed = -3;
  std::int32_t* word;
  MixRest* rest;

  [[nodiscard]] __device__ std::int32_t state(std::size_t v) const {
    return *static_cast<const volatile std::int32_t*>(word + v);
  }
  [[nodiscard]] __device__ LabelMix load(std::size_t v) const {
    const std::int32_t one = state(v);
    if (one > mixed) return {one, -1, 0};
    __threadfence();  // the rest was written before the word
    return {mixed - one, __ldcg(&rest[v].second), __ldcg(&rest[v].share)};
  }
  __device__ void store(std::size_t v, const LabelMix& mix) const {
    std::int32_t one = mix.first;
    if (mix.second >= 0) {
      rest[v] = {mix.second, mix.second_share};
      one = mixed - mix.first;
      __threadfence();
    }
    *static_cast<volatile std::int32_t*>(word + v) = one;
  }
};

/// The earlier ones of the vertices that a vertex has its time from. Nothing arrives at those without a time.
template <class View, class T>
__global__ void find_upwind(View view, const T* time, std::int32_t* word, UpwindEnds<View::ends>* upwind) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t v = thread_number() / 32;
  if (v >= view.count || word[v] >= 0) return;
  const T now = time[v];
  if (!(now < detail::infinity<T>())) {
    if (lane == 0) word[v] = Mixes::stuck;
    return;
  }
  const auto mine = view.pull(time, v, lane);
  const unsigned winners = __ballot_sync(0xffffffffU, mine.time == min_of_warp(mine.time));
  if (lane != static_cast<unsigned>(__ffs(static_cast<int>(winners)) - 1)) return;
  UpwindEnds<View::ends> ends;
  for (int k = 0; k < View::ends; ++k) {
    const bool counts = mine.time < detail::infinity<T>() && mine.weight[k] > T(0) && time[mine.from[k]] < now;
    ends.from[k] = counts ? mine.from[k] : nowhere;
    ends.weight[k] = counts ? static_cast<float>(mine.weight[k]) : 0;
  }
  upwind[v] = ends;
}

/// Gives v its mix, or calls it stuck when nobody is upwind or somebody there is; false when it has to wait.
template <int Ends>
__device__ bool settle(const Mixes& mixes, const UpwindEnds<Ends>& ends, std::uint32_t v) {
  LabelMix theirs[Ends];
  float weight[Ends] = {};
  int count = 0;
  for (int k = 0; k < Ends; ++k) {
    if (ends.from[k] == nowhere) continue;
    theirs[count] = mixes.load(ends.from[k]);
    if (theirs[count].first == Mixes::unknown) return false;
    if (theirs[count].first == Mixes::stuck) {
      count = 0;
      break;
    }
    weight[count++] = ends.weight[k];
  }
  if (count == 0) mixes.store(v, {Mixes::stuck, -1, 0});
  else mixes.store(v, blend(theirs, weight, count));
  return true;
}

template <int Ends>
__global__ void mix_labels(Mixes mixes, const UpwindEnds<Ends>* upwind, const std::uint32_t* order, std::size_t count,
                           unsigned long long* ticket) {
  const unsigned lane = threadIdx.x % 32;
  while (true) {
    unsigned long long begin = 0;
    if (lane == 0) begin = atomicAdd(ticket, 32ULL);
    begin = __shfl_sync(0xffffffffU, begin, 0);
    if (begin >= count) return;
    const bool asked = begin + lane < count;
    const std::uint32_t v = asked ? order[begin + lane] : 0;
    bool done = !asked || mixes.state(v) != Mixes::unknown;
    UpwindEnds<Ends> ends;
    if (!done) ends = upwind[v];
    while (__any_sync(0xffffffffU, !done)) {
      if (!done) done = settle(mixes, ends, v);
    }
  }
}

/// Whether nobody is upwind of a vertex that is stuck: only zero-length edges do that.
template <int Ends, class T>
__device__ bool is_alone(const Mixes& mixes, const UpwindEnds<Ends>* upwind, const T* time, std::size_t v) {
  if (mixes.state(v) != Mixes::stuck || !(time[v] < detail::infinity<T>())) return false;
  for (int k = 0; k < Ends; ++k)
    if (upwind[v].from[k] != nowhere) return false;
  return true;
}

constexpr unsigned some_adopted = 1, some_left = 2;

/// Vertices that are stuck take the label of a neighbour, as `LabelSpread::adopt` says. `seen` gets what happened.
template <class View, class T>
__global__ void adopt_labels(View view, const T* time, const UpwindEnds<View::ends>* upwind, Mixes mixes, bool any,
                             unsigned* seen) {
  const std::size_t v = thread_number();
  if (v >= view.count || mixes.state(v) != Mixes::stuck || !(time[v] < detail::infinity<T>())) return;
  bool adopted = false;
  if (any || is_alone(mixes, upwind, time, v))
    view.each_neighbour(v, [&](std::uint32_t w) {
      const LabelMix theirs = mixes.load(w);
      if (theirs.first < 0 || (!any && time[w] > time[v])) return false;
      mixes.store(v, theirs);
      return adopted = true;
    });
  atomicOr(seen, adopted ? some_adopted : some_left);
}

/// Those that were stuck behind others may try again.
template <int Ends, class T>
__global__ void reopen(Mixes mixes, const UpwindEnds<Ends>* upwind, const T* time, std::size_t count) {
  const std::size_t v = thread_number();
  if (v >= count || mixes.state(v) != Mixes::stuck || !(time[v] < detail::infinity<T>())) return;
  if (!is_alone(mixes, upwind, time, v)) mixes.word[v] = Mixes::unknown;
}

/// Seeds that kept their time have their own label, everyone else none yet.
template <class T>
__global__ void label_seeds(const Seed* seeds, std::size_t count, const std::uint32_t* to_inner, const T* time,
                            std::int32_t* label) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t v = to_inner[seeds[i].vertex.value];
  if (!(time[v] < static_cast<T>(seeds[i].time))) label[v] = seeds[i].source;
}

template <class Mark>
__global__ void user_labels(Mixes mixes, const std::uint32_t* to_user, std::size_t count, Mark* result) {
  const std::size_t i = thread_number();
  if (i >= count || to_user[i] == nobody) return;
  const std::int32_t one = mixes.word[i];
  result[to_user[i]] = one > Mixes::mixed ? (one < 0 ? -1 : one) : Mixes::mixed - one;
}

template <class Number>
__global__ void count_up(Number* numbers, std::size_t count) {
  const std::size_t i = thread_number();
  if (i < count) numbers[i] = static_cast<Number>(i);
}

/// The vertices in the order of their times.
template <class T>
DeviceArray<std::uint32_t> order_by_time(const T* time, std::size_t count) {
  DeviceArray<T> sorted(count);
  DeviceArray<std::uint32_t> numbers(count), order(count);
  launch_for(count, count_up<std::uint32_t>, numbers.data(), count);
  with_scratch("sorting", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, time, sorted.data(),
                                           static_cast<const std::uint32_t*>(numbers.data()), order.data(), count);
  });
  return order;
}

}  // namespace detail_passes

/// See `MeshSolver::labels`; `time` is a layer's, in the device's numbering.
template <class View, class T>
void find_labels(const View& view, const Numbering& numbering, const T* time, std::span<const Seed> seeds,
                 DeviceArray<std::int32_t>& result) {
  constexpr int block_threads = 128;
  constexpr std::size_t max_blocks = 528;  // vertices that wait keep others from running
  const std::size_t count = view.count;
  const DeviceArray<std::uint32_t> order = detail_passes::order_by_time(time, count);
  DeviceArray<std::int32_t> word(count);
  DeviceArray<detail_passes::MixRest> rest(count);
  DeviceArray<detail_passes::UpwindEnds<View::ends>> upwind(count);
  const detail_passes::Mixes mixes{word.data(), rest.data()};
  fill_bytes(word.data(), 0xff, word.bytes());
  const DeviceArray<Seed> on_device(seeds);
  launch_for(seeds.size(), detail_passes::label_seeds<T>, on_device.data(), seeds.size(), numbering.to_inner.data(),
             time, word.data());
  launch_for(count * 32, detail_passes::find_upwind<View, T>, view, time, word.data(), upwind.data());
  const std::size_t blocks = (count + block_threads - 1) / block_threads;
  const auto adopt = [&](bool any) {
    DeviceValue<unsigned> seen;
    launch_for(count, detail_passes::adopt_labels<View, T>, view, time, upwind.data(), mixes, any, seen.data());
    return seen.read();
  };
  for (bool again = true; again;) {
    DeviceValue<unsigned long long> ticket;
    launch(detail_passes::mix_labels<View::ends>, blocks < max_blocks ? blocks : max_blocks, block_threads, 0, mixes,
           upwind.data(), order.data(), count, ticket.data());
    unsigned seen = adopt(false);
    if (seen == detail_passes::some_left) seen = adopt(true);
    again = (seen & detail_passes::some_adopted) != 0;
    if (again) launch_for(count, detail_passes::reopen<View::ends, T>, mixes, upwind.data(), time, count);
  }
  launch_for(count, detail_passes::user_labels<std::int32_t>, mixes, numbering.to_user.data(), count, result.data());
}

}  // namespace isochron::cuda
