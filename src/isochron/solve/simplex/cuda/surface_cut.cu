#include <cassert>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/solve/simplex/cuda/surface_records.h"

namespace isochron::cuda {
namespace {

constexpr std::uint32_t none = SurfacePatches<float>::none;
constexpr std::uint32_t near_count = SurfacePatches<float>::near_count;

/// Equal pieces of the curve: patch p has the vertices from `begin(p)` to `begin(p + 1)`; its last places stay empty.
struct Pieces {
  std::uint64_t vertices;
  std::uint32_t count, size;

  [[nodiscard]] __device__ std::uint32_t begin(std::uint32_t patch) const {
    return static_cast<std::uint32_t>(vertices * patch / count);
  }
  [[nodiscard]] __device__ std::uint32_t place(std::uint32_t v) const {
    const auto patch = static_cast<std::uint32_t>(((v + std::uint64_t{1}) * count - 1) / vertices);
    return patch * size + v - begin(patch);
  }
  [[nodiscard]] __device__ std::uint32_t patch_of(std::uint32_t place) const { return place / size; }
  /// The vertex at a place; none where it is empty.
  [[nodiscard]] __device__ std::uint32_t vertex(std::uint32_t place) const {
    const std::uint32_t patch = patch_of(place), v = begin(patch) + place - patch * size;
    return v < begin(patch + 1) ? v : none;
  }
};

template <class T>
__global__ void place_vertices(Pieces pieces, const std::uint32_t* new_to_old, const T* edge, std::size_t places,
                               std::uint32_t* vertex_at, std::uint32_t* place_of, T* edge_at) {
  const std::size_t i = thread_number();
  if (i >= places) return;
  const auto place = static_cast<std::uint32_t>(i);
  const std::uint32_t v = pieces.vertex(place);
  vertex_at[place] = v == none ? none : new_to_old[v];
  edge_at[place] = v == none ? T(0) : edge[v];
  if (v != none) place_of[new_to_old[v]] = place;
}

// ---- ghosts and records

constexpr int fill_threads = 256;

/// Numbers a patch's ghosts: a hash table with open addresses in shared memory. It takes in `room` ghosts, and at most
/// one more a thread before all have seen that it is full: these have numbers from `room` on and do not count. So it is
/// never more than a third full.
class GhostTable {
 public:
  static constexpr std::uint32_t cells = 4096;
  static_assert(3 * (PatchShape::max_threads + fill_threads) <= cells);
  struct Memory {
    std::uint32_t key[cells];
    std::uint16_t number[cells];
    std::uint32_t count;
  };

  /// Before a barrier.
  __device__ GhostTable(Memory& memory, std::uint32_t room) : m_(memory), room_(room) {
    for (std::uint32_t i = threadIdx.x; i < cells; i += fill_threads) m_.key[i] = none;
    if (threadIdx.x == 0) m_.count = 0;
  }
  __device__ void add(std::uint32_t place) {
    for (std::uint32_t cell = first(place);; cell = (cell + 1) % cells) {
      const bool full = atomicAdd(&m_.count, 0U) >= room_;
      const std::uint32_t old = atomicCAS(&m_.key[cell], none, full ? none : place);
      if (old == place) return;
      if (old != none) continue;
      if (!full) m_.number[cell] = static_cast<std::uint16_t>(atomicAdd(&m_.count, 1U));
      return;
    }
  }
  /// From here on after a barrier that follows the last `add`. The number is `room` for those that are not in it.
  [[nodiscard]] __device__ std::uint32_t number_of(std::uint32_t place) const {
    for (std::uint32_t cell = first(place); m_.key[cell] != none; cell = (cell + 1) % cells)
      if (m_.key[cell] == place) return m_.number[cell] < room_ ? m_.number[cell] : room_;
    return room_;
  }
  [[nodiscard]] __device__ std::uint32_t count() const { return m_.count < room_ ? m_.count : room_; }
  /// Writes the ghosts by number; the rest of the room stays as it is.
  __device__ void list(std::uint32_t* result) const {
    for (std::uint32_t i = threadIdx.x; i < cells; i += fill_threads)
      if (m_.key[i] != none && m_.number[i] < room_) result[m_.number[i]] = m_.key[i];
  }

 private:
  __device__ static std::uint32_t first(std::uint32_t place) { return (place * 2654435769U) >> 20; }
  Memory& m_;
  std::uint32_t room_;
};
static_assert(GhostTable::cells == 1U << (32 - 20));

template <class T>
struct FillView {
  RecordView<T> records;
  Pieces pieces;
  PatchShape shape;
  T* lengths;
  std::uint32_t* ends;
  std::uint32_t* ghosts;
  std::uint32_t* ghost_counts;
  std::uint32_t* refused;  ///< by place: a bit for each of the first records that is not held
  std::uint32_t* extra_counts;

  /// Which record a thread holds in a row, if any.
  struct Slot {
    std::uint32_t own, record;
  };
  [[nodiscard]] __device__ Slot slot(std::uint32_t i) const {
    const std::uint32_t thread = i % shape.threads(), row = i / shape.threads();
    return {thread / shape.lanes, row * shape.lanes + thread % shape.lanes};
  }
};

/// One block a patch. Record r of a vertex is held in its slot r, if there is one and its ghosts fit.
template <class T>
__global__ void __launch_bounds__(fill_threads) fill_patches(FillView<T> f) {
  __shared__ GhostTable::Memory memory;
  __shared__ std::uint32_t refused[PatchShape::max_threads];
  const std::uint32_t patch = blockIdx.x, first = f.pieces.begin(patch), own_count = f.pieces.begin(patch + 1) - first;
  const std::uint32_t threads = f.shape.threads(), slots = f.shape.vertices * f.shape.slots();
  GhostTable table(memory, f.shape.ghosts());
  for (std::uint32_t own = threadIdx.x; own < f.shape.vertices; own += fill_threads) refused[own] = 0;
  __syncthreads();
  const auto has_record = [&](const auto& slot) {
    return slot.own < own_count && slot.record < f.records.count(first + slot.own);
  };
  for (std::uint32_t i = threadIdx.x; i < slots; i += fill_threads) {
    const auto slot = f.slot(i);
    if (!has_record(slot)) continue;
    const auto ends = f.records.ends(first + slot.own, slot.record);
    for (const std::uint32_t end : {ends.a, ends.b}) {
      const std::uint32_t place = f.pieces.place(end);
      if (f.pieces.patch_of(place) != patch) table.add(place);
    }
  }
  __syncthreads();
  table.list(f.ghosts + std::size_t{patch} * f.shape.ghosts());
  if (threadIdx.x == 0) f.ghost_counts[patch] = table.count();
  const auto local = [&](std::uint32_t end) {
    const std::uint32_t place = f.pieces.place(end);
    return f.pieces.patch_of(place) == patch ? place - patch * f.shape.vertices
                                             : f.shape.vertices + table.number_of(place);
  };
  for (std::uint32_t i = threadIdx.x; i < slots; i += fill_threads) {
    const auto slot = f.slot(i);
    std::uint32_t a = f.shape.nowhere(), b = a;
    PreparedEdge<T> edge{};
    if (has_record(slot)) {
      const auto ends = f.records.ends(first + slot.own, slot.record);
      a = local(ends.a);
      b = local(ends.b);
      if (a == f.shape.nowhere() || b == f.shape.nowhere()) {
        a = b = f.shape.nowhere();
        atomicOr(&refused[slot.own], 1U << slot.record);
      } else {
        edge = f.records.edge(first + slot.own, slot.record);
      }
    }
    const std::size_t row = std::size_t{patch} * f.shape.held + i / threads;
    f.ends[row * threads + i % threads] = a | b << 16;
    T* value = f.lengths + row * SurfacePatches<T>::values * threads + i % threads;
    value[0] = edge.base;
    value[threads] = edge.foot;
    value[2 * threads] = edge.height;
    value[3 * threads] = edge.from_a;
    value[4 * threads] = edge.from_b;
  }
  __syncthreads();
  for (std::uint32_t own = threadIdx.x; own < f.shape.vertices; own += fill_threads) {
    const std::uint32_t records = own < own_count ? f.records.count(first + own) : 0, held = f.shape.slots();
    const std::uint32_t place = patch * f.shape.vertices + own;
    f.refused[place] = refused[own];
    f.extra_counts[place] = __popc(refused[own]) + (records > held ? records - held : 0);
  }
}

// ---- who depends on whom

/// "The patch of `place` has to notify `patch`", to sort by; past the end when it is the same.
__device__ std::uint64_t dependence(const Pieces& pieces, std::uint32_t place, std::uint32_t patch) {
  const std::uint32_t from = pieces.patch_of(place);
  return from == patch ? ~std::uint64_t{0} : std::uint64_t{from} << 32 | patch;
}

/// The first of sorted keys that is not below.
__device__ std::uint32_t lower_bound(const std::uint64_t* keys, std::uint32_t begin, std::uint32_t end,
                                     std::uint64_t key) {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (keys[middle] < key) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

/// Extras of the places, one warp each, and their dependences, two each.
template <class T>
__global__ void write_extras(RecordView<T> records, Pieces pieces, std::uint32_t slots, std::size_t places,
                             const std::uint32_t* refused, const std::uint32_t* offsets, ExtraRecord<T>* extras,
                             std::uint64_t* keys) {
  const std::size_t i = thread_number() / 32;
  if (i >= places || offsets[i] == offsets[i + 1]) return;
  const auto place = static_cast<std::uint32_t>(i);
  const std::uint32_t v = pieces.vertex(place), patch = pieces.patch_of(place), left_out = refused[place];
  const std::uint32_t count = records.count(v);
  for (std::uint32_t r = threadIdx.x % 32; r < count; r += 32) {
    const bool late = r >= slots;
    if (!late && ((left_out >> r) & 1U) == 0) continue;
    const std::uint32_t before = late ? __popc(left_out) + r - slots : __popc(left_out & ((1U << r) - 1));
    const std::size_t at = offsets[place] + std::size_t{before};
    const auto ends = records.ends(v, r);
    const std::uint32_t a = pieces.place(ends.a), b = pieces.place(ends.b);
    extras[at] = {a, b, records.edge(v, r)};
    keys[2 * at] = dependence(pieces, a, patch);
    keys[2 * at + 1] = dependence(pieces, b, patch);
  }
}

/// Which ghost of which patch a thread has, with one thread for each place in the patches' rooms.
struct GhostsOf {
  std::uint32_t room;
  const std::uint32_t* counts;
  /// False when the thread has no ghost.
  __device__ bool at(std::size_t i, std::uint32_t patches, std::uint32_t& patch, std::uint32_t& number) const {
    patch = static_cast<std::uint32_t>(i / room);
    number = static_cast<std::uint32_t>(i % room);
    return patch < patches && number < counts[patch];
  }
};

template <class Key>
__global__ void ghost_keys(Pieces pieces, GhostsOf of, const std::uint32_t* ghosts, const std::uint32_t* offsets,
                           Key* keys) {
  const std::size_t i = thread_number();
  std::uint32_t patch, number;
  if (of.at(i, pieces.count, patch, number)) keys[offsets[patch] + number] = dependence(pieces, ghosts[i], patch);
}

/// Where each patch's neighbours begin in the sorted pairs, and where the last one's end.
template <class Key>
__global__ void neighbour_offsets(const Key* pairs, std::uint32_t pair_count, std::uint32_t patches,
                                  std::uint32_t* offsets) {
  const std::size_t p = thread_number();
  if (p <= patches) offsets[p] = lower_bound(pairs, 0, pair_count, Key{p} << 32);
}

template <class Key>
__global__ void near_patches(const Key* pairs, const std::uint32_t* offsets, std::uint32_t patches, std::uint32_t* near,
                             std::uint32_t* far_counts) {
  const std::size_t i = thread_number();
  const std::uint32_t patch = static_cast<std::uint32_t>(i / (near_count + 1)), k = i % (near_count + 1);
  if (patch >= patches) return;
  const std::uint32_t begin = offsets[patch], neighbours = offsets[patch + 1] - begin;
  near[i] = k < near_count && k < neighbours ? static_cast<std::uint32_t>(pairs[begin + k]) : none;
  if (k == 0) far_counts[patch] = neighbours > near_count ? neighbours - near_count : 0;
}

template <class Key>
__global__ void far_patches(const Key* pairs, const std::uint32_t* offsets, std::uint32_t patches,
                            const std::uint32_t* far_offsets, std::uint32_t* far) {
  const std::size_t patch = thread_number();
  if (patch >= patches) return;
  const std::uint32_t begin = far_offsets[patch], count = far_offsets[patch + 1] - begin;
  for (std::uint32_t i = 0; i < count; ++i)
    far[begin + i] = static_cast<std::uint32_t>(pairs[offsets[patch] + near_count + i]);
}

/// Enters a patch that depends on a place of another one into that place's `reach`.
struct ReachView {
  Pieces pieces;
  const std::uint64_t* pairs;
  const std::uint32_t* offsets;
  std::uint32_t* reach;

  __device__ void enter(std::uint32_t place, std::uint32_t patch) const {
    const std::uint32_t from = pieces.patch_of(place);
    if (from == patch) return;
    const std::uint32_t at =
        lower_bound(pairs, offsets[from], offsets[from + 1], dependence(pieces, place, patch)) - offsets[from];
    atomicOr(reach + place, 1U << (at < near_count ? at : near_count));
  }
};

template <class View>
__global__ void reach_of_ghosts(View view, GhostsOf of, const std::uint32_t* ghosts) {
  const std::size_t i = thread_number();
  std::uint32_t patch, number;
  if (of.at(i, view.pieces.count, patch, number)) view.enter(ghosts[i], patch);
}

/// One warp a place.
template <class T>
__global__ void reach_of_extras(ReachView view, std::size_t places, const std::uint32_t* offsets,
                                const ExtraRecord<T>* extras) {
  const std::size_t place = thread_number() / 32;
  if (place >= places) return;
  const std::uint32_t patch = view.pieces.patch_of(static_cast<std::uint32_t>(place));
  for (std::uint32_t i = offsets[place] + threadIdx.x % 32; i < offsets[place + 1]; i += 32) {
    view.enter(extras[i].a, patch);
    view.enter(extras[i].b, patch);
  }
}

/// The patches with their tables, and what is needed only until they are complete.
template <class T>
class Cutter {
 public:
  Cutter(const SurfaceTopology& topology, const SurfaceRecords<T>& records, const PatchShape& shape)
      : records_(topology, records), pieces_{topology.vertices(), 0, shape.vertices} {
    assert(shape.threads() <= PatchShape::max_threads && shape.slots() <= 32);
    pieces_.count = static_cast<std::uint32_t>((topology.vertices() + shape.vertices - 1) / shape.vertices);
    patches_.shape = shape;
    patches_.count = pieces_.count;
    allocate_patches(topology.vertices());
    launch_for(patches_.places(), place_vertices<T>, pieces_, topology.order.new_to_old.data(), records.edge.data(),
               patches_.places(), patches_.vertex_at.data(), patches_.place_of.data(), patches_.edge.data());
  }

  SurfacePatches<T> cut() {
    fill();
    DeviceArray<std::uint64_t> pairs = sorted_unique(list_dependences());
    list_neighbours(pairs);
    return std::move(patches_);
  }

 private:
  void allocate_patches(std::size_t vertices) {
    const std::size_t places = patches_.places(), slots = places * patches_.shape.slots();
    const std::size_t ghosts = places * patches_.shape.lanes;
    require_memory(
        slots * (SurfacePatches<T>::values * sizeof(T) + 4) + ghosts * 4 + places * (12 + sizeof(T)) + vertices * 4,
        "this mesh's patches");
    patches_.vertex_at = DeviceArray<std::uint32_t>(places);
    patches_.place_of = DeviceArray<std::uint32_t>(vertices);
    patches_.edge = DeviceArray<T>(places);
    patches_.lengths = DeviceArray<T>(slots * SurfacePatches<T>::values);
    patches_.ends = DeviceArray<std::uint32_t>(slots);
    patches_.ghosts = DeviceArray<std::uint32_t>(ghosts);
    patches_.reach = DeviceArray<std::uint32_t>(places);
    ghost_counts_ = DeviceArray<std::uint32_t>(std::size_t{pieces_.count} + 1);
    refused_ = DeviceArray<std::uint32_t>(places);
  }

  void fill() {
    patches_.extra_offsets = DeviceArray<std::uint32_t>(patches_.places() + 1);
    patches_.extra_offsets.clear();
    ghost_counts_.clear();
    fill_bytes(patches_.ghosts.data(), 0xff, patches_.ghosts.bytes());
    const FillView<T> view{records_,
                           pieces_,
                           patches_.shape,
                           patches_.lengths.data(),
                           patches_.ends.data(),
                           patches_.ghosts.data(),
                           ghost_counts_.data(),
                           refused_.data(),
                           patches_.extra_offsets.data()};
    launch(fill_patches<T>, pieces_.count, fill_threads, 0, view);
    exclusive_sum(patches_.extra_offsets);
  }

  /// All pairs of patches of which one names a vertex of the other. Writes the extras on the way.
  DeviceArray<std::uint64_t> list_dependences() {
    DeviceArray<std::uint32_t> offsets(ghost_counts_.size());
    check(cudaMemcpy(offsets.data(), ghost_counts_.data(), offsets.bytes(), cudaMemcpyDeviceToDevice), "copying on it");
    exclusive_sum(offsets);
    const std::size_t ghosts = last_of(offsets), extras = last_of(patches_.extra_offsets);
    DeviceArray<std::uint64_t> keys(ghosts + 2 * extras);
    launch_for(patches_.ghosts.size(), ghost_keys<std::uint64_t>, pieces_, ghosts_of(), patches_.ghosts.data(),
               offsets.data(), keys.data());
    if (extras == 0) {
      patches_.extra_offsets = {};
      return keys;
    }
    patches_.extras = DeviceArray<ExtraRecord<T>>(extras);
    launch_for(patches_.places() * 32, write_extras<T>, records_, pieces_, patches_.shape.slots(), patches_.places(),
               refused_.data(), patches_.extra_offsets.data(), patches_.extras.data(), keys.data() + ghosts);
    return keys;
  }

  void list_neighbours(const DeviceArray<std::uint64_t>& pairs) {
    const std::uint32_t count = pieces_.count;
    DeviceArray<std::uint32_t> offsets(std::size_t{count} + 1);
    launch_for(offsets.size(), neighbour_offsets<std::uint64_t>, pairs.data(), static_cast<std::uint32_t>(pairs.size()),
               count, offsets.data());
    patches_.near = DeviceArray<std::uint32_t>(std::size_t{count} * (near_count + 1));
    patches_.far_offsets = DeviceArray<std::uint32_t>(std::size_t{count} + 1);
    patches_.far_offsets.clear();
    launch_for(patches_.near.size(), near_patches<std::uint64_t>, pairs.data(), offsets.data(), count,
               patches_.near.data(), patches_.far_offsets.data());
    exclusive_sum(patches_.far_offsets);
    patches_.far = DeviceArray<std::uint32_t>(last_of(patches_.far_offsets));
    if (patches_.far.size() > 0)
      launch_for(count, far_patches<std::uint64_t>, pairs.data(), offsets.data(), count, patches_.far_offsets.data(),
                 patches_.far.data());

    patches_.reach.clear();
    const ReachView view{pieces_, pairs.data(), offsets.data(), patches_.reach.data()};
    launch_for(patches_.ghosts.size(), reach_of_ghosts<ReachView>, view, ghosts_of(), patches_.ghosts.data());
    if (patches_.extras.size() > 0)
      launch_for(patches_.places() * 32, reach_of_extras<T>, view, patches_.places(), patches_.extra_offsets.data(),
                 patches_.extras.data());
  }

  [[nodiscard]] GhostsOf ghosts_of() const { return {patches_.shape.ghosts(), ghost_counts_.data()}; }

  RecordView<T> records_;
  Pieces pieces_;
  SurfacePatches<T> patches_;
  DeviceArray<std::uint32_t> ghost_counts_, refused_;
};

}  // namespace

template <class T>
SurfacePatches<T> cut_into_patches(const SurfaceTopology& topology, const SurfaceRecords<T>& records,
                                   const PatchShape& shape) {
  return Cutter<T>(topology, records, shape).cut();
}

template SurfacePatches<float> cut_into_patches(const SurfaceTopology&, const SurfaceRecords<float>&,
                                                const PatchShape&);
template SurfacePatches<double> cut_into_patches(const SurfaceTopology&, const SurfaceRecords<double>&,
                                                 const PatchShape&);

}  // namespace isochron::cuda
