#include "isochron/solve/simplex/cuda/volume_passes.h"

#include "isochron/solve/simplex/cuda/label_passes.h"
#include "isochron/solve/simplex/cuda/passes.h"

namespace isochron::cuda {
namespace {

/// The stars as kernels read them.
template <class T>
struct StarView {
  static constexpr int ends = 3;
  std::size_t count;
  const StarHead* heads;
  const std::uint64_t* stars;
  const T* edge;

  /// One lane's share of the vertex's tetrahedra.
  [[nodiscard]] __device__ Pulled<T, 3> pull(const T* time, std::size_t v, std::uint32_t lane) const {
    const T inf = detail::infinity<T>();
    Pulled<T, 3> pulled;
    for (StarHead head = heads[v];; head = heads[head.next]) {
      const auto* words = reinterpret_cast<const std::uint32_t*>(stars + head.begin);
      const unsigned tets = head.tets, neighbours = head.neighbours;
      const T* l = reinterpret_cast<const T*>(words + words_before_lengths(tets, neighbours));
      for (unsigned i = lane; i < tets; i += 32) {
        const std::uint32_t corners = words[neighbours + i];
        const std::uint32_t a = words[place_of(corners, 0)], b = words[place_of(corners, 1)],
                            c = words[place_of(corners, 2)];
        const T ua = time[a], ub = time[b], uc = time[c];
        if (!(ua < inf) && !(ub < inf) && !(uc < inf)) continue;
        const TetLengths<T> lengths{l[3 * tets + i], l[4 * tets + i], l[5 * tets + i], l[i],
                                    l[tets + i],     l[2 * tets + i]};
        const FaceCandidate<T> best = detail::tet_update_scaled(ua, ub, uc, lengths);
        if (best.time < pulled.time) pulled = {best.time, {best.weight[0], best.weight[1], best.weight[2]}, {a, b, c}};
      }
      if (head.next == 0) return pulled;
    }
  }

  template <class Visit>
  __device__ void each_neighbour(std::size_t v, Visit&& visit) const {
    for (StarHead head = heads[v];; head = heads[head.next]) {
      const auto* words = reinterpret_cast<const std::uint32_t*>(stars + head.begin);
      for (unsigned i = 0; i < head.neighbours; ++i)
        if (visit(words[i])) return;
      if (head.next == 0) return;
    }
  }
};

template <class T>
StarView<T> view_of(const DeviceVolume<T>& volume) {
  return {volume.vertices, volume.heads.data(), volume.stars.data(), volume.edge.data()};
}

template <class T>
Numbering numbering_of(const DeviceVolume<T>& volume) {
  return {volume.order.old_to_new, volume.order.new_to_old};
}

}  // namespace

template <class T>
Residual volume_residual(const DeviceVolume<T>& volume, const T* time, std::span<const Seed> seeds, double limit) {
  return find_residual(view_of(volume), numbering_of(volume), time, seeds, limit);
}
template <class T>
void volume_labels(const DeviceVolume<T>& volume, const T* time, std::span<const Seed> seeds,
                   DeviceArray<std::int32_t>& result) {
  find_labels(view_of(volume), numbering_of(volume), time, seeds, result);
}
template <class T>
void volume_times(const DeviceVolume<T>& volume, const T* time, double base, DeviceArray<double>& result) {
  to_user_times(numbering_of(volume), time, volume.summary.unit, base, result);
}
template <class T>
void load_volume_times(const DeviceVolume<T>& volume, std::span<const double> times, double base, T* result) {
  to_inner_times(numbering_of(volume), times, volume.summary.unit, base, result);
}
template <class T>
std::vector<ElementId> volume_elements_near(const DeviceVolume<T>& volume, std::span<const VertexId> vertices,
                                            int rings) {
  return find_elements_near(volume.elements, numbering_of(volume), vertices, rings);
}

template Residual volume_residual(const DeviceVolume<float>&, const float*, std::span<const Seed>, double);
template Residual volume_residual(const DeviceVolume<double>&, const double*, std::span<const Seed>, double);
template void volume_labels(const DeviceVolume<float>&, const float*, std::span<const Seed>,
                            DeviceArray<std::int32_t>&);
template void volume_labels(const DeviceVolume<double>&, const double*, std::span<const Seed>,
                            DeviceArray<std::int32_t>&);
template void volume_times(const DeviceVolume<float>&, const float*, double, DeviceArray<double>&);
template void volume_times(const DeviceVolume<double>&, const double*, double, DeviceArray<double>&);
template void load_volume_times(const DeviceVolume<float>&, std::span<const double>, double, float*);
template void load_volume_times(const DeviceVolume<double>&, std::span<const double>, double, double*);
template std::vector<ElementId> volume_elements_near(const DeviceVolume<float>&, std::span<const VertexId>, int);
template std::vector<ElementId> volume_elements_near(const DeviceVolume<double>&, std::span<const VertexId>, int);

}  // namespace isochron::cuda
