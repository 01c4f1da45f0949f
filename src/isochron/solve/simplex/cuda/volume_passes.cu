#include "isochron/solve/simplex/cuda/volume_passes.h"

#include <bit>
#include <limits>
#include <utility>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"
#include "isochron/local/simplex_update.h"
#include "isochron/solve/simplex/cuda/worst_vertex.h"

namespace isochron::cuda {
namespace {

/// The stars as kernels read them.
template <class T>
struct View {
  std::size_t vertices;
  const StarHead* heads;
  const std::uint64_t* stars;
  const T* edge;
};

template <class T>
View<T> view_of(const DeviceVolume<T>& volume) {
  return {volume.vertices, volume.heads.data(), volume.stars.data(), volume.edge.data()};
}

__device__ inline std::size_t thread_number() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

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

/// Seeds may not be later than their own time.
template <class T>
__global__ void check_seeds(const std::uint32_t* seeds, const double* times, std::size_t count,
                            const std::uint32_t* old_to_new, const T* time, const T* edge, unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t v = old_to_new[seeds[i]];
  const T wanted = static_cast<T>(times[i]);
  if (!(time[v] <= wanted)) report_difference(time[v], wanted, edge[v], v, worst);
}

template <class T>
__global__ void residual_pass(View<T> view, const T* time, const std::uint8_t* seeded, unsigned long long* worst) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t v = thread_number() / 32;
  if (v >= view.vertices) return;
  const T again = least_of_warp(pull(view, time, v, lane).best.time);
  if (lane != 0) return;
  const T now = time[v];
  if (now == again || (seeded[v] != 0 && !(again < now))) return;
  report_difference(now, again, view.edge[v], v, worst);
}

constexpr std::uint32_t no_parent = 0xffffffffU;

/// The earliest of the vertices that a vertex has its time from.
template <class T>
__global__ void find_parents(View<T> view, const T* time, const std::int32_t* label, std::uint32_t* parent) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t v = thread_number() / 32;
  if (v >= view.vertices) return;
  const T now = time[v];
  const bool asked = label[v] < 0 && now < detail::infinity<T>();
  if (!asked) {
    if (lane == 0) parent[v] = no_parent;
    return;
  }
  const Pulled<T> mine = pull(view, time, v, lane);
  const unsigned winners = __ballot_sync(0xffffffffU, mine.best.time == least_of_warp(mine.best.time));
  if (lane != static_cast<unsigned>(__ffs(static_cast<int>(winners)) - 1)) return;
  T earliest = now;
  std::uint32_t from = no_parent;
  for (int k = 0; k < 3; ++k)
    if (mine.best.weight[k] > T(0) && time[mine.corner[k]] < earliest) {
      earliest = time[mine.corner[k]];
      from = mine.corner[k];
    }
  parent[v] = from;
}

/// Follows parents: each takes its parent's label, or its parent's parent.
__global__ void follow_parents(std::size_t count, std::int32_t* label, std::uint32_t* parent, unsigned* changed) {
  const std::size_t v = thread_number();
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
__global__ void adopt_labels(View<T> view, const T* time, const std::uint32_t* parent, std::int32_t* label,
                             unsigned* changed) {
  const std::size_t v = thread_number();
  if (v >= view.vertices || label[v] >= 0 || parent[v] != no_parent || !(time[v] < detail::infinity<T>())) return;
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
__global__ void label_seeds(const std::uint32_t* seeds, const double* times, const std::int32_t* labels,
                            std::size_t count, const std::uint32_t* old_to_new, const T* time, std::int32_t* label) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t v = old_to_new[seeds[i]];
  if (!(time[v] < static_cast<T>(times[i]))) label[v] = labels[i];
}

__global__ void user_labels(const std::int32_t* label, const std::uint32_t* new_to_old, std::size_t count,
                            std::int32_t* result) {
  const std::size_t i = thread_number();
  if (i < count) result[new_to_old[i]] = label[i];
}

__global__ void mark_vertices(const std::uint32_t* vertices, std::size_t count, const std::uint32_t* old_to_new,
                              std::uint8_t* marked) {
  const std::size_t i = thread_number();
  if (i < count) marked[old_to_new[vertices[i]]] = 1;
}

/// Marks the corners of every element that has a marked corner.
__global__ void grow_marks(const uint4* elements, std::size_t count, const std::uint8_t* marked, std::uint8_t* grown) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const uint4 e = elements[i];
  if ((marked[e.x] | marked[e.y] | marked[e.z] | marked[e.w]) == 0) return;
  grown[e.x] = grown[e.y] = grown[e.z] = grown[e.w] = 1;
}

struct HasMark {
  const uint4* elements;
  const std::uint8_t* marked;
  __device__ unsigned long long operator()(std::uint32_t i) const {
    const uint4 e = elements[i];
    return (marked[e.x] | marked[e.y] | marked[e.z] | marked[e.w]) != 0 ? 1 : 0;
  }
};

/// One mark per vertex: 1 at the given ones (user's numbering).
template <class T>
DeviceArray<std::uint8_t> marks_at(const DeviceVolume<T>& volume, std::span<const std::uint32_t> vertices) {
  DeviceArray<std::uint8_t> marks(volume.vertices);
  marks.clear();
  const DeviceArray<std::uint32_t> ids(vertices);
  launch_for(ids.size(), mark_vertices, ids.data(), ids.size(), volume.old_to_new.data(), marks.data());
  return marks;
}

/// Repeats a pass until it leaves `changed` at zero.
template <class Pass>
void until_quiet(DeviceArray<unsigned>& changed, Pass&& pass) {
  for (unsigned any = 1; any != 0;) {
    changed.clear();
    pass();
    changed.download_to(std::span<unsigned>(&any, 1));
  }
}

}  // namespace

template <class T>
Residual find_residual(const DeviceVolume<T>& volume, const T* time, const VolumeSeeds& seeds, double limit) {
  const DeviceArray<std::uint8_t> seeded = marks_at(volume, seeds.vertices);
  DeviceArray<unsigned long long> worst(1);
  worst.clear();
  launch_for(volume.vertices * 32, residual_pass<T>, view_of(volume), time, seeded.data(), worst.data());
  const DeviceArray<std::uint32_t> vertices{std::span<const std::uint32_t>(seeds.vertices)};
  const DeviceArray<double> times{std::span<const double>(seeds.times)};
  launch_for(vertices.size(), check_seeds<T>, vertices.data(), times.data(), vertices.size(), volume.old_to_new.data(),
             time, volume.edge.data(), worst.data());
  Residual result = found_residual(worst, limit);
  if (!(result.worst > 0)) return result;
  std::uint32_t vertex = 0;
  download(&vertex, volume.new_to_old.data() + result.worst_vertex.index(), sizeof vertex);
  result.worst_vertex = VertexId(vertex);
  return result;
}

template <class T>
void find_labels(const DeviceVolume<T>& volume, const T* time, const VolumeSeeds& seeds,
                 std::span<std::int32_t> result) {
  const std::size_t count = volume.vertices;
  DeviceArray<std::int32_t> label(count), sorted(count);
  DeviceArray<std::uint32_t> parent(count);
  DeviceArray<unsigned> changed(1);
  fill_bytes(label.data(), 0xff, label.bytes());
  const DeviceArray<std::uint32_t> vertices{std::span<const std::uint32_t>(seeds.vertices)};
  const DeviceArray<double> times{std::span<const double>(seeds.times)};
  const DeviceArray<std::int32_t> labels{std::span<const std::int32_t>(seeds.labels)};
  launch_for(vertices.size(), label_seeds<T>, vertices.data(), times.data(), labels.data(), vertices.size(),
             volume.old_to_new.data(), time, label.data());
  launch_for(count * 32, find_parents<T>, view_of(volume), time, label.data(), parent.data());
  const auto follow = [&] { launch_for(count, follow_parents, count, label.data(), parent.data(), changed.data()); };
  until_quiet(changed, follow);
  until_quiet(changed, [&] {
    launch_for(count, adopt_labels<T>, view_of(volume), time, parent.data(), label.data(), changed.data());
    follow();
  });
  launch_for(count, user_labels, label.data(), volume.new_to_old.data(), count, sorted.data());
  sorted.download_to(result);
}

template <class T>
std::vector<ElementId> find_elements_near(const DeviceVolume<T>& volume, std::span<const VertexId> vertices,
                                          int rings) {
  std::vector<std::uint32_t> ids;
  for (const VertexId v : vertices) ids.push_back(v.value);
  DeviceArray<std::uint8_t> marked = marks_at(volume, ids), grown(volume.vertices);
  const std::size_t elements = volume.elements.size();
  for (int ring = 0; ring < rings; ++ring) {
    check(cudaMemcpy(grown.data(), marked.data(), marked.bytes(), cudaMemcpyDeviceToDevice), "copying on it");
    launch_for(elements, grow_marks, volume.elements.data(), elements, marked.data(), grown.data());
    std::swap(marked, grown);
  }
  const HasMark has_mark{volume.elements.data(), marked.data()};
  const auto all = thrust::make_counting_iterator(std::uint32_t{0});
  DeviceArray<unsigned long long> count(1);
  with_scratch("looking around the sources", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, thrust::make_transform_iterator(all, has_mark), count.data(),
                                  static_cast<std::int64_t>(elements));
  });
  unsigned long long total = 0;
  count.download_to(std::span<unsigned long long>(&total, 1));
  DeviceArray<std::uint32_t> found(total);
  with_scratch("looking around the sources", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, all, found.data(), count.data(), static_cast<std::int64_t>(elements),
                                 has_mark);
  });
  std::vector<ElementId> result(total);
  download(result.data(), found.data(), total * sizeof(std::uint32_t));
  return result;
}

template Residual find_residual(const DeviceVolume<float>&, const float*, const VolumeSeeds&, double);
template Residual find_residual(const DeviceVolume<double>&, const double*, const VolumeSeeds&, double);
template void find_labels(const DeviceVolume<float>&, const float*, const VolumeSeeds&, std::span<std::int32_t>);
template void find_labels(const DeviceVolume<double>&, const double*, const VolumeSeeds&, std::span<std::int32_t>);
template std::vector<ElementId> find_elements_near(const DeviceVolume<float>&, std::span<const VertexId>, int);
template std::vector<ElementId> find_elements_near(const DeviceVolume<double>&, std::span<const VertexId>, int);

}  // namespace isochron::cuda
