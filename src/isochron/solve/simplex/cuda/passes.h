// What is recovered after a solve on the device, for any kind of mesh: the residual, times, and which elements are
// near. For .cu files only.
//
// `View` is how kernels read a prepared mesh: `count` vertices or places for them, their `edge` travel times,
// `pull(time, v, lane)` for one lane's share of the updates of v, and `each_neighbour(v, visit)`, which ends when
// `visit` returns true.
#pragma once

#include <bit>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"
#include "isochron/local/simplex_update.h"
#include "isochron/solve/cuda/user_values.h"
#include "isochron/solve/cuda/worst_vertex.h"
#include "isochron/solve/simplex/cuda/corner_list.h"
#include "isochron/solve/simplex/cuda/mesh_solver.h"

namespace isochron::cuda {

/// The user's vertices and the device's: where each lies, and whose each place is (`nobody`'s where it is empty).
struct Numbering {
  const DeviceArray<std::uint32_t>& to_inner;
  const DeviceArray<std::uint32_t>& to_user;
};

/// The earliest arrival at a vertex from its elements as the times stand, with the vertices it comes from.
template <class T, int Ends>
struct Pulled {
  T time = detail::infinity<T>();
  T weight[Ends];
  std::uint32_t from[Ends];
};

template <int Corners>
__device__ inline const CornerList<Corners>& corners_of(const CornerList<Corners>& element) {
  return element;
}
__device__ inline CornerList<4> corners_of(const uint4& e) { return {{e.x, e.y, e.z, e.w}}; }

namespace detail_passes {

template <class T>
__device__ T min_of_warp(T value) {
  for (unsigned step = 16; step > 0; step /= 2)
    value = detail::smaller(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

/// Seeds may not be later than their own time.
template <class T>
__global__ void check_seeds(const Seed* seeds, std::size_t count, const std::uint32_t* to_inner, const T* time,
                            const T* edge, std::uint8_t* seeded, unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t v = to_inner[seeds[i].vertex.value];
  seeded[v] = 1;
  const T wanted = static_cast<T>(seeds[i].time);
  if (!(time[v] <= wanted)) report_difference(time[v], wanted, edge[v], v, worst);
}

template <class View, class T>
__global__ void residual_pass(View view, const T* time, const std::uint8_t* seeded, unsigned long long* worst) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t v = thread_number() / 32;
  if (v >= view.count) return;
  const T again = min_of_warp(view.pull(time, v, lane).time);
  if (lane != 0) return;
  const T now = time[v];
  if (now == again || (seeded[v] != 0 && !(again < now))) return;
  report_difference(now, again, view.edge[v], v, worst);
}

template <class T>
__global__ void inner_times(const double* times, const std::uint32_t* to_user, std::size_t count, double unit,
                            double base, T* result) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  result[i] = to_user[i] == nobody ? detail::infinity<T>() : static_cast<T>((times[to_user[i]] - base) / unit);
}

template <class Mark>
__global__ void mark_vertices(const std::uint32_t* vertices, std::size_t count, const std::uint32_t* to_inner,
                              Mark* marked) {
  const std::size_t i = thread_number();
  if (i < count) marked[to_inner[vertices[i]]] = 1;
}

template <class Element>
struct HasMark {
  const Element* elements;
  const std::uint8_t* marked;
  __device__ unsigned long long operator()(std::uint32_t i) const {
    unsigned long long any = 0;
    const auto corners = corners_of(elements[i]);
    for (const std::uint32_t v : corners.corner) any |= marked[v];
    return any;
  }
};

/// Marks the corners of every element that has a marked corner.
template <class Element>
__global__ void grow_marks(HasMark<Element> has_mark, std::size_t count, std::uint8_t* grown) {
  const std::size_t i = thread_number();
  if (i >= count || has_mark(static_cast<std::uint32_t>(i)) == 0) return;
  const auto corners = corners_of(has_mark.elements[i]);
  for (const std::uint32_t v : corners.corner) grown[v] = 1;
}

/// One mark per place: 1 at the given vertices (user's numbering).
inline DeviceArray<std::uint8_t> marks_at(const Numbering& numbering, std::span<const std::uint32_t> vertices) {
  DeviceArray<std::uint8_t> marks(numbering.to_user.size());
  marks.clear();
  const DeviceArray<std::uint32_t> ids(vertices);
  launch_for(ids.size(), mark_vertices<std::uint8_t>, ids.data(), ids.size(), numbering.to_inner.data(), marks.data());
  return marks;
}

}  // namespace detail_passes

/// See `MeshSolver` for each; `time` is a layer's, in the device's numbering.
template <class View, class T>
Residual find_residual(const View& view, const Numbering& numbering, const T* time, std::span<const Seed> seeds,
                       double limit) {
  DeviceArray<std::uint8_t> seeded(numbering.to_user.size());
  seeded.clear();
  DeviceValue<unsigned long long> worst;
  const DeviceArray<Seed> on_device(seeds);
  launch_for(seeds.size(), detail_passes::check_seeds<T>, on_device.data(), seeds.size(), numbering.to_inner.data(),
             time, view.edge, seeded.data(), worst.data());
  launch_for(view.count * 32, detail_passes::residual_pass<View, T>, view, time, seeded.data(), worst.data());
  Residual result = found_residual(worst.read(), limit);
  if (!result.worst_vertex.valid()) return result;
  std::uint32_t vertex = 0;
  download(&vertex, numbering.to_user.data() + result.worst_vertex.index(), sizeof vertex);
  result.worst_vertex = VertexId(vertex);
  return result;
}

/// Times in the user's numbering, unit · time + base.
template <class T>
void to_user_times(const Numbering& numbering, const T* time, double unit, double base, DeviceArray<double>& result) {
  to_user_times(time, numbering.to_user.data(), numbering.to_user.size(), unit, base, result);
}

/// And back.
template <class T>
void to_inner_times(const Numbering& numbering, std::span<const double> times, double unit, double base, T* result) {
  const DeviceArray<double> given(times);
  const std::size_t count = numbering.to_user.size();
  launch_for(count, detail_passes::inner_times<T>, given.data(), numbering.to_user.data(), count, unit, base, result);
}

/// The elements name their corners in the device's numbering.
template <class Element>
std::vector<ElementId> find_elements_near(const DeviceArray<Element>& elements, const Numbering& numbering,
                                          std::span<const VertexId> vertices, int rings) {
  using detail_passes::HasMark;
  std::vector<std::uint32_t> ids;
  for (const VertexId v : vertices) ids.push_back(v.value);
  DeviceArray<std::uint8_t> marked = detail_passes::marks_at(numbering, ids), grown(marked.size());
  for (int ring = 0; ring < rings; ++ring) {
    copy_on_device(grown.data(), marked.data(), marked.bytes());
    launch_for(elements.size(), detail_passes::grow_marks<Element>, HasMark<Element>{elements.data(), marked.data()},
               elements.size(), grown.data());
    std::swap(marked, grown);
  }
  const HasMark<Element> has_mark{elements.data(), marked.data()};
  const auto all = thrust::make_counting_iterator(std::uint32_t{0});
  const auto count_of = static_cast<std::int64_t>(elements.size());
  DeviceValue<unsigned long long> count;
  with_scratch("looking around the sources", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, thrust::make_transform_iterator(all, has_mark), count.data(),
                                  count_of);
  });
  const unsigned long long total = count.read();
  DeviceArray<std::uint32_t> found(total);
  with_scratch("looking around the sources", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, all, found.data(), count.data(), count_of, has_mark);
  });
  std::vector<ElementId> result(total);
  download(result.data(), found.data(), total * sizeof(std::uint32_t));
  return result;
}

}  // namespace isochron::cuda
