#include "isochron/solve/simplex/cuda/volume_build.h"

#include <thrust/iterator/transform_iterator.h>
#include <cub/cub.cuh>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"
#include "isochron/solve/simplex/cuda/length_sums.h"
#include "isochron/solve/simplex/leads.h"
#include "isochron/solve/simplex/obtuse_mask.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::cuda {
namespace {

constexpr unsigned warps_a_block = launch_threads / 32;

__global__ void check_elements(const uint4* elements, std::size_t count, std::size_t vertices, unsigned* bad) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const uint4 e = elements[i];
  if (e.x >= vertices || e.y >= vertices || e.z >= vertices || e.w >= vertices) *bad = 1;
}

// ---- adjacency

__global__ void renumber_and_count(uint4* elements, std::size_t count, const std::uint32_t* old_to_new,
                                   std::uint32_t* valence) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  uint4 e = elements[i];
  e = {old_to_new[e.x], old_to_new[e.y], old_to_new[e.z], old_to_new[e.w]};
  elements[i] = e;
  atomicAdd(valence + e.x, 1U);
  atomicAdd(valence + e.y, 1U);
  atomicAdd(valence + e.z, 1U);
  atomicAdd(valence + e.w, 1U);
}

/// `left` counts down from the valence.
__global__ void list_incidences(const uint4* elements, std::size_t count, const std::uint64_t* offsets,
                                std::uint32_t* left, std::uint32_t* incidences) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const uint4 e = elements[i];
  for (const std::uint32_t v : {e.x, e.y, e.z, e.w})
    incidences[offsets[v] + atomicSub(left + v, 1U) - 1] = static_cast<std::uint32_t>(i);
}

// ---- stars

/// A set of vertex ids in a warp's shared memory that numbers them.
class Neighbours {
 public:
  static constexpr unsigned slots = 512;
  static constexpr std::uint32_t empty = 0xffffffffU;
  struct Memory {
    std::uint32_t key[slots];
    std::uint8_t place[slots];
    unsigned count;
  };

  __device__ Neighbours(Memory& memory, unsigned lane) : m_(memory) {
    for (unsigned i = lane; i < slots; i += 32) m_.key[i] = empty;
    if (lane == 0) m_.count = 0;
    __syncwarp();
  }
  /// The number of ids is at most 3 · max_tets < slots.
  __device__ void add(std::uint32_t id) {
    for (unsigned slot = first(id);; slot = (slot + 1) % slots) {
      const std::uint32_t old = atomicCAS(&m_.key[slot], empty, id);
      if (old == id) return;
      if (old != empty) continue;
      m_.place[slot] = static_cast<std::uint8_t>(atomicAdd(&m_.count, 1U));
      return;
    }
  }
  /// After a __syncwarp that follows the last `add`.
  [[nodiscard]] __device__ unsigned count() const { return m_.count; }
  [[nodiscard]] __device__ std::uint32_t place(std::uint32_t id) const {
    unsigned slot = first(id);
    while (m_.key[slot] != id) slot = (slot + 1) % slots;
    return m_.place[slot];
  }
  /// Writes the ids in their order.
  __device__ void list(std::uint32_t* result, unsigned lane) const {
    for (unsigned i = lane; i < slots; i += 32)
      if (m_.key[i] != empty) result[m_.place[i]] = m_.key[i];
  }

 private:
  __device__ static unsigned first(std::uint32_t id) { return (id * 2654435761U) >> 23; }
  Memory& m_;
};
static_assert(3 * max_tets < Neighbours::slots && Neighbours::slots == 1U << (32 - 23));

__device__ inline std::uint32_t corner_of(const uint4& e, int k) {
  return k == 0 ? e.x : k == 1 ? e.y : k == 2 ? e.z : e.w;
}
__device__ inline int place_in(const uint4& e, std::uint32_t v) {
  return e.x == v ? 0 : e.y == v ? 1 : e.z == v ? 2 : 3;
}

__device__ void add_corners(Neighbours& neighbours, const uint4& e, std::uint32_t v) {
  const int x = place_in(e, v);
  for (int k = 1; k < 4; ++k) neighbours.add(corner_of(e, (x + k) & 3));
}

/// How a vertex's star is stored: whole, or cut into several.
struct StarPlan {
  std::uint32_t units;  ///< memory of all its stars, of 8 bytes
  std::uint32_t more;   ///< stars after the first
};

template <class T>
__global__ void plan_stars(const uint4* elements, const std::uint64_t* offsets, const std::uint32_t* incidences,
                           std::size_t vertices, StarPlan* plan) {
  __shared__ Neighbours::Memory memory[warps_a_block];
  const unsigned lane = threadIdx.x % 32;
  const std::size_t v = thread_number() / 32;
  if (v >= vertices) return;
  const std::uint64_t begin = offsets[v];
  const std::uint64_t valence = offsets[v + 1] - begin;
  unsigned count = max_neighbours + 1;
  if (valence <= max_tets) {
    Neighbours neighbours(memory[threadIdx.x / 32], lane);
    for (unsigned i = lane; i < valence; i += 32)
      add_corners(neighbours, elements[incidences[begin + i]], static_cast<std::uint32_t>(v));
    __syncwarp();
    count = neighbours.count();
  }
  if (lane != 0) return;
  if (count <= max_neighbours) {
    plan[v] = {star_units<T>(static_cast<std::uint32_t>(valence), count), 0};
  } else {
    const auto stars = static_cast<std::uint32_t>((valence + cut_tets - 1) / cut_tets);
    plan[v] = {stars * star_units<T>(cut_tets, 3 * cut_tets), stars - 1};
  }
}

struct Units {
  __host__ __device__ std::uint64_t operator()(const StarPlan& plan) const { return plan.units; }
};
struct More {
  __host__ __device__ std::uint64_t operator()(const StarPlan& plan) const { return plan.more; }
};

template <class T>
struct FillView {
  const uint4* elements;
  const Vec3d* points;
  const std::uint64_t* offsets;
  const std::uint32_t* incidences;
  std::size_t vertices;
  const StarPlan* plan;
  const std::uint64_t* begin;
  const std::uint64_t* more_begin;
  MetricView metric;
  double scale;
  StarHead* heads;
  std::uint64_t* stars;
  T* edge;
  LengthSums* sums;
};

/// The level of a lead, counted in steps of 1 / `steps`, rounded down. Acute corners have a lead of at least 0.
__device__ unsigned lead_level(double lead, double steps, bool acute) {
  const double level = floor(lead * steps - 1e-3) + lead_of_zero;
  const unsigned least = acute ? lead_of_zero : no_lead;
  if (!(level > least)) return least;  // also what is not a number
  return level < max_lead ? static_cast<unsigned>(level) : max_lead;
}

/// The largest step counts are those of the longest edge, and a little more, so that no lead is out of range by
/// rounding. 0 where products of lengths would leave the range of numbers: no lead but 0 is known then.
__device__ float lead_step(double longest_squared) {
  constexpr double steps = max_lead - lead_of_zero;
  const bool known = longest_squared > 1e-18 && longest_squared < 1e18;
  return known ? static_cast<float>(sqrt(longest_squared) * (1.001 / steps)) : 0.0F;
}

/// The levels of the leads of a tetrahedron at x, from its squared lengths xa, xb, xc, ab, ac, bc and whether its
/// corners a, b, c are acute, in the lowest bits.
__device__ std::uint32_t lead_levels(const double* l, unsigned obtuse, float step) {
  const double xa = l[0], xb = l[1], xc = l[2], ab = l[3], ac = l[4], bc = l[5];
  const double over_ab = rsqrt(ab), over_ac = rsqrt(ac), over_bc = rsqrt(bc);
  const double leads[3] = {min_lead(xa, ab, ac, xb, xc, bc, over_ab, over_ac),
                           min_lead(xb, ab, bc, xa, xc, ac, over_ab, over_bc),
                           min_lead(xc, ac, bc, xa, xb, ab, over_ac, over_bc)};
  const double steps = step > 0 ? 1 / static_cast<double>(step) : nan("");
  std::uint32_t word = 0;
  for (unsigned k = 0; k < 3; ++k) word |= lead_word(lead_level(leads[k], steps, ((obtuse >> k) & 1U) == 0), k);
  return word;
}

/// Writes one star of vertex v: `tets` of its incidences. Returns its head without `next`.
template <class T>
__device__ StarHead fill_star(const FillView<T>& f, Neighbours::Memory& memory, std::uint32_t v, std::uint64_t first,
                              unsigned tets, std::uint64_t at, LaneSums& sums) {
  const unsigned lane = threadIdx.x % 32;
  Neighbours neighbours(memory, lane);
  for (unsigned i = lane; i < tets; i += 32) add_corners(neighbours, f.elements[f.incidences[first + i]], v);
  __syncwarp();
  const unsigned count = neighbours.count();
  auto* words = reinterpret_cast<std::uint32_t*>(f.stars + at);
  neighbours.list(words, lane);
  T* lengths = reinterpret_cast<T*>(words + words_before_lengths(tets, count));
  double longest = 0;
  for (unsigned i = lane; i < tets; i += 32) {
    const std::uint32_t e = f.incidences[first + i];
    const uint4 element = f.elements[e];
    const Vec3d p[4] = {f.points[element.x], f.points[element.y], f.points[element.z], f.points[element.w]};
    const SymTensor3d m = f.metric.at(e);
    double l[6];
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b) {
        const double squared = f.scale * squared_length(m, p[b] - p[a]);
        l[edge_index(a, b)] = squared;
        sums.see(squared);
      }
    const int x = place_in(element, v);
    const int a = (x + 1) & 3, b = (x + 2) & 3, c = (x + 3) & 3;
    const unsigned obtuse = obtuse_mask<4>(l);
    sums.obtuse += (obtuse >> x) & 1U;
    const double xa = l[edge_index(x, a)], xb = l[edge_index(x, b)], xc = l[edge_index(x, c)];
    const double longest_here = fmax(xa, fmax(xb, xc));
    longest = fmax(longest, longest_here);
    sums.see_at_vertex(longest_here, xa);
    // With the bits of obtuse corners in the place of leads, which are known once all lengths are.
    words[count + i] = place_word(neighbours.place(corner_of(element, a)), 0) |
                       place_word(neighbours.place(corner_of(element, b)), 1) |
                       place_word(neighbours.place(corner_of(element, c)), 2) | lead_word((obtuse >> a) & 1U, 0) |
                       lead_word((obtuse >> b) & 1U, 1) | lead_word((obtuse >> c) & 1U, 2);
    const int pairs[6][2] = {{x, a}, {x, b}, {x, c}, {a, b}, {a, c}, {b, c}};
    for (int k = 0; k < 6; ++k) lengths[k * tets + i] = static_cast<T>(l[edge_index(pairs[k][0], pairs[k][1])]);
  }
  for (unsigned step = 16; step > 0; step /= 2) longest = fmax(longest, __shfl_xor_sync(0xffffffffU, longest, step));
  const float step = lead_step(longest);
  for (unsigned i = lane; i < tets; i += 32) {
    const std::uint32_t word = words[count + i];
    double l[6];
    for (int k = 0; k < 6; ++k) l[k] = static_cast<double>(lengths[k * tets + i]);
    const unsigned obtuse = lead_level_of(word, 0) | lead_level_of(word, 1) << 1 | lead_level_of(word, 2) << 2;
    words[count + i] = (word & (lead_word(1, 0) - 1)) | lead_levels(l, obtuse, step);
  }
  __syncwarp();
  return {at, tets, count, step, 0};
}

template <class T>
__global__ void fill_stars(FillView<T> f) {
  __shared__ Neighbours::Memory memory[warps_a_block];
  const unsigned lane = threadIdx.x % 32;
  const std::size_t v = thread_number() / 32;
  if (v >= f.vertices) return;
  const std::uint64_t first = f.offsets[v];
  const std::uint64_t valence = f.offsets[v + 1] - first;
  const std::uint32_t more = f.plan[v].more;
  const unsigned at_once = more == 0 ? static_cast<unsigned>(valence) : cut_tets;
  LaneSums sums;
  for (std::uint32_t star = 0; star <= more; ++star) {
    const std::uint64_t done = std::uint64_t{star} * at_once;
    const auto tets = static_cast<unsigned>(valence - done < at_once ? valence - done : at_once);
    const std::uint64_t at = f.begin[v] + std::uint64_t{star} * star_units<T>(cut_tets, 3 * cut_tets);
    StarHead head = fill_star(f, memory[threadIdx.x / 32], static_cast<std::uint32_t>(v), first + done, tets, at, sums);
    const std::uint64_t further = f.vertices + f.more_begin[v] + star;
    if (star < more) head.next = static_cast<std::uint32_t>(further);
    if (lane == 0) f.heads[star == 0 ? v : further - 1] = head;
  }
  sums.join_warp();
  if (lane != 0) return;
  f.edge[v] = static_cast<T>(sums.finish_vertex(valence));
  f.sums[v % AllLengthSums::places].add(sums);
}

}  // namespace

template <class T>
void build_topology(DeviceVolume<T>& volume, const MeshInput<4>& mesh, const MetricInput& metric) {
  const std::size_t vertices = mesh.vertex_count(), elements = mesh.element_count();
  if (vertices == 0 || elements == 0) mesh.check();
  volume.vertices = vertices;
  require_memory(volume_bytes(vertices, elements, sizeof(T), metric.bytes_to_send()), "this mesh");
  static_assert(sizeof(TetMesh::Element) == sizeof(uint4));
  const TetMesh* host = mesh.host();
  volume.order =
      host != nullptr ? order_along(Curve::morton, host->points) : order_along(Curve::morton, mesh.device()->points);
  if (!volume.order.all_finite) mesh.check();  // says which
  volume.elements = DeviceArray<uint4>(elements);
  if (host != nullptr) upload(volume.elements.data(), host->elements.data(), elements * sizeof(uint4));
  else copy_on_device(volume.elements.data(), mesh.device()->elements.data(), elements * sizeof(uint4));
  DeviceValue<unsigned> bad;
  launch_for(elements, check_elements, volume.elements.data(), elements, vertices, bad.data());
  if (bad.read() != 0) mesh.check();

  DeviceArray<std::uint32_t> valence(vertices + 1);
  valence.clear();
  launch_for(elements, renumber_and_count, volume.elements.data(), elements, volume.order.old_to_new.data(),
             valence.data());
  volume.offsets = DeviceArray<std::uint64_t>(vertices + 1);
  with_scratch("adding up", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, valence.data(), volume.offsets.data(), ::cuda::std::plus<>{},
                                          std::uint64_t{0}, static_cast<std::int64_t>(vertices + 1));
  });
  volume.incidences = DeviceArray<std::uint32_t>(elements * 4);
  launch_for(elements, list_incidences, volume.elements.data(), elements, volume.offsets.data(), valence.data(),
             volume.incidences.data());
}

template <class T>
void build_stars(DeviceVolume<T>& volume, const MeshInput<4>& mesh, const MetricInput& metric) {
  const std::size_t vertices = volume.vertices, elements = mesh.element_count();
  std::optional<DeviceMetric> sent;
  FillView<T> view{};
  view.metric = metric.on_device(sent, elements).view();
  DeviceArray<StarPlan> plan(vertices);
  launch_for(vertices * 32, plan_stars<T>, volume.elements.data(), volume.offsets.data(), volume.incidences.data(),
             vertices, plan.data());
  DeviceArray<std::uint64_t> begin(vertices + 1), more_begin(vertices + 1);
  const auto scan = [&](auto what, DeviceArray<std::uint64_t>& sums) {
    const auto values = thrust::make_transform_iterator(plan.data(), what);
    sums.clear();
    with_scratch("adding up", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(scratch, bytes, values, sums.data() + 1,
                                           static_cast<std::int64_t>(vertices));
    });
    std::uint64_t total = 0;
    download(&total, sums.data() + vertices, sizeof total);
    return total;
  };
  const std::uint64_t units = scan(Units(), begin), more = scan(More(), more_begin);
  volume.heads = {};
  volume.stars = {};
  volume.heads = DeviceArray<StarHead>(vertices + more);
  volume.stars = DeviceArray<std::uint64_t>(units);
  volume.edge = DeviceArray<T>(vertices);

  AllLengthSums sums;
  const double unit = time_unit(mesh, metric);
  view.elements = volume.elements.data();
  view.points = volume.order.points.data();
  view.offsets = volume.offsets.data();
  view.incidences = volume.incidences.data();
  view.vertices = vertices;
  view.plan = plan.data();
  view.begin = begin.data();
  view.more_begin = more_begin.data();
  view.scale = 1 / (unit * unit);
  view.heads = volume.heads.data();
  view.stars = volume.stars.data();
  view.edge = volume.edge.data();
  view.sums = sums.data();
  launch_for(vertices * 32, fill_stars<T>, view);
  volume.summary = sums.summary(unit, vertices);
  volume.summary.device_bytes = volume.bytes();
}

template void build_topology(DeviceVolume<float>&, const MeshInput<4>&, const MetricInput&);
template void build_topology(DeviceVolume<double>&, const MeshInput<4>&, const MetricInput&);
template void build_stars(DeviceVolume<float>&, const MeshInput<4>&, const MetricInput&);
template void build_stars(DeviceVolume<double>&, const MeshInput<4>&, const MetricInput&);

}  // namespace isochron::cuda
