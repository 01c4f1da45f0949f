// Rounds of pushes on the device. A round goes over a list of vertices whose time fell; each offers its tetrahedra's
// other corners a better time and puts those that take it on the next round's list. One meeting of the grid a round.
//
// No fall of a time is lost: who lowers a time in round r sees to it that the vertex is on the list of round r + 1
// (the stamp says whether it already is), and the meeting between the rounds makes the lowered time visible to whoever
// processes that list. A vertex is left out only when its time is the one it last pushed with.
#include "isochron/solve/simplex/cuda/volume.h"

#include <array>
#include <cmath>

#include <cooperative_groups.h>
#include <thrust/iterator/counting_iterator.h>
#include <cub/cub.cuh>

#include "isochron/core/cuda/check.h"
#include "isochron/local/push_batch.h"
#include "isochron/solve/simplex/cuda/tuning.h"
#include "isochron/solve/simplex/cuda/volume_build.h"
#include "isochron/solve/simplex/state.h"

namespace isochron::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned block_threads = 512;
constexpr unsigned lanes = 32;         ///< that share a vertex's tetrahedra, of which there are about 24
constexpr unsigned queue_size = 1024;  ///< vertices that a block collects in a round before it writes them itself
constexpr unsigned most_layers = 64;

struct Work {
  unsigned long long solves, updates, rounds;
};

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Type = int;
  __device__ static Type of(float x) { return __float_as_int(x); }
  __device__ static float back(Type x) { return __int_as_float(x); }
};
template <>
struct Bits<double> {
  using Type = long long;
  __device__ static Type of(double x) { return __double_as_longlong(x); }
  __device__ static double back(Type x) { return __longlong_as_double(x); }
};

/// Lowers a time; times are not negative, so their bits order as they do.
template <class T>
__device__ inline void lower_to(T* place, T value) {
  atomicMin(reinterpret_cast<typename Bits<T>::Type*>(place), Bits<T>::of(value));
}

/// What the kernel reads and writes. An entry of a list is layer · vertices + vertex.
template <class T>
struct View {
  std::uint32_t vertices;
  std::uint32_t layers;
  const StarHead* heads;
  const std::uint64_t* stars;
  const T* edge;
  T tolerance;
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
  std::uint32_t push_count;
  std::uint32_t queue[queue_size];
  std::uint32_t queue_count;
  T horizon[most_layers];
  typename Bits<T>::Type least[most_layers];
};

/// What a tile holds: its star's neighbours with their times before the push and the best offered, and the local solves
/// to do (tetrahedron · 4 + target).
template <class T>
struct TileMemory {
  T time[most_neighbours];
  typename Bits<T>::Type best[most_neighbours];
  std::uint16_t solve[3 * most_tets];
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
    if (Bits<T>::of(time) < block_.least[layer]) atomicMin(&block_.least[layer], Bits<T>::of(time));
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

  __device__ void push(const Enqueuer<T>& next, std::uint32_t entry, T ux) {
    const std::uint32_t layer = v_.layers == 1 ? 0 : entry / v_.vertices;
    StarHead head = v_.heads[entry - layer * v_.vertices];
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
      m_.best[i] = Bits<T>::of(detail::infinity<T>());
    }
    tile_.sync();
    const unsigned count = list_solves(words + neighbours, tets, ux);
    tile_.sync();
    const T* lengths = reinterpret_cast<const T*>(words + words_before_lengths(tets, neighbours));
    for (unsigned i = lane; i < count; i += lanes) solve(words + neighbours, lengths, tets, m_.solve[i], ux);
    solves_ += lane == 0 ? count : 0;
    tile_.sync();
    for (unsigned i = lane; i < neighbours; i += lanes) {
      const T best = Bits<T>::back(m_.best[i]), now = m_.time[i];
      if (best < now) take(next, words[i], layer, best, now);
    }
    tile_.sync();
  }

  /// Lists the targets that can gain: an acute corner from x when it is later than x, another from any earlier corner.
  /// Listed, they fill the lanes; tetrahedron by tetrahedron most lanes would wait for a few.
  __device__ unsigned list_solves(const std::uint32_t* corners, unsigned tets, T ux) {
    unsigned count = 0;
    for (unsigned first = 0; first < tets; first += lanes) {
      const unsigned i = first + tile_.thread_rank();
      unsigned wanted = 0;
      if (i < tets) {
        const std::uint32_t word = corners[i];
        const T ua = m_.time[word & 255U], ub = m_.time[(word >> 8) & 255U], uc = m_.time[(word >> 16) & 255U];
        const bool a_b = ua > ub, a_c = ua > uc, b_c = ub > uc;
        wanted = (ua > ux || ((word & obtuse_bit) != 0 && (a_b || a_c)) ? 1U : 0U) |
                 (ub > ux || ((word & (obtuse_bit << 1)) != 0 && (ub > ua || b_c)) ? 2U : 0U) |
                 (uc > ux || ((word & (obtuse_bit << 2)) != 0 && (uc > ua || uc > ub)) ? 4U : 0U);
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
    const unsigned target = (word >> (8 * t)) & 255U;
    const T up = m_.time[(word >> (8 * p)) & 255U], uq = m_.time[(word >> (8 * q)) & 255U];
    bool thin;
    T time = detail::push_time_lane(ux, up, uq, xp, xq, pq, xt, pt, qt, thin);
    if (thin) time = thin_push_time(ux, up, uq, xp, xq, pq, xt, pt, qt);
    if (time < m_.time[target]) atomicMin(m_.best + target, Bits<T>::of(time));
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
}

/// At a round's start: the horizons of its layers; its own part of the next list empty.
template <class T>
__device__ void open_round(const View<T>& view, BlockMemory<T>& block, std::uint32_t round) {
  for (unsigned layer = threadIdx.x; layer < view.layers; layer += block_threads) {
    block.horizon[layer] = __ldcg(view.least + (round % 3) * most_layers + layer) + view.width;
    block.least[layer] = Bits<T>::of(detail::infinity<T>());
  }
  if (threadIdx.x == 0) block.queue_count = block.push_count = 0;
  if (blockIdx.x == 0) {
    const std::uint32_t clear = (round + 2) % 3;
    if (threadIdx.x == 0) view.count[clear] = 0;
    for (unsigned layer = threadIdx.x; layer < view.layers; layer += block_threads)
      view.least[clear * most_layers + layer] = detail::infinity<T>();
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
    if (block.least[layer] < Bits<T>::of(detail::infinity<T>()))
      lower_to(view.least + next * most_layers + layer, Bits<T>::back(block.least[layer]));
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
    if (count == 0) break;
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
      for (std::uint32_t k = threadIdx.x / lanes; k < pushes; k += tiles)
        pusher.push(next, block.push_entry[k], block.push_time[k]);
      __syncthreads();
      if (threadIdx.x == 0) block.push_count = 0;
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

// ---- before and after

template <class T>
__global__ void fill(T* values, std::size_t count, T value) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    values[i] = value;
}

/// A layer's seeds as the device gets them.
struct SeedEntry {
  double time;
  std::uint32_t vertex, layer;
};

template <class T>
__global__ void set_seeds(const SeedEntry* seeds, std::size_t count, const std::uint32_t* old_to_new,
                          std::uint32_t vertices, T* time, std::uint32_t* list) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t entry = seeds[i].layer * vertices + old_to_new[seeds[i].vertex];
  time[entry] = static_cast<T>(seeds[i].time);
  list[i] = entry;
}

template <class T>
__global__ void user_times(const T* time, const std::uint32_t* new_to_old, std::size_t count, double unit, double base,
                           double* result) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) result[new_to_old[i]] = static_cast<double>(time[i]) * unit + base;
}

/// The earliest arrival at a vertex from its tetrahedra as the times stand, with the vertices it comes from.
template <class T>
struct Pulled {
  FaceCandidate<T> best{detail::infinity<T>(), {T(0), T(0), T(0)}};
  std::uint32_t corner[3];
};

/// One lane's share of the vertex's tetrahedra.
template <class T>
__device__ Pulled<T> pull(const View<T>& view, const T* time, std::size_t v, std::uint32_t lane) {
  const T inf = detail::infinity<T>();
  Pulled<T> pulled;
  for (StarHead head = view.heads[v];; head = view.heads[head.next]) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(view.stars + head.begin);
    const unsigned tets = head.tets, neighbours = head.neighbours;
    const T* l = reinterpret_cast<const T*>(words + words_before_lengths(tets, neighbours));
    for (unsigned i = lane; i < tets; i += 32) {
      const std::uint32_t corners = words[neighbours + i];
      const std::uint32_t a = words[corners & 255U], b = words[(corners >> 8) & 255U],
                          c = words[(corners >> 16) & 255U];
      const T ua = time[a], ub = time[b], uc = time[c];
      if (!(ua < inf) && !(ub < inf) && !(uc < inf)) continue;
      const TetLengths<T> lengths{l[3 * tets + i], l[4 * tets + i], l[5 * tets + i], l[i],
                                  l[tets + i],     l[2 * tets + i]};
      const FaceCandidate<T> candidate = detail::tet_update_scaled(ua, ub, uc, lengths);
      if (candidate.time < pulled.best.time) pulled = {candidate, {a, b, c}};
    }
    if (head.next == 0) return pulled;
  }
}

template <class T>
__device__ T least_of_warp(T value) {
  for (unsigned step = 16; step > 0; step /= 2)
    value = detail::smaller(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

/// Finds the worst vertex: its difference in the high bits, itself in the low ones.
template <class T>
__global__ void residual_pass(View<T> view, const T* time, const std::uint8_t* seeded, unsigned long long* worst) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t v = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (v >= view.vertices) return;
  const T inf = detail::infinity<T>();
  const T again = least_of_warp(pull(view, time, v, lane).best.time);
  if (lane != 0) return;
  const T now = time[v];
  if (now == again || (seeded[v] != 0 && !(again < now))) return;
  float difference = __int_as_float(0x7f800000);
  if (now < inf && again < inf) {
    const double rounding = 8.0 * std::numeric_limits<T>::epsilon() * static_cast<double>(now);
    const double exact =
        (fabs(static_cast<double>(now) - static_cast<double>(again)) - rounding) / static_cast<double>(view.edge[v]);
    if (exact <= 0) return;
    if (!isnan(exact)) difference = __double2float_ru(exact);
  }
  const unsigned long long packed = static_cast<unsigned long long>(__float_as_uint(difference)) << 32 | v;
  if (packed > *worst) atomicMax(worst, packed);
}

constexpr std::uint32_t no_parent = 0xffffffffU;

/// The earliest of the vertices that a vertex has its time from.
template <class T>
__global__ void find_parents(View<T> view, const T* time, const std::int32_t* label, std::uint32_t* parent) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t v = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (v >= view.vertices) return;
  const T now = time[v];
  const bool asked = label[v] < 0 && now < detail::infinity<T>();
  if (lane == 0) parent[v] = no_parent;
  if (!asked) return;
  const Pulled<T> mine = pull(view, time, v, lane);
  const unsigned winners = __ballot_sync(0xffffffffU, mine.best.time == least_of_warp(mine.best.time));
  if (lane != static_cast<unsigned>(__ffs(static_cast<int>(winners)) - 1)) return;
  T earliest = now;
  for (int k = 0; k < 3; ++k)
    if (mine.best.weight[k] > T(0) && time[mine.corner[k]] < earliest) {
      earliest = time[mine.corner[k]];
      parent[v] = mine.corner[k];
    }
}

/// Follows parents: each takes its parent's label, or its parent's parent.
__global__ void follow_parents(std::size_t count, std::int32_t* label, std::uint32_t* parent, unsigned* changed) {
  const std::size_t v = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (v >= count || label[v] >= 0) return;
  const std::uint32_t from = parent[v];
  if (from == no_parent) return;
  const std::int32_t theirs = __ldcg(label + from);
  const std::uint32_t further = __ldcg(parent + from);
  if (theirs >= 0) label[v] = theirs;
  else if (further != no_parent) parent[v] = further;
  else return;
  *changed = 1;
}

/// Only zero-length edges leave a reached vertex without an earlier parent: it shares its neighbour's time and source.
template <class T>
__global__ void adopt_labels(View<T> view, const T* time, std::int32_t* label, unsigned* changed) {
  const std::size_t v = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (v >= view.vertices || label[v] >= 0 || !(time[v] < detail::infinity<T>())) return;
  for (StarHead head = view.heads[v];; head = view.heads[head.next]) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(view.stars + head.begin);
    for (unsigned i = 0; i < head.neighbours; ++i) {
      const std::int32_t theirs = __ldcg(label + words[i]);
      if (theirs < 0 || time[words[i]] > time[v]) continue;
      label[v] = theirs;
      *changed = 1;
      return;
    }
    if (head.next == 0) return;
  }
}

/// Seeds that kept their time have their own label, everyone else none yet.
template <class T>
__global__ void label_seeds(const SeedEntry* seeds, const std::int32_t* labels, std::size_t count,
                            const std::uint32_t* old_to_new, const T* time, std::int32_t* label) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t v = old_to_new[seeds[i].vertex];
  if (!(time[v] < static_cast<T>(seeds[i].time))) label[v] = labels[i];
}

__global__ void user_labels(const std::int32_t* label, const std::uint32_t* new_to_old, std::size_t count,
                            std::int32_t* result) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) result[new_to_old[i]] = label[i];
}

template <class T>
__global__ void internal_times(const double* times, const std::uint32_t* new_to_old, std::size_t count, double unit,
                               double base, T* result) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) result[i] = static_cast<T>((times[new_to_old[i]] - base) / unit);
}

__global__ void mark_seeds(const SeedEntry* seeds, std::size_t count, const std::uint32_t* old_to_new,
                           std::uint8_t* seeded) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) seeded[old_to_new[seeds[i].vertex]] = 1;
}

/// Marks the corners of every element that has a marked corner.
__global__ void grow_marks(const uint4* elements, std::size_t count, const std::uint8_t* marked, std::uint8_t* grown) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint4 e = elements[i];
  if ((marked[e.x] | marked[e.y] | marked[e.z] | marked[e.w]) == 0) return;
  grown[e.x] = grown[e.y] = grown[e.z] = grown[e.w] = 1;
}

struct HasMark {
  const uint4* elements;
  const std::uint8_t* marked;
  __device__ bool operator()(std::uint32_t i) const {
    const uint4 e = elements[i];
    return (marked[e.x] | marked[e.y] | marked[e.z] | marked[e.w]) != 0;
  }
};

unsigned blocks_for(std::size_t items) { return static_cast<unsigned>((items + 255) / 256); }

template <class T>
class VolumeOnDevice final : public VolumeSolver<T> {
 public:
  VolumeOnDevice(const Device& device, const TetMesh& mesh, const Metric& metric, int threads)
      : mesh_(mesh), threads_(threads), tuning_(push_tuning(device)), multiprocessors_(device.multiprocessors) {
    build_topology(volume_, mesh, threads);
    build_stars(volume_, mesh, metric, threads);
    choose_grid();
  }

  void set_metric(const Metric& metric) override { build_stars(volume_, mesh_, metric, threads_); }

  [[nodiscard]] VolumeSummary summary() const override {
    VolumeSummary summary = volume_.summary;
    summary.device_bytes += layer_bytes() * layers_;
    return summary;
  }

  [[nodiscard]] std::size_t layers_that_fit() const override {
    const std::size_t most = std::size_t{0xfffffff0U} / volume_.vertices;
    const std::size_t room = layers_ + free_bytes() / 10 * 9 / layer_bytes();
    return std::clamp<std::size_t>(std::min(most, room), 1, most_layers);
  }

  Counters solve(std::span<const VolumeSeeds> layers, T tolerance, double band_width, double& seconds) override {
    make_room(layers.size());
    const std::size_t entries = volume_.vertices * layers.size();
    start(layers);
    View<T> view = this->view();
    view.layers = static_cast<std::uint32_t>(layers.size());
    view.tolerance = tolerance;
    const double width = band_width > 0 ? band_width : tuning_.width;
    view.width = static_cast<T>(width * volume_.summary.mean_edge);
    void* arguments[] = {&view};
    Event begin, end;
    check(cudaEventRecord(begin.get()), "taking the time");
    fill<<<1024, 256>>>(time_.data(), entries, detail::infinity<T>());
    fill<<<1024, 256>>>(pushed_.data(), entries, T(-1));
    stamp_.clear();
    set_seeds<<<blocks_for(seeds_.size()), 256>>>(device_seeds_.data(), seeds_.size(), volume_.old_to_new.data(),
                                                  static_cast<std::uint32_t>(volume_.vertices), time_.data(),
                                                  lists_[0].data());
    check(cudaGetLastError(), "setting the seeds");
    check(cudaLaunchCooperativeKernel(push_rounds<T>, dim3(static_cast<unsigned>(blocks_)), dim3(block_threads),
                                      arguments, 0, nullptr),
          "starting a kernel");
    check(cudaEventRecord(end.get()), "taking the time");
    check(cudaEventSynchronize(end.get()), "solving");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "taking the time");
    seconds = 1e-3 * milliseconds;
    Work work{};
    work_.download_to(std::span<Work>(&work, 1));
    Counters counters;
    counters.local_solves = work.solves;
    counters.vertex_updates = work.updates;
    counters.rounds = work.rounds;
    return counters;
  }

  void times(std::size_t layer, double base, std::span<double> result) override {
    if (user_times_.size() == 0) user_times_ = DeviceArray<double>(volume_.vertices);
    user_times<<<blocks_for(volume_.vertices), 256>>>(time_.data() + layer * volume_.vertices,
                                                      volume_.new_to_old.data(), volume_.vertices, volume_.summary.unit,
                                                      base, user_times_.data());
    check(cudaGetLastError(), "copying times");
    user_times_.download_to(result);
  }

  void load_times(std::span<const double> times, double base) override {
    make_room(1);
    const DeviceArray<double> given(times);
    internal_times<<<blocks_for(volume_.vertices), 256>>>(given.data(), volume_.new_to_old.data(), volume_.vertices,
                                                          volume_.summary.unit, base, time_.data());
    check(cudaGetLastError(), "copying times");
  }

  void labels(std::size_t layer, const VolumeSeeds& seeds, std::span<std::int32_t> result) override {
    const std::size_t count = volume_.vertices;
    const T* time = time_.data() + layer * count;
    DeviceArray<std::int32_t> label(count), sorted(count);
    DeviceArray<std::uint32_t> parent(count);
    DeviceArray<unsigned> changed(1);
    fill_bytes(label.data(), 0xff, label.bytes());
    const std::vector<SeedEntry> entries = seed_entries(seeds, 0);
    const DeviceArray<SeedEntry> device_entries{std::span<const SeedEntry>(entries)};
    const DeviceArray<std::int32_t> device_labels{std::span<const std::int32_t>(seeds.labels)};
    label_seeds<<<blocks_for(entries.size()), 256>>>(device_entries.data(), device_labels.data(), entries.size(),
                                                     volume_.old_to_new.data(), time, label.data());
    find_parents<<<blocks_for(count * 32), 256>>>(view(), time, label.data(), parent.data());
    const auto until_quiet = [&](auto&& pass) {
      for (unsigned any = 1; any != 0;) {
        changed.clear();
        pass();
        check(cudaGetLastError(), "finding sources");
        changed.download_to(std::span<unsigned>(&any, 1));
      }
    };
    until_quiet(
        [&] { follow_parents<<<blocks_for(count), 256>>>(count, label.data(), parent.data(), changed.data()); });
    until_quiet([&] { adopt_labels<<<blocks_for(count), 256>>>(view(), time, label.data(), changed.data()); });
    user_labels<<<blocks_for(count), 256>>>(label.data(), volume_.new_to_old.data(), count, sorted.data());
    check(cudaGetLastError(), "finding sources");
    sorted.download_to(result);
  }

  Residual residual(std::size_t layer, const VolumeSeeds& seeds, double limit) override {
    DeviceArray<std::uint8_t> seeded(volume_.vertices);
    seeded.clear();
    mark(seeds.vertices, seeded);
    DeviceArray<unsigned long long> worst(1);
    worst.clear();
    residual_pass<<<blocks_for(volume_.vertices * 32), 256>>>(view(), time_.data() + layer * volume_.vertices,
                                                              seeded.data(), worst.data());
    check(cudaGetLastError(), "checking the times");
    unsigned long long packed = 0;
    worst.download_to(std::span<unsigned long long>(&packed, 1));
    Residual result;
    result.limit = limit;
    if (packed == 0) return result;
    result.worst = std::bit_cast<float>(static_cast<std::uint32_t>(packed >> 32));
    std::uint32_t vertex = 0;
    download(&vertex, volume_.new_to_old.data() + (packed & 0xffffffffU), sizeof vertex);
    result.worst_vertex = VertexId(vertex);
    return result;
  }

  std::vector<ElementId> elements_near(std::span<const VertexId> vertices, int rings) override {
    DeviceArray<std::uint8_t> marked(volume_.vertices), grown(volume_.vertices);
    marked.clear();
    std::vector<std::uint32_t> ids;
    for (const VertexId v : vertices) ids.push_back(v.value);
    mark(ids, marked);
    const std::size_t elements = volume_.elements.size();
    for (int ring = 0; ring < rings; ++ring) {
      check(cudaMemcpy(grown.data(), marked.data(), marked.bytes(), cudaMemcpyDeviceToDevice), "copying");
      grow_marks<<<blocks_for(elements), 256>>>(volume_.elements.data(), elements, marked.data(), grown.data());
      check(cudaGetLastError(), "looking around the sources");
      std::swap(marked, grown);
    }
    DeviceArray<std::uint32_t> found(elements);
    DeviceArray<unsigned long long> count(1);
    const HasMark has_mark{volume_.elements.data(), marked.data()};
    std::size_t bytes = 0;
    const auto all = thrust::make_counting_iterator(std::uint32_t{0});
    const auto select = [&](void* scratch) {
      return cub::DeviceSelect::If(scratch, bytes, all, found.data(), count.data(), static_cast<std::int64_t>(elements),
                                   has_mark);
    };
    check(select(nullptr), "looking around the sources");
    DeviceArray<std::uint8_t> scratch(bytes);
    check(select(scratch.data()), "looking around the sources");
    unsigned long long total = 0;
    count.download_to(std::span<unsigned long long>(&total, 1));
    std::vector<ElementId> result(total);
    download(result.data(), found.data(), total * sizeof(std::uint32_t));
    return result;
  }

 private:
  class Event {
   public:
    Event() { check(cudaEventCreate(&event_), "taking the time"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    [[nodiscard]] cudaEvent_t get() const { return event_; }

   private:
    cudaEvent_t event_{};
  };

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
    layers_ = 0;
    for (DeviceArray<T>* array : {&time_, &pushed_}) *array = {};
    for (DeviceArray<std::uint32_t>* array : {&stamp_, &lists_[0], &lists_[1]}) *array = {};
    time_ = DeviceArray<T>(entries);
    pushed_ = DeviceArray<T>(entries);
    stamp_ = DeviceArray<std::uint32_t>(entries);
    for (auto& list : lists_) list = DeviceArray<std::uint32_t>(entries);
    if (count_.size() == 0) {
      count_ = DeviceArray<std::uint32_t>(3);
      least_ = DeviceArray<T>(3 * most_layers);
      work_ = DeviceArray<Work>(1);
    }
    layers_ = layers;
  }

  static std::vector<SeedEntry> seed_entries(const VolumeSeeds& seeds, std::uint32_t layer) {
    std::vector<SeedEntry> entries;
    entries.reserve(seeds.vertices.size());
    for (std::size_t i = 0; i < seeds.vertices.size(); ++i)
      entries.push_back({seeds.times[i], seeds.vertices[i], layer});
    return entries;
  }

  void start(std::span<const VolumeSeeds> layers) {
    seeds_.clear();
    std::vector<T> least(3 * most_layers, std::numeric_limits<T>::infinity());
    for (std::size_t k = 0; k < layers.size(); ++k)
      for (const SeedEntry& entry : seed_entries(layers[k], static_cast<std::uint32_t>(k))) {
        seeds_.push_back(entry);
        least[k] = std::min(least[k], static_cast<T>(entry.time));
      }
    device_seeds_ = DeviceArray<SeedEntry>(std::span<const SeedEntry>(seeds_));
    least_.upload_from(std::span<const T>(least));
    const std::array<std::uint32_t, 3> counts{static_cast<std::uint32_t>(seeds_.size()), 0, 0};
    count_.upload_from(std::span<const std::uint32_t>(counts));
    work_.clear();
  }

  void mark(const std::vector<std::uint32_t>& vertices, DeviceArray<std::uint8_t>& marks) {
    std::vector<SeedEntry> entries;
    for (const std::uint32_t v : vertices) entries.push_back({0, v, 0});
    const DeviceArray<SeedEntry> device_entries{std::span<const SeedEntry>(entries)};
    if (entries.empty()) return;
    mark_seeds<<<blocks_for(entries.size()), 256>>>(device_entries.data(), entries.size(), volume_.old_to_new.data(),
                                                    marks.data());
    check(cudaGetLastError(), "marking vertices");
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

  const TetMesh& mesh_;
  int threads_;
  PushTuning tuning_;
  int multiprocessors_;
  DeviceVolume<T> volume_;
  std::size_t layers_ = 0;  ///< that there is memory for
  DeviceArray<T> time_, pushed_, least_;
  DeviceArray<std::uint32_t> stamp_, count_;
  std::array<DeviceArray<std::uint32_t>, 2> lists_;
  DeviceArray<Work> work_;
  DeviceArray<double> user_times_;
  std::vector<SeedEntry> seeds_;
  DeviceArray<SeedEntry> device_seeds_;
  int blocks_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<VolumeSolver<T>> make_volume_solver(const TetMesh& mesh, const Metric& metric, int threads) {
  return std::make_unique<VolumeOnDevice<T>>(require_device(), mesh, metric, threads);
}

template std::unique_ptr<VolumeSolver<float>> make_volume_solver(const TetMesh&, const Metric&, int);
template std::unique_ptr<VolumeSolver<double>> make_volume_solver(const TetMesh&, const Metric&, int);

}  // namespace isochron::cuda
