#include "isochron/solve/simplex/cuda/surface_passes.h"

#include "isochron/solve/simplex/cuda/label_passes.h"
#include "isochron/solve/simplex/cuda/passes.h"

namespace isochron::cuda {
namespace {

/// The patches as kernels read them that do not care for patches.
template <class T>
struct PatchView {
  static constexpr int ends = 2;
  std::size_t count;  ///< places
  PatchShape shape;
  const T* edge;
  const T* lengths;
  const std::uint32_t* local_ends;
  const std::uint32_t* ghosts;
  const std::uint32_t* extra_offsets;  ///< null when there are no extras
  const ExtraRecord<T>* extras;

  /// Calls `visit(a, b, record)` for every `step`-th record from `first` on, with the places of its ends, until it
  /// returns true. `record()` gives the PreparedEdge.
  template <class Visit>
  __device__ void each_record(std::size_t place, std::uint32_t first, std::uint32_t step, Visit&& visit) const {
    const std::size_t patch = place / shape.vertices, own = place % shape.vertices, threads = shape.threads();
    for (std::uint32_t slot = first; slot < shape.slots(); slot += step) {
      const std::size_t row = patch * shape.held + slot / shape.lanes, thread = own * shape.lanes + slot % shape.lanes;
      const std::uint32_t both = local_ends[row * threads + thread], a = both & 0xffffU, b = both >> 16;
      if (a == shape.nowhere()) continue;
      const auto record = [&] {
        const T* value = lengths + row * SurfacePatches<T>::values * threads + thread;
        return PreparedEdge<T>{value[0], value[threads], value[2 * threads], value[3 * threads], value[4 * threads]};
      };
      if (visit(place_of(patch, a), place_of(patch, b), record)) return;
    }
    if (extra_offsets == nullptr) return;
    for (std::uint32_t i = extra_offsets[place] + first; i < extra_offsets[place + 1]; i += step)
      if (visit(extras[i].a, extras[i].b, [&] { return extras[i].edge; })) return;
  }

  /// One lane's share of the records.
  [[nodiscard]] __device__ Pulled<T, 2> pull(const T* time, std::size_t place, std::uint32_t lane) const {
    Pulled<T, 2> pulled;
    each_record(place, lane, 32, [&](std::uint32_t a, std::uint32_t b, const auto& record) {
      const EdgeCandidate<T> best = record().candidate(time[a], time[b]);
      if (best.time < pulled.time) pulled = {best.time, {best.weight[0], best.weight[1]}, {a, b}};
      return false;
    });
    return pulled;
  }

  template <class Visit>
  __device__ void each_neighbour(std::size_t place, Visit&& visit) const {
    each_record(place, 0, 1, [&](std::uint32_t a, std::uint32_t b, const auto&) { return visit(a) || visit(b); });
  }

 private:
  [[nodiscard]] __device__ std::uint32_t place_of(std::size_t patch, std::uint32_t local) const {
    return local < shape.vertices ? static_cast<std::uint32_t>(patch * shape.vertices + local)
                                  : ghosts[patch * shape.ghosts() + local - shape.vertices];
  }
};

template <class T>
PatchView<T> view_of(const SurfacePatches<T>& patches) {
  PatchView<T> view{};
  view.count = patches.places();
  view.shape = patches.shape;
  view.edge = patches.edge.data();
  view.lengths = patches.lengths.data();
  view.local_ends = patches.ends.data();
  view.ghosts = patches.ghosts.data();
  view.extra_offsets = patches.extra_offsets.data();
  view.extras = patches.extras.data();
  return view;
}

template <class T>
Numbering numbering_of(const SurfacePatches<T>& patches) {
  return {patches.place_of, patches.vertex_at};
}

}  // namespace

template <class T>
Residual surface_residual(const SurfacePatches<T>& patches, const T* time, std::span<const Seed> seeds, double limit) {
  return find_residual(view_of(patches), numbering_of(patches), time, seeds, limit);
}
template <class T>
void surface_labels(const SurfacePatches<T>& patches, const T* time, std::span<const Seed> seeds,
                    DeviceArray<std::int32_t>& result) {
  find_labels(view_of(patches), numbering_of(patches), time, seeds, result);
}
template <class T>
void surface_times(const SurfacePatches<T>& patches, const T* time, double unit, double base,
                   DeviceArray<double>& result) {
  to_user_times(numbering_of(patches), time, unit, base, result);
}
template <class T>
void load_surface_times(const SurfacePatches<T>& patches, std::span<const double> times, double unit, double base,
                        T* result) {
  to_inner_times(numbering_of(patches), times, unit, base, result);
}
std::vector<ElementId> surface_elements_near(const SurfaceTopology& topology, std::span<const VertexId> vertices,
                                             int rings) {
  return find_elements_near(topology.elements, Numbering{topology.order.old_to_new, topology.order.new_to_old},
                            vertices, rings);
}

template Residual surface_residual(const SurfacePatches<float>&, const float*, std::span<const Seed>, double);
template Residual surface_residual(const SurfacePatches<double>&, const double*, std::span<const Seed>, double);
template void surface_labels(const SurfacePatches<float>&, const float*, std::span<const Seed>,
                             DeviceArray<std::int32_t>&);
template void surface_labels(const SurfacePatches<double>&, const double*, std::span<const Seed>,
                             DeviceArray<std::int32_t>&);
template void surface_times(const SurfacePatches<float>&, const float*, double, double, DeviceArray<double>&);
template void surface_times(const SurfacePatches<double>&, const double*, double, double, DeviceArray<double>&);
template void load_surface_times(const SurfacePatches<float>&, std::span<const double>, double, double, float*);
template void load_surface_times(const SurfacePatches<double>&, std::span<const double>, double, double, double*);

}  // namespace isochron::cuda
