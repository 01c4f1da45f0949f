#include "isochron/solve/simplex/cuda/surface_build.h"

#include <algorithm>
#include <string>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/upload_aside.h"
#include "isochron/solve/simplex/cuda/length_sums.h"
#include "isochron/solve/simplex/cuda/surface_records.h"
#include "isochron/solve/simplex/obtuse_mask.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/obtuse_unfold.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::cuda {
namespace {

// ---- topology

__global__ void check_elements(const CornerList<3>* elements, std::size_t count, std::size_t vertices, unsigned* bad) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  for (const std::uint32_t v : elements[i].corner)
    if (v >= vertices) *bad = 1;
}

/// Renumbers an element and lists its corners: the vertex of each is its key.
__global__ void list_corners(CornerList<3>* elements, std::size_t count, const std::uint32_t* old_to_new,
                             std::uint32_t* key, std::uint32_t* incidence) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  for (std::uint32_t c = 0; c < 3; ++c) {
    const std::uint32_t v = old_to_new[elements[i].corner[c]];
    elements[i].corner[c] = v;
    key[3 * i + c] = v;
    incidence[3 * i + c] = static_cast<std::uint32_t>(i) * 4 + c;
  }
}

// ---- lengths

/// The mesh with its metric, as virtual triangles are made from it.
struct MetricMesh {
  const CornerList<3>* elements;
  const Vec3d* points;
  const std::uint32_t* offsets;
  const std::uint32_t* incidences;
  MetricView metric;
  double scale;  ///< of squared lengths

  [[nodiscard]] ISOCHRON_HD std::uint32_t vertex(std::uint32_t i, int c) const { return elements[i].corner[c]; }
  [[nodiscard]] ISOCHRON_HD double length(std::uint32_t i, int a, int b) const {
    return scale * squared_length(metric.at(i), points[vertex(i, b)] - points[vertex(i, a)]);
  }
  /// The one other triangle at the edge a,b; none at the boundary and where more than two meet.
  [[nodiscard]] ISOCHRON_HD Behind behind(std::uint32_t a, std::uint32_t b, std::uint32_t i) const {
    const bool fewer_at_a = offsets[a + 1] - offsets[a] <= offsets[b + 1] - offsets[b];
    const std::uint32_t here = fewer_at_a ? a : b, there = fewer_at_a ? b : a;
    Behind found;
    for (std::uint32_t k = offsets[here]; k < offsets[here + 1]; ++k) {
      const std::uint32_t other = incidences[k] >> 2;
      if (other == i) continue;
      if (vertex(other, 0) != there && vertex(other, 1) != there && vertex(other, 2) != there) continue;
      if (found.apex >= 0) return {};
      found = {other, 0};
      while (found.apex < 3 && (vertex(other, found.apex) == a || vertex(other, found.apex) == b)) ++found.apex;
      if (found.apex == 3) return {};
    }
    return found;
  }
};

template <class T>
__global__ void measure_elements(MetricMesh mesh, std::size_t count, Sides<T>* lengths, std::uint8_t* obtuse,
                                 LengthSums* sums) {
  const std::size_t i = thread_number();
  LaneSums lane;
  if (i < count) {
    const auto e = static_cast<std::uint32_t>(i);
    double squared[3];
    for (int a = 0; a < 3; ++a)
      for (int b = a + 1; b < 3; ++b) {
        const double length = mesh.length(e, a, b);
        squared[edge_index(a, b)] = length;
        lengths[i].length[edge_index(a, b)] = static_cast<T>(length);
        lane.see(length);
      }
    const unsigned mask = obtuse_mask<3>(squared);
    obtuse[i] = static_cast<std::uint8_t>(mask);
    lane.obtuse = __popc(mask);
  }
  lane.join_warp();
  if (threadIdx.x % 32 == 0) sums[i / 32 % AllLengthSums::places].add(lane);
}

/// One edge an element is enough: around the vertex they cover all of them. One warp a vertex.
template <class T>
__global__ void mean_edges(RecordView<T> records, std::size_t vertices, T* edge, LengthSums* sums) {
  const std::size_t v = thread_number() / 32;
  if (v >= vertices) return;
  const std::uint32_t begin = records.offsets[v], end = records.offsets[v + 1];
  LaneSums lane;
  for (std::uint32_t k = begin + threadIdx.x % 32; k < end; k += 32) {
    const std::uint32_t incidence = records.incidences[k];
    const int x = static_cast<int>(incidence & 3U), a = x == 2 ? 0 : x + 1, b = x == 0 ? 2 : x - 1;
    const auto& length = records.lengths[incidence >> 2].length;
    const double xa = length[edge_index(x, a)], xb = length[edge_index(x, b)];
    lane.see_at_vertex(fmax(xa, xb), xa);
  }
  lane.join_warp();
  if (threadIdx.x % 32 != 0) return;
  edge[v] = static_cast<T>(lane.finish_vertex(end - begin));
  sums[v % AllLengthSums::places].add(lane);
}

// ---- virtual triangles

/// Calls `emit` for each virtual triangle at an incidence.
template <class Emit>
__device__ void split_incidence(const MetricMesh& mesh, const std::uint8_t* obtuse, std::uint32_t incidence,
                                Emit&& emit) {
  const std::uint32_t element = incidence >> 2, corner = incidence & 3U;
  if (((obtuse[element] >> corner) & 1U) == 0) return;
  TriangleUnfolder<MetricMesh>(mesh, SplitLimits{}.metric_contrast).split(element, static_cast<int>(corner), emit);
}

template <class Count>
__global__ void count_virtuals(MetricMesh mesh, const std::uint8_t* obtuse, std::size_t incidences, Count* counts) {
  const std::size_t i = thread_number();
  if (i >= incidences) return;
  Count count = 0;
  split_incidence(mesh, obtuse, mesh.incidences[i], [&](const VirtualTriangle&) { ++count; });
  counts[i] = count;
}

template <class T>
__global__ void write_virtuals(MetricMesh mesh, const std::uint8_t* obtuse, std::size_t incidences,
                               const std::uint32_t* begin, VirtualSides<T>* virtuals) {
  const std::size_t i = thread_number();
  if (i >= incidences) return;
  VirtualSides<T>* next = virtuals + begin[i];
  split_incidence(mesh, obtuse, mesh.incidences[i], [&](const VirtualTriangle& v) {
    *next++ = {v.a, v.b, static_cast<T>(v.ab), static_cast<T>(v.ax), static_cast<T>(v.bx)};
  });
}

template <class T>
void add_virtuals(const MetricMesh& mesh, const DeviceArray<std::uint8_t>& obtuse, std::size_t incidences,
                  SurfaceRecords<T>& records) {
  DeviceArray<std::uint32_t> begin(incidences + 1);
  fill_bytes(begin.data() + incidences, 0, sizeof(std::uint32_t));
  launch_for(incidences, count_virtuals<std::uint32_t>, mesh, obtuse.data(), incidences, begin.data());
  exclusive_sum(begin);
  const std::uint32_t total = last_of(begin);
  if (total == 0) return;
  require_memory(total * sizeof(VirtualSides<T>), "this mesh's virtual triangles");
  records.virtuals = DeviceArray<VirtualSides<T>>(total);
  records.virtual_begin = std::move(begin);
  launch_for(incidences, write_virtuals<T>, mesh, obtuse.data(), incidences, records.virtual_begin.data(),
             records.virtuals.data());
}

// ---- counts

template <class T>
__global__ void count_beyond(RecordView<T> records, std::size_t vertices, std::uint32_t slots,
                             unsigned long long* beyond) {
  const std::size_t v = thread_number();
  const int mine = v < vertices && records.count(static_cast<std::uint32_t>(v)) > slots ? 1 : 0;
  const int all = __syncthreads_count(mine);
  if (threadIdx.x == 0 && all > 0) atomicAdd(beyond, static_cast<unsigned long long>(all));
}

}  // namespace

SurfaceTopology build_surface_topology(const MeshInput<3>& mesh) {
  const std::size_t vertices = mesh.vertex_count(), elements = mesh.element_count(), incidences = 3 * elements;
  if (vertices == 0 || elements == 0 || vertices >= longest_list) mesh.check();
  if (incidences > longest_list || vertices > longest_list)
    throw DeviceError("the GPU takes " + std::to_string(longest_list / 3) + " triangles at most (the mesh has " +
                      std::to_string(elements) + ")" + Advice() + "solve with " + Setting{Option::backend, "threads"});
  SurfaceTopology topology;
  topology.elements = DeviceArray<CornerList<3>>(elements);
  static_assert(sizeof(TriangleMesh::Element) == sizeof(CornerList<3>));
  const std::size_t bytes = elements * sizeof(CornerList<3>);
  if (const TriangleMesh* host = mesh.host(); host != nullptr) {
    // Two threads copy: the triangles come while the points are on their way and being ordered.
    UploadAside triangles(topology.elements.data(), host->elements.data(), bytes);
    topology.order = order_along(Curve::hilbert, host->points);
    triangles.wait();
  } else {
    copy_on_device(topology.elements.data(), mesh.device()->elements.data(), bytes);
    topology.order = order_along(Curve::hilbert, mesh.device()->points);
  }
  if (!topology.order.all_finite) mesh.check();  // says which
  DeviceValue<unsigned> bad;
  launch_for(elements, check_elements, topology.elements.data(), elements, vertices, bad.data());
  if (bad.read() != 0) mesh.check();

  DeviceArray<std::uint32_t> key(incidences);
  topology.incidences = DeviceArray<std::uint32_t>(incidences);
  launch_for(elements, list_corners, topology.elements.data(), elements, topology.order.old_to_new.data(), key.data(),
             topology.incidences.data());
  sort_by_key(key, topology.incidences, static_cast<std::uint32_t>(vertices - 1));
  topology.offsets = group_offsets(key, static_cast<std::uint32_t>(vertices));
  return topology;
}

template <class T>
SurfaceRecords<T> build_surface_records(const SurfaceTopology& topology, const MeshInput<3>& mesh,
                                        const MetricInput& metric, ObtuseSplit split) {
  const std::size_t vertices = topology.vertices(), elements = mesh.element_count();
  std::optional<DeviceMetric> sent;
  const MetricView metric_view = metric.on_device(sent, elements).view();
  const double unit = time_unit(mesh, metric);
  const MetricMesh metric_mesh{topology.elements.data(),
                               topology.order.points.data(),
                               topology.offsets.data(),
                               topology.incidences.data(),
                               metric_view,
                               1 / (unit * unit)};
  SurfaceRecords<T> records;
  records.lengths = DeviceArray<Sides<T>>(elements);
  records.edge = DeviceArray<T>(vertices);
  DeviceArray<std::uint8_t> obtuse(elements);
  AllLengthSums sums;
  launch_for(elements, measure_elements<T>, metric_mesh, elements, records.lengths.data(), obtuse.data(), sums.data());
  launch_for(vertices * 32, mean_edges<T>, RecordView<T>(topology, records), vertices, records.edge.data(),
             sums.data());
  records.summary = sums.summary(unit, vertices);
  if (split != ObtuseSplit::none && records.summary.obtuse_corners > 0)
    add_virtuals(metric_mesh, obtuse, topology.incidences.size(), records);
  return records;
}

template <class T>
std::size_t vertices_beyond(const SurfaceTopology& topology, const SurfaceRecords<T>& records, std::uint32_t slots) {
  DeviceValue<unsigned long long> beyond;
  launch_for(topology.vertices(), count_beyond<T>, RecordView<T>(topology, records), topology.vertices(), slots,
             beyond.data());
  return beyond.read();
}

template SurfaceRecords<float> build_surface_records(const SurfaceTopology&, const MeshInput<3>&, const MetricInput&,
                                                     ObtuseSplit);
template SurfaceRecords<double> build_surface_records(const SurfaceTopology&, const MeshInput<3>&, const MetricInput&,
                                                      ObtuseSplit);
template std::size_t vertices_beyond(const SurfaceTopology&, const SurfaceRecords<float>&, std::uint32_t);
template std::size_t vertices_beyond(const SurfaceTopology&, const SurfaceRecords<double>&, std::uint32_t);

}  // namespace isochron::cuda
